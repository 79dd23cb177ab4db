"""The desk of findings: its filters, its rows, its CSV, and what one finding shows."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import batched
from typing import Any, Final

import django_filters
from django.contrib.auth.models import User
from django.db.models import Q, QuerySet

from access.reach import Reach
from access.rights import RightName
from console.finance.chain import names_of
from console.masking import masked_name
from conversations.currency import major_text
from ledger.models import Finding, FindingEvent, StatementLine
from ledger.querysets import standings
from ledger.reconciliation.desk import may_take_the_statements_word
from ledger.reconciliation.vocabulary import FindingKind, FindingState
from ledger.vocabulary import Standing

EXPLAINED: Final = {
    FindingKind.ABANDONED: "Applied, but no call on the live path uses it",
    FindingKind.DUPLICATE: "Charged again for the same: on another branch, or before the first was known",
    FindingKind.STALE_PENDING: "No evidence either way for longer than it may take",
    FindingKind.MISSING_IN_LEDGER: "The processor has a movement that we have not",
    FindingKind.MISSING_AT_PROCESSOR: "We say applied, the processor has nothing",
    FindingKind.AMOUNT_DIFFERS: "Same movement, another amount at the processor",
    FindingKind.CURRENCY_DIFFERS: "Same movement, another currency at the processor",
    FindingKind.STATE_DIFFERS: "Ledger and processor disagree on what became of it",
    FindingKind.REFUND_FAILED_LATER: "Settled first, then returned by the bank",
    FindingKind.DISPUTE_OPEN: "The customer’s bank has taken the amount back for now",
    FindingKind.CONTRADICTION: "The processor says what no state can express",
}
CSV_HEADER: Final = (
    *("finding", "realm", "processor", "kind", "state", "currency", "amount", "processor's id", "effect"),
    *("account", "occurred", "first seen", "last seen", "due", "owner", "resolution", "settled"),
)
_OWNERS: Final = (("nobody", "Nobody"), ("mine", "You"), ("others", "Others"))
_DUE: Final = (("late", "Past due"), ("soon", "Due within 2 days"), ("later", "Later"))
_BATCH: Final = 500


class FindingFilter(django_filters.FilterSet):
    """`q` is one id, of the processor or ours, or an account's."""

    kind = django_filters.ChoiceFilter(choices=FindingKind.choices, empty_label="Every kind", label="Kind")
    currency = django_filters.CharFilter(method="by_currency", max_length=3, label="Currency")
    owner = django_filters.ChoiceFilter(
        choices=_OWNERS, method="by_owner", empty_label="Anyone or nobody", label="Owner"
    )
    due = django_filters.ChoiceFilter(choices=_DUE, method="by_due", empty_label="Whenever due", label="Due")
    state = django_filters.ChoiceFilter(
        choices=FindingState.choices, empty_label="Every state", label="State"
    )
    run = django_filters.UUIDFilter(field_name="sightings__run_id", label="Run")
    q = django_filters.CharFilter(method="by_id", max_length=255, label="Id or account")

    class Meta:
        model = Finding
        fields: list[str] = []

    def __init__(self, *args: Any, user: User, now: datetime, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._user, self._now = user, now

    def by_currency(self, queryset: QuerySet[Finding], name: str, value: str) -> QuerySet[Finding]:
        return queryset.filter(currency=value.lower())

    def by_owner(self, queryset: QuerySet[Finding], name: str, value: str) -> QuerySet[Finding]:
        if value == "nobody":
            return queryset.filter(assigned_to=None)
        mine = Q(assigned_to=self._user.pk)
        return queryset.filter(mine if value == "mine" else ~mine & Q(assigned_to__isnull=False))

    def by_due(self, queryset: QuerySet[Finding], name: str, value: str) -> QuerySet[Finding]:
        from ledger.reconciliation.querysets import SOON

        soon = self._now + SOON
        conditions = {
            "late": Q(due_at__lt=self._now),
            "soon": Q(due_at__gte=self._now, due_at__lt=soon),
            "later": Q(due_at__gte=soon),
        }
        return queryset.filter(conditions[value])

    def by_id(self, queryset: QuerySet[Finding], name: str, value: str) -> QuerySet[Finding]:
        value = value.strip()
        number = value.upper().removeprefix("F-")
        found = Q(reference=value) | Q(account__external_id=value) | Q(subject=value)
        return queryset.filter(
            found | Q(pk=int(number)) if number.isdecimal() and len(number) < 18 else found
        )


@dataclass(frozen=True, slots=True)
class Row:
    """One finding of the list; what names a person is masked."""

    finding: Finding
    customer: str
    owner: str
    is_late: bool

    @property
    def kind(self) -> str:
        return FindingKind(self.finding.kind).label


def listed(reach: Reach) -> QuerySet[Finding]:
    return Finding.objects.filter(reach.within("realm_id")).select_related("realm", "account", "effect")


def rows_of(findings: Iterable[Finding], *, now: datetime) -> list[Row]:
    """Return the rows of a page; the owners' names are read in one query."""
    page = list(findings)
    names = names_of({finding.assigned_to_id for finding in page})
    return [
        Row(
            finding=finding,
            customer=masked_name(finding.account.label) if finding.account else "",
            owner=names.get(finding.assigned_to_id, ""),
            is_late=finding.state == FindingState.OPEN and finding.due_at < now,
        )
        for finding in page
    ]


def csv_rows(findings: QuerySet[Finding], *, now: datetime) -> Iterator[tuple[Any, ...]]:
    """Yield the lines of the export, in batches."""
    rows = findings.order_by("first_seen_at", "id").iterator(chunk_size=_BATCH)
    for batch in batched(rows, _BATCH):
        yield from map(_cells, rows_of(batch, now=now))


def _cells(row: Row) -> tuple[Any, ...]:
    finding = row.finding
    amount = finding.amount_minor
    return (
        *(f"F-{finding.pk}", finding.realm.slug, finding.processor, finding.kind, finding.state),
        finding.currency.upper(),
        "" if amount is None else major_text(amount, finding.currency),
        *(finding.reference, finding.effect_id, finding.account.external_id if finding.account else ""),
        *(finding.occurred_at, finding.first_seen_at, finding.last_seen_at, finding.due_at, row.owner),
        *(finding.resolution, finding.resolved_at),
    )


def possible_owners() -> list[User]:
    """Return staff who may settle findings, by name."""
    right = RightName.RESOLVE_FINDINGS.value
    granted = Q(groups__permissions__codename=right) | Q(user_permissions__codename=right)
    staff = User.objects.filter(granted | Q(is_superuser=True), is_active=True, is_staff=True).distinct()
    return list(staff.order_by("last_name", "first_name", "username")[:200])


@dataclass(frozen=True, slots=True)
class Told:
    """One line of a finding's history: who did what, and the words beside it."""

    event: FindingEvent
    who: str
    whom: str
    words: str


@dataclass(frozen=True, slots=True)
class Shown:
    """Everything the page of one finding shows."""

    row: Row
    explained: str
    history: Sequence[Told]
    lines: Sequence[StatementLine]
    standing: Standing | None
    facts: Sequence[tuple[str, str]]
    amounts: Sequence[tuple[str, int, str]]

    @property
    def is_open(self) -> bool:
        return self.row.finding.state == FindingState.OPEN

    @property
    def earlier(self) -> Sequence[str]:
        """The charges that this one repeats, by their effects."""
        return self.row.finding.facts.get("of", [])

    @property
    def is_suggested(self) -> bool:
        return self.is_open and bool(self.row.finding.facts.get("is_suggested"))

    @property
    def is_told_by_statement(self) -> bool:
        """Whether the statement's word may be taken for the answer that the charge never had."""
        return may_take_the_statements_word(self.row.finding)


_SHOWN_FACTS: Final = {
    "movement": "Movement",
    "ledger": "Ledger says",
    "processor": "Processor says",
    "contradiction": "Contradiction",
    "beside": "Beside",
    "charge": "Charge",
}
_AMOUNTS: Final = {"ledger": "Ledger", "processor": "Processor", "given_back": "Given back"}


def show(finding: Finding, *, now: datetime) -> Shown:
    """Read what the page shows; a fixed number of queries."""
    events = list(finding.events.select_related("comment").order_by("id")[:200])
    people = {int(event.actor_id) for event in events if event.actor_kind == "staff"}
    names = names_of({*people, *(event.user_id for event in events)})
    (row,) = rows_of([finding], now=now)
    lines = StatementLine.objects.filter(
        reference=finding.reference, statement__realm_id=finding.realm_id
    ).select_related("statement")
    effect = finding.effect
    return Shown(
        row=row,
        explained=EXPLAINED[FindingKind(finding.kind)],
        history=[_told(event, names) for event in events],
        lines=list(lines.order_by("-id")[:20]) if finding.reference else [],
        standing=standings([effect])[effect.pk] if effect else None,
        facts=list(_facts(finding)),
        amounts=list(_amounts(finding)),
    )


def _facts(finding: Finding) -> Iterator[tuple[str, str]]:
    for name, label in _SHOWN_FACTS.items():
        value = finding.facts.get(name)
        if value and isinstance(value, str):
            yield label, value.replace("_", " ") if name in ("movement", "contradiction") else value


def _amounts(finding: Finding) -> Iterator[tuple[str, int, str]]:
    """Both sides of what differs, each in its own currency."""
    for name, label in _AMOUNTS.items():
        value = finding.facts.get(name)
        if isinstance(value, int):
            other = finding.facts.get("ledger_currency") if name == "ledger" else ""
            yield label, value, other or finding.currency


def _told(event: FindingEvent, names: dict[int | None, str]) -> Told:
    is_staff = event.actor_kind == "staff"
    comment = getattr(event, "comment", None)
    return Told(
        event=event,
        who=names.get(int(event.actor_id), "Somebody") if is_staff else "A reconciliation run",
        whom=names.get(event.user_id, ""),
        words=comment.text if comment else "",
    )
