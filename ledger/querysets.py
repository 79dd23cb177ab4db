"""Reads of the ledger with a name: where an effect stands, what is abandoned, what was never paid back.

Standing is computed, never stored: which branch is live changes with the next click. A path
from a head is a few stretches of ascending numbers, joined where a message hangs elsewhere than
below the one before it (a jump, which the index `message_jump` holds). So the walk costs as
many steps as a path has turns, not as many as it has messages; and a conversation without a
fork whose head is its last message is not walked at all.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from uuid import UUID

from django.db import connection
from django.db.models import Count, Exists, OuterRef, Q, QuerySet, Sum

from access.models import Realm
from access.reading import as_application
from ledger.arrays import among_ids
from ledger.models import (
    Compensation,
    Contradiction,
    Dispute,
    EffectReference,
    ToolEffect,
)
from ledger.vocabulary import CompensationState, EffectState, Operation, Standing

# The stretches of the live paths of the conversations in `heads` (id, head_seq).
PATH_SPANS = """
spans AS (
    SELECT h.id, coalesce(j.seq, 1) AS first_seq, h.head_seq AS last_seq, j.parent_seq AS up
    FROM heads h LEFT JOIN LATERAL (
        SELECT m.seq, m.parent_seq FROM conversations_message m
        WHERE m.conversation_id = h.id AND m.seq <= h.head_seq AND coalesce(m.parent_seq, 0) <> m.seq - 1
        ORDER BY m.seq DESC LIMIT 1) j ON true
    UNION ALL
    SELECT s.id, coalesce(j.seq, 1), s.up, j.parent_seq
    FROM spans s LEFT JOIN LATERAL (
        SELECT m.seq, m.parent_seq FROM conversations_message m
        WHERE m.conversation_id = s.id AND m.seq <= s.up AND coalesce(m.parent_seq, 0) <> m.seq - 1
        ORDER BY m.seq DESC LIMIT 1) j ON true
    WHERE s.up IS NOT NULL
)
"""

_ABANDONED = """
WITH RECURSIVE walked AS MATERIALIZED (
    SELECT c.id, c.head_seq FROM conversations_conversation c
    WHERE c.has_fork OR c.head_seq IS DISTINCT FROM c.next_seq - 1
), asked AS MATERIALIZED (
    SELECT e.id, e.conversation_id, e.call_seq FROM ledger_tooleffect e
    JOIN walked w ON w.id = e.conversation_id
    WHERE e.call_seq IS NOT NULL AND e.state = ANY(%s)
), heads AS MATERIALIZED (
    SELECT w.id, w.head_seq FROM walked w WHERE w.id IN (SELECT conversation_id FROM asked)
), @spans
SELECT a.id FROM asked a
WHERE NOT EXISTS (
    SELECT FROM spans s WHERE s.id = a.conversation_id AND a.call_seq BETWEEN s.first_seq AND s.last_seq)
AND NOT EXISTS (
    SELECT FROM ledger_effectuse u JOIN spans s ON s.id = u.conversation_id
    WHERE u.effect_id = a.id AND u.seq BETWEEN s.first_seq AND s.last_seq)
""".replace("@spans", PATH_SPANS)

_STANDINGS = """
WITH RECURSIVE asked AS MATERIALIZED (
    SELECT e.id, e.conversation_id, e.call_seq FROM ledger_tooleffect e
    WHERE e.id = ANY(%s) AND e.call_seq IS NOT NULL
), heads AS MATERIALIZED (
    SELECT c.id, c.head_seq FROM conversations_conversation c
    WHERE c.id IN (SELECT conversation_id FROM asked)
), @spans
SELECT a.id FROM asked a
WHERE EXISTS (
    SELECT FROM spans s WHERE s.id = a.conversation_id AND a.call_seq BETWEEN s.first_seq AND s.last_seq)
OR EXISTS (
    SELECT FROM ledger_effectuse u JOIN spans s ON s.id = u.conversation_id
    WHERE u.effect_id = a.id AND u.seq BETWEEN s.first_seq AND s.last_seq)
