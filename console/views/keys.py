from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse, HttpResponseBadRequest
from django.views.decorators.http import require_POST

from console.staff import switch_single_keys


@require_POST
def single_keys(request: HttpRequest) -> HttpResponse:
    """Switch single keys on or off for whoever asks: `on` is "yes" or "no"."""
    if not (request.user.is_authenticated and request.user.is_active and request.user.is_staff):
        raise PermissionDenied("Single keys are a setting of staff. Log in to change yours.")
    wanted = request.POST.get("on")
    if wanted not in ("yes", "no"):
        return HttpResponseBadRequest("“on” is yes or no")
    switch_single_keys(user=request.user, is_on=wanted == "yes")
    return HttpResponse(status=204)
