"""Messages written and read: each once only, as typed parts or as the provider's own blocks."""

import json
from typing import Any

import pytest
from django.db import connections

from access.models import AccessEntry, Scope
from access.models.log import AccessAction
from conversations.models import Conversation, Generation, Message, MessagePart
from conversations.vocabulary import GenerationStatus
from tests.api.conversations.talking import ROOT, Talk, attempt, text
from tests.conversations.writers import at_once

pytestmark = pytest.mark.django_db


def call(call_id="toolu_1", **fields):
    return {
        "type": "tool_use",
        "tool_call_id": call_id,
        "tool_name": "get_order",
        "arguments": {"id": 1042},
        **fields,
    }


def result(call_id="toolu_1", words="in transit", **fields):
    return {"type": "tool_result", "tool_call_id": call_id, "text": words, **fields}


def parts_of(talk, seq):
    answer = talk.get(f"/messages/{seq}")
    assert answer.status_code == 200
    return answer.json()["parts"]


def test_a_message_and_an_attempt_at_its_answer_are_written_together(talk):
    told = talk.ask("Where is order 1042?", client_message_id="m-1", generation=attempt("r-1"))
    assert told["is_new"] is True
    assert told["message"] | {"created_at": ""} == {
        "id": talk.message_id(1),
        "seq": 1,
        "parent_id": None,
        "answers_id": None,
        "role": "user",
        "dialect": "anthropic_messages",
        "branch_reason": "continue",
        "is_hidden": False,
        "client_message_id": "m-1",
        "token_count": None,
        "occurred_at": None,
        "created_at": "",
    }
    generation = told["generation"]
    assert (generation["id"], generation["leaf_id"]) == (f"{talk.id}.g1", talk.message_id(1))
    assert (generation["status"], generation["provider"]) == ("streaming", "anthropic")
    assert told["head"] == {"message_id": talk.message_id(1), "move": 1}


def test_a_message_may_be_appended_alone_for_any_role(talk):
    for role in ("system", "user", "assistant", "developer"):
        assert talk.append(text(f"by {role}"), role=role)["generation"] is None
    assert [message["role"] for message in talk.get().json()["path"]] == [
        "system",
        "user",
        "assistant",
        "developer",
    ]


@pytest.mark.parametrize(
    "repeated",
    [
        {"client_message_id": "m-1", "generation": attempt("r-1")},
        {"generation": attempt("r-1")},
        {"client_message_id": "m-1", "generation": attempt("another")},
        {"client_message_id": "m-1"},
    ],
)
def test_a_retry_returns_what_is_stored_of_both(talk, repeated):
    first = talk.ask("hello", client_message_id="m-1", generation=attempt("r-1"))
    talk.finish(first["generation"]["id"], "Good morning.")

    again = talk.append(text("hello"), status=200, **repeated)

    assert again["is_new"] is False
    assert again["message"] == first["message"]
    if "generation" in repeated:
        assert again["generation"]["id"] == first["generation"]["id"]
        assert again["generation"]["message_id"] == talk.message_id(2)
    assert (Message.objects.count(), Generation.objects.count()) == (2, 1)


@pytest.mark.parametrize(
    ("words", "repeated", "rule"),
    [
        ("bye", {"client_message_id": "m-1"}, "client-id-used"),
        ("bye", {"client_message_id": "m-1", "generation": attempt("r-2")}, "client-id-used"),
        ("bye", {"generation": attempt("r-1")}, "request-id-used"),
        ("hello", {"client_message_id": "m-2", "generation": attempt("r-1")}, "request-id-used"),
    ],
)
def test_an_id_used_for_other_content_is_refused(talk, words, repeated, rule):
    talk.ask("hello", client_message_id="m-1", generation=attempt("r-1"))
    answer = talk.post("/messages", {"parts": [text(words)], **repeated})
    assert (answer.status_code, answer.json()["rule"]) == (409, rule)
    assert (Message.objects.count(), Generation.objects.count()) == (1, 1)


