"""Writing the access log: one row for each opening, reveal, export and refusal."""

from datetime import datetime
from uuid import UUID

from access.actors import Actor
from access.models.log import AccessAction, AccessEntry, TargetKind
from access.reading import as_application


def log_access(
    *,
    actor: Actor,
    action: AccessAction,
    target_kind: TargetKind,
    now: datetime,
    target_id: str = "",
    realm_id: int | None = None,
    conversation_id: UUID | None = None,
    account_id: UUID | None = None,
    reason_id: UUID | None = None,
    row_count: int | None = None,
    address: str | None = None,
) -> AccessEntry:
    """Append one line; belongs in the transaction of what it records. It may be called while reading."""
    with as_application():
        return AccessEntry.objects.create(
            at=now,
            actor_kind=actor.kind,
            actor_id=actor.id,
            action=action,
            target_kind=target_kind,
            target_id=target_id[:255],
            realm_id=realm_id,
            conversation_id=conversation_id,
            account_id=account_id,
            reason_id=reason_id,
            row_count=row_count,
            address=address,
        )
