"""Every operation × each scope alone × keys of this realm, of another, ended × own, foreign, missing things.

What is another realm's answers like what does not exist, to the letter.
"""

import json
from datetime import timedelta

import pytest
from django.utils import timezone

from access.models import AccessEntry, Scope
from conversations.models import Conversation, Generation, Message
from jobs.models import JobRun
from ledger.models import EffectMove
from retention.models import ErasureRequest, LegalHold
from tests.access.addresses_of_views import of_the_product
from tests.api.answers import refusal
from tests.api.tenancy import METHODS, OPEN_TO_EVERY_KEY, OPERATIONS, Things, ask, path_of, walk

pytestmark = pytest.mark.django_db

EVERY = sorted(OPERATIONS)
NAMED = [one for one in EVERY if OPERATIONS[one].is_named]
UNNAMED = [one for one in EVERY if not OPERATIONS[one].is_named]


def state():
    """How much there is of what could be read or changed."""
    tables = (Conversation, Message, Generation, EffectMove, LegalHold, ErasureRequest, JobRun)
    moved = EffectMove.objects.filter(source="answer").count()
    asked_for = LegalHold.objects.exclude(release_requested_at=None).count()
    reads = AccessEntry.objects.filter(action="api_read").count()
    ended = Generation.objects.exclude(finished_at=None).count()
    return [*(table.objects.count() for table in tables), moved, asked_for, reads, ended]


def told(answer, things):
    """What a problem says, with the names of what was asked for taken out."""
    problem = answer.json()
    problem.pop("request_id")
    text = json.dumps(problem, sort_keys=True)
    for value in sorted(set(things.ids.values()), key=len, reverse=True):
        text = text.replace(value, "…")
    return answer.status_code, answer["Content-Type"], text


def test_every_operation_has_its_line_and_no_line_is_left_over():
    assert set(walk()) == set(OPERATIONS)


@pytest.mark.parametrize(("name", "method"), EVERY)
def test_the_scope_alone_opens_it(ours, issue, client_of, name, method):
    """Without it the answer is 403 whatever is asked for; with it the key's own things are found."""
    operation = OPERATIONS[name, method]
    before = state()
    for scope in Scope:
        if operation.scope in (None, scope):
            continue
        client = client_of(issue(scopes=[scope]))
        for things in (ours, Things.nobodys()):
            # Where the scope depends on what is found, what is not there is not there first.
            expected = {403, 404} if name == "job" and things is not ours else {403}
            answer = ask(client, name, method, things)
            assert answer.status_code in expected, (scope, answer.content)
            if answer.status_code == 403:
                assert answer.json()["rule"] == "permission-denied"
    assert state() == before
    scopes = list(Scope) if operation.scope is None else [Scope(operation.scope)]
    for scope in scopes:
        answer = ask(client_of(issue(scopes=[scope])), name, method, ours)
        assert answer.status_code in operation.own, answer.content


@pytest.mark.parametrize(("name", "method"), NAMED)
def test_what_is_another_realms_answers_like_what_is_not_there(ours, stranger, name, method):
    before = state()
    theirs = told(ask(stranger, name, method, ours), ours)
    assert state() == before
    nobodys = told(ask(stranger, name, method, Things.nobodys()), Things.nobodys())
    assert theirs == nobodys
    assert theirs[0] == 404


@pytest.mark.parametrize(("name", "method"), UNNAMED)
def test_where_nothing_is_named_a_stranger_sees_nothing_of_ours(ours, stranger, name, method):
    answer = ask(stranger, name, method, ours)
    assert answer.status_code in OPERATIONS[name, method].own
    said = answer.content.decode()
    assert [value for value in ours.ids.values() if value in said and value != "cus-1"] == []
    if empty := OPERATIONS[name, method].empty:
        assert answer.json()[empty] == []


@pytest.mark.parametrize(("name", "method"), EVERY)
def test_an_ended_key_and_none_at_all_open_nothing(ours, issue, client_of, name, method):
    now = timezone.now()
    ended = client_of(issue(now=now - timedelta(days=2), expires_at=now - timedelta(days=1)))
    before = state()
    for things in (ours, Things.nobodys()):
        answer = ask(ended, name, method, things)
        assert (answer.status_code, answer["WWW-Authenticate"]) == (401, 'Bearer realm="api"')
        ended_without = client_of(issue())
        ended_without.credentials()
        assert ask(ended_without, name, method, things).status_code == 401
    assert state() == before


@pytest.mark.parametrize("name", sorted({name for name, _ in EVERY}))
def test_no_address_has_a_method_that_nobody_declared(ours, client, name):
    declared = {method for known, method in EVERY if known == name}
    for method in set(METHODS) - declared:
        answer = client.generic(method, path_of(name, ours))
        assert refusal(answer) == (405, "method-not-allowed")


def test_what_is_open_to_every_key_is_so_on_purpose():
    open_ones = {
        address.name.rpartition(":")[2]
        for address in of_the_product()
        if getattr(getattr(address.view, "cls", None), "scopes", None) == {}
    }
    assert open_ones == OPEN_TO_EVERY_KEY
