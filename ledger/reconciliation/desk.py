"""What people do with findings: take them on, settle them with a reason, write about them, ask for a
refund, confirm a match. Every step is a line of the finding's history; words stand apart from it.
"""

from collections.abc import Collection
from datetime import datetime

from django.contrib.auth.models import User
from django.db import transaction

from access.actors import Actor, ActorKind
from conversations.errors import ConflictError, NotFoundError, StoreError
from ledger.evidence import OutcomeSeen
from ledger.models import (
    Compensation,
    Finding,
    FindingComment,
    FindingEvent,
    MatchDecision,
    StatementLine,
)
from ledger.reconciliation.context import RunContext
from ledger.reconciliation.movements import Movement, movements_of
from ledger.reconciliation.vocabulary import FindingAction, FindingKind, FindingState, Resolution
from ledger.services.compensating import left_of, request_compensation
from ledger.services.settling import settle_effect
from ledger.statements.vocabulary import LineKind, LineStatus
from ledger.vocabulary import (
    CompensationReason,
    EffectState,
    EvidenceSource,
    ReferenceKind,
)

# So many findings in one step; a page has fewer.
MOST_AT_ONCE = 500
_REASONS = {
    FindingKind.ABANDONED: CompensationReason.ABANDONED,
    FindingKind.DUPLICATE: CompensationReason.DUPLICATE,
}


@transaction.atomic
def assign_findings(*, ids: Collection[int], to: User | None, user: User, now: datetime) -> list[Finding]:
    """Give open findings to a member of staff, or to nobody; return those that this changed."""
    changed = [
        finding
        for finding in _lock(ids)
        if finding.state == FindingState.OPEN and finding.assigned_to_id != (to.pk if to else None)
    ]
    action = FindingAction.ASSIGNED if to else FindingAction.UNASSIGNED
    for finding in changed:
        finding.assigned_to = to
        finding.save(update_fields=["assigned_to"])
        _write(finding, action, user=user, now=now, to=to)
    return changed


@transaction.atomic
def resolve_findings(
    *, ids: Collection[int], resolution: Resolution, reason: str, user: User, now: datetime
) -> list[Finding]:
    """Settle open findings with a reason, which is needed; return those that this settled."""
    if not reason.strip():
        raise StoreError("reason-needed", "say why it is settled")
    settled = [finding for finding in _lock(ids) if finding.state == FindingState.OPEN]
    for finding in settled:
        finding.state, finding.resolution, finding.resolved_at = FindingState.RESOLVED, resolution, now
        finding.save(update_fields=["state", "resolution", "resolved_at"])
        event = _write(finding, FindingAction.RESOLVED, user=user, now=now, resolution=resolution)
        _comment(finding, event, reason, user=user, now=now)
    return settled


@transaction.atomic
def comment_on_finding(*, finding_id: int, text: str, user: User, now: datetime) -> FindingComment:
    """Write about a finding; in whatever state it is."""
    if not text.strip():
        raise StoreError("comment-empty", "a comment says something")
    (finding,) = _lock([finding_id])
    event = _write(finding, FindingAction.COMMENTED, user=user, now=now)
    return _comment(finding, event, text, user=user, now=now)


@transaction.atomic
def reopen_finding(*, finding_id: int, reason: str, user: User, now: datetime) -> Finding:
    """Take back a resolution; the reason is needed. Raises ConflictError where it is not resolved."""
    (finding,) = _lock([finding_id])
    if finding.state != FindingState.RESOLVED:
        raise ConflictError("not-resolved", f"the finding is {finding.state}", place=f"F-{finding_id}")
    if not reason.strip():
        raise StoreError("reason-needed", "say why it is open again")
    finding.state, finding.resolution, finding.resolved_at = FindingState.OPEN, "", None
    finding.reopened += 1
    finding.save(update_fields=["state", "resolution", "resolved_at", "reopened"])
    event = _write(finding, FindingAction.REOPENED, user=user, now=now)
    _comment(finding, event, reason, user=user, now=now)
    return finding


@transaction.atomic
def ask_for_refund(*, finding_id: int, user: User, now: datetime, note: str = "") -> Compensation:
    """Ask for what is left of the finding's charge; another person decides. The finding stays open.

    Raises ConflictError where the charge cannot be refunded, or a request of this finding waits.
    """
    (finding,) = _lock([finding_id])
    effect = finding.effect
    if effect is None:
        raise StoreError("no-effect", "no charge of the ledger is known for it", place=f"F-{finding_id}")
    compensation = request_compensation(
        effect_id=effect.pk,
        amount_minor=left_of(effect),
        reason=_REASONS.get(FindingKind(finding.kind), CompensationReason.ERROR),
        user=user,
        now=now,
        note=note,
    )
    finding.compensation_asked = compensation
    finding.save(update_fields=["compensation_asked"])
    _write(finding, FindingAction.REFUND_ASKED, user=user, now=now)
    return compensation


