"""Claude Code's session files: one record a line, of a session and of its sub-agents.

Records that share `message.id` are one message: the program writes each block
of an answer as it arrives, and runs tools meanwhile. A sub-agent's records are a
conversation of their own that names the call it was started by. Records that
are no messages (summaries, queue operations, snapshots) are counted in the
notes, and what hangs below them is joined to what is above.
"""

import hashlib
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import Final

from conversations.drafts import ImportedConversation
from conversations.imports import exact_json
from conversations.imports.drafting import as_dict, as_list, as_text, title_of
from conversations.imports.formats.claude_code_messages import SessionRecord, build_nodes
from conversations.imports.reading import ref
from conversations.imports.spool import Spool
from conversations.imports.streams import Document, Record
from conversations.imports.trouble import Broken
from conversations.vocabulary import Dialect
from conversations.wire.cuts import call_key

LABEL: Final = "Claude Code session"
_KEY: Final = "claude-code"
_SPOKEN: Final = frozenset({"user", "assistant"})


def sniff(records: Sequence[Record]) -> bool:
    return any(
        isinstance(value := record.value, dict)
        and as_text(value.get("type")) in _SPOKEN
        and "content" in as_dict(value.get("message"))
        and ("timestamp" in value or "uuid" in value)
        for record in records
    )


@dataclass(slots=True)
class _Links:
    """What ties a sub-agent to the call that started it, gathered from the whole file.

    Of an archive from all files so far: newer versions write a sub-agent's records into a file of their own,
    in a folder that stands behind its session's file. Prompts are known by session and digest.
    """

    call_by_prompt: dict[bytes, str] = field(default_factory=dict)
    call_by_agent: dict[str, str] = field(default_factory=dict)

    def gather(self, record: dict[str, object]) -> None:
        for block in as_list(as_dict(record.get("message")).get("content")):
            fields = as_dict(block)
            call_id = as_text(fields.get("id"))
            prompt = as_dict(fields.get("input")).get("prompt")
            if fields.get("type") == "tool_use" and call_id and isinstance(prompt, str):
                self.call_by_prompt.setdefault(_prompt_key(record, prompt), call_id)
            agent = as_text(as_dict(record.get("toolUseResult")).get("agentId"))
            if fields.get("type") == "tool_result" and agent:
                self.call_by_agent.setdefault(agent, as_text(fields.get("tool_use_id")))


def _prompt_key(record: dict[str, object], prompt: str) -> bytes:
    """Two sessions may ask the same of their agents."""
    whole = f"{as_text(record.get('sessionId'))}\n{prompt}"
    return hashlib.sha256(whole.encode("utf-8", "surrogatepass")).digest()


def read(document: Document) -> Iterator[ImportedConversation | Broken]:
    """Yield the sessions of the file in the order they begin, each after its sub-agents are told apart."""
    links = document.shared.setdefault(_KEY, _Links())
    with Spool() as spool:
        yield from _sort_by_session(document, spool, links)
        for session in spool:
            lines = [_record(place, raw) for place, raw in spool.read(session)]
            is_side = session.endswith("/side")
            session_id = session.removesuffix("/side").removesuffix("/main")
            for group in _sidechains(lines) if is_side else [lines]:
                yield _conversation(document, session_id, group, is_side=is_side, links=links)


def _sort_by_session(document: Document, spool: Spool, links: _Links) -> Iterator[Broken]:
    """Put each record below its session; one that names none goes with the one before."""
    is_agents_own = PurePosixPath(document.name).stem.startswith("agent-")
    file_name = PurePosixPath(document.name).name
    current = ""
    early: list[Record] = []
    for record in document.records():
        value = as_dict(record.value)
        session_id = as_text(value.get("sessionId"))
        if not value and not record.raw:
            yield Broken(place=f"{document.name}, {record.place}", reason=record.trouble)
            continue
        if session_id or (as_text(value.get("type")) in _SPOKEN and not current):
            is_side = value.get("isSidechain") is True or is_agents_own
            current = f"{session_id or file_name}/{'side' if is_side else 'main'}"
        links.gather(value)
        early.append(record)
        if current:
            for waiting in early:
                spool.put(current, waiting.place, waiting.raw)
            early.clear()
    for record in early:
        yield Broken(
            f"{document.name}, {record.place}", record.trouble or "no record of a session", raw=record.raw
        )


def _record(place: str, raw: bytes) -> SessionRecord:
    try:
        value, trouble = exact_json.load(raw), ""
    except ValueError as error:
        value, trouble = None, str(error)
    return SessionRecord(
        place=place, raw=raw, value=as_dict(value), trouble=trouble, is_object=isinstance(value, dict)
    )


def _sidechains(records: list[SessionRecord]) -> list[list[SessionRecord]]:
    """Part sub-agents that ran side by side: by agent id, else by the root that a record hangs from."""
    root_of: dict[str, str] = {}
    groups: dict[str, list[SessionRecord]] = {}
    last = ""
    for record in records:
        parent = record.parent_id
        root = root_of.get(parent or "", record.source_id if record.is_object else last)
        root_of[record.source_id] = root
        agent = as_text(record.value.get("agentId"))
        last = f"agent-{agent}" if agent else root
        groups.setdefault(last, []).append(record)
    return list(groups.values())


def _conversation(
    document: Document, session_id: str, records: list[SessionRecord], *, is_side: bool, links: _Links
) -> ImportedConversation:
    agent = next((agent for record in records if (agent := as_text(record.value.get("agentId")))), "")
    keys = [session_id]
    if is_side:
        keys.append(f"agent-{agent}" if agent else records[0].source_id)
    conversation = ImportedConversation(
        external_ref=ref(_KEY, *keys),
        nodes=[],
        place=f"{document.name}, {records[0].place} to {records[-1].place}",
        dialect=Dialect.ANTHROPIC_MESSAGES,
        raw=b"\n".join(record.raw for record in records),
    )
    if is_side:
        conversation.parent_call_id = call_key(_starting_call(records, agent, links)) or ""
    conversation.nodes = build_nodes(records, conversation.notes)
    times = [record.moment for record in records if record.moment]
    conversation.started_at = min(times, default=None)
    conversation.title = _title(records, conversation)
    return conversation


def _starting_call(records: list[SessionRecord], agent: str, links: _Links) -> str:
    first = as_dict(records[0].value.get("message")).get("content")
    if isinstance(first, list):
        first = "".join(as_text(as_dict(block).get("text")) for block in first)
    prompted = links.call_by_prompt.get(_prompt_key(records[0].value, as_text(first)), "")
    return links.call_by_agent.get(agent, "") or prompted


def _title(records: list[SessionRecord], conversation: ImportedConversation) -> str:
    """The summary that the program wrote for its list of sessions, if it stands in the file."""
    counts: Counter[str] = Counter()
    title = ""
    for record in records:
        kind = as_text(record.value.get("type")) or "unnamed"
        if record.is_object and kind not in _SPOKEN:
            counts[kind] += 1
        if kind == "summary" and not title:
            title = title_of(record.value.get("summary"))
    conversation.notes += [
        f"{count} {kind} records are no messages" for kind, count in sorted(counts.items())
    ]
    return title
