"""Redaction: what is cut for whom, trying the detectors, cutting what is stored, false hits."""

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

from access.addresses import address_of
from access.models import Realm
from access.models.log import AccessAction, TargetKind
from access.permissions import actor_of, requires, staff_of
from access.reach import reach_of
from access.rights import RightName
from access.services.logging import log_access
from console.frame import frame_context
from console.retention_pages.redaction import read_switches, reported_within, try_detectors
from console.views.accounts import reachable_account
from conversations.errors import StoreError
from conversations.models import Account, Conversation, RedactionSpan
from conversations.redaction.switch import kinds_for, report_false_hit, set_kinds
from conversations.vocabulary import SecretKind
from retention.services.redacting import redact_conversation

PURPOSE = (
    "Secrets that are cut out of what comes in, before anything is stored. What is stored stays as it is."
)
ON_DEMAND = "Secrets that are stored already are cut in place, for good. Nothing brings them back."
OVERVIEW = "Card numbers, bank accounts and keys, cut out before anything is stored: for whom, and how well."
SHOWN = 100


class KindsForm(forms.Form):
    kinds = forms.MultipleChoiceField(
        label="Cut", choices=SecretKind.choices, required=False, widget=forms.CheckboxSelectMultiple
    )

    @property
    def chosen(self) -> frozenset[SecretKind]:
        return frozenset(SecretKind(kind) for kind in self.cleaned_data["kinds"])


class SamplesForm(forms.Form):
    samples = forms.CharField(
        label="Samples",
        max_length=20_000,
        strip=False,
        widget=forms.Textarea(attrs={"rows": 5}),
        help_text="One a line. They are looked at and not kept.",
    )


@never_cache
@require_http_methods(["GET", "POST"])
@requires(RightName.EDIT_POLICIES)
def redactions(request: HttpRequest) -> HttpResponse:
    """Switches, reported false hits, and a place to try the detectors; what is tried is not kept."""
    reach, now = reach_of(staff_of(request)), timezone.now()
    form = SamplesForm(request.POST if request.method == "POST" else None)
    tried = try_detectors(form.cleaned_data["samples"]) if form.is_bound and form.is_valid() else None
    context = frame_context(request, now=now, title="Redaction", subtitle=OVERVIEW)
    context |= {
        "switches": read_switches(reach),
        "reported": reported_within(reach, limit=SHOWN),
        "form": form,
        "tried": tried,
    }
    return render(request, "console/retention/redactions.html", context, status=422 if form.errors else 200)


@never_cache
@require_http_methods(["GET", "POST"])
@requires(RightName.EDIT_POLICIES)
def realm_redaction(request: HttpRequest, slug: str) -> HttpResponse:
    realm = Realm.objects.filter(reach_of(staff_of(request)).within("id"), slug=slug).first()
    if realm is None:
        raise Http404("There is no such realm among yours.")
    now, back = timezone.now(), reverse("console:redactions")
    in_force = {switch.realm_id: switch.kinds for switch in read_switches(reach_of(staff_of(request))).realms}
    initial = {"kinds": in_force[realm.pk]}
    form = KindsForm(request.POST if request.method == "POST" else None, initial=initial)
    if form.is_bound and form.is_valid():
        _set(request, realm, None, form.chosen)
        return HttpResponseRedirect(back)
    context = frame_context(request, now=now, title=f"Redaction for {realm.name}", subtitle=PURPOSE)
    context |= {"form": form, "word": "Cut these from now on", "back": back, "parent": "Redaction"}
    return render(request, "console/retention/form.html", context, status=422 if form.errors else 200)


@never_cache
@require_http_methods(["GET", "POST"])
@requires(RightName.EDIT_POLICIES)
def redaction(request: HttpRequest, account_id: UUID) -> HttpResponse:
    account, now = reachable_account(request, account_id), timezone.now()
    in_force = kinds_for(account_id=account.pk, realm_id=account.realm_id)
    form = KindsForm(request.POST if request.method == "POST" else None, initial={"kinds": sorted(in_force)})
    if request.method == "POST" and form.is_valid():
        _set(request, account.realm, account, form.chosen)
        return HttpResponseRedirect(reverse("console:redaction", args=[account.pk]))
    spans = RedactionSpan.objects.filter(conversation__account=account).order_by("-pk")
    context = frame_context(request, now=now, title=f"Redaction for {account.external_id}", subtitle=PURPOSE)
    context |= {"account": account, "form": form, "spans": spans[:SHOWN]}
    return render(request, "console/retention/redaction.html", context)


@never_cache
@require_http_methods(["GET", "POST"])
@requires(RightName.EDIT_POLICIES)
def redact(request: HttpRequest, conversation_id: UUID) -> HttpResponse:
    """Shows what would be cut; the same form with `confirm` cuts it."""
    reach, now = reach_of(staff_of(request)), timezone.now()
    found = Conversation.objects.filter(reach.within("account__realm_id"), pk=conversation_id)
    conversation = found.select_related("account").first()
    if conversation is None:
        raise Http404("There is no such conversation in your realms.")
    account = conversation.account
    initial = {"kinds": sorted(kinds_for(account_id=account.pk, realm_id=account.realm_id))}
    form = KindsForm(request.POST if request.method == "POST" else None, initial=initial)
    is_confirmed, counted, back = (
        "confirm" in request.POST,
        None,
        reverse("console:standing", args=[found[0].pk]),
    )
    if form.is_bound and form.is_valid():
        try:
            counted = redact_conversation(
                conversation_id=conversation_id,
                kinds=form.chosen,
                user=staff_of(request),
                now=now,
                is_dry_run=not is_confirmed,
                address=address_of(request),
            )
        except StoreError as error:
            form.add_error(None, f"Nothing is cut: {error.explanation}.")
        else:
            if is_confirmed:
                messages.success(request, f"Cut for good: {counted.cuts:,} in {counted.parts:,} blocks.")
                return HttpResponseRedirect(back)
    context = frame_context(request, now=now, title="Cut secrets out of it", subtitle=ON_DEMAND)
    context |= {"form": form, "counted": counted, "back": back, "conversation_id": conversation_id}
    return render(request, "console/retention/redact.html", context, status=422 if form.errors else 200)


@require_POST
@requires(RightName.EDIT_POLICIES)
def false_hit(request: HttpRequest, account_id: UUID, span_id: int) -> HttpResponse:
    account = reachable_account(request, account_id)
    if not RedactionSpan.objects.filter(pk=span_id, conversation__account=account).exists():
        raise Http404("There is no such cut in this account.")
    report_false_hit(span_id=span_id, user=staff_of(request), now=timezone.now())
    return HttpResponseRedirect(reverse("console:redaction", args=[account.pk]))


@transaction.atomic
def _set(request: HttpRequest, realm: Realm, account: Account | None, kinds: frozenset[SecretKind]) -> None:
    now = timezone.now()
    account_id = None if account is None else account.pk
    set_kinds(realm_id=realm.pk, account_id=account_id, kinds=kinds, user=staff_of(request), now=now)
    log_access(
        actor=actor_of(request),
        action=AccessAction.CHANGE,
        target_kind=TargetKind.POLICY,
        target_id="redaction",
        realm_id=realm.pk,
        account_id=account_id,
        now=now,
        address=address_of(request),
    )
    messages.success(request, "From now on this is cut.")
