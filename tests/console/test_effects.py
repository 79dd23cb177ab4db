"""Effects: the list with filters, sums and CSV, and the chain of one effect."""

import csv
import io
from datetime import timedelta

import pytest

from access.models import AccessEntry, Realm
from access.rights import RoleName
from console.markup.times import duration
from conversations.currency import AmountError
from conversations.drafts import MessageDraft
from conversations.services.appending import edit_message
from conversations.services.tool_results import answer_calls
from conversations.vocabulary import Role
from ledger.filters import read_amount
from ledger.models import ToolEffect
from ledger.services.beginning import begin_effect
from ledger.services.questions import answer_question
from ledger.services.sending import mark_sent
from tests.console import money
from tests.console.conftest import CUSTOMER, NOW
from tests.conversations.drafts import results, user

# The session, the user, two of permissions, the reach, the page, where its effects stand, the header's staff.
# Five more let the whole of it read as the reader, in one transaction.
QUERIES = 13
# Beside the frame's and the log's: the effect, its conversation, call, attempt, standing, the effects of
# the same request, policy, question, moves, ids, contradictions, disputes, uses, refunds and notes.
# Nine more: to read as the reader, and to step out of it for what is looked up and what is logged.
CHAIN_QUERIES = 30


@pytest.fixture
def registrar(make_staff):
    return make_staff(RoleName.ADMINISTRATOR, name="registrar")


@pytest.fixture
def charge(make_conversation, say, registrar):
    """A conversation with one charge, settled unless told otherwise."""

    def make(
        number=1, *, amount=1900, currency="usd", is_settled=True, now=NOW, name="charge_card"
    ) -> ToolEffect:
        conversation = make_conversation(title=f"Trip {number}")
        money.register_tool(conversation, registrar, name)
        say(conversation, user())
        call_id = f"toolu_{number:03}"
        part = money.charging(call_id, amount, currency, name)
        seq = say(conversation, MessageDraft(role=Role.ASSISTANT, parts=[part]))
        effect = money.begin(conversation, seq, call_id, now=now)
        return money.settle(effect, f"ch_{number:03}", now=now) if is_settled else effect

    return make


@pytest.fixture
def abandoned(charge):
    """A charge whose branch the customer left for another one."""
    effect = charge(7)
    conversation = effect.account.conversations.get()
    edit_message(
        conversation_id=conversation.pk,
        seq=1,
        message=user("Something else"),
        actor=CUSTOMER,
        now=NOW + timedelta(minutes=5),
    )
    return effect


def refs(page) -> list[str]:
    return [row.effect.external_ref for row in page.context["rows"]]


def test_the_list_has_state_standing_amount_and_who(log_in, charge):
    charge()

    page = log_in(RoleName.FINANCE).get("/effects/")

    (row,) = page.context["rows"]
    assert (row.state, row.standing, row.minor, row.account) == ("applied", "live", 1900, "cus-1001")
    assert "19.00" in page.content.decode()


def test_each_filter_keeps_what_it_names(log_in, charge, abandoned):
    charge(1)
    charge(2, amount=31500, currency="kwd")
    charge(3, is_settled=False)
    charge(4, now=NOW - timedelta(days=40))
    finance = log_in(RoleName.FINANCE)

    def found(query: str) -> set[str]:
        return set(refs(finance.get(f"/effects/?{query}")))

    assert found("state=pending") == {""}
    assert found("state=applied&currency=kwd") == {"ch_002"}
    assert found("amount=KWD+31.500") == {"ch_002"}
    assert found("amount=USD+19.00") == {"ch_001", "ch_004", "ch_007", ""}
    assert found("standing=abandoned") == {"ch_007"}
    assert found("standing=detached") == set()
    assert found("tool=charge_card&account=cus-1001&processor=stripe&currency=KWD") == {"ch_002"}
    assert found("realm=elsewhere") == set()
    assert found("is_disputed=true") == set()
    assert found("until=2026-03-01T00:00:00Z") == {"ch_004"}
    assert "Write the currency before" in finance.get("/effects/?amount=19").content.decode()
    assert "Write the currency before" in finance.get("/effects/?amount=abc").content.decode()
    assert found("amount=KWD+1.2345") == set()