""".replace("@spans", PATH_SPANS)


def abandoned(
    effects: QuerySet[ToolEffect] | None = None, *, states: Sequence[EffectState] = (EffectState.APPLIED,)
) -> QuerySet[ToolEffect]:
    """Return attached effects in these states that no call on a live path has made or used.

    A call that was given an effect's outcome keeps it alive on its branch. The walk is done here, once,
    for whatever is asked of the rows.
    """
    effects = ToolEffect.objects.all() if effects is None else effects
    return effects.filter(among_ids("id", abandoned_ids(states=states)))


def abandoned_ids(*, states: Sequence[EffectState] = (EffectState.APPLIED,)) -> list[UUID]:
    """Return the keys alone, of every realm.

    Within a reading they are found past the policies, which would ask for the account of each
    conversation; the rows of these keys are then read under them.
    """
    with as_application(), connection.cursor() as cursor:
        cursor.execute(_ABANDONED, [[str(state) for state in states]])
        return [row[0] for row in cursor.fetchall()]


def standings(effects: Iterable[ToolEffect]) -> dict[UUID, Standing]:
    """Return where each effect stands now; one query, whatever their number."""
    effects = list(effects)
    attached = [effect.pk for effect in effects if effect.call_seq is not None]
    live: set[UUID] = set()
    if attached:
        with connection.cursor() as cursor:
            cursor.execute(_STANDINGS, [attached])
            live = {row[0] for row in cursor.fetchall()}
    return {effect.pk: _standing(effect, is_live=effect.pk in live) for effect in effects}


def _standing(effect: ToolEffect, *, is_live: bool) -> Standing:
    if effect.call_seq is None:
        return Standing.DETACHED
    return Standing.LIVE if is_live else Standing.ABANDONED


def with_standing(effects: QuerySet[ToolEffect], standing: Standing) -> QuerySet[ToolEffect]:
    """Filter a list by standing: for the effects page."""
    if standing == Standing.DETACHED:
        return effects.filter(call_seq=None)
    every_state = list(EffectState)
    if standing == Standing.ABANDONED:
        return abandoned(effects, states=every_state)
    left = among_ids("id", abandoned_ids(states=every_state))
    return effects.exclude(call_seq=None).exclude(left)


@dataclass(frozen=True, slots=True)
class Total:
    """Sums of one currency; currencies are never added to each other."""

    currency: str
    effects: int
    settled_minor: int
    compensated_minor: int

    @property
    def net_minor(self) -> int:
        return self.settled_minor - self.compensated_minor


def totals(effects: QuerySet[ToolEffect]) -> list[Total]:
    """Sum up settled amounts of charges per currency; what is not settled counts as nothing.

    A tool's own refund is no second sum: it stands with its charge, as given back.
    """
    rows = (
        effects.filter(operation=Operation.CHARGE)
        .exclude(currency="")
        .order_by()
        .values("currency")
        .annotate(
            number=Count("pk"), settled=Sum("amount_settled_minor"), back=Sum("amount_compensated_minor")
        )
        .order_by("currency")
    )
    return [
        Total(row["currency"], row["number"], int(row["settled"] or 0), int(row["back"] or 0)) for row in rows
    ]


def find_effects_by_reference(reference: str) -> QuerySet[ToolEffect]:
    """Return every effect that an external id touches: one index probe in each table that holds ids.

    Intents, charges, refunds, disputes, our own key, and ids of contradictions (the
    second charge of one key leads to the effect that it doubles).
    """
    ids: set[UUID] = set()
    ids |= set(EffectReference.objects.filter(reference=reference).values_list("effect_id", flat=True))
    ids |= set(ToolEffect.objects.filter(external_ref=reference).values_list("pk", flat=True))
    ids |= set(Compensation.objects.filter(external_ref=reference).values_list("effect_id", flat=True))
    disputes = Dispute.objects.filter(Q(external_ref=reference) | Q(charge_ref=reference))
    ids |= set(disputes.exclude(effect=None).values_list("effect_id", flat=True))
    ids |= set(Contradiction.objects.filter(reference=reference).values_list("effect_id", flat=True))
    ids |= set(effects_of_key(reference).values_list("pk", flat=True))
    return ToolEffect.objects.filter(pk__in=ids).order_by("-requested_at", "-id")


def effects_of_key(key: str) -> QuerySet[ToolEffect]:
    """Return the effect with this idempotency key, whosever it is; two realms never share one."""
    # The index of keys begins with the realm, so it is probed once for each.
    return ToolEffect.objects.filter(realm__in=Realm.objects.all(), idempotency_key=key)


def probable_duplicates(effect: ToolEffect) -> QuerySet[ToolEffect]:
    """Return other effects of this conversation for the same request that may have moved money too."""
    return (
        ToolEffect.objects.filter(
            conversation_id=effect.conversation_id, request_digest=effect.request_digest
        )
        .exclude(pk=effect.pk)
        .exclude(state=EffectState.FAILED)
        .order_by("requested_at", "id")
    )


def not_paid_back(effects: QuerySet[ToolEffect] | None = None) -> QuerySet[Compensation]:
    """Return refunds that had settled and failed later: customers who were told that they have the money."""
    lost = Compensation.objects.filter(
        state=CompensationState.FAILED, settled_at__isnull=False, failed_at__isnull=False
    )
    if effects is not None:
        lost = lost.filter(effect__in=effects)
    return lost.select_related("effect").order_by("-failed_at", "-id")


def disputed(effects: QuerySet[ToolEffect]) -> QuerySet[ToolEffect]:
    return effects.filter(Exists(Dispute.objects.filter(effect=OuterRef("pk"), closed_at=None)))
