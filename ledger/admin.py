"""Flat tables of the reconciliation: the waiting times of a realm to edit, alerts to look at."""

from django.contrib import admin
from django.forms import ModelForm
from django.http import HttpRequest
from django.utils import timezone

from conversations.admin import KeptAdmin
from ledger.models import Alert, ReconciliationPolicy


@admin.register(ReconciliationPolicy)
class ReconciliationPolicyAdmin(KeptAdmin):
    """A run that was asked for keeps the times it was asked for with."""

    list_display = ("realm", "answer_hours", "statement_hours", "due_hours", "updated_at")
    list_select_related = ("realm",)
    fields = ("realm", "answer_hours", "statement_hours", "due_hours")

    def has_add_permission(self, request: HttpRequest) -> bool:
        return admin.ModelAdmin.has_add_permission(self, request)

    def save_model(
        self, request: HttpRequest, obj: ReconciliationPolicy, form: ModelForm, change: bool
    ) -> None:
        obj.updated_at = timezone.now()
        super().save_model(request, obj, form, change)


@admin.register(Alert)
class AlertAdmin(KeptAdmin):
    """What was to be told, whether it was, and what stood in the way."""

    list_display = ("written_at", "kind", "channel", "attempts", "sent_at", "given_up_at", "trouble")
    list_filter = ("kind", "channel")
    ordering = ("-written_at",)
    exact_fields = ("about",)

    def has_change_permission(self, request: HttpRequest, obj: Alert | None = None) -> bool:
        return False
