"""The receipt of an erasure: as a page, and as the signed bytes."""

import json
from uuid import UUID

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET

from access.permissions import requires
from access.rights import RightName
from console.frame import frame_context
from console.retention_pages.stores import labelled
from console.views.erasures import found_request
from retention.erasure.receipt import is_genuine
from retention.models import ErasureReceipt, ErasureRequest


@never_cache
@require_GET
@requires(RightName.READ_RETENTION)
def receipt(request: HttpRequest, request_id: UUID) -> HttpResponse:
    found = found_request(request, request_id)
    kept = _receipt(found)
    context = frame_context(request, now=timezone.now(), title=f"Receipt {found.number}")
    body = json.loads(kept.body)
    context |= {
        "erasure": found,
        "receipt": kept,
        "body": body,
        "erased": labelled(body["erased"]),
        "pseudonymised": labelled(body["pseudonymised"]),
        "is_genuine": is_genuine(kept),
    }
    return render(request, "console/retention/receipt.html", context)


@never_cache
@require_GET
@requires(RightName.READ_RETENTION)
def receipt_json(request: HttpRequest, request_id: UUID) -> HttpResponse:
    """The signed bytes, with the signature beside them."""
    found = found_request(request, request_id)
    kept = _receipt(found)
    signed = {"receipt": kept.body, "signature": f"hmac-sha256:{kept.signature}", "key": kept.key_mark}
    return HttpResponse(
        json.dumps(signed),
        content_type="application/json",
        headers={"Content-Disposition": f'attachment; filename="{found.number}.json"'},
    )


def _receipt(found: ErasureRequest) -> ErasureReceipt:
    kept = ErasureReceipt.objects.filter(request=found).first()
    if kept is None:
        raise Http404("There is no receipt yet.")
    return kept
