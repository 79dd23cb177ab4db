"""Customers' accounts: the list, one account, and its personal details for who asks."""

from typing import Any
from uuid import UUID

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.utils.http import urlencode
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_POST

from access.addresses import address_of
from access.models.log import AccessAction, TargetKind
from access.permissions import actor_of, holds, refuse, requires, staff_of
from access.reach import reach_of
from access.reading import as_application, reads_customers
from access.rights import RightName
from access.services.logging import log_access
from console.account_pages.listing import AccountFilter, filter_groups, listed, rows_of
from console.account_pages.overview import read_overview
from console.frame import frame_context
from console.listing import kept, list_context, read_page_by_id
from console.masking import masked_email, masked_name
from conversations.models import Account

TYPED = ("begins", "realm")


@never_cache
@require_GET
@requires(RightName.READ_CONVERSATIONS)
@reads_customers
def accounts(request: HttpRequest) -> HttpResponse:
    reach = reach_of(staff_of(request))
    filters = AccountFilter(request.GET, queryset=listed(reach))
    page = read_page_by_id(request, filters.qs if filters.is_valid() else Account.objects.none())
    context = frame_context(
        request,
        now=timezone.now(),
        title="Accounts",
        subtitle="Customers, newest first, with names masked. The search box finds an e-mail address.",
    )
    context |= list_context(request.GET, page) | {
        "rows": rows_of(page.rows),
        "form": filters.form,
        "typed": TYPED,
        "groups": filter_groups(request.GET),
        "kept": kept(request.GET, ("is_closed",)),
        "clear": reverse("console:accounts"),
        "widen": [("Every account", reverse("console:accounts"))],
        "shows_realms": reach.spans_realms,
    }
    return render(request, "console/accounts/list.html", context)


@never_cache
@require_GET
@requires(RightName.READ_CONVERSATIONS)
@reads_customers
def account(request: HttpRequest, account_id: UUID) -> HttpResponse:
    now = timezone.now()
    found = reachable_account(request, account_id)
    overview = read_overview(account=found, user=staff_of(request), now=now)
    _log(request, found, AccessAction.OPEN)
    context = frame_context(
        request,
        now=now,
        title=f"Account {found.external_id}",
        subtitle="One customer: conversations, what they cost, and what tools did.",
    )
    narrowed = urlencode({"account": found.external_id, "realm": found.realm.slug})
    context |= _personal(found) | {
        "account": found,
        "overview": overview,
        "may_reveal": holds(request.user, RightName.REVEAL_PERSONAL),
        "sees_effects": holds(request.user, RightName.READ_EFFECTS),
        "conversations_url": f"{reverse('console:conversations')}?{narrowed}",
        "narrowed": narrowed,
    }
    return render(request, "console/accounts/account.html", context)


@never_cache
@require_POST
@requires(RightName.REVEAL_PERSONAL)
def reveal_account(request: HttpRequest, account_id: UUID) -> HttpResponse:
    """Show name and e-mail once, with the row in the log; for htmx only the details."""
    found = reachable_account(request, account_id)
    _log(request, found, AccessAction.REVEAL)
    context: dict[str, Any] = {"account": found, "name": found.label, "email": found.email}
    if getattr(request, "htmx", False):
        return render(request, "console/accounts/personal.html", context)
    context |= frame_context(
        request,
        now=timezone.now(),
        title="Personal details",
        subtitle="Shown once; the access log says so.",
    )
    return render(request, "console/accounts/personal_page.html", context)


def reachable_account(request: HttpRequest, account_id: UUID) -> Account:
    """Return the account if the member of staff sees its realm; a refusal is logged."""
    # Read past the policies, to tell what is not there from what lies in another realm.
    with as_application():
        found = Account.objects.select_related("realm").filter(pk=account_id).first()
    if found is None:
        raise Http404("There is no such account; it may have been erased.")
    if not reach_of(staff_of(request)).holds(found.realm_id):
        refuse(why="This account belongs to a realm that you do not see.")
    return found


def _personal(found: Account) -> dict[str, str]:
    return {"name": masked_name(found.label), "email": masked_email(found.email) if found.email else ""}


def _log(request: HttpRequest, found: Account, action: AccessAction) -> None:
    log_access(
        actor=actor_of(request),
        action=action,
        target_kind=TargetKind.ACCOUNT,
        target_id=str(found.pk),
        realm_id=found.realm_id,
        account_id=found.pk,
        now=timezone.now(),
        address=address_of(request),
    )
