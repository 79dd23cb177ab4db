"""Which secrets are cut for one account, where that was done, and reports of false hits."""

from uuid import UUID

from django import forms
from django.contrib import messages
from django.db import transaction
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST

from access.models.log import AccessAction, TargetKind
from access.permissions import actor_of, requires, staff_of
from access.rights import RightName
from access.services.logging import log_access
from console.frame import frame_context
from console.views.accounts import reachable_account
from conversations.models import RedactionSpan
from conversations.redaction.switch import kinds_for, report_false_hit, set_kinds
from conversations.vocabulary import SecretKind

PURPOSE = (
    "Secrets that are cut out of what comes in, before anything is stored. What is stored stays as it is."
)
SHOWN = 100


class KindsForm(forms.Form):
    kinds = forms.MultipleChoiceField(
        label="Cut", choices=SecretKind.choices, required=False, widget=forms.CheckboxSelectMultiple
    )


@never_cache
@require_http_methods(["GET", "POST"])
@requires(RightName.EDIT_POLICIES)
def redaction(request: HttpRequest, account_id: UUID) -> HttpResponse:
    account, now = reachable_account(request, account_id), timezone.now()
    in_force = kinds_for(account_id=account.pk, realm_id=account.realm_id)
    form = KindsForm(request.POST if request.method == "POST" else None, initial={"kinds": sorted(in_force)})
    if request.method == "POST" and form.is_valid():
        kinds = frozenset(SecretKind(kind) for kind in form.cleaned_data["kinds"])
        with transaction.atomic():
            set_kinds(
                realm_id=account.realm_id, account_id=account.pk, kinds=kinds, user=staff_of(request), now=now
            )
            log_access(
                actor=actor_of(request),
                action=AccessAction.CHANGE,
                target_kind=TargetKind.POLICY,
                target_id="redaction",
                realm_id=account.realm_id,
                account_id=account.pk,
                now=now,
            )
        messages.success(request, "From now on this is cut.")
        return HttpResponseRedirect(reverse("console:redaction", args=[account.pk]))
    spans = RedactionSpan.objects.filter(conversation__account=account).order_by("-pk")
    context = frame_context(request, now=now, title=f"Redaction for {account.external_id}", subtitle=PURPOSE)
    context |= {"account": account, "form": form, "spans": spans[:SHOWN]}
    return render(request, "console/retention/redaction.html", context)


@require_POST
@requires(RightName.EDIT_POLICIES)
def false_hit(request: HttpRequest, account_id: UUID, span_id: int) -> HttpResponse:
    account = reachable_account(request, account_id)
    if not RedactionSpan.objects.filter(pk=span_id, conversation__account=account).exists():
        raise Http404("There is no such cut in this account.")
    report_false_hit(span_id=span_id, user=staff_of(request), now=timezone.now())
    return HttpResponseRedirect(reverse("console:redaction", args=[account.pk]))
