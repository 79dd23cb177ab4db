"""What goes through a watched client is in the store, byte for byte, and the caller sees no difference."""

import asyncio
import importlib
import shutil
import sys
import threading
from pathlib import Path

import anthropic
import httpx2
import openai
import pytest

from conversations.models import Account, Conversation, Exchange, Generation
from conversations.replay.bodies import request_body_of
from conversations.services.raw_bodies import open_raw_body
from counterfoil_recorder import carried, recording
from evidence.replay_server import Reply
from tests.client.conftest import ask, async_claude_of, claude_of, gpt_of, message, message_stream, streamed


def generations():
    return list(Generation.objects.order_by("created_at", "conversation_id", "number"))


def body_of(generation):
    return request_body_of(conversation_id=generation.conversation_id, number=generation.number)


def raw_answer(generation):
    return open_raw_body(Generation.objects.select_related("raw_response").get(pk=generation.pk).raw_response)


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


def test_a_stream_is_recorded_as_it_came_and_passed_on_as_it_comes(recorder, claude, provider):
    provider.answer = streamed("he", "llo", pause=0.02)
    with recording(account="customer-7"):
        events = list(ask(claude, stream=True))

    assert [event.type for event in events if event.type == "content_block_delta"] == [
        "content_block_delta"
    ] * 2
    assert recorder.flush()
    [generation] = generations()
    assert raw_answer(generation) == message_stream("he", "llo")
    assert (generation.status, generation.stop_reason) == ("complete", "end_turn")
    assert 0 <= generation.first_token_ms <= generation.total_ms


def test_the_caller_gets_the_first_event_before_the_last_is_sent(claude, provider):
    provider.answer = streamed("he", "llo", pause=3.0)
    arrived = threading.Event()

    def read():
        next(iter(ask(claude, stream=True)))
        arrived.set()

    threading.Thread(target=read, daemon=True).start()
    assert arrived.wait(15), "the whole answer takes more than twenty seconds"


def test_a_stream_that_the_caller_closes_is_recorded_as_cut_off(recorder, claude, provider):
    provider.answer = streamed("he", "llo", pieces=4, pause=0.1)
    with ask(claude, stream=True) as stream:
        next(iter(stream))

    assert recorder.flush()
    [generation] = generations()
    kept, whole = raw_answer(generation), message_stream("he", "llo")
    assert whole.startswith(kept)
    assert 0 < len(kept) < len(whole)
    assert generation.status == "interrupted"


def test_a_stream_that_is_forgotten_is_recorded_as_cut_off(recorder, claude, provider):
    provider.answer = streamed("he", "llo", pieces=4, pause=0.1)
    stream = ask(claude, stream=True)
    next(iter(stream))
    del stream

    assert recorder.flush()
    [generation] = generations()
    assert generation.status == "interrupted"


def test_an_answer_that_the_provider_breaks_off_is_recorded_and_raises_as_ever(recorder, claude, provider):
    provider.answer = streamed("he", "llo", cut=300)
    with pytest.raises(httpx2.RemoteProtocolError):
        list(ask(claude, stream=True))

    assert recorder.flush()
    [generation] = generations()
    assert raw_answer(generation) == message_stream("he", "llo")[:300]
    assert generation.status == "interrupted"


def test_a_compressed_answer_is_recorded_as_the_sdk_reads_it(recorder, claude, provider):
    provider.answer = Reply(message("hello"), is_gzipped=True)
    assert ask(claude).content[0].text == "hello"
    provider.answer = streamed("he", "llo", is_gzipped=True)
    list(ask(claude, "again", stream=True))

    assert recorder.flush()
    first, second = generations()
    assert (first.status, first.output_tokens) == ("complete", 2)
    assert raw_answer(second) == message_stream("he", "llo")


def test_a_compressed_stream_that_is_cut_off_is_kept_as_far_as_it_can_be_read(recorder, claude, provider):
    reply = streamed(*(f"word{number} " for number in range(400)), is_gzipped=True)
    reply.cut = len(reply.sent()) // 2
    provider.answer = reply
    with pytest.raises(httpx2.RemoteProtocolError):
        list(ask(claude, stream=True))

    assert recorder.flush()
    [generation] = generations()
    kept = raw_answer(generation)
    assert reply.body.startswith(kept)
    assert len(kept) > 1_000


def test_each_attempt_of_an_sdk_is_an_exchange_of_its_own(recorder, provider):
    overloaded = {"type": "error", "error": {"type": "overloaded_error", "message": "busy"}}
    provider.answer = Reply(
        str(overloaded).replace("'", '"').encode(), status=529, headers={"retry-after-ms": "1"}
    )
    client = claude_of(recorder, provider, max_retries=2)
    with recording(account="customer-7", request_id="ask-1"), pytest.raises(anthropic.APIStatusError):
        ask(client)

    assert recorder.flush()
    attempts = [(it.request_id, it.attempt, it.http_status, it.status) for it in generations()]
    assert attempts == [("ask-1", number, 529, "failed") for number in (1, 2, 3)]
    assert Exchange.objects.count() == 3


def test_the_attempts_of_one_call_are_one_request_whoever_names_it(recorder, provider):
    busy = Reply(
        b'{"type": "error", "error": {"type": "overloaded_error"}}',
        status=529,
        headers={"retry-after-ms": "1"},
    )
    replies = iter([busy, busy, Reply(message())])
    provider.find = lambda name: next(replies)
    ask(claude_of(recorder, provider, max_retries=2))

    assert recorder.flush()
    conversation = Conversation.objects.get()
    found = [(it.conversation_id, it.attempt, it.status) for it in generations()]
    assert found == [
        (conversation.pk, 1, "failed"),
        (conversation.pk, 2, "failed"),
        (conversation.pk, 3, "complete"),
    ]
    assert Generation.objects.values("request_id").distinct().count() == 1


