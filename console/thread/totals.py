"""What the live path, the abandoned branches and the whole conversation took and did."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from uuid import UUID

from console.thread.effects import EffectSum, ShownEffect, sums_of
from conversations.reads.attempts import AttemptSum, sum_attempts
from conversations.reads.tree import Tree
from ledger.vocabulary import Standing


@dataclass(frozen=True, slots=True)
class TotalsRow:
    """One line of the totals; `standing` is live, abandoned or shown, empty for the whole."""

    label: str
    standing: str
    messages: int
    attempts: AttemptSum
    effects: Sequence[EffectSum]


def totals_of(
    conversation_id: UUID, tree: Tree, *, live: Collection[int], effects: Sequence[ShownEffect]
) -> list[TotalsRow]:
    """Return the lines of the totals; the whole is the sum of the others and of what hangs nowhere."""
    on_path, elsewhere, nowhere = sum_attempts(conversation_id=conversation_id, seqs=list(live))
    rows = [
        TotalsRow("Live path", "live", len(live), on_path, _effects(effects, Standing.LIVE, conversation_id)),
        TotalsRow(
            "Abandoned branches",
            "abandoned",
            len(tree) - len(live),
            elsewhere,
            _effects(effects, Standing.ABANDONED, conversation_id),
        ),
    ]
    if nowhere.attempts:
        rows.append(TotalsRow("Attempts that found no place", "", 0, nowhere, ()))
    whole = on_path + elsewhere + nowhere
    rows.append(TotalsRow("Whole conversation", "", len(tree), whole, sums_of(effects, conversation_id)))
    return rows


def _effects(
    effects: Sequence[ShownEffect], standing: Standing, conversation_id: UUID
) -> Sequence[EffectSum]:
    return sums_of([effect for effect in effects if effect.standing == standing], conversation_id)
