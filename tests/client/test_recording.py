"""What goes through a watched client is in the store, byte for byte."""

import importlib
import shutil
import sys
from pathlib import Path

import anthropic
import httpx2
import openai
import pytest

from conversations.models import Account, Conversation
from counterfoil_recorder import recording
from evidence.replay_server import Reply
from tests.client.conftest import ask, claude_of, gpt_of, message, message_stream, streamed
from tests.client.recorded import body_of, generations, raw_answer, recorded_by


def test_a_call_is_recorded_with_what_is_known_of_it(recorder, claude, provider):
    provider.answer = Reply(message("hello"), headers={"request-id": "req_7"})
    with recording(
        account="customer-7",
        label="Ada",
        email="ada@example.com",
        conversation="chat-42",
        prompt_version="refunds-4",
        request_id="ask-1",
    ):
        answer = ask(claude, extra_headers={"anthropic-beta": "files-api-2025-04-14"})

    assert answer.content[0].text == "hello"
    assert recorder.flush()
    account, conversation, [generation] = Account.objects.get(), Conversation.objects.get(), generations()
    assert (account.external_id, account.label, account.email) == ("customer-7", "Ada", "ada@example.com")
    assert (conversation.account, conversation.external_ref) == (account, "chat-42")
    assert body_of(generation) == provider.received[0].body
    assert (generation.provider, generation.status, generation.http_status) == ("anthropic", "complete", 200)
    assert (generation.request_id, generation.prompt_version) == ("ask-1", "refunds-4")
    assert (generation.api_version, generation.beta_headers) == (
        provider.received[0].headers["anthropic-version"],
        "files-api-2025-04-14",
    )
    assert generation.provider_request_id == "req_7"
    assert generation.total_ms is not None
    assert generation.first_token_ms is None
    assert generation.output_tokens == 2


def test_nothing_secret_leaves_the_process(recorder, provider, store):
    ask(claude_of(recorder, provider))
    gpt_of(recorder, provider).post("/chat/completions", body={"messages": []}, cast_to=httpx2.Response)

    assert recorder.flush()
    assert len(store.sent) == 2
    for sent in store.sent:
        assert b"secret" not in sent
        assert b"uthorization" not in sent
        assert b"x-api-key" not in sent.lower()


def test_an_attempt_that_finds_no_provider_is_recorded_and_raises_as_ever(recorder, provider):
    client = claude_of(recorder, provider)
    client.base_url = "http://127.0.0.1:1"
    with pytest.raises(anthropic.APIConnectionError):
        ask(client)

    [generation] = recorded_by(recorder)
    assert (generation.status, generation.http_status) == ("interrupted", None)


def test_calls_that_are_no_conversation_pass_unrecorded(recorder, claude, provider):
    provider.answer = Reply(b'{"input_tokens": 3}')
    claude.messages.count_tokens(model="claude-sonnet-4-6", messages=[{"role": "user", "content": "hi"}])
    provider.answer = Reply(b'{"data": []}')
    gpt = gpt_of(recorder, provider)
    gpt.models.list()
    gpt.post("/threads/thread_1/messages", body={"role": "user"}, cast_to=httpx2.Response)

    assert recorder.flush()
    assert len(provider.received) == 3
    assert recorder.counts().handed_over == 0


def test_of_a_redirect_only_the_answer_at_its_end_is_recorded(recorder, provider):
    moved = Reply(b"", status=307, headers={"Location": "/there/v1/messages"})
    provider.find = lambda name: (
        Reply(message()) if provider.received[-1].path.startswith("/there") else moved
    )
    client = recorder.record(httpx2.Client(follow_redirects=True))
    answer = client.post(f"{provider.url}/v1/messages", json={"messages": []})

    assert (answer.status_code, len(provider.received)) == (200, 2)
    assert [it.http_status for it in recorded_by(recorder)] == [200]


