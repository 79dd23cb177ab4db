"""From a pasted id to its place."""

import pytest
from django.contrib.auth.models import User

from access.rights import RoleName
from conversations.models import Generation
from conversations.services.notes import write_note
from tests.console.conftest import NOW
from tests.console.search.conftest import CALL, find
from tests.conversations.drafts import calls, user

# The session, the user, two of permissions, the reach; a savepoint and its end; the probes, one for
# each kind of table; the lives of the calls. To read as the reader: the reach, a savepoint and its end,
# the role and back.
EXACT_QUERIES = 23


@pytest.mark.parametrize(
    "pasted",
    [
        CALL,
        f"  {CALL}\n",
        f"“{CALL}”.",
        f"https://desk.example/t?id={CALL}&x=1",
        f'2026-11-24 level=warn tool=charge call_ref="{CALL}" took 3 s',
    ],
)
def test_a_call_id_with_noise_around_it_leads_straight_to_its_call(support, talk, pasted):
    response = find(support, pasted)

    assert response.status_code == 302
    assert response["Location"] == f"/conversations/{talk.pk}/?m=2&found={CALL}#m2"


def test_each_kind_of_id_leads_to_its_place(support, talk, account):
    home = f"/conversations/{talk.pk}/"
    places = {
        "msg_01XYZ": f"{home}?m=2&found=msg_01XYZ#m2",
        "req_01XYZ": f"{home}?m=2&found=req_01XYZ#m2",
        "req-1": f"{home}?m=2&found=req-1#m2",
        str(talk.pk): f"{home}?found={talk.pk}",
        talk.pk.hex.upper(): f"{home}?found={talk.pk}",
        f"{talk.pk}#3": f"{home}?m=3#m3",
        f"{talk.pk}.m3": f"{home}?m=3#m3",
        f"/api/v1/conversations/{talk.pk}/messages/3": f"{home}?m=3#m3",
        f"{talk.pk}.g1": f"{home}attempts/1/",
        "cus-1001": f"/accounts/{account.pk}/",
        str(account.pk): f"/accounts/{account.pk}/",
        "INES@example.com": f"/accounts/{account.pk}/",
    }

    found = {pasted: find(support, pasted).headers.get("Location") for pasted in places}

    assert found == places


def test_an_attempt_whose_detail_was_purged_leads_to_its_conversation(support, talk):
    Generation.objects.filter(conversation=talk, number=1).delete()

    response = find(support, f"{talk.pk}.g1")

    assert response["Location"] == f"/conversations/{talk.pk}/?found={talk.pk}"


def test_an_attempt_without_an_answer_opens_by_itself(support, make_conversation, say, answer):
    conversation = make_conversation()
    answer(conversation, say(conversation, user()), None, status="failed", provider_request_id="req_lost")

    response = find(support, "req_lost")

    assert response["Location"] == f"/conversations/{conversation.pk}/attempts/1/"


def test_a_ticket_leads_to_the_conversation_whose_note_names_it(support, talk, make_staff):
    note = write_note(
        conversation_id=talk.pk,
        author=make_staff(RoleName.FINANCE),
        text="will call",
        ticket="SUP-48213",
        now=NOW,
    )

    assert find(support, "SUP-48213")["Location"] == f"/conversations/{talk.pk}/#note-{note.pk}"


def test_several_places_are_listed_each_saying_what_it_is(support, talk, make_conversation, say, open_for):
    other = make_conversation(title="Porto")
    say(other, user())
    say(other, calls(CALL))
    open_for(User.objects.get(), talk)

    page = find(support, f"{CALL} and msg_01XYZ")

    assert {(place.kind, place.title) for place in page.context["exact"].places} == {
        ("Tool call", f"Conversation …{other.pk.hex[-6:]}"),
        ("Tool call", "Lisbon upgrade"),
        ("Attempt", "Lisbon upgrade"),
    }
    assert "get_order" in page.content.decode()
    assert page.context["texts"] is None


def test_ids_keep_their_case_and_the_page_says_what_this_one_would_be(support, talk):
    page = find(support, CALL.upper())

    assert page.status_code == 200
    assert page.context["exact"].shouted == ["toolu_01A7BK9WQ2VD8SJ1N4YH2P"]
    assert "Ids keep their case" in page.content.decode()


def test_what_was_tried_is_said(support, talk):
    page = find(support, "ch_nowhere")
    text = page.content.decode()

    assert [(tried.term, tried.hits) for tried in page.context["exact"].tried] == [("ch_nowhere", 0)]
    assert "Nothing found" in text
    assert "tool call id" in text
    assert "refunds, disputes" in text


def test_the_beginning_of_an_id_finds_it(support, talk):
    page = find(support, "toolu_01A7bK")

    assert [place.ident for place in page.context["exact"].prefixed] == [CALL]


def test_an_id_costs_the_same_with_five_times_the_rows(
    support, talk, make_conversation, say, answer, django_assert_num_queries
):
    find(support, CALL)
    with django_assert_num_queries(EXACT_QUERIES):
        find(support, CALL)
    for _ in range(4):
        conversation = make_conversation()
        asked = say(conversation, user("flexi"))
        answer(conversation, asked, calls(f"toolu_other_{conversation.pk}"))

    with django_assert_num_queries(EXACT_QUERIES) as captured:
        find(support, CALL)

    assert not [query for query in captured if "COUNT(" in query["sql"].upper()]
    assert Generation.objects.count() == 5
