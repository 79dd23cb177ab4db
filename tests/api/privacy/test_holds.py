"""Legal holds over HTTP: a key places and asks, a person releases."""

import pytest
from django.db import IntegrityError, transaction
from django.utils import timezone

from access.models import AccessEntry, Scope
from retention.errors import TwoPeopleError
from retention.models import HoldEvent, LegalHold
from retention.services.holds import approve_release, refuse_release
from tests.api.answers import post_raw, refusal
from tests.api.conftest import STAFF
from tests.api.effects import intent, make_conversation, make_talk, register, response
from tests.api.privacy.conftest import HOLDS, LIST_QUERIES, MISSING, hold
from tests.conversations.conftest import NOW


def charge(client, realm):
    """An effect that was begun over HTTP."""
    register(realm)
    _, message = make_talk(realm)
    return client.post("/api/v1/effects", {"message_id": message, "call_id": "toolu_1"}).json()["effect"]


def test_a_hold_is_placed_by_a_key_and_released_by_a_person(issue, client_of, conversation, people):
    issued = issue(scopes=[Scope.PRIVACY])
    client = client_of(issued)
    answer = client.post(HOLDS, {"conversation_id": str(conversation.pk), "matter": "M-7"})
    assert answer.status_code == 201
    placed = answer.json()
    assert (placed["target"], placed["conversation_id"]) == ("conversation", str(conversation.pk))
    assert (placed["state"], placed["placed_by_kind"]) == ("in_force", "application")
    assert answer["Location"] == f"http://testserver{HOLDS}/{placed['id']}"

    asked = client.post(f"{HOLDS}/{placed['id']}/release-request")
    assert (asked.status_code, asked.json()["state"]) == (200, "release_requested")
    again = client.post(f"{HOLDS}/{placed['id']}/release-request")
    assert refusal(again) == (409, "release-requested")

    refuse_release(hold_id=placed["id"], user=people[0], now=timezone.now())
    assert client.get(f"{HOLDS}/{placed['id']}").json()["state"] == "in_force"
    client.post(f"{HOLDS}/{placed['id']}/release-request")
    approve_release(hold_id=placed["id"], user=people[0], now=timezone.now())
    assert client.get(f"{HOLDS}/{placed['id']}").json()["state"] == "released"
    by = [(event.step, event.by_id, event.by_key_id) for event in HoldEvent.objects.order_by("pk")]
    key, person = issued.key.pk, people[0].pk
    assert by == [
        ("placed", None, key),
        ("release_requested", None, key),
        ("release_refused", person, None),
        ("release_requested", None, key),
        ("released", person, None),
    ]
    logged = AccessEntry.objects.filter(target_kind="hold", target_id=placed["id"]).order_by("pk")
    assert [entry.actor_kind for entry in logged] == [
        "application",
        "application",
        "staff",
        "application",
        "staff",
    ]


def test_accounts_and_effects_are_held_too(client, realm, conversation):
    effect = charge(client, realm)
    client.post(f"/api/v1/effects/{effect['id']}/settle", response(intent()))
    assert hold(client, account_id=str(conversation.account_id))["target"] == "account"
    placed = hold(client, effect_id=effect["id"])
    assert (placed["target"], placed["conversation_id"]) == ("effect", effect["conversation_id"])
    assert len(client.get(HOLDS).json()["data"]) == 2
    held = client.get(HOLDS, {"conversation_id": effect["conversation_id"]}).json()["data"]
    assert [row["id"] for row in held] == [placed["id"]]


def test_whoever_made_the_key_that_asked_is_no_other_person(issue, client_of, conversation, people):
    maker = people[0]
    issued = issue(actor=STAFF.__class__(STAFF.kind, str(maker.pk)))
    client = client_of(issued)
    placed = hold(client, conversation_id=str(conversation.pk))
    client.post(f"{HOLDS}/{placed['id']}/release-request")
    with pytest.raises(TwoPeopleError, match="made the key"):
        approve_release(hold_id=placed["id"], user=maker, now=timezone.now())
    with pytest.raises(IntegrityError, match="made the key"), transaction.atomic():
        LegalHold.objects.update(released_by=maker, released_at=timezone.now())
    approve_release(hold_id=placed["id"], user=people[1], now=timezone.now())


@pytest.mark.parametrize(
    ("changes", "constraint"),
    [
        ({"release_requested_at": NOW}, "request_is_somebodys"),
        ({"released_at": NOW}, "release_was_asked_for"),
    ],
)
def test_the_database_refuses_holds_of_nobody(client, conversation, changes, constraint):
    hold(client, conversation_id=str(conversation.pk))
    with pytest.raises(IntegrityError, match=f"retention_hold_{constraint}"), transaction.atomic():
        LegalHold.objects.update(**changes)


HOSTILE_HOLDS = [
    [],
    {},
    {"matter": "M-7"},
    {"matter": "", "account_id": MISSING},
    {"matter": "x" * 65, "account_id": MISSING},
    {"matter": "a\x00", "account_id": MISSING},
    {"matter": "\ud800", "account_id": MISSING},
    {"matter": "M-7", "account_id": "x"},
    {"matter": "M-7", "account_id": MISSING, "conversation_id": MISSING},
    {"matter": ["M-7"], "account_id": MISSING},
]


@pytest.mark.parametrize("body", HOSTILE_HOLDS)
def test_a_hold_of_another_shape_is_refused(client, body):
    answer = post_raw(client, HOLDS, body)
    assert answer.status_code == 400, answer.content


def test_what_is_another_realms_can_be_neither_held_nor_released(client, stranger, realm, conversation):
    placed = hold(client, conversation_id=str(conversation.pk))
    effect = charge(client, realm)
    for name, target in (
        ("conversation", conversation.pk),
        ("account", conversation.account_id),
        ("effect", effect["id"]),
    ):
        theirs = stranger.post(HOLDS, {f"{name}_id": str(target), "matter": "M-8"})
        missing = stranger.post(HOLDS, {f"{name}_id": MISSING, "matter": "M-8"})
        assert theirs.status_code == missing.status_code == 404
        assert theirs.json()["rule"] == missing.json()["rule"] == f"no-{name}"
    assert stranger.get(f"{HOLDS}/{placed['id']}").json()["rule"] == "no-hold"
    assert stranger.post(f"{HOLDS}/{placed['id']}/release-request").json()["rule"] == "no-hold"
    assert stranger.get(HOLDS).json()["data"] == []
    assert LegalHold.objects.get().release_requested_at is None


def test_the_list_of_holds_is_paged_and_costs_the_same(client, realm, django_assert_num_queries):
    ids = [hold(client, conversation_id=str(make_conversation(realm).pk))["id"] for _ in range(3)]
    page = client.get(f"{HOLDS}?limit=2&is_released=false").json()
    assert [row["id"] for row in page["data"]] == ids[:0:-1]
    assert [row["id"] for row in client.get(page["next"]).json()["data"]] == ids[:1]
    for limit in (1, 3):
        with django_assert_num_queries(LIST_QUERIES):
            client.get(f"{HOLDS}?limit={limit}")
