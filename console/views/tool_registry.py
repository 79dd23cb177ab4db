"""The tool registry: what each tool may do, changed by those allowed, each change logged."""

from typing import Any

from django.contrib import messages
from django.db import transaction
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_http_methods

from access.addresses import address_of
from access.models import Realm
from access.models.log import AccessAction, TargetKind
from access.permissions import actor_of, holds, refuse, requires, staff_of
from access.reach import reach_of
from access.rights import RightName
from access.services.logging import log_access
from console.finance.chain import SCOPES
from console.finance.forms import NewPolicyForm, PolicyForm, initial_of
from console.finance.policy_words import settings_of, told_changes
from console.frame import frame_context
from console.listing import list_context, read_page
from conversations.errors import StoreError
from ledger.models import ToolPolicy
from ledger.services.policies import save_policy


@never_cache
@require_GET
@requires(RightName.READ_EFFECTS)
def registry(request: HttpRequest) -> HttpResponse:
    reach = reach_of(staff_of(request))
    tools = ToolPolicy.objects.filter(reach.within("realm_id")).select_related("realm")
    page = read_page(request, tools, moment="updated_at")
    context = frame_context(
        request,
        now=timezone.now(),
        title="Tool registry",
        subtitle="What each tool may do. One that is not listed counts as touching the world, and asks.",
    )
    context |= list_context(request.GET, page) | {
        "rows": page.rows,
        "may_edit": holds(request.user, RightName.EDIT_TOOLS),
    }
    return render(request, "console/finance/registry.html", context)


@never_cache
@require_http_methods(["GET", "POST"])
@requires(RightName.READ_EFFECTS)
def tool_policy(request: HttpRequest, policy_id: int) -> HttpResponse:
    """One tool with the log of its changes; who may edit tools has a form."""
    policy = ToolPolicy.objects.select_related("realm").filter(pk=policy_id).first()
    if policy is None:
        raise Http404("This tool is not registered.")
    if not reach_of(staff_of(request)).holds(policy.realm_id):
        refuse(why="This tool belongs to a realm that you do not see.")
    may_edit = holds(request.user, RightName.EDIT_TOOLS)
    if request.method == "POST" and not may_edit:
        refuse(why="Tools are changed by administrators.")
    form = PolicyForm(request.POST if request.method == "POST" else None, initial=initial_of(policy))
    if request.method == "POST" and form.is_valid() and _save(request, form, policy.realm, policy.name):
        return HttpResponseRedirect(reverse("console:tool-policy", args=[policy.pk]))
    context = frame_context(
        request, now=timezone.now(), title=policy.name, subtitle=f"What this tool may do in {policy.realm}."
    )
    context |= {
        "policy": policy,
        "form": form if may_edit else None,
        "facts": settings_of(policy),
        "changes": told_changes(policy),
        "scopes": [(scope.label.capitalize(), text) for scope, text in SCOPES.items()],
    }
    status = 422 if form.is_bound else 200
    return render(request, "console/finance/tool_policy.html", context, status=status)


@never_cache
@require_http_methods(["GET", "POST"])
@requires(RightName.EDIT_TOOLS)
def new_tool_policy(request: HttpRequest) -> HttpResponse:
    reach = reach_of(staff_of(request))
    realms = {realm.slug: realm for realm in Realm.objects.filter(reach.within("id")).order_by("slug")}
    given: dict[str, Any] = {"name": request.GET.get("name", "")[:255], "realm": request.GET.get("realm", "")}
    form = NewPolicyForm(
        request.POST if request.method == "POST" else None,
        realms=[(slug, realm.name) for slug, realm in realms.items()],
        initial={"effectful": "yes", "replay_policy": "ask", "key_scope": "branch_root", **given},
    )
    if request.method == "POST" and form.is_valid():
        realm, name = realms[form.cleaned_data.pop("realm")], form.cleaned_data.pop("name")
        saved = _save(request, form, realm, name)
        if saved is not None:
            return HttpResponseRedirect(reverse("console:tool-policy", args=[saved.pk]))
    context = frame_context(
        request,
        now=timezone.now(),
        title="Register a tool",
        subtitle="Say what it may do, and how a re-run counts.",
    )
    context |= {"form": form, "scopes": [(scope.label.capitalize(), text) for scope, text in SCOPES.items()]}
    status = 422 if form.is_bound else 200
    return render(request, "console/finance/tool_policy.html", context, status=status)


def _save(request: HttpRequest, form: PolicyForm, realm: Realm, name: str) -> ToolPolicy | None:
    """Save what the form says; what the service refuses stands on the form."""
    now = timezone.now()
    try:
        with transaction.atomic():
            saved = save_policy(realm=realm, name=name, user=staff_of(request), now=now, **form.cleaned_data)
            log_access(
                actor=actor_of(request),
                action=AccessAction.CHANGE,
                target_kind=TargetKind.POLICY,
                target_id=f"tool {saved.pk}",
                realm_id=realm.pk,
                now=now,
                address=address_of(request),
            )
    except StoreError as error:
        form.add_error(None, f"{error.explanation[:1].upper()}{error.explanation[1:]}.")
        return None
    messages.success(request, "Saved. Calls that begin from now on are judged by it.")
    return saved
