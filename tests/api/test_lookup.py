"""Look-up by any id and search by words over HTTP: own realm, own scopes, and the access log."""

import pytest

from access.models import AccessEntry, Scope
from conversations.ids import mint_id
from conversations.services.accounts import ensure_account
from jobs.models import JobRun
from tests.api.effects import intent, make_talk, register, response
from tests.conversations.conftest import NOW

LOOKUP = "/api/v1/lookup"
SEARCH = "/api/v1/search"
CALL = "toolu_0123456789"
LOOKUP_QUERIES, SEARCH_QUERIES = 40, 10


@pytest.fixture
def charged(client, realm):
    """A conversation with a settled charge; return what its effect looks like."""
    register(realm)
    talk, message = make_talk(realm, CALL)
    begun = client.post("/api/v1/effects", {"message_id": message, "call_id": CALL}).json()
    talk.answers(CALL)
    return client.post(
        f"/api/v1/effects/{begun['effect']['id']}/settle", response(intent(begun["effect"]["id"]))
    ).json()["effect"]


def places(client, term):
    answer = client.get(LOOKUP, {"id": term})
    assert answer.status_code == 200, answer.content
    return answer.json()


def kinds(client, term):
    return [place["kind"] for place in places(client, term)["data"]]


def test_every_kind_of_id_leads_to_its_place(client, charged):
    (call,) = places(client, CALL)["data"]
    assert (call["kind"], call["message_id"], call["tool"]) == (
        "tool_call",
        charged["message_id"],
        "charge_card",
    )
    for term in ("ch_1", "pi_1", charged["idempotency_key"], charged["id"], f'"{charged["id"]}",'):
        (place,) = places(client, term)["data"]
        assert (place["kind"], place["effect_id"], place["state"]) == ("effect", charged["id"], "applied")
        assert place["message_id"] == charged["message_id"]
    (place,) = places(client, charged["conversation_id"])["data"]
    assert (place["kind"], place["conversation_id"]) == ("conversation", charged["conversation_id"])
    assert place["page"].startswith("http://testserver/conversations/")
    assert kinds(client, "cus-1") == ["account"]
    assert kinds(client, "nothing-of-the-kind") == []


def test_longer_ids_and_shouted_ones_are_offered_where_nothing_fits(client, charged):
    found = places(client, CALL[:-2])
    assert found["data"] == []
    assert {place["matched"] for place in found["begin_so"]} == {CALL}
    assert places(client, CALL.upper())["hint"].startswith("toolu_")


def test_effects_are_found_by_keys_that_work_with_effects(issue, client_of, charged):
    reader = client_of(issue(scopes=[Scope.READ]))
    assert kinds(reader, "ch_1") == []
    assert kinds(reader, CALL) == ["tool_call"]
    assert client_of(issue(scopes=[Scope.EFFECTS])).get(LOOKUP, {"id": "ch_1"}).status_code == 403


def test_the_end_of_an_id_is_enough_where_ends_are_searched_for(client, charged):
    found = places(client, f"…{charged['conversation_id'][-6:]}")
    assert (found["data"], found["begin_so"]) == ([], [])
    assert [place["conversation_id"] for place in found["end_so"]] == [charged["conversation_id"]]
    assert places(client, f"…{CALL[-6:]}")["end_so"] == []


@pytest.fixture
def held(client, charged):
    """A hold and an erasure request, as their own views tell them."""
    hold = client.post("/api/v1/holds", {"conversation_id": charged["conversation_id"], "matter": "LIT-7"})
    erasure = client.post("/api/v1/erasures", {"accounts": ["cus-1"]})
    assert (hold.status_code, erasure.status_code) == (201, 201), (hold.content, erasure.content)
    return hold.json(), erasure.json()


def test_holds_and_erasure_requests_are_found_by_keys_of_privacy(issue, client_of, held):
    hold, erasure = held
    of_privacy = client_of(issue(scopes=[Scope.READ, Scope.PRIVACY]))
    for term in (hold["id"], "LIT-7"):
        (place,) = places(of_privacy, term)["data"]
        assert (place["kind"], place["record_id"], place["record_name"]) == (
            "legal_hold",
            hold["id"],
            "LIT-7",
        )
    (place,) = places(of_privacy, erasure["number"])["data"]
    assert (place["kind"], place["record_name"]) == ("erasure_request", erasure["number"])
    reader = client_of(issue(scopes=[Scope.READ, Scope.EFFECTS]))
    for term in (hold["id"], "LIT-7", erasure["number"], place["record_id"]):
        assert places(reader, term) == places(reader, "nothing") | {"hint": None}


def test_runs_of_jobs_are_found_by_keys_that_could_ask_for_them(client, issue, client_of, stranger, charged):
    begun = client.post(
        "/api/v1/jobs",
        {"kind": "conversations.verify_replay", "parameters": {"conversation": charged["conversation_id"]}},
    ).json()
    (place,) = places(client, begun["id"])["data"]
    assert (place["kind"], place["record_id"], place["record_name"]) == (
        "job_run",
        begun["id"],
        "Verify replay",
    )
    reader = client_of(issue(scopes=[Scope.READ]))
    for other in (reader, stranger):
        assert other.get(f"/api/v1/jobs/{begun['id']}").status_code in (403, 404)
        assert places(other, begun["id"]) == places(other, "nothing") | {"hint": None}
    sweep = JobRun.objects.create(
        id=mint_id(NOW), kind="ledger.sweep", requested_by_kind="job", state="queued", queued_at=NOW
    )
    assert places(client, str(sweep.pk))["data"] == []


