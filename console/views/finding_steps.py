"""What is done with findings, one or many: assign, settle, reopen, comment, match, ask for a refund."""

from collections.abc import Callable

from django.contrib import messages
from django.contrib.auth.models import User
from django.core.exceptions import BadRequest
from django.db import transaction
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_POST

from access.addresses import address_of
from access.models.log import AccessAction, TargetKind
from access.permissions import actor_of, holds, refuse, requires, staff_of
from access.reach import reach_of
from access.rights import RightName
from access.services.logging import log_access
from console.frame import frame_context
from console.reconciling.finding_list import (
    listed,
    possible_owners,
    rows_of,
)
from console.reconciling.forms import CommentForm, ResolutionForm
from console.views.findings import DESK
from conversations.errors import StoreError
from ledger.models import Finding
from ledger.reconciliation import desk
from ledger.reconciliation.vocabulary import Resolution

# What may still be changed after the step that a page asks about.
_SAID = {
    "resolve": "What was settled can be reopened.",
    "refund": "Asking moves no money: another person decides.",
}


@require_POST
@requires(RightName.READ_EFFECTS)
def act_on_findings(request: HttpRequest) -> HttpResponse:
    """Do one thing with the findings that are ticked; what needs a reason asks on a page of its own."""
    ids = _ids(request)
    steps: dict[str, tuple[RightName, Callable[[HttpRequest, list[int]], HttpResponse | None]]] = {
        "assign": (RightName.RESOLVE_FINDINGS, _assign),
        "resolve": (RightName.RESOLVE_FINDINGS, _resolve),
        "reopen": (RightName.RESOLVE_FINDINGS, _reopen),
        "comment": (RightName.RESOLVE_FINDINGS, _comment),
        "confirm": (RightName.RESOLVE_FINDINGS, _confirm),
        "refuse": (RightName.RESOLVE_FINDINGS, _refuse_match),
        "take": (RightName.RESOLVE_FINDINGS, _take_the_statements_word),
        "refund": (RightName.REQUEST_COMPENSATION, _ask_for_refund),
    }
    if request.POST.get("do") not in steps:
        raise BadRequest("there is no such step")
    right, step = steps[request.POST["do"]]
    if not holds(request.user, right):
        refuse(why=f"Your role does not have the right to this: “{right.label}”.")
    if not ids:
        messages.error(request, "Nothing was changed: no finding is selected.")
        return _back(request)
    try:
        with transaction.atomic():
            answer = step(request, ids)
            if answer is None:
                _log(request, ids)
    except StoreError as error:
        messages.error(request, f"Nothing was changed: {error.explanation}.")
        answer = None
    return answer or _back(request)


def _assign(request: HttpRequest, ids: list[int]) -> None:
    to = request.POST.get("to", "")
    owner = next((user for user in possible_owners() if str(user.pk) == to), None)
    if to and owner is None:
        raise BadRequest("nobody of that number may settle findings")
    changed = desk.assign_findings(ids=ids, to=owner, user=staff_of(request), now=timezone.now())
    messages.success(request, f"{_number(len(changed))} assigned to {_name(owner)}.")


def _resolve(request: HttpRequest, ids: list[int]) -> HttpResponse | None:
    form = ResolutionForm(request.POST if "resolution" in request.POST else None)
    if not form.is_valid():
        return _ask(request, ids, title=f"Settle {_number(len(ids))}", step="resolve", form=form)
    settled = desk.resolve_findings(
        ids=ids,
        resolution=Resolution(form.cleaned_data["resolution"]),
        reason=form.cleaned_data["reason"],
        user=staff_of(request),
        now=timezone.now(),
    )
    messages.success(request, f"{_number(len(settled))} settled.")
    return None


def _reopen(request: HttpRequest, ids: list[int]) -> None:
    for pk in ids:
        reason = request.POST.get("reason", "")[:4000]
        desk.reopen_finding(finding_id=pk, reason=reason, user=staff_of(request), now=timezone.now())


