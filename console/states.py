"""Which shape, word and colour a state has. A state is a shape first: printed grey it still reads."""

from typing import Final, NamedTuple


class Look(NamedTuple):
    """`shape` names the sprite `s-…` and the class `is-…`; several words share a shape."""

    shape: str
    word: str
    sprite: str = ""

    @property
    def icon(self) -> str:
        return f"s-{self.sprite or self.shape}"


# A shape may be used by its own name too, with a word of the page: {% state "running" "Step 5 of 14" %}.
LOOKS: Final[dict[str, Look]] = {
    # Money: what the processor says became of an effect.
    "pending": Look("pending", "Pending"),
    "unknown": Look("unknown", "Sent, answer unknown"),
    "applied": Look("applied", "Applied"),
    "failed": Look("failed", "Failed"),
    "compensated": Look("compensated", "Compensated"),
    # Jobs, steps and whatever else is done, waits or is passed over.
    "done": Look("done", "Done", sprite="applied"),
    "running": Look("running", "Running"),
    "waiting": Look("waiting", "Waiting"),
    "skipped": Look("skipped", "Skipped"),
    "late": Look("late", "Late"),
    # Tool calls.
    "requested": Look("waiting", "Waits for an answer"),
    "succeeded": Look("done", "Succeeded", sprite="applied"),
    "unanswered": Look("skipped", "Passed over"),
    # Generations: one attempt each.
    "queued": Look("waiting", "Queued"),
    "streaming": Look("running", "Streaming"),
    "complete": Look("done", "Complete", sprite="applied"),
    "truncated": Look("late", "Cut off at the limit"),
    "interrupted": Look("failed", "Interrupted"),
    "refused": Look("failed", "Refused"),
    "cancelled": Look("skipped", "Cancelled"),
}


def look_of(state: str) -> Look:
    """Return the look of a state; one that nobody gave a look is a mistake of ours, and raises."""
    try:
        return LOOKS[state]
    except KeyError:
        raise ValueError(f"state {state!r} has no look: give it one in console/states.py") from None
