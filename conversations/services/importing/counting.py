"""What a plan writes, in the report's words."""

from collections import Counter

from conversations.services.importing.planning import Plan
from conversations.vocabulary import PartType


def counts_of(result: Plan) -> Counter[str]:
    """What the plan writes, for the report."""
    counts: Counter[str] = Counter({"messages": len(result.new), "quarantined": len(result.quarantined)})
    for new in result.new:
        parts = new.paired.message.parts
        counts["parts"] += len(parts)
        counts["calls"] += sum(part.type == PartType.TOOL_USE and not part.orphan for part in parts)
        counts["results"] += sum(part.type == PartType.TOOL_RESULT and not part.orphan for part in parts)
        counts["orphans"] += sum(part.orphan for part in parts)
        counts["branches"] += not new.is_first_child
    counts["heads repaired"] += result.tree.is_head_repaired and result.moves_head
    if result.known is None:
        counts["conversations new"] += 1
    elif result.adds_nothing:
        counts["conversations unchanged"] += 1
    else:
        counts["conversations added to"] += 1
    return counts
