"""Events are heard, and what stands in the ledger then."""

from typing import Any

from ledger.models import ToolEffect, WebhookEvent
from ledger.services.events import take_in_event, work_event
from tests.ledger.conftest import LATER
from tests.ledger.stripe_events import event


def hear(kind: str, carried: dict[str, Any], event_id: str, **given: Any) -> WebhookEvent:
    """Take an event in and work it, as the endpoint and its task do."""
    body = event(kind, carried, event_id=event_id, **given)
    taken = take_in_event(processor="stripe", body=body, now=LATER)
    return work_event(event_id=taken.event.pk, now=LATER)


def books(effect: ToolEffect) -> tuple[str, int | None, int]:
    """Return the state, what was settled and what was given back, in minor units."""
    effect.refresh_from_db()
    return effect.state, effect.amount_settled_minor, effect.amount_compensated_minor
