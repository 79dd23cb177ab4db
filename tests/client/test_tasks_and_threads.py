"""Tasks and threads are recorded each in its scope, and lose nothing."""

import asyncio
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from conversations.models import Conversation, Generation
from counterfoil_recorder import carried, recording
from evidence.replay_server import Reply
from tests.client.conftest import ask, async_claude_of, message, message_stream, streamed
from tests.client.recorded import body_of, generations, raw_answer, recorded_by


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
    assert len(recorded_by(recorder)) == 8
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

    [generation] = recorded_by(recorder)
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

    [generation] = recorded_by(recorder)
    assert (generation.status, generation.http_status) == ("interrupted", None)


def test_32_threads_lose_and_double_nothing(recorder, claude, provider):
    def work(number):
        for turn in range(3):
            with recording(account=f"customer-{number % 4}", request_id=f"{number}-{turn}"):
                ask(claude, f"thread {number} asks {turn}")

    with ThreadPoolExecutor(32) as pool:
        list(pool.map(work, range(32)))

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