@transaction.atomic
def decide_on_match(*, finding_id: int, is_confirmed: bool, user: User, now: datetime) -> MatchDecision:
    """Say whether a suggested movement is the effect it was suggested for.

    Confirmed, the statement's line is the processor's word on the effect and settles it. Refused,
    the two are apart in every run to come. Raises ConflictError where nothing is suggested, or somebody
    has settled it.
    """
    (finding,) = _lock([finding_id])
    if finding.state != FindingState.OPEN:
        raise ConflictError("settled-already", f"the finding is {finding.state}", place=f"F-{finding_id}")
    if not finding.facts.get("is_suggested") or finding.effect_id is None:
        raise ConflictError("nothing-suggested", "no match is suggested for it", place=f"F-{finding_id}")
    decision = MatchDecision.objects.create(
        realm_id=finding.realm_id,
        processor=finding.processor,
        reference=finding.reference,
        effect_id=finding.effect_id,
        is_confirmed=is_confirmed,
        decided_by=user,
        decided_at=now,
    )
    if is_confirmed:
        _settle_by_statement(finding, user=user, now=now)
        resolve_findings(
            ids=[finding.pk],
            resolution=Resolution.RECORDED,
            reason="The suggested match was confirmed.",
            user=user,
            now=now,
        )
    return decision


def may_take_the_statements_word(finding: Finding) -> bool:
    """Whether a statement shows the money of a charge that the ledger has no answer for, or as failed."""
    effect, facts = finding.effect, finding.facts
    if finding.state != FindingState.OPEN or finding.kind != FindingKind.STATE_DIFFERS or effect is None:
        return False
    is_shown = (facts.get("movement"), facts.get("processor")) == (LineKind.CHARGE, LineStatus.DONE)
    return is_shown and effect.state in (EffectState.PENDING, EffectState.FAILED)


@transaction.atomic
def take_the_statements_word(*, finding_id: int, user: User, now: datetime) -> Finding:
    """Settle a charge by the statement that shows it: where the processor cannot be asked, or forgot.

    Raises ConflictError where no statement shows its money, or the ledger has it as settled.
    """
    (finding,) = _lock([finding_id])
    if not may_take_the_statements_word(finding):
        raise ConflictError("nothing-to-take", "no statement settles its charge", place=f"F-{finding_id}")
    _settle_by_statement(finding, user=user, now=now)
    (settled,) = resolve_findings(
        ids=[finding.pk],
        resolution=Resolution.RECORDED,
        reason="The charge was settled by the statement that shows it.",
        user=user,
        now=now,
    )
    return settled


def _settle_by_statement(finding: Finding, *, user: User, now: datetime) -> None:
    """Settle by all that the last run's statements say of the movement: a charge may be several rows,
    and what a partial capture let go is none of it.
    """
    context = RunContext(finding.last_run)
    told = movements_of([finding.reference], positions=context.positions)
    charges = (one for one in told if one.kind == LineKind.CHARGE and one.status == LineStatus.DONE)
    movement = next(charges, None)
    if movement is None:
        raise NotFoundError("no-line", "no statement shows this movement", place=finding.reference)
    line = StatementLine.objects.get(pk=movement.line_id)
    let_go = _let_go_of(movement, context)
    references = [(ReferenceKind.CHARGE, movement.reference)]
    if movement.intent_ref:
        references.append((ReferenceKind.INTENT, movement.intent_ref))
    seen = OutcomeSeen(
        processor=finding.processor,
        source=EvidenceSource.STATEMENT,
        reference=movement.reference,
        status=line.said_kind,
        currency=movement.currency,
        amount_minor=movement.amount_minor - let_go,
        occurred_at=movement.occurred_at,
        effect_id=finding.effect_id,
        outcome=EffectState.APPLIED,
        references=references,
        raw_id=line.raw_id,
    )
    if finding.effect_id is not None:
        actor = Actor(ActorKind.STAFF, str(user.pk))
        settle_effect(effect_id=finding.effect_id, seen=seen, actor=actor, now=now)


def _let_go_of(charge: Movement, context: RunContext) -> int:
    lines = StatementLine.objects.filter(
        statement_id__in=context.positions, charge_ref=charge.reference, kind=LineKind.RELEASE, trouble=""
    )
    found = movements_of(lines.values_list("reference", flat=True), positions=context.positions)
    releases = [one for one in found if (one.kind, one.charge_ref) == (LineKind.RELEASE, charge.reference)]
    return -sum(one.moved_minor for one in releases)


def _lock(ids: Collection[int]) -> list[Finding]:
    """Lock findings in their order; all of them must exist."""
    if len(ids) > MOST_AT_ONCE:
        raise StoreError("too-many", f"{len(ids)} findings at once; {MOST_AT_ONCE} are the most")
    locked = list(
        Finding.objects.select_for_update(of=("self",))
        .filter(pk__in=ids)
        .select_related("effect")
        .order_by("pk")
    )
    if len(locked) != len(set(ids)):
        raise NotFoundError("no-finding", "a finding does not exist")
    return locked


def _write(
    finding: Finding,
    action: FindingAction,
    *,
    user: User,
    now: datetime,
    to: User | None = None,
    resolution: str = "",
) -> FindingEvent:
    is_refund = action == FindingAction.REFUND_ASKED
    return FindingEvent.objects.create(
        finding=finding,
        at=now,
        action=action,
        actor_kind=ActorKind.STAFF,
        actor_id=str(user.pk),
        user=to,
        resolution=resolution,
        compensation_id=finding.compensation_asked_id if is_refund else None,
    )


def _comment(
    finding: Finding, event: FindingEvent, text: str, *, user: User, now: datetime
) -> FindingComment:
    return FindingComment.objects.create(
        finding=finding, event=event, author=user, text=text.strip(), written_at=now
    )