def _comment(request: HttpRequest, ids: list[int]) -> None:
    form = CommentForm(request.POST)
    if not form.is_valid():
        raise StoreError("comment-empty", "a comment has 1 to 4,000 characters")
    for pk in ids:
        desk.comment_on_finding(
            finding_id=pk, text=form.cleaned_data["text"], user=staff_of(request), now=timezone.now()
        )


def _confirm(request: HttpRequest, ids: list[int]) -> None:
    for pk in ids:
        desk.decide_on_match(finding_id=pk, is_confirmed=True, user=staff_of(request), now=timezone.now())
    messages.success(request, "The match is confirmed; the statement’s line has settled the effect.")


def _refuse_match(request: HttpRequest, ids: list[int]) -> None:
    for pk in ids:
        desk.decide_on_match(finding_id=pk, is_confirmed=False, user=staff_of(request), now=timezone.now())
    messages.success(request, "The two are apart in every run to come.")


def _take_the_statements_word(request: HttpRequest, ids: list[int]) -> None:
    for pk in ids:
        desk.take_the_statements_word(finding_id=pk, user=staff_of(request), now=timezone.now())
    messages.success(request, "The statement’s line has settled the charge.")


def _ask_for_refund(request: HttpRequest, ids: list[int]) -> HttpResponse | None:
    if "is_sure" not in request.POST:
        return _ask(request, ids, title=f"Ask for {_number(len(ids))} to be refunded", step="refund")
    for pk in ids:
        desk.ask_for_refund(finding_id=pk, user=staff_of(request), now=timezone.now())
    messages.success(request, f"A refund was asked for {_number(len(ids))}. Another person decides.")
    return None


def _ask(
    request: HttpRequest, ids: list[int], *, title: str, step: str, form: ResolutionForm | None = None
) -> HttpResponse:
    """The page between ticking and doing: how many of what, and what will happen."""
    now = timezone.now()
    found = listed(reach_of(staff_of(request))).filter(pk__in=ids).order_by("pk")
    context = frame_context(request, now=now, title=title, subtitle=_SAID[step])
    context |= {"rows": rows_of(found, now=now), "step": step, "form": form, "back": _back_url(request)}
    return render(request, "console/reconciling/act.html", context)


def _ids(request: HttpRequest) -> list[int]:
    """Return the ticked findings, if all of them lie within the reach of whoever asks."""
    given = request.POST.getlist("f")
    if not all(text.isdecimal() and len(text) < 18 for text in given):
        raise BadRequest("a finding is named by its number")
    ids = sorted({int(text) for text in given})
    reach = reach_of(staff_of(request))
    realms = Finding.objects.filter(pk__in=ids).values_list("realm_id", flat=True)
    if any(not reach.holds(realm_id) for realm_id in realms):
        refuse(why="One of these findings belongs to a realm that you do not see.")
    return ids


def _log(request: HttpRequest, ids: list[int]) -> None:
    log_access(
        actor=actor_of(request),
        action=AccessAction.CHANGE,
        target_kind=TargetKind.FINDING,
        target_id=f"{request.POST['do']} {', '.join(f'F-{pk}' for pk in ids)}"[:255],
        row_count=len(ids),
        now=timezone.now(),
        address=address_of(request),
    )


def _back(request: HttpRequest) -> HttpResponseRedirect:
    return HttpResponseRedirect(_back_url(request))


def _back_url(request: HttpRequest) -> str:
    """Back to the one finding, or to the desk; never to an address that came with the form."""
    one = request.POST.get("on", "")
    if one.isdecimal() and len(one) < 18:
        return reverse("console:finding", args=[int(one)])
    return reverse(DESK)


def _number(count: int) -> str:
    return "1 finding" if count == 1 else f"{count:,} findings"


def _name(user: User | None) -> str:
    return (user.get_full_name() or user.get_username()) if user else "nobody"
