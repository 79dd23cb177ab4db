"""Before a tool acts on the world the call that caused it is in the store, or the tool does not act."""

import asyncio
import time
from itertools import pairwise

import pytest

from conversations.models import Generation
from counterfoil_recorder import Limits, StoreUnavailable, delivery, recording
from tests.client.conftest import ask, async_claude_of, claude_of, files, wait_until


def test_when_it_returns_the_call_is_in_the_store(recorder, claude):
    with recording(account="customer-7"):
        ask(claude)
        recorder.before_effect()
        assert Generation.objects.count() == 1


def test_while_the_store_is_down_the_tool_does_not_run(recorder, claude, store):
    done = []

    @recorder.effectful
    def refund(amount):
        done.append(amount)
        return "refunded"

    with recording(account="customer-7"):
        ask(claude)
        assert refund(5) == "refunded"
        store.close()
        ask(claude, "and now?")
        with pytest.raises(StoreUnavailable, match="is not yet in the store"):
            recorder.before_effect(timeout=0.5)
        assert done == [5]

        store.open()
        assert refund(7) == "refunded"
    assert done == [5, 7]
    assert Generation.objects.count() == 2


def test_with_nothing_on_its_way_the_store_is_asked_whether_it_is_there(recorder, claude, store):
    with recording(account="customer-7"):
        recorder.before_effect()
        store.close()
        with pytest.raises(StoreUnavailable, match="does not answer"):
            recorder.before_effect(timeout=0.5)


def test_it_does_not_wait_for_the_next_round_of_a_store_that_was_down(
    recorder, claude, store, spool, monkeypatch
):
    monkeypatch.setattr(delivery, "_FIRST_WAIT", 60.0)
    monkeypatch.setattr(delivery, "_LONGEST_WAIT", 60.0)
    with recording(account="customer-7"):
        store.close()
        ask(claude)
        wait_until(lambda: files(spool))
        store.open()
        began = time.monotonic()
        recorder.before_effect(timeout=30)
    assert time.monotonic() - began < 20


def test_a_call_of_the_scope_that_is_lost_stops_every_effect_of_it_and_of_no_other(
    make_recorder, provider, store
):
    recorder = make_recorder(limits=Limits(exchange_bytes=2_000))
    claude = claude_of(recorder, provider)
    with recording(account="customer-7"):
        ask(claude, "x" * 3_000)
        ask(claude, "hi")
        for _ in range(2):
            with pytest.raises(StoreUnavailable, match="is lost to the store"):
                recorder.before_effect()
    with recording(account="customer-8"):
        ask(claude, "hi")
        recorder.before_effect()


def test_a_call_that_the_store_refuses_stops_the_effect(recorder, claude, store):
    store.faults.append(413)
    with recording(account="customer-7"):
        with recording(request_id="ask-1"):
            ask(claude)
        with pytest.raises(StoreUnavailable, match="was refused by the store"):
            recorder.before_effect()


def test_outside_of_every_scope_a_lost_call_stops_one_effect(make_recorder, provider):
    recorder = make_recorder(limits=Limits(exchange_bytes=2_000))
    ask(claude_of(recorder, provider), "x" * 3_000)

    with pytest.raises(StoreUnavailable):
        recorder.before_effect()
    recorder.before_effect()


def test_async_tools_are_guarded_without_stopping_the_loop(recorder, provider, store):
    done, ticks = [], []

    @recorder.effectful
    async def refund(amount):
        done.append(amount)
        return "refunded"

    async def tick():
        while True:
            ticks.append(time.monotonic())
            await asyncio.sleep(0.01)

    async def work():
        ticking = asyncio.create_task(tick())
        async with async_claude_of(recorder, provider) as client:
            with recording(account="customer-7"):
                await ask(client)
                assert await refund(5) == "refunded"
                store.close()
                await ask(client, "and now?")
                with pytest.raises(StoreUnavailable):
                    await recorder.abefore_effect(timeout=3)
        ticking.cancel()

    asyncio.run(work())

    assert done == [5]
    assert Generation.objects.count() == 1
    assert max(after - before for before, after in pairwise(ticks)) < 2
