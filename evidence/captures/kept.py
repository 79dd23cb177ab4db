"""What the store has of each call, read over HTTP and by its services, beside what crossed the wire."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

import httpx2

from conversations.drafts import MessageDraft
from conversations.models import Exchange, Generation
from conversations.public_ids import generation_id
from conversations.reads.path import read_messages
from conversations.services.raw_bodies import open_raw_body
from conversations.wire.dialects import module_for
from conversations.wire.render import render_message
from conversations.wire.shapes import COMPACT
from evidence.captures.calls import Call
from evidence.replay_server import Received


@dataclass(slots=True)
class Kept:
    """`counts` by name; `faults` are lines, and none is the proof."""

    counts: Counter[str] = field(default_factory=Counter)
    faults: list[str] = field(default_factory=list)


def check_store(calls: Iterable[Call], received: Mapping[str, Received], *, url: str, key: str) -> Kept:
    """Look each recorded call up by its request id; compare its bytes with what the provider got and sent."""
    kept = Kept()
    recorded = [call for call in calls if call.dialect is not None]
    found = Counter(Generation.objects.values_list("request_id", flat=True))
    kept.faults += [f"{call.name}: {found[call.name]} rows" for call in recorded if found[call.name] != 1]
    kept.counts["rows"] = Exchange.objects.count()
    if kept.counts["rows"] != len(recorded):
        kept.faults.append(f"{kept.counts['rows']} exchanges in the store, {len(recorded)} were made")
    with httpx2.Client(base_url=url, headers={"Authorization": f"Bearer {key}"}, timeout=30) as api:
        for call in recorded:
            generation = (
                Generation.objects.select_related("raw_response").filter(request_id=call.name).first()
            )
            if generation is not None:
                _check_request(call, generation, received[call.name], api, kept)
                _check_answer(call, generation, kept)
    return kept


def _check_request(
    call: Call, generation: Generation, sent: Received, api: httpx2.Client, kept: Kept
) -> None:
    spelled = generation_id(generation.conversation_id, generation.number)
    answer = api.get(
        f"/api/v1/generations/{spelled}/replay-body", headers={"Accept": "application/octet-stream"}
    )
    if answer.content == sent.body:
        kept.counts["bodies"] += 1
        kept.counts["bytes"] += len(sent.body)
    else:
        kept.faults.append(f"{call.name}: the request came back different ({answer.status_code})")
    if generation.provider_request_id != f"req_{call.number}" or generation.http_status != call.reply.status:
        kept.faults.append(f"{call.name}: status or request id differ")


def _check_answer(call: Call, generation: Generation, kept: Kept) -> None:
    wanted = call.reply.body
    if generation.raw_response is not None:
        raw = open_raw_body(generation.raw_response)
        _check_raw(call, raw, kept)
        return
    # A JSON answer is kept as the parts that its bytes were cut into.
    parsed = module_for(generation.dialect).parse_response(wanted, call.reply.status)
    stored = None
    if generation.message_seq is not None:
        found = read_messages(conversation_id=generation.conversation_id, seqs=[generation.message_seq])
        stored = found[0].draft
    if _rendered(parsed.message, call) == _rendered(stored, call):
        kept.counts["answers"] += 1
    else:
        kept.faults.append(f"{call.name}: the answer's parts differ")


def _rendered(message: MessageDraft | None, call: Call) -> str | None:
    if message is None or call.dialect is None:
        return None
    return render_message(message, dialect=call.dialect, style=COMPACT)


def _check_raw(call: Call, raw: bytes, kept: Kept) -> None:
    wanted = call.reply.body
    if raw == wanted:
        kept.counts["streams" if call.is_stream else "answers"] += 1
    elif call.is_closed_early and wanted.startswith(raw):
        kept.counts["cut off"] += 1
    else:
        kept.faults.append(f"{call.name}: {len(raw)} bytes of the answer's {len(wanted)} are kept")
