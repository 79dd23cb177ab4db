"""Which kinds of secrets are cut for whom: the account's own row, else its realm's, else none."""

from datetime import datetime
from typing import Any
from uuid import UUID

from django.contrib.auth.models import User
from django.db import connection, transaction

from conversations.models import RedactionSpan, RedactionSwitch
from conversations.vocabulary import SecretKind


def kinds_for(*, account_id: UUID, realm_id: int) -> frozenset[SecretKind]:
    # Asked for every exchange: a cursor costs a fifth of what the ORM does here.
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT kinds FROM conversations_redactionswitch"
            " WHERE account_id = %s OR account_id IS NULL AND realm_id = %s ORDER BY account_id LIMIT 1",
            [account_id, realm_id],
        )
        row = cursor.fetchone()
    return frozenset(SecretKind(kind) for kind in (row[0] if row else ()))


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
