"""What every step of a run reads of it: its frozen inputs, spelled out once for each batch."""

from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from uuid import UUID

from ledger.models import ReconciliationRun
from ledger.reconciliation.as_of import AsOf
from ledger.reconciliation.policies import Waiting


@dataclass(slots=False)
class RunContext:
    """The run, the statements it compares with in their order, and how long it lets things wait."""

    run: ReconciliationRun

    @cached_property
    def waiting(self) -> Waiting:
        return Waiting(**self.run.policy)

    @cached_property
    def as_of(self) -> AsOf:
        """What the run may know: until its cut-off, and written before it was asked for."""
        return AsOf(cut_off=self.run.cut_off, written_before=self.run.written_before)

    @cached_property
    def positions(self) -> dict[UUID, int]:
        """The statements of the run, by their place among its inputs."""
        return dict(self.run.inputs.order_by("position").values_list("statement_id", "position"))

    @cached_property
    def lists_refunds(self) -> bool:
        """Whether any input names refunds one by one; sums by charge are looked at only where none does."""
        return self.run.inputs.filter(statement__lists_refunds=True).exists()

    @property
    def has_statements(self) -> bool:
        return bool(self.positions)

    def is_late(self, moment: datetime) -> bool:
        """Whether what only one side knows has waited long enough for the other."""
        return moment <= self.run.cut_off - self.waiting.for_the_other_side

    def covers(self, moment: datetime) -> bool:
        return self.run.since <= moment < self.run.until