@pytest.mark.parametrize(
    "text", ["19.00", "EURO 1", "EU 1", "EUR", "EUR x", "EUR 1.999", "EUR 12,50", "₠₠₠ 1"]
)
def test_an_amount_that_cannot_be_meant_is_refused(text):
    with pytest.raises(AmountError):
        read_amount(text)


def test_amounts_are_read_in_the_currencys_own_decimals():
    assert read_amount("eur 1,312.40") == ("EUR", 131240)
    assert read_amount("JPY 14200") == ("JPY", 14200)
    assert read_amount("KWD 31.5") == ("KWD", 31500)


def test_totals_have_a_line_for_each_currency_and_never_add_two(log_in, charge):
    charge(1)
    charge(2, amount=100)
    charge(3, amount=31500, currency="kwd")

    page = log_in(RoleName.FINANCE).get("/effects/totals/?state=applied")

    assert [(total.currency, total.effects, total.settled_minor) for total in page.context["totals"]] == [
        ("kwd", 1, 31500),
        ("usd", 2, 2000),
    ]
    assert "/effects/?state=applied&amp;operation=charge&amp;currency=usd" in page.content.decode()


def test_the_csv_is_safe_and_exact_and_its_export_is_a_row(log_in, charge):
    charge(name="=cmd|' /C calc'!A0")

    response = log_in(RoleName.FINANCE).get("/effects/list.csv?state=applied")
    header, line = csv.reader(io.StringIO(b"".join(response.streaming_content).decode("utf-8-sig")))

    row = dict(zip(header, line, strict=True))
    assert row["tool"] == "'=cmd|' /C calc'!A0"
    assert (row["amount"], row["settled"], row["currency"]) == ("19.00", "19.00", "USD")
    assert AccessEntry.objects.get(action="export").target_id == "effects"


def test_queries_of_the_list_do_not_grow(log_in, charge, django_assert_num_queries):
    finance = log_in(RoleName.FINANCE)
    charge(1)
    finance.get("/effects/")
    with django_assert_num_queries(QUERIES):
        finance.get("/effects/")
    for number in range(2, 7):
        charge(number)
    with django_assert_num_queries(QUERIES) as captured:
        finance.get("/effects/")

    assert not [query for query in captured if "COUNT(" in query["sql"].upper()]


def test_an_effect_is_a_chain_from_the_call_to_the_money(log_in, charge, django_assert_num_queries):
    effect = charge()
    finance = log_in(RoleName.FINANCE)
    finance.get(f"/effects/{effect.pk}/")

    with django_assert_num_queries(CHAIN_QUERIES):
        response = finance.get(f"/effects/{effect.pk}/")

    chain, page = response.context["chain"], response.content.decode()
    assert [move.to_state for move in chain.moves] == ["pending", "applied"]
    assert {found.reference for found in chain.references} == {"ch_001", "pi_ch_001"}
    assert (chain.standing, chain.left, chain.policy.name) == ("live", 1900, "charge_card")
    assert page.count("<h3>") == 8
    assert effect.idempotency_key[:40] in page
    assert AccessEntry.objects.filter(action="open", target_kind="effect").count() == 2


