"""An event of a processor is put back among those that wait, for a worker to take up again."""

from uuid import UUID

from django.db import transaction

from conversations.errors import ConflictError, NotFoundError
from ledger.models import WebhookEvent


@transaction.atomic
def reopen_event(*, event_id: UUID) -> WebhookEvent:
    """Let an event be worked on again; what it settled before stays, since every step is done once.

    Raises ConflictError where its text is gone.
    """
    event = WebhookEvent.objects.select_for_update().filter(pk=event_id).first()
    if event is None:
        raise NotFoundError("no-event", "there is no such event", place=str(event_id))
    if event.raw_id is None:
        raise ConflictError(
            "raw-is-gone",
            "retention took the event's text away; ask the processor for it again",
            place=f"event {event.event_id}",
        )
    event.processed_at = None
    event.save(update_fields=["processed_at"])
    return event
