"""Exchanges a second through HTTP: recorders send what workload W says, as fast as the store takes it.

The web server is gunicorn as docs/operator.md has it, the database the embedded one, and the senders
run on the same cores as both. `--seconds=60` says how long. Every so manyth exchange is sent twice.
"""

import argparse
import http.client
import itertools
import statistics
import sys
import threading
import time
import uuid
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple, Self
from urllib.parse import urlsplit

import psutil

from bench import corpus, recorded, stored, timing
from counterfoil_recorder.exchanges import Parcel, to_multipart
from counterfoil_recorder.tickets import Ticket
from evidence.web_server import WebServer

SECONDS = 60.0
SENDERS = 8
# Different conversations of workload W; each sender goes through all, as an account of its own each time.
SEEDS = 4
TWICE_EVERY = 20
LEAST_A_SECOND = 60.0
MOST_GROWTH = 1.15


@dataclass(slots=True)
class Sent:
    """What the senders know: milliseconds of each request, statuses, how many exchanges there were."""

    times: list[float] = field(default_factory=list)
    statuses: Counter[int] = field(default_factory=Counter)
    different: int = 0
    bytes: int = 0


class _Server(NamedTuple):
    """The master's and its workers': resident bytes (shared pages count for each), and seconds of CPU."""

    memory: int
    cpu: float

    @classmethod
    def look(cls, pid: int) -> Self:
        master = psutil.Process(pid)
        processes = [master, *master.children(recursive=True)]
        times = [process.cpu_times() for process in processes]
        return cls(
            memory=sum(process.memory_info().rss for process in processes),
            cpu=sum(spent.user + spent.system for spent in times),
        )


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="script/bench load", allow_abbrev=False)
    parser.add_argument("--seconds", type=float, default=SECONDS)
    told, rest = parser.parse_known_args(arguments)
    corpus.ensure(corpus.wanted(rest))
    timing.unpin()
    stored.forget()
    key, calls = stored.issue_key(), [list(recorded.calls(seed)) for seed in range(SEEDS)]
    store = WebServer()
    try:
        store.start()
        _send(store.url, key, calls, seconds=min(5.0, told.seconds / 4))
        before, rows, began = _Server.look(store.pid), stored.exchanges(), time.monotonic()
        sent = _send(store.url, key, calls, seconds=told.seconds)
        took, after = time.monotonic() - began, _Server.look(store.pid)
        rows = stored.exchanges() - rows
    finally:
        store.kill()
    generations = stored.generations()
    everything = stored.exchanges()
    stored.forget()
    return _judge(sent, took=took, rows=rows, server=(before, after), doubled=generations - everything)


def _judge(sent: Sent, *, took: float, rows: int, server: tuple[_Server, _Server], doubled: int) -> int:
    before, after = server
    p50, p99 = statistics.median(sent.times), statistics.quantiles(sent.times, n=100)[-1]
    cpu = (after.cpu - before.cpu) / len(sent.times) * 1e3
    sys.stdout.write(
        f"  {len(sent.times)} requests, {sent.statuses[200]} of them repeated, in {took:.0f} s by {SENDERS}"
        f" senders, {sent.bytes / took / 1e6:.1f} MB/s: p50 {p50:.1f} ms, p99 {p99:.1f} ms;"
        f" the web server's: {cpu:.1f} ms of CPU a request,"
        f" {before.memory / 1e6:.0f} MB at the start, {after.memory / 1e6:.0f} at the end\n"
    )
    strange = {status: count for status, count in sent.statuses.items() if status not in (200, 201)}
    if strange or rows != sent.different or doubled:
        sys.stdout.write(
            f"  LOST OR DOUBLED: {sent.different} sent, {rows} rows, {doubled} over, {strange}\n"
        )
        return 1
    sys.stdout.write(f"  {rows} rows of {sent.different} exchanges: none lost, none doubled\n")
    is_quick = timing.at_least("exchanges", rows / took, LEAST_A_SECOND, "a second")
    is_flat = timing.within(
        "memory at the end", after.memory / before.memory, MOST_GROWTH, "x that at the start"
    )
    return 0 if is_quick and is_flat else 1


def _send(url: str, key: str, calls: list[list[tuple[bytes, bytes]]], *, seconds: float) -> Sent:
    """Let all senders send for so long."""
    sent, lock, until = Sent(), threading.Lock(), time.monotonic() + seconds
    threads = [
        threading.Thread(target=_sender, args=(url, key, calls, until, sent, lock)) for _ in range(SENDERS)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return sent


def _sender(
    url: str, key: str, calls: list[list[tuple[bytes, bytes]]], until: float, sent: Sent, lock: threading.Lock
) -> None:
    connection = http.client.HTTPConnection(urlsplit(url).netloc, timeout=60)
    numbers = itertools.count(1)
    for parcel in _parcels(calls):
        is_twice = next(numbers) % TWICE_EVERY == 0
        for _ in range(2 if is_twice else 1):
            media_type, body = to_multipart(parcel)
            began = time.perf_counter_ns()
            connection.request(
                "POST",
                "/api/v1/exchanges",
                body,
                {"Authorization": f"Bearer {key}", "Content-Type": media_type},
            )
            answer = connection.getresponse()
            answer.read()
            with lock:
                sent.times.append((time.perf_counter_ns() - began) / 1e6)
                sent.statuses[answer.status] += 1
                sent.bytes += len(body)
        with lock:
            sent.different += 1
        if time.monotonic() > until:
            break
    connection.close()


def _parcels(calls: list[list[tuple[bytes, bytes]]]) -> Iterator[Parcel]:
    """Give the calls of one conversation after another, without end."""
    for turns in itertools.cycle(calls):
        account = uuid.uuid4().hex
        for request, answer in turns:
            exchange_id = uuid.uuid4().hex
            facts = {
                "exchange_id": exchange_id,
                "dialect": "anthropic_messages",
                "account": {"external_id": account},
                "http_status": 200,
            }
            yield Parcel(0, exchange_id, facts, request, answer, Ticket(exchange_id))
