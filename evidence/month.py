"""A month of charges, written as rows: conversations, calls, effects with their moves, and the lines
that the processor's report would show.

Everything is written under the database's own rules, as the application's role: an effect begins
pending and moves by its lines. Number n of a seed is the same on every machine.
"""

import io
import random
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

from evidence.month_report import as_report, report_line
from evidence.month_rows import Rows
from evidence.told import Told

START = datetime(2026, 3, 1, tzinfo=UTC)
END = datetime(2026, 4, 1, tzinfo=UTC)
BATCH = 1000
CURRENCIES = ("usd", "usd", "usd", "eur", "eur", "jpy", "kwd")


@dataclass
class Month:
    """Makes up effects one by one and writes them in batches; `lines` is what the processor shows."""

    realm_id: int
    account_ids: list[UUID]
    seed: int
    number: int = 0
    effects: int = 0
    lines: list[dict[str, str]] = field(default_factory=list)
    _rows: Rows = field(default_factory=Rows)

    def rng(self) -> random.Random:
        self.number += 1
        return random.Random(f"{self.seed}-{self.number}")

    def begin(
        self, *, amount: int | None = None, currency: str | None = None, at: datetime | None = None
    ) -> Told:
        """An effect that was sent and has no answer, called for in a conversation of its own."""
        rng = self.rng()
        at = at or START + timedelta(seconds=rng.randrange(60, int((END - START).total_seconds()) - 90_000))
        told = Told(
            id=_id(at, rng),
            charge=f"ch_{rng.getrandbits(96):024x}",
            amount=amount or rng.randrange(100, 90_000) * 10,
            currency=currency or rng.choice(CURRENCIES),
            at=at,
        )
        told.conversation_id, told.seq = _id(at - timedelta(minutes=1), rng), 2
        self._converse(told, rng)
        self._effect(told, told.seq)
        return told

    def charge(self, **given: Any) -> Told:
        """An effect that was applied, and the line that shows it."""
        told = self.begin(**given)
        self.apply(told)
        self.show(told)
        return told

    def _converse(self, told: Told, rng: random.Random) -> None:
        account = self.account_ids[self.number % len(self.account_ids)]
        at = told.at - timedelta(seconds=5)
        self._add(
            "conversations_conversation",
            *(told.conversation_id, account, "A purchase", "recorded", "", "", 2, 2, 3, 1, False, at, at),
        )
        self.message(told, 1, None, at)
        self.message(told, 2, 1, at, call=True)
        self.move(told, 1, 1, at)
        self.move(told, 2, 2, at)

    def fork(self, told: Told, *, charges_again: bool, is_head_moved: bool = True) -> Told | None:
        """The customer edits the question; the head follows, and the other branch may charge too."""
        at = told.at + timedelta(minutes=3)
        again = None
        self.message(told, 3, None, at, reason="user_edit")
        if is_head_moved:
            self.move(told, 3, 3, at, reason="user_edit")
        if charges_again:
            rng = self.rng()
            again = Told(
                id=_id(at, rng),
                charge=f"ch_{rng.getrandbits(96):024x}",
                amount=told.amount,
                currency=told.currency,
                at=at,
                conversation_id=told.conversation_id,
                seq=4,
            )
            self.message(again, 4, 3, at, call=True)
            self._effect(again, 4)
            self.move(told, 4, 4, at)
            self.apply(again)
            self.show(again)
        last = 4 if charges_again else 3
        head = last if is_head_moved else 2
        self._rows.change_last(
            "conversations_conversation", head_seq=head, head_move=head, next_seq=last + 1, has_fork=True
        )
        return again

    def message(
        self,
        told: Told,
        seq: int,
        parent: int | None,
        at: datetime,
        *,
        call: bool = False,
        reason: str = "continue",
    ) -> None:
        role = "assistant" if call else "user"
        self._add("conversations_message", told.conversation_id, seq, parent, role, reason, at)
        if not call:
            self._add(
                "conversations_messagepart",
                *(told.conversation_id, seq, 0, "text", "Please buy it.", None, None, None),
            )
            return
        payload = b'{"type":"tool_use","id":"toolu_1","name":"charge_card","input":{}}'
        self._add(
            "conversations_messagepart",
            *(told.conversation_id, seq, 0, "tool_use", None, payload, f"toolu_{seq}", "charge_card"),
        )
        self._add(
            "conversations_toolcall",
            told.conversation_id,
            seq,
            0,
            f"toolu_{seq}",
            "charge_card",
            "requested",
            at,
        )

    def move(self, told: Told, number: int, head: int, at: datetime, *, reason: str = "append") -> None:
        self._add("conversations_headmove", told.conversation_id, number, head, at, "customer", "", reason)

    def use(self, told: Told, seq: int) -> None:
        """The other branch's call was given the outcome: the charge lives there too."""
        at = told.at + timedelta(minutes=4)
        self.message(told, seq, seq - 1, at, call=True)
        self.move(told, seq, seq, at)
        self._add("ledger_effectuse", told.conversation_id, seq, f"toolu_{seq}", told.id, at)
        self._rows.change_last("conversations_conversation", head_seq=seq, head_move=seq, next_seq=seq + 1)

    def _effect(self, told: Told, seq: int) -> None:
        self.effects += 1
        account = self.account_ids[self.number % len(self.account_ids)]
        self._add(
            "ledger_tooleffect",
            *(
                told.id,
                self.realm_id,
                account,
                told.conversation_id,
                seq,
                f"toolu_{seq}",
                "charge_card",
                "charge",
            ),
            *(f"cf1_{told.id.hex}", "branch_root", 1, told.amount.to_bytes(32, "big"), "stripe", "{}"),
            *("pending", 1, told.amount, told.currency, told.at),
        )
        self._add(
            "ledger_effectmove",
            *(told.id, 1, "", "pending", told.at, "application", "begin", "", "", None, None),
        )
        self._rows.effects.append(told)

    def apply(self, told: Told, *, settled: int | None = None) -> None:
        told.settled = told.amount if settled is None else settled
        self._move_state(told, "applied", told.charge, told.settled)
        for kind, reference in (("charge", told.charge), ("intent", told.charge.replace("ch_", "pi_"))):
            self._add("ledger_effectreference", told.id, "stripe", kind, reference, told.at)

    def fail(self, told: Told) -> None:
        self._move_state(told, "failed", told.charge, None)

    def refund(self, told: Told, amount: int, *, shown: int | None = None, returned: bool = False) -> str:
        """A refund that the ledger has as settled, perhaps come back; `shown` is what the line says."""
        at = told.at + timedelta(hours=1)
        rng = self.rng()
        reference = f"re_{rng.getrandbits(96):024x}"
        failed_at = at + timedelta(hours=2) if returned else None
        self._add(
            "ledger_compensation",
            *(_id(at, rng), told.id, "processor", "failed" if returned else "settled", amount, told.currency),
            *("", "", reference, at, at, at, failed_at, failed_at or at),
        )
        self._add("ledger_effectreference", told.id, "stripe", "refund", reference, at)
        if not returned:
            told.back += amount
        if shown != 0:
            self.line("refund", reference, -(shown or amount), told, at=at)
        if returned:
            self.line("refund_failure", reference, amount, told, at=at + timedelta(hours=2))
        if told.back == told.settled:
            self._move_state(told, "compensated", reference, amount)
        return reference

    def dispute(self, told: Told, *, status: str, is_known: bool = True, shown: int | None = None) -> str:
        """A dispute of the whole charge; the processor may show that it took another amount."""
        at = told.at + timedelta(hours=2)
        rng = self.rng()
        reference = f"dp_{rng.getrandbits(96):024x}"
        closed = at + timedelta(hours=5) if status == "won" else None
        if is_known:
            self._add(
                "ledger_dispute",
                *(
                    _id(at, rng),
                    told.id,
                    "stripe",
                    reference,
                    told.charge,
                    status,
                    "fraudulent",
                    told.settled,
                ),
                *(told.currency, at, closed, closed or at, closed or at),
            )
        self.line("dispute", reference, -(told.settled if shown is None else shown), told, at=at)
        if closed:
            self.line("dispute_reversal", reference, told.settled, told, at=closed)
        return reference

    def contradict(self, told: Told) -> None:
        self._add(
            "ledger_contradiction",
            *(told.id, "failed_after_applied", "stripe", told.charge, "failed", told.settled, told.currency),
            *("webhook", told.at, told.at + timedelta(hours=1)),
        )

    def show(self, told: Told, **given: Any) -> None:
        amount = given.pop("amount", told.settled or told.amount)
        self.line(
            "charge", given.pop("reference", told.charge), amount, told, at=given.pop("at", told.at), **given
        )

    def line(
        self,
        kind: str,
        reference: str,
        amount: int,
        told: Told,
        *,
        at: datetime,
        currency: str = "",
        is_marked: bool = False,
    ) -> None:
        """One row of the report. Without a mark, only the processor's own ids lead to the ledger."""
        currency = currency or told.currency
        self.lines.append(
            report_line(
                number=len(self.lines),
                kind=kind,
                reference=reference,
                charge=reference if kind == "charge" else told.charge,
                amount=amount,
                currency=currency,
                at=at,
                effect=str(told.id) if is_marked else "",
            )
        )

    def _move_state(self, told: Told, to_state: str, reference: str, amount: int | None) -> None:
        told.moves += 1
        self._add(
            "ledger_effectmove",
            *(told.id, told.moves, told.state, to_state, told.at, "application", "answer", reference),
            *("succeeded", amount, told.at),
        )
        told.state = to_state

    def _add(self, table: str, *row: Any) -> None:
        self._rows.add(table, *row)

    def write_if_full(self) -> None:
        if len(self._rows.effects) >= BATCH:
            self.write()

    def write(self) -> None:
        self._rows.write()

    def statement(self) -> io.BytesIO:
        return as_report(self.lines)


def _id(at: datetime, rng: random.Random) -> UUID:
    value = int(at.timestamp() * 1000) << 80 | 0x7 << 76 | rng.getrandbits(12) << 64 | 0b10 << 62
    return UUID(int=value | rng.getrandbits(62))