def test_a_later_attempt_of_the_same_request_is_a_new_one(talk):
    first = talk.ask("hello", client_message_id="m-1", generation=attempt("r-1"))
    talk.client.post(f"{ROOT}/generations/{first['generation']['id']}/fail", {"error_code": "overloaded"})
    answer = talk.post("/generations", attempt("r-1", attempt=2, model="claude-haiku-4-5"))
    assert answer.status_code == 201
    assert answer.json()["generation"]["leaf_id"] == talk.message_id(1)
    assert talk.post("/generations", attempt("r-1", attempt=2)).status_code == 200


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("names", ["client id", "request id", "both"])
def test_eight_at_once_write_one(begin, client_of, issue, names):
    talk = begin()
    issued = issue()
    body: dict[str, Any] = {"parts": [text("hello")], "generation": attempt("r-1")}
    if names != "request id":
        body["client_message_id"] = "m-1"
    body |= {} if names != "client id" else {"generation": None}
    if body["generation"] is None:
        del body["generation"]

    def post():
        answer = Talk(client_of(issued), talk.id).post("/messages", body)
        connections.close_all()
        return answer.status_code, answer.json()

    outcomes = at_once(*[post] * 8)

    assert sorted(status for status, _ in outcomes) == [200] * 7 + [201]
    assert {told["message"]["id"] for _, told in outcomes} == {talk.message_id(1)}
    assert Message.objects.count() == 1
    assert Generation.objects.count() == (names != "client id")


@pytest.mark.django_db(transaction=True)
def test_different_messages_at_once_are_all_written(begin, client_of, issue):
    talk, issued = begin(), issue()

    def post(number):
        def run():
            status = Talk(client_of(issued), talk.id).post("/messages", {"parts": [text(f"say {number}")]})
            connections.close_all()
            return status.status_code

        return run

    assert at_once(*map(post, range(8))) == [201] * 8
    assert sorted(Message.objects.values_list("seq", flat=True)) == list(range(1, 9))


def test_an_idempotency_key_is_honoured_beside_the_ids(talk):
    body = {"parts": [text("hello")]}
    first = talk.post("/messages", body, HTTP_IDEMPOTENCY_KEY="k-1")
    again = talk.post("/messages", body, HTTP_IDEMPOTENCY_KEY="k-1")
    assert (again.status_code, again.content) == (201, first.content)
    assert again["Idempotent-Replayed"] == "true"
    assert Message.objects.count() == 1


def test_a_message_goes_below_the_one_that_is_named(answered):
    answered.append(text("What of order 7?"), below_id=answered.message_id(1))
    assert answered.path() == ["Where is order 1042?", "What of order 7?"]
    answered.append(text("A new beginning"), below_id=None)
    assert answered.path() == ["A new beginning"]


@pytest.mark.parametrize(
    "named", ["{id}.m0", "{id}.m9", "{other}.m1", "m1", "", "{id}.m99999999999", "x" * 65]
)
def test_below_what_is_not_there_nothing_is_written(talk, begin, named):
    other = begin()
    other.append(text("elsewhere"))
    answer = talk.post(
        "/messages", {"parts": [text("hello")], "below_id": named.format(id=talk.id, other=other.id)}
    )
    assert answer.status_code in (400, 404)
    assert Conversation.objects.get(pk=talk.id).head_seq is None


def test_another_version_of_a_question_and_its_attempt(answered):
    body = {"parts": [text("Where is order 1043?")], "client_message_id": "e-1", "generation": attempt("r-9")}
    first = answered.post("/messages/1/edit", body)
    again = answered.post("/messages/1/edit", body)
    assert (first.status_code, again.status_code) == (201, 200)
    assert first.json()["message"]["branch_reason"] == "user_edit"
    assert again.json()["generation"]["id"] == first.json()["generation"]["id"] == f"{answered.id}.g2"
    assert first.json()["head"]["message_id"] == answered.message_id(3)


def test_only_a_users_message_is_edited(answered):
    answer = answered.post("/messages/2/edit", {"parts": [text("I never said that")]})
    assert (answer.status_code, answer.json()["rule"]) == (422, "edit-not-a-users")
    assert answered.post("/messages/9/edit", {"parts": [text("x")]}).status_code == 404
    assert Message.objects.count() == 2


