"""The real SDKs call a provider that answers what was recorded; the store has every call, byte for byte.

    script/evidence capture FOLDER [--calls N]

Each call of the cassettes is made twice with the `anthropic` or `openai` SDK, once plainly and once
through the recorder: synchronous, asynchronous, or with the recorded bytes as they are, in turn;
streamed as it was recorded; every third answer compressed, every eleventh stream closed half way by
its reader. Shown: the caller sees the same, event for event; the store has each call once, its
request identical (read over HTTP) and its answer too; what is no conversation passes unrecorded.
The store's web server is killed in the middle and stays away for a third of the calls: no call is
lost or doubled once it is back, and meanwhile a tool that has effects does not run. Ends with one
line of figures.
"""

import argparse
import asyncio
import sys
import tempfile
import time
import warnings
from collections import Counter
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import anthropic
import openai

from access.actors import Actor, ActorKind
from access.models import Realm, Scope
from access.services.keys import issue_key
from conversations.vocabulary import Dialect
from counterfoil_recorder import Recorder, StoreUnavailable, recording
from evidence.captures.calls import Call, read_calls
from evidence.captures.kept import Kept, check_store
from evidence.captures.seen import see, see_async, see_bytes
from evidence.replay_server import ReplayServer, serving
from evidence.web_server import WebServer

_PLAIN, _RECORDED = "plain", "recorded"
_PATIENCE = 300.0


@dataclass(slots=True)
class Figures:
    counts: Counter[str] = field(default_factory=Counter)
    faults: list[str] = field(default_factory=list)


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="script/evidence capture")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--calls", type=int, help="only the first so many")
    told = parser.parse_args(arguments)
    calls = list(read_calls(told.folder))[: told.calls]
    # The SDKs warn of models that are old by now.
    warnings.simplefilter("ignore")
    figures, began = Figures(), time.monotonic()
    with ExitStack() as stack:
        provider = ReplayServer(lambda name: replies[name.partition(" ")[0]])
        replies = {str(call.number): call.reply for call in calls}
        stack.enter_context(serving(provider))
        store = WebServer()
        stack.callback(store.kill)
        store.start()
        key = _key()
        spool = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        recorder = stack.enter_context(Recorder(url=store.url, key=key, spool=spool, timeout=10))
        asyncio.run(_make_all(calls, provider.url, recorder, store, figures))
        if not recorder.flush(_PATIENCE):
            figures.faults.append(f"after {_PATIENCE:.0f} s not everything is in the store")
        received = {it.name.partition(" ")[0]: it for it in provider.received if it.name.endswith(_RECORDED)}
        kept = check_store(
            calls, {call.name: received[str(call.number)] for call in calls}, url=store.url, key=key
        )
        _check_counts(recorder, spool, figures)
    figures.faults += kept.faults
    for fault in figures.faults:
        print(fault)
    print(summary(figures, kept, recorder, time.monotonic() - began))
    return 1 if figures.faults else 0


async def _make_all(
    calls: Sequence[Call], provider: str, recorder: Recorder, store: WebServer, figures: Figures
) -> None:
    """Make every call plainly and recorded; in the middle third the store is away."""
    plain, recorded = _clients(provider, None), _clients(provider, recorder)
    down, back = len(calls) // 3, 2 * len(calls) // 3
    for place, call in enumerate(calls):
        if place == down:
            store.kill()
        if place == back:
            _check_effect(recorder, figures)
            store.start()
        wanted = await _see(plain, call, _PLAIN)
        with recording(account=call.cassette, request_id=call.name):
            seen = await _see(recorded, call, _RECORDED)
        figures.counts[_manner(call)] += 1
        figures.counts["events"] += len(seen)
        figures.counts["while away"] += int(down <= place < back and call.dialect is not None)
        if seen != wanted:
            figures.faults.append(f"{call.name}: its caller sees another thing than without the recorder")


def _clients(provider: str, recorder: Recorder | None) -> dict[tuple[bool, bool], Any]:
    """Return clients by whether they are asynchronous and whether they are Anthropic's."""

    def watched(client: Any) -> Any:
        return client if recorder is None else recorder.record(client)

    told: dict[str, Any] = {"api_key": "sk-of-the-proof", "max_retries": 0, "timeout": 60}
    return {
        (False, True): anthropic.Anthropic(
            base_url=provider, http_client=watched(anthropic.DefaultHttpxClient()), **told
        ),
        (True, True): anthropic.AsyncAnthropic(
            base_url=provider, http_client=watched(anthropic.DefaultAsyncHttpxClient()), **told
        ),
        (False, False): openai.OpenAI(
            base_url=f"{provider}/v1", http_client=watched(openai.DefaultHttpxClient()), **told
        ),
        (True, False): openai.AsyncOpenAI(
            base_url=f"{provider}/v1", http_client=watched(openai.DefaultAsyncHttpxClient()), **told
        ),
    }


def _manner(call: Call) -> str:
    if call.dialect is None or not call.request:
        return "bytes"
    return ("sync", "async", "bytes")[call.number % 3]


async def _see(clients: dict[tuple[bool, bool], Any], call: Call, run: str) -> list[str]:
    named, manner = f"{call.number} {run}", _manner(call)
    client = clients[manner == "async", call.dialect in (Dialect.ANTHROPIC_MESSAGES, None)]
    if manner == "bytes":
        return see_bytes(client, call, named=named)
    return await see_async(client, call, named=named) if manner == "async" else see(client, call, named=named)


def _check_effect(recorder: Recorder, figures: Figures) -> None:
    """While the store is away, nothing may begin that cannot be undone."""
    try:
        recorder.before_effect(timeout=0.5)
    except StoreUnavailable:
        figures.counts["effects stopped"] += 1
    else:
        figures.faults.append("a tool with effects would have run while the store was away")


def _check_counts(recorder: Recorder, spool: Path, figures: Figures) -> None:
    counts = recorder.counts()
    if counts.dropped or counts.refused or counts.failures or counts.stored != counts.handed_over:
        figures.faults.append(f"the recorder counts {counts}")
    if left := [path.name for path in spool.rglob("*.exchange")]:
        figures.faults.append(f"{len(left)} exchanges are still in the spool")


def _key() -> str:
    now = datetime.now(UTC)
    realm = Realm.objects.create(slug="captured", name="Captured", created_at=now)
    issued = issue_key(
        realm=realm,
        application="evidence",
        scopes=[Scope.READ, Scope.WRITE],
        actor=Actor(ActorKind.STAFF, "evidence"),
        now=now,
        expires_at=now + timedelta(days=1),
        requests_per_minute=10_000_000,
    )
    return issued.secret


def summary(figures: Figures, kept: Kept, recorder: Recorder, seconds: float) -> str:
    made, has, counts = figures.counts, kept.counts, recorder.counts()
    calls = made["sync"] + made["async"] + made["bytes"]
    return (
        f"capture: {calls} calls ({made['sync']} sync, {made['async']} async, {made['bytes']} as bytes),"
        f" {made['events']} events and answers seen alike with and without the recorder;"
        f" {has['rows']} exchanges in the store, {has['bodies']} requests identical ({has['bytes']} bytes),"
        f" {has['answers']} answers and {has['streams']} streams identical, {has['cut off']} streams cut off"
        f" by their readers; store killed once, {made['while away']} calls meanwhile,"
        f" {counts.spooled} through the spool, {counts.dropped} lost, {made['effects stopped']} effect"
        f" stopped; {seconds:.0f} s; {len(figures.faults)} faults"
    )


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
