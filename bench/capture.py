"""What a recorder costs the one who calls a model: the same call with it and without, in turn.

The provider is on this machine and answers at once, or after the time that a quick model takes; the
store is the product's web server. Both are kept to the second core where there are two, as they
are on other machines in life; the caller and the recorder's threads share the first.
"""

import json
import os
import random
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import anthropic

from bench import corpus, recorded, stored, timing
from counterfoil_recorder import Recorder, recording
from evidence.replay_server import NAMED_BY, Reply, in_a_process
from evidence.web_server import WebServer

CALLS = 100
EVENTS = 60
# Seconds: what the quickest of models take for an answer.
MODEL_TAKES = 0.25
MOST_TIMES_PLAIN = 1.05
MOST_MILLISECONDS_MORE = 2.0


class Taken(NamedTuple):
    """Milliseconds of a call: the median, and what 99 in 100 stay below."""

    p50: float
    p99: float


def main(arguments: list[str]) -> int:
    corpus.ensure(corpus.wanted(arguments))
    body, answer = list(recorded.calls(1))[-1]
    replies = {
        "at once": Reply(answer),
        "streamed": Reply(_stream(answer), media_type="text/event-stream", pieces=EVENTS),
        "a model's time": Reply(answer, delay=MODEL_TAKES),
    }
    with ExitStack() as stack:
        stack.callback(stored.forget)
        with _second_core():
            provider = stack.enter_context(in_a_process(replies))
        store = WebServer()
        stack.callback(store.kill)
        with _second_core():
            store.start()
        key, spool = stored.issue_key(), Path(stack.enter_context(tempfile.TemporaryDirectory()))
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
        recorder = stack.enter_context(Recorder(url=store.url, key=key, spool=spool))
        clients = {"plain": _client(provider, None), "recorded": _client(provider, recorder)}
        found = {name: _in_turn(clients, body, name, recorder) for name in replies}
        counts = recorder.counts()
    timing.unpin()
    for name, ways in found.items():
        _show(name, ways["plain"], ways["recorded"])
    if counts.stored != counts.handed_over or not counts.stored:
        sys.stdout.write(f"  not everything was stored: {counts}\n")
        return 1
    plain, watched = found["a model's time"].values()
    is_close = timing.within("a call beside a plain one", watched.p50 / plain.p50, MOST_TIMES_PLAIN, "x")
    more = found["at once"]["recorded"].p50 - found["at once"]["plain"].p50
    is_little = timing.within("a call that is answered at once", more, MOST_MILLISECONDS_MORE, "ms more")
    return 0 if is_close and is_little else 1


def _in_turn(
    clients: dict[str, anthropic.Anthropic], body: bytes, name: str, recorder: Recorder
) -> dict[str, Taken]:
    """Make the call with each client in each round, in another order; what waits is sent in between."""
    rng, taken = random.Random(1), {way: list[float]() for way in clients}
    for number in range(CALLS + timing.WARM_UP):
        for way in rng.sample(list(clients), len(clients)):
            began = time.perf_counter_ns()
            _call(clients[way], body, name)
            spent = (time.perf_counter_ns() - began) / 1e6
            if number >= timing.WARM_UP:
                taken[way].append(spent)
        recorder.flush(30)
    return {way: Taken(statistics.median(times), _p99(times)) for way, times in taken.items()}


def _call(client: anthropic.Anthropic, body: bytes, name: str) -> None:
    """Send the last turn of a conversation of workload W, and read the answer to its end."""
    with recording(account=stored.ACCOUNT):
        answer: Any = client.post(
            "/v1/messages",
            content=body,
            cast_to=anthropic.types.Message,
            stream=name == "streamed",
            stream_cls=anthropic.Stream[anthropic.types.RawMessageStreamEvent],
            options={"headers": {NAMED_BY: name, "Content-Type": "application/json"}},
        )
        if name == "streamed":
            for _ in answer:
                pass


def _client(provider: str, recorder: Recorder | None) -> anthropic.Anthropic:
    http_client = anthropic.DefaultHttpxClient()
    if recorder is not None:
        recorder.record(http_client)
    return anthropic.Anthropic(api_key="k", base_url=provider, http_client=http_client, max_retries=0)


def _stream(answer: bytes) -> bytes:
    """Write the answer as the events of a stream, a delta for each few words."""
    message = json.loads(answer)
    text = next(block["text"] for block in message["content"] if block["type"] == "text")
    size = max(1, len(text) // EVENTS)
    events: list[dict[str, Any]] = [{"type": "message_start", "message": message | {"content": []}}]
    events.append({"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}})
    for start in range(0, len(text), size):
        delta = {"type": "text_delta", "text": text[start : start + size]}
        events.append({"type": "content_block_delta", "index": 0, "delta": delta})
    events += [{"type": "content_block_stop", "index": 0}, {"type": "message_stop"}]
    return b"".join(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n".encode() for event in events)


@contextmanager
def _second_core() -> Iterator[None]:
    """Start processes that keep to the second core."""
    cores = sorted(os.sched_getaffinity(0))
    os.sched_setaffinity(0, {cores[-1]})
    try:
        yield
    finally:
        os.sched_setaffinity(0, cores)


def _p99(times: list[float]) -> float:
    return statistics.quantiles(times, n=100)[-1]


def _show(name: str, plain: Taken, watched: Taken) -> None:
    sys.stdout.write(
        f"  {name:<16} p50 {plain.p50:8.2f} ms plain {watched.p50:8.2f} ms recorded"
        f" ({watched.p50 / plain.p50:5.3f} x)   p99 {plain.p99:8.2f} {watched.p99:8.2f}"
        f" ({watched.p99 / plain.p99:5.3f} x)\n"
    )
