"""What the store refuses to compose: a message that no row holds, or that the provider would refuse anywhere.

Judged by the columns and by the dialect's own rules, before anything is written, and from the
message alone: an append stays one statement. What depends on the path (results
that answer the calls before, calls passed over, one result for each call) is
refused by the database itself. What came in broken from outside is another
matter: recording and imports keep it, marked.
"""

from collections.abc import Iterator
from uuid import UUID

from conversations.drafts import MessageDraft, PartDraft
from conversations.errors import StoreError
from conversations.vocabulary import Dialect, PartType, Role
from conversations.wire.literals import is_storable
from conversations.wire.validate import find_violations

# A server tool may answer in a later message of the turn that called it.
_IN_ITS_PLACE = frozenset({"server-result-follows-call"})
_MOST_PARTS = 2**15
_LARGEST_COUNT = 2**31 - 1
# What is text in a row, and the most characters of it; no more than PostgreSQL's own bound where None.
_MESSAGE_WORDS: dict[str, int | None] = {"client_message_id": 255, "provider_role": 64, "shell": None}
_PART_WORDS: dict[str, int | None] = {"text": None, "shell": None, "tool_call_id": 255, "tool_name": 255}


def refuse_unfit(message: MessageDraft, *, conversation_id: UUID) -> None:
    """Raise StoreError where the message holds what no column takes: PostgreSQL would not name the block."""
    place = f"conversation {conversation_id}, new message"
    for rule, explanation in _unfit_message(message):
        raise StoreError(rule, explanation, place=place)
    for ordinal, part in enumerate(message.parts):
        for rule, explanation in _unfit_part(part):
            raise StoreError(rule, explanation, place=f"{place}, block {ordinal}")


def _unfit_message(message: MessageDraft) -> Iterator[tuple[str, str]]:
    yield from _unfit_words(message, _MESSAGE_WORDS)
    if len(message.parts) > _MOST_PARTS:
        yield "too-many-blocks", f"a message holds up to {_MOST_PARTS:,} blocks"
    if message.token_count is not None and not 0 <= message.token_count <= _LARGEST_COUNT:
        yield "no-count", f"{message.token_count} is no count of tokens"


def _unfit_part(part: PartDraft) -> Iterator[tuple[str, str]]:
    yield from _unfit_words(part, _PART_WORDS)
    if part.text is None and part.payload is None:
        yield "block-without-bytes", "a block needs its text or its payload"
    if part.text is not None and part.payload is not None and not part.is_text_copy:
        yield "block-said-twice", "a block has text or payload; both only where the text is a copy with marks"
    if part.orphan:
        return
    if part.type in (PartType.TOOL_USE, PartType.TOOL_RESULT) and part.tool_call_id is None:
        yield "call-without-id", "a call and a result need the call's id"
    if part.type == PartType.TOOL_USE and part.tool_name is None:
        yield "call-without-name", "a call needs the tool's name"


def _unfit_words(
    draft: MessageDraft | PartDraft, longest: dict[str, int | None]
) -> Iterator[tuple[str, str]]:
    for name, length in longest.items():
        words = getattr(draft, name)
        if words is None:
            continue
        if not is_storable(words):
            yield (
                "character-not-storable",
                f"{name} holds NUL or half a surrogate pair; a payload keeps these",
            )
        elif length is not None and len(words) > length:
            yield "too-long", f"{name} has {len(words):,} characters where {length} are held"


def refuse_malformed(message: MessageDraft, *, dialect: Dialect | None, conversation_id: UUID) -> None:
    """Raise StoreError where the message breaks a rule that its dialect's provider always enforces.

    A message of no provider's dialect is bound by the database's rules alone.
    """
    if dialect is None:
        return
    name = f"conversation {conversation_id}, new message"
    before = _asking_for(message)
    messages, names = [*before, message], [*[""] * len(before), name]
    for violation in find_violations(messages, dialect=dialect, names=names, is_whole=False):
        is_ours = violation.place.startswith(name) and violation.rule not in _IN_ITS_PLACE
        if is_ours and violation.strength == "refuse":
            place = violation.place.replace(".content.", ", block ")
            raise StoreError(violation.rule, violation.explanation, place=place)


def _asking_for(message: MessageDraft) -> list[MessageDraft]:
    """Return the calls that the message's results answer: some rules hold for answers only."""
    calls = [
        PartDraft(PartType.TOOL_USE, payload=b"{}", tool_call_id=part.tool_call_id, tool_name="tool")
        for part in message.results()
    ]
    return [MessageDraft(role=Role.ASSISTANT, parts=calls)] if calls else []
