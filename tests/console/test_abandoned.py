"""The standing list of abandoned charges: totals, when the head moved, whether the branch charged again."""

import csv
import io

import pytest

from access.models import AccessEntry, Realm
from access.rights import RoleName
from conversations.models import Conversation
from conversations.services.heads import switch_head
from ledger.services.sending import mark_sent
from ledger.services.settling import settle_effect
from ledger.vocabulary import ReferenceKind
from tests.console.conftest import CUSTOMER, NOW
from tests.ledger.conftest import Talk
from tests.ledger.reconciliation.conftest import begins, charge_card, pays, register, staff
from tests.ledger.seen import AGENT, charged

__all__ = ["begins", "charge_card", "pays", "register", "staff"]

pytestmark = pytest.mark.django_db
# The session, the user, two of permissions, the reach, the page, ages, heads, moves, other charges, paths,
# the header's staff; to read as the reader: the reach, a savepoint and its end, the role and back.
# The walk is done once, past the policies: out of the role of the reader, the walk, and in again.
QUERIES = 20


@pytest.fixture
def leave(make_conversation, pays):
    """A charge that the customer left by editing the question; the other branch may charge as well."""

    def make(charge: str, *, again: str = "", **given):
        talk = Talk(make_conversation())
        asked = talk.says()
        left = pays(charge, talk=talk, below=asked, **given)
        edited = talk.edits(asked)
        other = pays(again, talk=talk, below=edited, amount=2500) if again else None
        return left, other

    return make


def test_a_charge_shows_who_moved_the_head_when_and_what_followed(finance, leave):
    left, other = leave("ch_1", again="ch_2")

    page = finance.get("/abandoned/")

    (row,) = page.context["rows"]
    assert (row.effect, row.moved_by, row.left_at.reason) == (left, "The customer", "user_edit")
    assert row.again == [other]
    assert f"?a={left.call_seq}&amp;b={other.call_seq}" in page.content.decode()


def test_a_charge_that_was_not_repeated_says_so(finance, leave):
    leave("ch_1")

    assert b"did not charge" in finance.get("/abandoned/").content


def test_a_head_moved_up_by_hand_names_the_move(finance, make_conversation, pays):
    talk = Talk(make_conversation())
    asked = talk.says()
    pays("ch_1", talk=talk, below=asked)
    switch_head(conversation_id=talk.id, seq=asked, actor=AGENT, now=NOW)

    (row,) = finance.get("/abandoned/").context["rows"]

    assert (row.left_at.reason, row.moved_by) == ("switch", "The application")


def test_a_charge_that_the_head_came_back_to_is_not_listed(finance, make_conversation, pays):
    talk = Talk(make_conversation())
    asked = talk.says()
    left = pays("ch_1", talk=talk, below=asked)
    talk.edits(asked)
    switch_head(conversation_id=talk.id, seq=left.call_seq, actor=CUSTOMER, now=NOW)

    assert b"No abandoned charge" in finance.get("/abandoned/").content


def test_totals_stand_apart_by_currency(finance, leave):
    leave("ch_1")
    leave("ch_2", amount=5800, currency="jpy")

    page = finance.get("/abandoned/")

    older = page.context["bands"][-1]
    assert (older.number, older.amounts) == (2, {"usd": 1900, "jpy": 5800})
    assert [band.number for band in page.context["bands"][:-1]] == [0, 0, 0]


def test_a_refund_that_a_tool_made_there_is_listed_and_no_charge(finance, leave, register):
    left, _ = leave("ch_1")
    talk = Talk(Conversation.objects.get(pk=left.conversation_id))
    edited = talk.says("Buy plan B")
    register("give_back", operation="refund", amount_path="", currency_path="")
    answered = talk.answers(left.call_id, below=left.call_seq)
    call = talk.calls("toolu_r", name="give_back", arguments="{}", below=answered)
    refund = talk.begins(call, "toolu_r").effect
    mark_sent(effect_id=refund.pk, now=NOW)
    seen = charged("re_1", amount_minor=500, references=[(ReferenceKind.REFUND, "re_1")], effect_id=refund.pk)
    settle_effect(effect_id=refund.pk, seen=seen, actor=AGENT, now=NOW)
    switch_head(conversation_id=talk.id, seq=edited, actor=CUSTOMER, now=NOW)

    page = finance.get("/abandoned/")
    home = finance.get("/").content.decode()

    older = page.context["bands"][-1]
    assert (older.number, older.amounts) == (2, {"usd": 1900})
    assert b"no charge" in page.content
    assert "19.00" in home
    assert "24.00" not in home


def test_queries_do_not_grow_with_the_charges(finance, leave, django_assert_num_queries):
    leave("ch_0", again="ch_00")
    finance.get("/abandoned/")
    with django_assert_num_queries(QUERIES):
        finance.get("/abandoned/")
    for number in range(1, 5):
        leave(f"ch_{number}", again=f"ch_{number}{number}")
    with django_assert_num_queries(QUERIES):
        page = finance.get("/abandoned/")
    assert len(page.context["rows"]) == 5


def test_staff_of_another_realm_see_none(log_in, leave):
    leave("ch_1")
    other = Realm.objects.create(slug="other", name="Other", created_at=NOW)

    assert log_in(RoleName.FINANCE, realms=[other]).get("/abandoned/").context["rows"] == []


def test_the_csv_says_what_was_left_and_is_logged(finance, leave):
    leave("ch_1", again="ch_2")

    response = finance.get("/abandoned/list.csv")
    text = b"".join(response.streaming_content).decode("utf-8-sig")

    (row,) = csv.DictReader(io.StringIO(text))
    assert (row["left"], row["moved by"], row["charged again"]) == ("19.00", "The customer", "yes")
    assert AccessEntry.objects.get(action="export").target_id == "abandoned"


def test_the_csv_needs_the_right_to_export(log_in, realm):
    assert log_in(RoleName.SUPPORT).get("/abandoned/list.csv").status_code == 403
