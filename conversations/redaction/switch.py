"""Which kinds of secrets are cut for whom: the account's own row, else its realm's, else none."""

from datetime import datetime
from typing import Any
from uuid import UUID

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import F, Q

from conversations.models import RedactionSpan, RedactionSwitch
from conversations.vocabulary import SecretKind


def kinds_for(*, account_id: UUID, realm_id: int) -> frozenset[SecretKind]:
    rows = RedactionSwitch.objects.filter(Q(account=account_id) | Q(account=None, realm=realm_id))
    kinds = rows.order_by(F("account_id").asc(nulls_last=True)).values_list("kinds", flat=True).first()
    return frozenset(SecretKind(kind) for kind in kinds or ())


@transaction.atomic
def set_kinds(
    *, realm_id: int, kinds: frozenset[SecretKind], user: User, now: datetime, account_id: UUID | None = None
) -> RedactionSwitch:
    """Set the kinds for an account, or for its realm; what is stored already stays as it is."""
    whose: dict[str, Any] = {"realm_id": realm_id, "account_id": account_id}
    switch, _ = RedactionSwitch.objects.update_or_create(
        **whose,
        defaults={"kinds": sorted(kinds), "set_by": user, "set_at": now},
    )
    return switch


def report_false_hit(*, span_id: int, user: User, now: datetime) -> RedactionSpan:
    """Note that what was cut was no secret; the detector is tried on such samples by `try_detectors`."""
    span = RedactionSpan.objects.get(pk=span_id)
    span.reported_false_at, span.reported_false_by = now, user
    span.save(update_fields=["reported_false_at", "reported_false_by"])
    return span
