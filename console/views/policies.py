"""Retention policies: what is in force, the history, and a change that is shown before it is made."""

from datetime import datetime

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_http_methods

from access.addresses import address_of
from access.permissions import holds as has_right
from access.permissions import requires, staff_of
from access.reach import Reach, reach_of
from access.rights import RightName
from console.frame import frame_context
from console.retention_pages.forms import PolicyForm
from console.retention_pages.policies import history_within, read_classes
from retention.errors import PolicyError
from retention.models import RetentionPolicy
from retention.services.policies import propose_policy, set_policy
from retention.services.previewing import preview_policy

PURPOSE = (
    "How long each kind of data stays. The narrowest layer that says something decides; holds go before all."
)


@never_cache
@require_GET
@requires(RightName.READ_RETENTION)
def policies(request: HttpRequest) -> HttpResponse:
    reach = reach_of(staff_of(request))
    now = timezone.now()
    context = frame_context(request, now=now, title="Retention policies", subtitle=PURPOSE)
    context |= {
        "classes": read_classes(now=now, reach=reach),
        "history": history_within(reach),
        "may_edit": has_right(request.user, RightName.EDIT_POLICIES),
    }
    return render(request, "console/retention/policies.html", context)


@never_cache
@require_http_methods(["GET", "POST"])
@requires(RightName.EDIT_POLICIES)
def change(request: HttpRequest) -> HttpResponse:
    """Shows what the change would take; the same form with `confirm` makes it."""
    reach, now = reach_of(staff_of(request)), timezone.now()
    initial = {"data_class": request.GET.get("class", ""), "begins_on": timezone.localdate(now)}
    form = PolicyForm(reach, request.POST if request.method == "POST" else None, initial=initial)
    rule = _proposed(form, reach) if request.method == "POST" and form.is_valid() else None
    if rule is not None and "confirm" in request.POST:
        if _is_set(request, rule, form, now=now):
            messages.success(request, "The change is set. It is in the history below.")
            return HttpResponseRedirect(reverse("console:policies"))
        rule = None
    context = frame_context(request, now=now, title="Change a policy", subtitle=PURPOSE)
    context |= {"form": form, "preview": preview_policy(rule=rule) if rule else None}
    return render(
        request, "console/retention/policy_change.html", context, status=422 if form.errors else 200
    )


def _proposed(form: PolicyForm, reach: Reach) -> RetentionPolicy | None:
    try:
        rule = propose_policy(**form.proposal(now=timezone.now()))
    except PolicyError as error:
        _say(error, form)
        return None
    is_within = reach.sees_all if rule.realm_id is None else reach.holds(rule.realm_id)
    if not is_within:
        form.add_error(None, "This layer is not one of your realms.")
        return None
    return rule


def _is_set(request: HttpRequest, rule: RetentionPolicy, form: PolicyForm, *, now: datetime) -> bool:
    """Set the rule; what another set since the form was checked may refuse it."""
    try:
        set_policy(rule=rule, user=staff_of(request), now=now, address=address_of(request))
    except PolicyError as error:
        _say(error, form)
        return False
    return True


def _say(error: PolicyError, form: PolicyForm) -> None:
    form.add_error(None, f"{error.explanation} (limited by: {error.place})")
