"""Which shape, word and colour a state has. A state is a shape first: printed grey it still reads."""

from datetime import datetime
from typing import Final, NamedTuple, Protocol


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
    # Steps of an erasure, and copies that lie with providers.
    "step skipped": Look("late", "Something is kept"),
    "step requested": Look("unknown", "Requested, unconfirmed"),
    "copy requested": Look("unknown", "Requested, unconfirmed"),
    "copy confirmed": Look("done", "Deleted there", sprite="applied"),
    "copy refused": Look("failed", "Refused"),
    # Runs of jobs.
    "job succeeded": Look("done", "Done", sprite="applied"),
    "stopping": Look("running", "Stopping"),
    "stopped": Look("skipped", "Stopped"),
    # Findings: what a person must settle.
    "finding open": Look("pending", "Open"),
    "finding resolved": Look("done", "Settled", sprite="applied"),
    "finding closed": Look("skipped", "Gone"),
    # Compensations: a refund that was sent may have moved money, like any effect.
    "compensation requested": Look("pending", "Waits for approval"),
    "compensation approved": Look("pending", "Approved, not sent"),
    "compensation rejected": Look("skipped", "Rejected"),
    "compensation sent": Look("unknown", "Sent, answer unknown"),
    "compensation settled": Look("done", "Settled", sprite="applied"),
}


class Effect(Protocol):
    state: str
    sent_at: datetime | None


def look_of(state: str, of: str = "") -> Look:
    """Return the look of a state; `of` says of what, where one word means two things.

    A state that nobody gave a look is a mistake of ours, and raises.
    """
    look = LOOKS.get(f"{of} {state}") or LOOKS.get(state)
    if look is None:
        raise ValueError(f"state {state!r} has no look: give it one in console/states.py")
    return look


def effect_state(effect: Effect) -> str:
    """{{ effect|effect_state }}: what was sent and has no answer is "unknown", never merely "pending"."""
    return "unknown" if effect.state == "pending" and effect.sent_at is not None else effect.state
