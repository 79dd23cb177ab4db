"""Ids by their end, as screens show a long one and people pass it on: "…a1b2c3"."""

from uuid import UUID

import pytest
from django.db import connection

from access.models import Realm
from access.reach import Reach
from access.reading import reading_as
from access.rights import RoleName
from console.search.ends import NOT_BY_END, SHORTEST_END, uuid_ending
from console.titles import label_of
from conversations.drafts import MessageDraft
from conversations.ends import SHOWN
from conversations.search.pasted import read_pasted
from conversations.vocabulary import Role
from ledger.services.disputes import take_dispute
from ledger.services.refunds import take_refund
from retention.services.holds import place_hold
from tests.access.tenants import without_scans
from tests.console import money
from tests.console.conftest import NOW
from tests.console.search.conftest import CALL, find
from tests.conversations.drafts import calls, user
from tests.ledger.seen import disputed, refunded


@pytest.fixture
def effect(make_conversation, say, make_staff):
    conversation = make_conversation()
    money.register_tool(conversation, make_staff(RoleName.ADMINISTRATOR, name="registrar"))
    say(conversation, user())
    seq = say(conversation, MessageDraft(role=Role.ASSISTANT, parts=[money.charging("toolu_100")]))
    return money.settle(money.begin(conversation, seq, "toolu_100"), "ch_3SXq9aK2mB7vQz")


def ending(client, pasted: str) -> list[tuple[str, str]]:
    return [(place.kind, place.ident) for place in find(client, pasted).context["exact"].ending]


def test_what_stands_for_a_withheld_title_finds_its_conversation(support, talk):
    label = label_of(talk.pk)
    found = [("Conversation", str(talk.pk))]

    for pasted in (label, f"{label}, 9 Mar 2026, 14:03", f"…{talk.pk.hex[-6:]}", f"...{talk.pk.hex[-6:]}"):
        assert ending(support, pasted) == found, pasted
    # And without the dots, in capitals, and longer, with its hyphens or without.
    for pasted in (talk.pk.hex[-6:], talk.pk.hex[-8:].upper(), str(talk.pk)[-17:], talk.pk.hex[-20:]):
        assert ending(support, pasted) == found, pasted


def test_a_file_of_the_console_is_named_by_what_it_is_of(support, talk, account):
    assert ending(support, f"next-{talk.pk.hex[-8:]}-3.json") == [("Conversation", str(talk.pk))]
    assert ending(support, f"compare-{talk.pk.hex[-8:]}-3-5.csv") == [("Conversation", str(talk.pk))]
    assert ending(support, f"statement-{account.pk.hex[-8:]}.csv") == [("Account", "cus-1001")]


def test_effects_are_found_by_the_ends_of_their_own_ids_and_of_the_processors(log_in, effect):
    charge = effect.external_ref
    refund = refunded("re_3SWp4hWm7TnLd", charge=charge)
    take_refund(effect_id=effect.pk, seen=refund, actor=money.AGENT, now=NOW)
    take_dispute(effect_id=effect.pk, seen=disputed(reference="dp_1SYk3bXc8RtUw", charge_ref=charge), now=NOW)
    support = log_in(RoleName.SUPPORT)

    assert ending(support, f"…{effect.pk.hex[-6:]}") == [("Effect", str(effect.pk))]
    assert ending(support, "…Wm7TnLd") == [("Effect", "re_3SWp4hWm7TnLd")]
    assert ending(support, "c8RtUw") == [("Effect", "dp_1SYk3bXc8RtUw")]
    assert {ident for _, ident in ending(support, "mB7vQz")} == {charge, f"pi_{charge}"}
    # What has another case is another id, and what begins otherwise too.
    assert ending(support, "…WM7TNLD") == []
    assert ending(support, "ch_3S…Wm7TnLd") == []
    (both,) = find(support, "re_3SW…Wm7TnLd").context["exact"].prefixed
    assert both.ident == "re_3SWp4hWm7TnLd"


def test_an_id_with_dots_in_its_middle_is_found_by_both_of_its_sides(support, talk, make_conversation, say):
    other = make_conversation()
    say(other, user())
    say(other, calls(f"{CALL[:12]}ZZZZZZZZ"))

    page = find(support, f"{CALL[:12]}…{CALL[-6:]}")

    assert [(place.kind, place.ident) for place in page.context["exact"].prefixed] == [("Tool call", CALL)]