@pytest.fixture
def charged_twice(make_conversation, say, registrar):
    """A charge whose answer never came, and the same again 33 seconds later; both went through."""

    def make(*, is_known: bool) -> tuple[ToolEffect, ToolEffect]:
        conversation = make_conversation()
        money.register_tool(conversation, registrar)
        say(conversation, user())
        first = money.begin(conversation, say(conversation, calling("toolu_1")), "toolu_1")
        mark_sent(effect_id=first.pk, now=NOW)
        if is_known:
            money.settle(first, "ch_080")
        answer = {"conversation_id": conversation.pk, "message": results("toolu_1"), "actor": CUSTOMER}
        answer_calls(**answer, now=NOW + timedelta(seconds=30))
        seq, later = say(conversation, calling("toolu_2")), NOW + timedelta(seconds=33)
        begin = {"conversation_id": conversation.pk, "seq": seq, "call_id": "toolu_2", "actor": money.AGENT}
        question = begin_effect(**begin, now=later).question
        answer_question(question_id=question.pk, is_allowed=True, user=registrar, now=later)
        second = money.settle(begin_effect(**begin, now=later).effect, "ch_081", now=later)
        return (first if is_known else money.settle(first, "ch_080", now=later)), second

    return make


def calling(call_id):
    return MessageDraft(role=Role.ASSISTANT, parts=[money.charging(call_id)])


def test_a_charge_repeated_before_its_outcome_was_known_is_called_a_probable_duplicate(log_in, charged_twice):
    first, second = charged_twice(is_known=False)
    client = log_in(RoleName.FINANCE)

    pages = [client.get(f"/effects/{one.pk}/").content.decode() for one in (first, second)]

    assert all("Probable duplicate" in page for page in pages)
    gap = duration(timedelta(seconds=33))
    for page, (other, when) in zip(pages, [("ch_081", "later"), ("ch_080", "before")], strict=True):
        assert other in page
        assert f"{gap} {when}, while nobody knew how the first had ended" in page


def test_a_second_purchase_after_the_first_was_settled_is_only_named(log_in, charged_twice):
    first, _ = charged_twice(is_known=True)

    page = log_in(RoleName.FINANCE).get(f"/effects/{first.pk}/").content.decode()

    assert "The same was asked for by another call" in page
    assert "Probable duplicate" not in page


def test_an_abandoned_charge_says_which_move_left_it(log_in, abandoned):
    response = log_in(RoleName.FINANCE).get(f"/effects/{abandoned.pk}/")

    chain = response.context["chain"]
    assert chain.standing == "abandoned"
    assert chain.left_at.head_seq > abandoned.call_seq
    assert "/compare/?a=2&amp;b=3" in response.content.decode()


def test_hostile_names_and_ids_are_text(log_in, charge):
    effect = charge(name="<script>alert(1)</script>\u202e")
    finance = log_in(RoleName.FINANCE)

    for address in ("/effects/", f"/effects/{effect.pk}/", f"/accounts/{effect.account_id}/"):
        page = finance.get(address).content.decode()
        assert "<script>alert" not in page
        assert "U+202E" in page


def test_an_effect_of_another_realm_is_refused_and_not_listed(log_in, charge):
    effect = charge()
    elsewhere = Realm.objects.create(slug="elsewhere", name="Elsewhere", created_at=NOW)
    finance = log_in(RoleName.FINANCE, realms=[elsewhere])

    assert finance.get(f"/effects/{effect.pk}/").status_code == 403
    assert refs(finance.get("/effects/")) == []
    assert finance.get("/effects/totals/").context["totals"] == []


@pytest.mark.parametrize(
    ("role", "address", "status"),
    [
        (RoleName.SUPPORT, "/effects/", 200),
        (RoleName.SUPPORT, "/effects/list.csv", 403),
        (RoleName.AUDITOR, "/effects/list.csv", 200),
    ],
)
def test_each_address_checks_its_right(log_in, role, address, status):
    assert log_in(role).get(address).status_code == status


def test_empty_lists_say_how_they_begin_or_widen(log_in, charge):
    finance = log_in(RoleName.FINANCE)
    assert "No effect yet" in finance.get("/effects/").content.decode()
    charge()
    assert "No effect matches" in finance.get("/effects/?state=failed").content.decode()
