from django.http import HttpRequest, HttpResponse, HttpResponseBadRequest
from django.views.decorators.http import require_POST

from access.permissions import staff_of, staff_only
from console.staff import switch_single_keys


@require_POST
@staff_only
def single_keys(request: HttpRequest) -> HttpResponse:
    """Switch single keys on or off for whoever asks: `on` is "yes" or "no"."""
    wanted = request.POST.get("on")
    if wanted not in ("yes", "no"):
        return HttpResponseBadRequest("“on” is yes or no")
    switch_single_keys(user=staff_of(request), is_on=wanted == "yes")
    return HttpResponse(status=204)