def test_ends_of_calls_are_not_searched_for_and_the_page_says_so(support, talk):
    page = find(support, f"…{CALL[-6:]}")

    assert page.context["exact"].is_empty
    assert NOT_BY_END in page.content.decode()


def test_an_end_of_another_realm_or_of_what_no_right_opens_is_not_found(
    log_in, talk, make_conversation, make_staff
):
    elsewhere = Realm.objects.create(slug="elsewhere", name="Elsewhere", created_at=NOW)
    officer = make_staff(RoleName.PRIVACY_OFFICER, name="petra")
    hold = place_hold(conversation_id=make_conversation().pk, matter="M-7", user=officer, now=NOW)
    ends = [f"…{talk.pk.hex[-6:]}", f"…{hold.pk.hex[-6:]}"]
    strangers = [log_in(role, realms=[elsewhere], name=role.value) for role in list(RoleName)]

    assert [ending(client, text) for client in strangers for text in ends] == [[]] * (2 * len(strangers))
    assert ending(log_in(RoleName.SUPPORT, name="maja"), ends[1]) == []
    assert ending(log_in(RoleName.PRIVACY_OFFICER, name="quentin"), ends[1]) == [("Legal hold", str(hold.pk))]


@pytest.mark.schema
def test_the_function_tells_a_reader_no_key_of_another_realm(talk, realm):
    elsewhere = Realm.objects.create(slug="elsewhere", name="Elsewhere", created_at=NOW)
    asked = "SELECT whole FROM console_ids_ending_so(%s, %s, %s, 9)"

    def told(reach: Reach, wanted: list[int] | None) -> list[str]:
        with reading_as(reach), connection.cursor() as cursor:
            cursor.execute(asked, [talk.pk.hex[-6:], talk.pk.hex[-6:], wanted])
            return [whole for (whole,) in cursor.fetchall()]

    assert told(Reach(realm_ids=frozenset({realm.pk})), None) == [str(talk.pk)]
    assert told(Reach(realm_ids=frozenset({elsewhere.pk})), [realm.pk]) == []
    assert told(Reach(), None) == []
    assert told(Reach(sees_all=True), [elsewhere.pk]) == []


@pytest.mark.schema
def test_every_branch_of_the_function_walks_an_index(talk):
    with connection.cursor() as cursor:
        cursor.execute("SELECT prosrc FROM pg_proc WHERE proname = 'console_ids_ending_so'")
        (body,) = cursor.fetchone()
        given = {"uuid_ending": "'a1b2c3'", "ending": "'a1b2c3'", "wanted": "NULL", "most": "10"}
        for name, value in given.items():
            body = body.replace(f"({name})", f"({value})").replace(f"= {name}", f"= {value}")
            body = body.replace(f"({name}, 6)", f"({value}, 6)").replace(f"LIMIT {name}", f"LIMIT {value}")
        with without_scans():
            cursor.execute(f"EXPLAIN {body}")
            plan = "\n".join(line for (line,) in cursor.fetchall())

    assert plan.count('"right"') >= 11
    assert plan.count('Index Cond: ("right"') == 11, plan
    assert "Seq Scan" not in plan


@pytest.mark.parametrize(
    ("text", "whole"),
    [
        ("A1B2C3", "a1b2c3"),
        ("0123456789ab", "0123456789ab"),
        ("f0123456789ab", "f-0123456789ab"),
        ("8000-0123456789ab", "8000-0123456789ab"),
        ("80000123456789ab", "8000-0123456789ab"),
        ("a1b2c", None),
        ("toolu_", None),
        ("0" * 32, None),
    ],
)
def test_the_end_of_a_uuid_has_its_hyphens(text, whole):
    assert uuid_ending(text) == whole


def test_what_screens_show_is_long_enough_to_be_found():
    assert SHORTEST_END == SHOWN == len(label_of(UUID(int=0)).rpartition("…")[2])


@pytest.mark.parametrize(
    ("pasted", "shortened"),
    [
        ("…a1b2c3", [("", "a1b2c3")]),
        ("see toolu_01A7…Yh2P4n, and ...a1b2c3", [("toolu_01A7", "Yh2P4n"), ("", "a1b2c3")]),
        ("wait... what", []),
        ("1..3", []),
        ("…", []),
        ("……………", []),
    ],
)
def test_shortened_ids_are_read(pasted, shortened):
    assert read_pasted(pasted).shortened == shortened