@pytest.mark.parametrize("dialect", ["anthropic_messages", "openai_chat", "openai_responses", None])
def test_a_tool_loop_in_every_dialect(talk, dialect):
    spoken = {} if dialect is None else {"dialect": dialect}
    talk.append(text("Where is it?"), **spoken)
    talk.append(text("Let me look."), call("call_1"), call("call_2"), role="assistant", **spoken)
    assert talk.post("/messages", {"parts": [text("and?")], **spoken}).json()["rule"] == "call-unanswered"

    answer = talk.post(
        "/tool-results",
        {
            "parts": [result("call_1"), result("call_2", "no such order", status="error")],
            "calls": [{"tool_call_id": "call_1", "duration_ms": 180}],
        },
    )

    assert answer.status_code == 201, answer.json()
    assert answer.json()["message"]["answers_id"] == talk.message_id(2)
    words, first, second = parts_of(talk, 2)
    assert words["text"] == "Let me look."
    assert first["call"] == {"status": "succeeded", "error_code": "", "duration_ms": 180}
    assert second["call"]["status"] == "failed"
    assert json.loads(first["block"])
    assert [part["text"] for part in parts_of(talk, 3)] == ["in transit", "no such order"]
    followed = talk.append(text("It is on its way."), role="assistant", **spoken)
    assert followed["message"]["parent_id"] == talk.message_id(3)
    body = talk.get(f"/next-body?dialect={dialect or 'openai_chat'}&model=m", HTTP_ACCEPT="application/json")
    assert body.status_code == 200, body.json()
    refused = [one for one in body.json()["violations"] if one["strength"] == "refuse"]
    # Anthropic's newer models take no body that ends with the assistant.
    assert [one["rule"] for one in refused if "prefill" not in one["rule"]] == []


@pytest.mark.parametrize("repeated", ["client id", "request id"])
def test_results_that_arrive_again_late_are_known_in_whatever_dialect_the_head_is_now(talk, repeated):
    talk.append(text("Where is it?"), dialect="anthropic_messages")
    talk.append(call(), role="assistant", dialect="anthropic_messages")
    body: dict[str, Any] = {"parts": [result()]}
    body |= {"client_message_id": "m-1"} if repeated == "client id" else {"generation": attempt("r-1")}
    first = talk.post("/tool-results", body)
    assert (first.status_code, first.json()["message"]["role"]) == (201, "user")
    talk.append(text("It is on its way."), role="assistant", dialect="anthropic_messages")
    talk.append(text("Thank you"))

    again = talk.post("/tool-results", body)

    assert again.status_code == 200, again.json()
    assert again.json()["message"] == first.json()["message"]


@pytest.mark.parametrize(
    ("parts", "rule"),
    [
        ([result("toolu_9")], "result-without-call"),
        ([result(), result()], "call-answered-twice"),
        ([text("no result")], "call-unanswered"),
    ],
)
def test_results_that_answer_nothing_are_refused(talk, parts, rule):
    talk.append(text("Where is it?"), dialect="anthropic_messages")
    talk.append(call(), role="assistant", dialect="anthropic_messages")
    answer = talk.post("/tool-results", {"parts": parts})
    assert answer.status_code == 422, answer.json()
    assert Message.objects.count() == 2


def test_an_ending_without_its_result_is_refused(talk):
    talk.append(text("Where is it?"))
    talk.append(call(), role="assistant")
    answer = talk.post("/tool-results", {"parts": [result()], "calls": [{"tool_call_id": "toolu_2"}]})
    assert (answer.status_code, answer.json()["rule"]) == (404, "ending-without-result")
    assert Message.objects.count() == 2


def test_raw_blocks_are_kept_byte_for_byte(talk):
    block = '{"type": "text",  "text": "caf\\u00e9", "citations": [], "n": 1.10}'
    talk.append({"block": block}, role="assistant", dialect="anthropic_messages")
    [part] = parts_of(talk, 1)
    assert (part["block"], part["text"]) == (block, "café")


