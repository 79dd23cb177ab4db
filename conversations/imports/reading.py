"""The loop that all formats share: one record, one conversation or one named trouble."""

import hashlib
from collections.abc import Callable, Iterable, Iterator

from conversations.drafts import ImportedConversation, ImportedNode
from conversations.imports import exact_json
from conversations.imports.streams import Document, Record
from conversations.imports.trouble import Broken, UnreadableError
from conversations.wire.literals import readable_copy

MAX_REF = 255


def read_each(
    document: Document,
    convert: Callable[[Record], ImportedConversation | Iterable[ImportedConversation | Broken]],
) -> Iterator[ImportedConversation | Broken]:
    """Convert record after record; what cannot be converted is reported and the rest goes on.

    A record may hold several conversations; one of them that is broken says where in the record it stands.
    """
    for record in document.records():
        place = f"{document.name}, {record.place}"
        if not record.raw:
            yield Broken(place=place, reason=record.trouble)
            continue
        try:
            converted = convert(record)
            found = [converted] if isinstance(converted, ImportedConversation) else list(converted)
        except UnreadableError as trouble:
            where = f"{place}, {trouble.place}" if trouble.place else place
            # A record that is no JSON at all has the better reason.
            yield Broken(place=where, reason=record.trouble or trouble.reason, raw=record.raw)
            continue
        for conversation in found:
            if isinstance(conversation, Broken):
                conversation.place = f"{place}, {conversation.place}"
                yield conversation
                continue
            conversation.place = place
            if conversation.raw is None:
                conversation.raw = record.raw
            if record.repeated_members:
                # How many and not which: a key may be what somebody said, and remarks are kept with the run.
                count = record.repeated_members
                conversation.notes.append(f"{count} keys stand twice in one object; the last of each is read")
            yield conversation


def ref(source: str, *keys: str) -> str:
    """The key by which a second import finds the conversation again; long ones end in a digest."""
    whole = readable_copy(":".join((source, *keys)))
    if len(whole) <= MAX_REF:
        return whole
    digest = hashlib.sha256(whole.encode("utf-8", "surrogatepass")).hexdigest()
    return f"{whole[: MAX_REF - 65]}:{digest}"


def digest_ref(source: str, raw: bytes, occurrences: dict[str, int]) -> str:
    """A key for a conversation that its source gave none: its own bytes, and which of equal ones it is."""
    digest = hashlib.sha256(raw).hexdigest()
    occurrences[digest] = number = occurrences.get(digest, 0) + 1
    return ref(source, f"sha256-{digest}", *([str(number)] if number > 1 else []))


class Beginnings:
    """Keys for conversations that their source gave no id: what began each, and which of several alike it is.

    What began a conversation stays when it goes on, so a later export finds it
    again; two that began alike are never taken for one.
    """

    def __init__(self, source: str) -> None:
        self._source = source
        self._seen: dict[str, int] = {}

    def key(self, *facts: object) -> str:
        digest = hashlib.sha256(exact_json.dump(list(facts))).hexdigest()[:32]
        self._seen[digest] = number = self._seen.get(digest, 0) + 1
        return ref(self._source, f"begun-{digest}", *([str(number)] if number > 1 else []))


def quarantined(source_id: str, parent: str | None, raw: bytes, trouble: str) -> ImportedNode:
    return ImportedNode(source_id=source_id, parent_source_id=parent, message=None, raw=raw, trouble=trouble)
