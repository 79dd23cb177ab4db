"""Records every byte-true provider call of a folder of cassettes, and asks for each body back.

    script/evidence replay FOLDER

Each file is one customer's account. Shown: every body comes back identical and
none had to be kept whole; calls that continue earlier ones land on the path of
the answer they continue, or begin a conversation where the client sends back
another answer than it got, which is said; nothing of two accounts meets; a
streamed answer is the message that the provider's own SDK accumulates. Ends with
one line of figures.
"""

import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path

from conversations.models import Conversation, Generation
from conversations.reads.path import path_seqs, read_messages
from conversations.replay.bodies import request_body_of as request_body
from conversations.services.recording import RecordedExchange, record_exchange
from conversations.wire.streams.events import is_event_stream
from evidence.cassettes import RecordedCall, read_cassettes
from evidence.continuations import continued_calls, holds_an_answer
from evidence.customers import NOW, RECORDER, new_account
from evidence.streams import is_as_accumulated


@dataclass(slots=True)
class Figures:
    recorded: int = 0
    identical: int = 0
    proofs: Counter = field(default_factory=Counter)
    matches: Counter = field(default_factory=Counter)
    statuses: Counter = field(default_factory=Counter)
    streams: Counter[bool | None] = field(default_factory=Counter)
    continued: int = 0
    on_one_path: int = 0
    body_bytes: int = 0
    faults: list[str] = field(default_factory=list)


def main(arguments: Sequence[str]) -> int:
    if len(arguments) != 1 or not Path(arguments[0]).is_dir():
        print("usage: script/evidence replay FOLDER", file=sys.stderr)
        return 2
    figures = Figures()
    for calls in read_cassettes(Path(arguments[0])):
        record_cassette(calls, figures=figures)
    patches = Generation.objects.exclude(body_patch=None).values_list("body_patch", flat=True)
    patched = sum(len(patch or b"") for patch in patches)
    for fault in figures.faults:
        print(fault)
    print(summary(figures, patched))
    return 1 if figures.faults else 0


def record_cassette(calls: Sequence[RecordedCall], *, figures: Figures) -> None:
    account = new_account()
    done: list[tuple[RecordedCall, RecordedExchange]] = []
    for call in calls:
        exchange = record_exchange(
            account=account,
            request_body=call.request_body,
            response_body=call.response_body,
            dialect=call.dialect,
            http_status=call.http_status,
            exchange_id=f"{call.cassette}:{call.place}",
            actor=RECORDER,
            now=NOW + timedelta(seconds=call.place),
        )
        check_body(call, exchange, figures)
        check_stream(call, exchange, figures)
        check_path(call, exchange, done, figures)
        done.append((call, exchange))
    owners = set(
        Conversation.objects.filter(id__in={e.conversation_id for _, e in done}).values_list(
            "account", flat=True
        )
    )
    if owners != {account.pk}:
        figures.faults.append(f"{calls[0].cassette}: conversations of {len(owners)} accounts")


def check_body(call: RecordedCall, exchange: RecordedExchange, figures: Figures) -> None:
    figures.recorded += 1
    figures.body_bytes += len(call.request_body)
    figures.proofs[exchange.proof] += 1
    figures.matches[exchange.match] += 1
    figures.statuses[exchange.status] += 1
    body = request_body(conversation_id=exchange.conversation_id, number=exchange.generation_number)
    if body == call.request_body:
        figures.identical += 1
    else:
        figures.faults.append(f"{call.cassette}:{call.place}: the body came back different")
    if exchange.proof == "verbatim":
        figures.faults.append(f"{call.cassette}:{call.place}: the body had to be kept whole {exchange.notes}")


def check_stream(call: RecordedCall, exchange: RecordedExchange, figures: Figures) -> None:
    if not is_event_stream(call.response_body or b""):
        return
    stored = (
        None
        if exchange.answer_seq is None
        else read_messages(conversation_id=exchange.conversation_id, seqs=[exchange.answer_seq])[0].draft
    )
    is_same = is_as_accumulated(call.dialect, call.response_body or b"", stored)
    figures.streams[is_same] += 1
    if is_same is False:
        figures.faults.append(f"{call.cassette}:{call.place}: the SDK accumulates another message")


def check_path(
    call: RecordedCall,
    exchange: RecordedExchange,
    done: Sequence[tuple[RecordedCall, RecordedExchange]],
    figures: Figures,
) -> None:
    if not done or not holds_an_answer(call):
        if exchange.match in ("branched", "rewritten"):
            figures.faults.append(f"{call.cassette}:{call.place}: continues nothing, but {exchange.match}")
        return
    figures.continued += 1
    befores = [before for _, before in done if before.conversation_id == exchange.conversation_id]
    if earlier := continued_calls(call, [before for before, _ in done]):
        # The JSON itself says which answer this call goes on from.
        befores = [done[index][1] for index in earlier]
        known = {
            before.answer_seq for before in befores if before.conversation_id == exchange.conversation_id
        }
    else:
        known = {seq for before in befores for seq in (before.leaf_seq, before.answer_seq)}
    path = (
        []
        if exchange.leaf_seq is None
        else path_seqs(conversation_id=exchange.conversation_id, leaf_seq=exchange.leaf_seq)
    )
    if known & set(path):
        figures.on_one_path += 1
    elif exchange.match == "started":
        print(f"begins anew what an earlier call began: {call.cassette}:{call.place}")
    else:
        figures.faults.append(
            f"{call.cassette}:{call.place}: not on the path it continues ({exchange.match})"
        )


def summary(figures: Figures, patched: int) -> str:
    proofs = figures.proofs
    return (
        f"replay: {figures.recorded} recorded, {figures.identical} identical,"
        f" {proofs['exact']} exact, {proofs['patched']} patched by {patched} bytes,"
        f" {proofs['verbatim']} verbatim;"
        f" {figures.on_one_path} of {figures.continued} continued calls on one path,"
        f" {figures.matches['branched']} branches, {figures.matches['rewritten']} rewritten;"
        f" {figures.streams[True]} of {figures.streams.total() - figures.streams[None]} streams as the SDKs"
        f" accumulate them (of {figures.streams[None]} more they make nothing);"
        f" {len(figures.faults)} faults"
    )