def test_blocks_given_as_objects_keep_every_number(talk):
    raw = (
        b'{"role":"assistant","dialect":"anthropic_messages","parts":[{"block":{"type":"tool_use","id":"t1",'
        b'"name":"pay","input":{"amount":12345678901234567890.10,"rate":1e2}}}]}'
    )
    answer = talk.client.generic("POST", f"{talk.url}/messages", raw, content_type="application/json")
    assert answer.status_code == 201
    [part] = parts_of(talk, 1)
    assert '"amount":12345678901234567890.10,"rate":1e2' in part["block"]


@pytest.mark.parametrize(
    "words", ["", " ", "nul \x00 in it", "half \ud800 pair", "\u202eright to left", "🦊" * 5_000, "a\nb\r\n"]
)
def test_whatever_was_said_is_kept(talk, words):
    raw = json.dumps({"parts": [text(words)], "client_message_id": "m-1"}).encode()
    for status in (201, 200):
        answer = talk.client.generic("POST", f"{talk.url}/messages", raw, content_type="application/json")
        assert answer.status_code == status, answer.json()
    [part] = parts_of(talk, 1)
    said = part["text"] if part["block"] is None else json.loads(part["block"])["text"]
    assert said == words


def test_an_image_above_32_kb_is_told_at_the_messages_own_address(talk):
    data = "iVBORw0K" * 10_000
    talk.append({"type": "image", "media_type": "image/png", "data": data}, dialect="openai_chat")
    [told] = talk.get().json()["path"][0]["parts"]
    assert (told["type"], told["is_large"], told["block"], told["media_type"]) == (
        "image",
        True,
        None,
        "image/png",
    )
    [whole] = parts_of(talk, 1)
    assert (whole["is_large"], whole["size"]) == (False, len(whole["block"]))
    assert json.loads(whole["block"]) == {
        "type": "image_url",
        "image_url": {"url": f"data:image/png;base64,{data}"},
    }


@pytest.mark.parametrize(
    ("part", "pointer"),
    [
        ({}, "#/parts/0"),
        ({"type": "text"}, "#/parts/0/text"),
        ({"type": "thinking", "text": "hm"}, "#/parts/0/type"),
        ({"type": "text", "text": 7, "block": {}}, "#/parts/0"),
        ({"type": "text", "text": ["a"]}, "#/parts/0/text"),
        ({"type": "tool_use", "tool_call_id": "a"}, "#/parts/0/tool_name"),
        ({"type": "image"}, "#/parts/0"),
        ({"type": "image", "data": "aGk="}, "#/parts/0/media_type"),
        ({"type": "image", "media_type": "image/png", "data": "§"}, "#/parts/0/data"),
        ({"block": 7}, "#/parts/0/block"),
        ({"block": ""}, "#/parts/0/block"),
    ],
)
def test_a_part_that_cannot_be_taken_is_named(talk, part, pointer):
    answer = talk.post("/messages", {"parts": [part]})
    assert answer.status_code == 400
    assert answer.json()["errors"][0]["pointer"] == pointer
    assert not Message.objects.exists()


@pytest.mark.parametrize(
    "block",
    [
        "not json",
        "[]",
        '{"type":"text","text":"a"}}],"messages":[{"role":"user","content":"b"',
        '{"type":"text","text":"a"},{"type":"text","text":"b"}',
        '{"a":' * 100_000 + "1" + "}" * 100_000,
    ],
)
def test_a_block_that_is_no_single_object_is_refused(talk, block):
    answer = talk.post("/messages", {"parts": [{"block": block}], "dialect": "anthropic_messages"})
    assert answer.status_code == 422
    assert answer.json()["rule"] == "blocks-unfit"
    assert not Message.objects.exists()


