"""Which part of a path goes on under a token budget: pinned summaries first, then whole groups from the end.

A call and its results are one group; half of one is refused by every provider,
so cuts fall between groups only. What is chosen is said by number, so that a
body composed from it can be recorded with its inputs, never as a finished text.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from uuid import UUID

from conversations.drafts import MessageDraft
from conversations.models import Summary
from conversations.reads.path import StoredMessage, read_path

type CountTokens = Callable[[MessageDraft], int]

# Four bytes a token is near what tokenisers make of English; for other scripts it counts too many.
_BYTES_A_TOKEN = 4
_MESSAGE_OVERHEAD = 4


@dataclass(frozen=True, slots=True)
class AssembledContext:
    """What to send. `tokens` never exceeds the budget; `left_out` are the numbers of older messages."""

    summaries: list[Summary] = field(default_factory=list)
    messages: list[StoredMessage] = field(default_factory=list)
    tokens: int = 0
    left_out: list[int] = field(default_factory=list)


def assemble(
    *, conversation_id: UUID, leaf_seq: int, budget: int, count_tokens: CountTokens | None = None
) -> AssembledContext:
    """Choose from the path to the leaf under a budget of tokens; reads only.

    Pinned summaries of the path come first, oldest first, as far as they fit;
    then groups are taken from the end until one does not fit. A message's own
    token count is used where it is known, else `count_tokens`, else an estimate.
    """
    path = read_path(conversation_id=conversation_id, leaf_seq=leaf_seq)
    count = count_tokens or estimate_tokens
    summaries, used = _fitting(_pinned(conversation_id, path), budget)
    groups = [list(group) for _, group in groupby(path, key=lambda message: message.group_ordinal)]
    chosen: list[StoredMessage] = []
    while groups:
        cost = sum(_cost(message.draft, count) for message in groups[-1])
        if used + cost > budget:
            break
        used += cost
        chosen = groups.pop() + chosen
    left_out = [message.seq for group in groups for message in group]
    return AssembledContext(summaries=summaries, messages=chosen, tokens=used, left_out=left_out)


def estimate_tokens(message: MessageDraft) -> int:
    """Estimate from the bytes of the parts; a count from the provider's tokeniser is better."""
    size = sum(len(part.payload or (part.text or "").encode()) for part in message.parts)
    return _MESSAGE_OVERHEAD + -(-size // _BYTES_A_TOKEN)


def _cost(message: MessageDraft, count: CountTokens) -> int:
    return count(message) if message.token_count is None else message.token_count


def _pinned(conversation_id: UUID, path: Sequence[StoredMessage]) -> list[Summary]:
    """Return the pinned summaries whose whole stretch lies on this path, newest version last."""
    seqs = {message.seq for message in path}
    pinned = Summary.objects.filter(
        conversation_id=conversation_id, is_pinned=True, invalidated_at=None
    ).order_by("from_seq", "to_seq", "created_at")
    # A path is longer than a statement may have parameters; the summaries of one conversation are few.
    return [summary for summary in pinned if summary.from_seq in seqs and summary.to_seq in seqs]


def _fitting(summaries: Sequence[Summary], budget: int) -> tuple[list[Summary], int]:
    fitting: list[Summary] = []
    used = 0
    for summary in summaries:
        cost = summary.token_count
        if cost is None:
            cost = _MESSAGE_OVERHEAD + -(-len(summary.text.encode()) // _BYTES_A_TOKEN)
        if used + cost <= budget:
            fitting.append(summary)
            used += cost
    return fitting, used