def test_an_attempt_that_finds_no_provider_is_recorded_and_raises_as_ever(recorder, provider):
    client = claude_of(recorder, provider)
    client.base_url = "http://127.0.0.1:1"
    with pytest.raises(anthropic.APIConnectionError):
        ask(client)

    assert recorder.flush()
    [generation] = generations()
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
    assert recorder.flush()
    assert [it.http_status for it in generations()] == [200]


@pytest.mark.parametrize("api", ["chat", "responses"])
def test_openais_formats_are_recorded(recorder, provider, api):
    client = gpt_of(recorder, provider)
    if api == "chat":
        provider.answer = Reply(
            b'{"id":"chatcmpl-1","object":"chat.completion","model":"gpt-5","choices":[{"index":0,'
            b'"message":{"role":"assistant","content":"hello"},"finish_reason":"stop"}]}'
        )
        client.chat.completions.create(model="gpt-5", messages=[{"role": "user", "content": "hi"}])
    else:
        provider.answer = Reply(
            b'{"id":"resp_1","object":"response","status":"completed","model":"gpt-5","output":[{"type":"message",'
            b'"id":"msg_1","role":"assistant","content":[{"type":"output_text","text":"hello","annotations":[]}]}]}'
        )
        client.responses.create(model="gpt-5", input="hi")

    assert recorder.flush()
    [generation] = generations()
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

    assert recorder.flush()
    assert [it.provider for it in generations()] == ["groq"]


def test_async_calls_and_tasks_are_recorded_each_in_its_scope(recorder, provider):
    provider.answer = streamed("he", "llo", pause=0.01)

    async def one(client, number):
        with recording(account=f"customer-{number}", conversation=f"chat-{number}"):
            stream = await ask(client, f"question {number}", stream=True)
            return [event.type async for event in stream]

    async def all_of_them():
        async with async_claude_of(recorder, provider) as client:
            return await asyncio.gather(*(one(client, number) for number in range(8)))

    results = asyncio.run(all_of_them())

    assert {tuple(types) for types in results} == {tuple(results[0])}
    assert recorder.flush()
    assert len(generations()) == 8
    for number in range(8):
        conversation = Conversation.objects.get(external_ref=f"chat-{number}")
        assert conversation.account.external_id == f"customer-{number}"
        [generation] = Generation.objects.filter(conversation=conversation)
        assert f"question {number}".encode() in body_of(generation)


def test_a_cancelled_task_leaves_what_had_arrived(recorder, provider):
    provider.answer = streamed("he", "llo", pause=0.2)

    async def cancelled():
        async with async_claude_of(recorder, provider) as client:
            began = asyncio.Event()

            async def read():
                async for _ in await ask(client, stream=True):
                    began.set()

            task = asyncio.create_task(read())
            await began.wait()
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task

    asyncio.run(cancelled())

    assert recorder.flush()
    [generation] = generations()
    kept = raw_answer(generation)
    assert message_stream("he", "llo").startswith(kept)
    assert (len(kept) > 0, generation.status) == (True, "interrupted")


def test_a_task_cancelled_before_the_answer_begins_leaves_an_attempt_without_one(recorder, provider):
    reply = Reply(message())
    held = threading.Event()
    provider.find = lambda name: held.wait(5) and reply

    async def cancelled():
        async with async_claude_of(recorder, provider) as client:
            with pytest.raises(TimeoutError):
                await asyncio.wait_for(ask(client), timeout=0.3)

    asyncio.run(cancelled())
    held.set()

    assert recorder.flush()
    [generation] = generations()
    assert (generation.status, generation.http_status) == ("interrupted", None)


def test_32_threads_lose_and_double_nothing(recorder, claude, provider):
    failed = []

    def work(number):
        try:
            for turn in range(3):
                with recording(account=f"customer-{number % 4}", request_id=f"{number}-{turn}"):
                    ask(claude, f"thread {number} asks {turn}")
        except Exception as error:  # noqa: BLE001 -- shown below
            failed.append(error)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(32)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert not failed
    assert recorder.flush(60)
    wanted = {f"{number}-{turn}" for number in range(32) for turn in range(3)}
    assert sorted(Generation.objects.values_list("request_id", flat=True)) == sorted(wanted)
    assert {body_of(it) for it in generations()} == {it.body for it in provider.received}


def test_a_thread_of_the_applications_own_carries_the_scope(recorder, claude):
    with recording(account="customer-7"):
        threads = [threading.Thread(target=carried(ask), args=(claude, text)) for text in ("one", "two")]
        threads.append(threading.Thread(target=ask, args=(claude, "three")))
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    assert recorder.flush()
    accounts = Generation.objects.values_list("conversation__account__external_id", flat=True)
    assert sorted(accounts) == ["customer-7", "customer-7", "unattributed"]


def test_a_body_given_in_pieces_is_recorded_whole(recorder, provider):
    client = recorder.record(httpx2.Client())
    client.post(
        f"{provider.url}/v1/messages",
        content=iter([b'{"messages": ', b"[]}"]),
        headers={"content-length": "16"},
    )

    assert recorder.flush()
    [generation] = generations()
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
    assert recorder.flush()
    [generation] = generations()
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