@pytest.mark.parametrize(
    ("raw", "status"),
    [
        (b'{"parts":[{"type":"text","text":"a"}],"token_count":' + b"9" * 5_000 + b"}", 400),
        (b'{"parts":[{"type":"text","text":"a"}],"token_count":NaN}', 400),
        (b'{"parts":' + b"[" * 100_000, 400),
        (b'{"parts":' + b"[" * 100_000 + b"]" * 100_000 + b"}", 400),
        (b'{"parts":"' + b"\xff" + b'"}', 400),
        (b"", 400),
        (b"null", 400),
        (b'{"parts":[],"role":"robot"}', 400),
        (b'{"parts":[]}', 201),
        (b'{"parts":[{"block":{"type":"\\u0000","x":NaN}}],"dialect":"openai_responses"}', 422),
    ],
)
def test_hostile_bodies_are_refused_in_good_order(talk, raw, status):
    answer = talk.client.generic("POST", f"{talk.url}/messages", raw, content_type="application/json")
    assert answer.status_code == status, answer.content[:500]


def test_a_message_in_another_dialect_than_its_place_is_refused(talk):
    talk.append(text("hello"), dialect="openai_chat")
    answer = talk.post("/messages/1/edit", {"parts": [text("hi")], "dialect": "anthropic_messages"})
    assert (answer.status_code, answer.json()["rule"]) == (422, "dialect-differs")


def test_what_the_provider_would_refuse_is_refused(talk):
    answer = talk.post("/messages", {"parts": [text("I call"), call()], "dialect": "anthropic_messages"})
    assert (answer.status_code, answer.json()["rule"]) == (422, "calls-by-assistant")
    assert answer.json()["place"].endswith("new message, block 1")


def test_messages_are_listed_in_order_and_paged(answered):
    answered.post("/messages/1/edit", {"parts": [text("zwei")]})
    page = answered.get("/messages?limit=2").json()
    assert [message["seq"] for message in page["data"]] == [1, 2]
    assert [message["generation_id"] for message in page["data"]] == [None, f"{answered.id}.g1"]
    rest = answered.client.get(page["next"]).json()
    assert [message["seq"] for message in rest["data"]] == [3]
    assert rest["next"] is None
    assert [m["seq"] for m in answered.client.get(rest["previous"]).json()["data"]] == [1, 2]
    entry = AccessEntry.objects.filter(action=AccessAction.API_READ).latest("id")
    assert (entry.target_kind, entry.row_count) == ("conversation", 2)


def test_the_number_of_queries_of_the_list_is_fixed(talk, django_assert_num_queries):
    talk.append(text("one"))
    talk.get("/messages")
    # As for a path, with the page's numbers in place of the tree.
    with django_assert_num_queries(15):
        talk.get("/messages")
    for number in range(6):
        talk.append(text(f"more {number}"))
    with django_assert_num_queries(15):
        talk.get("/messages")


def test_reading_one_message_is_in_the_access_log(answered):
    answered.get("/messages/2")
    entry = AccessEntry.objects.filter(action=AccessAction.API_READ).latest("id")
    assert (entry.target_kind, entry.target_id) == ("message", answered.message_id(2))


@pytest.mark.parametrize("seq", ["0", "9", "2147483648", "9" * 400, "9" * 5_000])
def test_a_message_that_is_not_there(answered, seq):
    assert answered.get(f"/messages/{seq}").status_code == 404


def test_a_key_that_may_only_write_is_told_nothing_that_was_said(issue, client_of, talk):
    writer = Talk(client_of(issue(scopes=[Scope.WRITE])), talk.id)
    for status in (201, 200):
        told = writer.append(text("my secret"), client_message_id="m-1", status=status)
        assert "my secret" not in json.dumps(told)
    assert writer.get("/messages").status_code == 403


def test_bytes_that_were_taken_away_are_told_so(answered):
    MessagePart.objects.filter(conversation_id=answered.id, seq=1).update(text=None, bytes_state="erased")
    [part] = answered.get().json()["path"][0]["parts"]
    assert (part["bytes_state"], part["text"], part["block"]) == ("erased", None, None)


def test_status_of_an_attempt_that_a_retry_finds(talk):
    first = talk.ask("hello", generation=attempt("r-1"))
    talk.client.post(f"{ROOT}/generations/{first['generation']['id']}/cancel", {})
    again = talk.append(text("hello"), status=200, generation=attempt("r-1"))
    assert again["generation"]["status"] == GenerationStatus.CANCELLED