def test_another_realms_ids_are_nobodys(stranger, charged, held):
    hold, erasure = held
    terms = [CALL, "ch_1", charged["id"], charged["conversation_id"], "cus-1", charged["account_id"]]
    terms += [
        hold["id"],
        "LIT-7",
        erasure["number"],
        f"…{charged['conversation_id'][-6:]}",
        charged["id"][-8:],
    ]
    for term in terms:
        assert places(stranger, term) == places(stranger, "nothing") | {"hint": None}


def test_looking_for_a_person_is_in_the_access_log(client, issue, client_of, charged):
    issued = issue(scopes=[Scope.READ])
    reader = client_of(issued)
    places(reader, CALL)
    assert not AccessEntry.objects.filter(action="search_person").exists()
    places(reader, "cus-1")
    entry = AccessEntry.objects.get(action="search_person")
    assert (entry.actor_kind, entry.actor_id) == ("application", str(issued.key.pk))
    assert (str(entry.account_id), entry.realm_id) == (charged["account_id"], issued.key.realm_id)
    places(reader, "somebody@example.org")
    assert AccessEntry.objects.filter(action="search_person", row_count=0).count() == 1


@pytest.mark.parametrize("term", ["", "   ", "x" * 2001, "a\x00b"])
def test_what_cannot_be_looked_up_is_a_400(client, term):
    assert client.get(LOOKUP, {"id": term}).status_code == 400
    assert client.get(LOOKUP).status_code == 400


@pytest.mark.parametrize("term", ["%", "_____", "'); DROP TABLE x; --", "\u202e", "0" * 2000, "#m1", "\\x00"])
def test_hostile_terms_find_nothing(client, charged, term):
    assert places(client, term)["data"] == []


def test_looking_up_costs_the_same_however_many_conversations_there_are(
    client, realm, charged, django_assert_max_num_queries
):
    for number in range(5):
        make_talk(realm, f"toolu_other_{number}")
    with django_assert_max_num_queries(LOOKUP_QUERIES):
        places(client, CALL)


@pytest.fixture
def said(realm):
    talk, _ = make_talk(realm)
    talk.answers("toolu_1")
    talk.replies("The lavender parcel has left the warehouse.")
    return talk


def found(client, **query):
    answer = client.get(SEARCH, query)
    assert answer.status_code == 200, answer.content
    return answer.json()["data"]


def test_words_are_found_with_a_snippet_and_their_places(client, said):
    (hit,) = found(client, q="lavender parcel")
    assert (hit["conversation_id"], hit["role"], hit["type"]) == (str(said.id), "assistant", "text")
    marked = [hit["snippet"][mark["start"] : mark["end"]] for mark in hit["marks"]]
    assert marked == ["lavender", "parcel"]
    assert found(client, q="lavender -parcel") == []


@pytest.mark.parametrize(
    ("narrowed", "number"),
    [
        ({"account": "cus-1"}, 1),
        ({"account": "cus-9"}, 0),
        ({"since": "2020-01-01T00:00:00Z"}, 1),
        ({"until": "2020-01-01T00:00:00Z"}, 0),
        ({"status": "failed"}, 0),
        ({"tool": "charge_card"}, 1),
        ({"tool": "other"}, 0),
        ({"limit": 1}, 1),
    ],
)
def test_a_search_is_narrowed(client, said, narrowed, number):
    assert len(found(client, q="lavender", **narrowed)) == number
    assert len(found(client, q="lavender", conversation_id=str(said.id), **narrowed)) == number


def test_snippets_are_bodies_so_each_search_is_logged(client, issue, client_of, said):
    issued = issue(scopes=[Scope.READ])
    found(client_of(issued), q="lavender", conversation_id=str(said.id))
    entry = AccessEntry.objects.get(action="api_read")
    assert (entry.actor_id, entry.target_kind, entry.target_id) == (str(issued.key.pk), "list", "search")
    assert (entry.conversation_id, entry.row_count) == (said.id, 1)


def test_another_realms_words_are_not_found(stranger, other_realm, said):
    ensure_account(realm=other_realm, external_id="cus-1", now=NOW)
    assert found(stranger, q="lavender") == []
    assert found(stranger, q="lavender", account="cus-1") == []
    assert found(stranger, q="lavender", conversation_id=str(said.id)) == []


@pytest.mark.parametrize(
    "query",
    [
        {},
        {"q": ""},
        {"q": "x" * 501},
        {"q": "a\x00"},
        {"q": "a", "limit": "51"},
        {"q": "a", "limit": "0"},
        {"q": "a", "status": "x"},
        {"q": "a", "since": "x"},
        {"q": "a", "conversation_id": "x"},
        {"q": "a", "account": "\x00"},
    ],
)
def test_what_cannot_be_searched_is_a_400(client, query):
    assert client.get(SEARCH, query).status_code == 400


@pytest.mark.parametrize("words", ["'", "& | !", ":* <->", "*", '"', "-", "((((", "a:*b", "\u202e漢", "漢"])
def test_words_of_any_kind_are_searched(client, said, words):
    found(client, q=words)


def test_only_the_scope_read_searches(issue, client_of):
    other = client_of(issue(scopes=[Scope.WRITE, Scope.EFFECTS, Scope.PRIVACY]))
    assert other.get(SEARCH, {"q": "a"}).status_code == 403
    assert other.get(LOOKUP, {"id": "a"}).status_code == 403


def test_a_search_costs_the_same_however_much_is_found(client, realm, said, django_assert_max_num_queries):
    for _number in range(3):
        make_talk(realm)[0].replies("Another lavender parcel.", below=1)
    with django_assert_max_num_queries(SEARCH_QUERIES):
        assert len(found(client, q="lavender")) == 4
