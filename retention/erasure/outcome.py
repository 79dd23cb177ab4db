"""What a step of an erasure hands back."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from retention.erasure.subject import Subject
from retention.vocabulary import StepState


@dataclass(slots=True)
class Outcome:
    """Counts by store, and a cause where something stays. `after` is where the next page begins."""

    erased: dict[str, int] = field(default_factory=dict)
    pseudonymised: dict[str, int] = field(default_factory=dict)
    kept: dict[str, int] = field(default_factory=dict)
    cause: str = ""
    after: Any = None
    is_requested: bool = False

    @property
    def state(self) -> StepState:
        if self.is_requested:
            return StepState.REQUESTED
        return StepState.SKIPPED if self.cause else StepState.DONE


@dataclass(frozen=True, slots=True)
class EraseStep:
    """`runs_when_all_went` steps wait until no step before them kept or failed anything.

    `runs_when_none_failed` steps take away the rows that the steps before them go by.
    """

    name: str
    title: str
    run: Callable[[Subject, Any], Outcome]
    runs_when_all_went: bool = False
    runs_when_none_failed: bool = False
