"""The door for processors' webhooks: nobody logs in here, the signature is the proof."""

import structlog
from celery import current_app
from django.conf import settings
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.utils import timezone
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_POST
from kombu.exceptions import OperationalError

from ledger.processors import STRIPE
from ledger.processors.stripe.signatures import is_signed
from ledger.services.events import take_in_event

log = structlog.get_logger(__name__)
_TOO_LARGE, _REFUSED, _NOT_CONFIGURED = 413, 400, 503


@csrf_exempt
@require_POST
def stripe_webhook(request: HttpRequest) -> HttpResponse:
    """Keep what came, if it is signed, and say so at once; a worker does the rest.

    A delivery that is not taken comes again for days: only what is forged, too
    large or no event is refused.
    """
    if not settings.STRIPE_WEBHOOK_SECRETS:
        return _refusal("not-configured", status=_NOT_CONFIGURED)
    if _length(request) > settings.WEBHOOK_BYTES_LIMIT:
        return _refusal("too-large", status=_TOO_LARGE)
    body = request.body
    if not is_signed(body, request.headers.get("Stripe-Signature", ""), settings.STRIPE_WEBHOOK_SECRETS):
        return _refusal("not-signed", status=_REFUSED)
    try:
        taken = take_in_event(processor=STRIPE, body=body, now=timezone.now())
    except ValueError:
        return _refusal("not-an-event", status=_REFUSED)
    if taken.event.processed_at is None:
        _wake(str(taken.event.pk))
    return JsonResponse({"received": taken.event.event_id, "is_new": taken.is_new})


def _length(request: HttpRequest) -> int:
    """Return the length that the body announces; one without is too long for us."""
    announced = request.headers.get("Content-Length", "")
    return int(announced) if announced.isdecimal() else settings.WEBHOOK_BYTES_LIMIT + 1


def _wake(event_id: str) -> None:
    """Tell a worker; where the broker does not answer at once, the scheduled run finds the event."""
    try:
        with current_app.connection_for_write() as broker:
            # Its own default is to try again for seconds, while the processor waits for our answer.
            broker.transport_options = {**(broker.transport_options or {}), "max_retries": 0}
            current_app.send_task("ledger.work_event", args=[event_id], retry=False, connection=broker)
    except OperationalError:
        log.warning("webhook kept, but no worker was woken", webhook=event_id)


def _refusal(code: str, *, status: int) -> JsonResponse:
    return JsonResponse({"error": code}, status=status)
