"""Streams are passed on as they come, and kept as far as they came."""

import threading

import httpx2
import pytest

from counterfoil_recorder import recording
from evidence.replay_server import Reply
from tests.client.conftest import ask, message, message_stream, streamed
from tests.client.recorded import raw_answer, recorded_by


def test_a_stream_is_recorded_as_it_came_and_passed_on_as_it_comes(recorder, claude, provider):
    provider.answer = streamed("he", "llo", pause=0.02)
    with recording(account="customer-7"):
        events = list(ask(claude, stream=True))

    assert [event.type for event in events if event.type == "content_block_delta"] == [
        "content_block_delta"
    ] * 2
    [generation] = recorded_by(recorder)
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

    [generation] = recorded_by(recorder)
    kept, whole = raw_answer(generation), message_stream("he", "llo")
    assert whole.startswith(kept)
    assert 0 < len(kept) < len(whole)
    assert generation.status == "interrupted"


def test_a_stream_that_is_forgotten_is_recorded_as_cut_off(recorder, claude, provider):
    provider.answer = streamed("he", "llo", pieces=4, pause=0.1)
    stream = ask(claude, stream=True)
    next(iter(stream))
    del stream

    [generation] = recorded_by(recorder)
    assert generation.status == "interrupted"


def test_an_answer_that_the_provider_breaks_off_is_recorded_and_raises_as_ever(recorder, claude, provider):
    provider.answer = streamed("he", "llo", cut=300)
    with pytest.raises(httpx2.RemoteProtocolError):
        list(ask(claude, stream=True))

    [generation] = recorded_by(recorder)
    assert raw_answer(generation) == message_stream("he", "llo")[:300]
    assert generation.status == "interrupted"


def test_a_compressed_answer_is_recorded_as_the_sdk_reads_it(recorder, claude, provider):
    provider.answer = Reply(message("hello"), is_gzipped=True)
    assert ask(claude).content[0].text == "hello"
    provider.answer = streamed("he", "llo", is_gzipped=True)
    list(ask(claude, "again", stream=True))

    first, second = recorded_by(recorder)
    assert (first.status, first.output_tokens) == ("complete", 2)
    assert raw_answer(second) == message_stream("he", "llo")


def test_a_compressed_stream_that_is_cut_off_is_kept_as_far_as_it_can_be_read(recorder, claude, provider):
    reply = streamed(*(f"word{number} " for number in range(400)), is_gzipped=True)
    reply.cut = len(reply.sent()) // 2
    provider.answer = reply
    with pytest.raises(httpx2.RemoteProtocolError):
        list(ask(claude, stream=True))

    [generation] = recorded_by(recorder)
    kept = raw_answer(generation)
    assert reply.body.startswith(kept)
    assert len(kept) > 1_000
