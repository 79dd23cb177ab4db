"""Every address of conversations, for a key of another realm and for one without the scope."""

import pytest
from django.urls import reverse

from access.models import AccessEntry, Scope
from access.models.log import AccessAction
from conversations.api.urls import urlpatterns
from conversations.models import Conversation, Generation, HeadMove, Message
from tests.api.answers import refusal
from tests.api.conversations.talking import attempt, text

pytestmark = pytest.mark.django_db

# Bodies that would be taken, so that nothing but the realm stands in the way.
BODIES = {
    "usage-of-generation": {"usage": {"input_tokens": 1, "output_tokens": 1}},
    "conversations": {"account": {"external_id": "c"}},
    "head": {"message_id": "{id}.m1"},
    "fork": {"leaf_id": "{id}.m1"},
    "messages": {"parts": [text("hello")]},
    "edit-message": {"parts": [text("hello")]},
    "tool-results": {"parts": [{"type": "tool_result", "tool_call_id": "t", "text": "x"}]},
    "generations": attempt("r-9"),
    "regenerate": {"request_id": "r-9"},
    "finish-generation": {"message": {"parts": [text("hello")]}},
    "summaries": {"from_id": "{id}.m1", "to_id": "{id}.m1", "text": "x", "prompt_version": "s"},
    "chunks": {"message_id": "{id}.m1", "spans": [[0, 1]], "chunking_version": "c"},
}
QUERIES = {"context": "?budget=100"}


OPERATIONS = [
    pytest.param(pattern.name, method, scope, id=f"{method} {pattern.name}")
    for pattern in urlpatterns
    for method, scope in pattern.callback.cls.scopes.items()
]


def ask(client, talk, name, method):
    known = {
        "conversation_id": talk.id,
        "seq": 1,
        "generation_id": f"{talk.id}.g1",
        "chunk_id": "01920000-0000-7000-8000-000000000000",
    }
    pattern = next(one for one in urlpatterns if one.name == name)
    arguments = {wanted: known[wanted] for wanted in pattern.pattern.converters}
    address = reverse(f"api:v1:{name}", kwargs=arguments) + QUERIES.get(name, "")
    body = {
        key: value.format(id=talk.id) if isinstance(value, str) else value
        for key, value in BODIES.get(name, {}).items()
    }
    return client.generic(method, address, **_encoded(client, body, method))


def _encoded(client, body, method):
    if method == "GET":
        return {}
    data, content_type = client._encode_data(body, format="json")
    return {"data": data, "content_type": content_type}


def counts():
    return [table.objects.count() for table in (Conversation, Message, Generation, HeadMove)]


@pytest.mark.parametrize(("name", "method", "scope"), OPERATIONS)
def test_what_is_of_another_realm_does_not_exist(answered, stranger, name, method, scope):
    if name == "conversations":
        # Its list and its accounts are the caller's own.
        assert stranger.get(reverse("api:v1:conversations")).json()["data"] == []
        return
    before, read = counts(), AccessEntry.objects.filter(action=AccessAction.API_READ).count()
    answer = ask(stranger, answered, name, method)
    assert answer.status_code == 404, answer.content
    assert answer.json()["rule"] in ("no-conversation", "no-attempt")
    assert counts() == before
    assert AccessEntry.objects.filter(action=AccessAction.API_READ).count() == read


@pytest.mark.parametrize(("name", "method", "scope"), OPERATIONS)
def test_a_key_without_the_scope_is_refused(answered, issue, client_of, name, method, scope):
    others = [one for one in Scope if one != scope]
    before = counts()
    answer = ask(client_of(issue(scopes=others)), answered, name, method)
    assert refusal(answer) == (403, "permission-denied")
    assert counts() == before


@pytest.mark.parametrize(("name", "method", "scope"), OPERATIONS)
def test_a_key_of_the_realm_finds_it(answered, client, name, method, scope):
    answer = ask(client, answered, name, method)
    # No body was recorded for the attempt, no chunk was cut, nothing asked for the result.
    without = {"replay-body": 404, "citation": 404, "tool-results": 422}
    # The attempt has been finished.
    without |= {"fail-generation": 409, "cancel-generation": 409}
    expected = {without[name]} if name in without else {200, 201}
    assert answer.status_code in expected, answer.content


def test_an_id_of_another_realm_in_a_body_does_not_exist_either(answered, stranger, begin):
    own = begin(stranger)
    own.append(text("hello"))
    theirs = answered.message_id(1)
    for address, body in (
        ("/messages", {"parts": [text("x")], "below_id": theirs}),
        ("/generations", attempt(leaf_id=theirs)),
        ("/fork", {"leaf_id": theirs}),
        ("/summaries", {"from_id": theirs, "to_id": theirs, "text": "x", "prompt_version": "s"}),
        ("/chunks", {"message_id": theirs, "spans": [[0, 1]], "chunking_version": "c"}),
    ):
        answer = own.post(address, body)
        assert refusal(answer) == (404, "no-message"), address
    assert own.client.put(f"{own.url}/head", {"message_id": theirs}).status_code == 404
    assert own.get(f"/next-body?leaf_id={theirs}").status_code == 404


def test_one_external_id_is_two_customers_in_two_realms(client, stranger):
    body = {"account": {"external_id": "c-1"}, "external_ref": "thread-1"}
    address = reverse("api:v1:conversations")
    first, second = client.post(address, body).json(), stranger.post(address, body).json()
    assert first["id"] != second["id"]
    assert first["account"]["id"] != second["account"]["id"]