CHAT = (
    b'{"id":"chatcmpl-1","object":"chat.completion","model":"gpt-5","choices":[{"index":0,'
    b'"message":{"role":"assistant","content":"hello"},"finish_reason":"stop"}]}'
)
RESPONSE = (
    b'{"id":"resp_1","object":"response","status":"completed","model":"gpt-5","output":[{"type":"message",'
    b'"id":"msg_1","role":"assistant","content":[{"type":"output_text","text":"hello","annotations":[]}]}]}'
)
CREATE = {
    "chat": lambda gpt: gpt.chat.completions.create(
        model="gpt-5", messages=[{"role": "user", "content": "hi"}]
    ),
    "responses": lambda gpt: gpt.responses.create(model="gpt-5", input="hi"),
}


@pytest.mark.parametrize(("api", "answer"), [("chat", CHAT), ("responses", RESPONSE)], ids=CREATE)
def test_openais_formats_are_recorded(recorder, provider, api, answer):
    provider.answer = Reply(answer)
    CREATE[api](gpt_of(recorder, provider))

    [generation] = recorded_by(recorder)
    assert (generation.dialect, generation.provider, generation.status) == (
        f"openai_{api}",
        "openai",
        "complete",
    )
    assert body_of(generation) == provider.received[0].body


def test_another_provider_of_the_same_format_is_named(recorder, provider):
    client = openai.OpenAI(
        api_key="k",
        base_url=f"{provider.url}/openai/v1",
        http_client=recorder.record(openai.DefaultHttpxClient(), provider="groq"),
    )
    client.chat.completions.create(model="llama", messages=[{"role": "user", "content": "hi"}])

    assert [it.provider for it in recorded_by(recorder)] == ["groq"]


def test_a_body_given_in_pieces_is_recorded_whole(recorder, provider):
    client = recorder.record(httpx2.Client())
    client.post(
        f"{provider.url}/v1/messages",
        content=iter([b'{"messages": ', b"[]}"]),
        headers={"content-length": "16"},
    )

    [generation] = recorded_by(recorder)
    assert body_of(generation) == provider.received[0].body == b'{"messages": []}'


def test_a_client_of_the_library_under_its_older_name_is_recorded(recorder, provider, tmp_path, monkeypatch):
    # Older SDKs take clients of `httpx`, whose classes are not those of `httpx2`.
    shutil.copytree(Path(httpx2.__file__).parent, tmp_path / "httpx")
    root = tmp_path / "httpx" / "__init__.py"
    root.write_text(root.read_text().replace('"httpx2"', '"httpx"'))
    monkeypatch.syspath_prepend(tmp_path)
    httpx = importlib.import_module("httpx")
    monkeypatch.setitem(sys.modules, "httpx", httpx)
    assert not issubclass(httpx.Client, httpx2.Client)
    provider.answer = streamed("he", "llo", is_gzipped=True)

    with recorder.record(httpx.Client()) as client:
        answer = client.post(f"{provider.url}/v1/messages", content=b'{"messages": []}')

    assert answer.content == message_stream("he", "llo")
    [generation] = recorded_by(recorder)
    assert raw_answer(generation) == message_stream("he", "llo")


def test_a_client_is_watched_once(recorder, provider):
    http_client = httpx2.Client()
    assert recorder.record(http_client) is http_client
    recorder.record(http_client)
    http_client.post(f"{provider.url}/v1/messages", json={"messages": []})

    assert recorder.flush()
    assert recorder.counts().handed_over == 1


def test_what_fails_in_the_recorder_never_reaches_the_caller(recorder, claude, monkeypatch):
    def broken(*args, **kwargs):
        raise RuntimeError("a bug")

    for name in ("counterfoil_recorder.delivery.Delivery.hand_over", "counterfoil_recorder.attempts._now"):
        with monkeypatch.context() as patch:
            patch.setattr(name, broken)
            assert ask(claude).content[0].text == "hello"

    assert recorder.counts().stored == 0
    assert recorder.counts().failures == 2
