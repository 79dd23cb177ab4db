"""The flat tables, for staff who administer: to look at and to label, never to delete or to invent.

Messages and what hangs on them have pages of their own in the console: the
admin's delete page would list a whole tree, and deletion is retention's alone.
"""

from typing import Any
from uuid import UUID

from django.contrib import admin
from django.core.paginator import Paginator
from django.db.models import Model, Q, QuerySet
from django.http import HttpRequest
from django.utils.functional import cached_property

from conversations.models import Account, Conversation, Fragment, RawBody


class CappedPaginator(Paginator):
    """Counts as far as anybody turns pages: a whole table is never counted. Further rows are searched for."""

    most = 1000

    @cached_property
    def count(self) -> int:
        rows: Any = self.object_list
        return int(rows[: self.most].count())


class KeptAdmin(admin.ModelAdmin):
    """Rows that the admin neither makes nor takes away; found by an exact id, never by a scan."""

    show_full_result_count = False
    list_per_page = 50
    paginator = CappedPaginator
    # Switches the search box on; what it looks for stands in `exact_fields`.
    search_fields = ("pk",)
    exact_fields: tuple[str, ...] = ()

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet, search_term: str
    ) -> tuple[QuerySet, bool]:
        """Find rows that have the whole term as their id, or as one of `exact_fields`."""
        term = search_term.strip()
        if not term:
            return queryset, False
        wanted = Q(*((field, term) for field in self.exact_fields), _connector=Q.OR)
        key = _as_uuid(term)
        if key is not None:
            wanted |= Q(pk=key)
        return (queryset.filter(wanted) if wanted else queryset.none()), False


def _as_uuid(term: str) -> UUID | None:
    try:
        return UUID(term)
    except ValueError:
        return None


@admin.register(Account)
class AccountAdmin(KeptAdmin):
    """Staff may correct what an account is called; its id is the realm's and stays."""

    list_display = ("external_id", "label", "realm", "created_at", "closed_at")
    list_filter = ("realm",)
    list_select_related = ("realm",)
    ordering = ("-id",)
    exact_fields = ("external_id", "email")
    fields = ("id", "realm", "external_id", "label", "email", "created_at", "closed_at")
    readonly_fields = ("id", "realm", "external_id", "created_at", "closed_at")


class ReadOnlyAdmin(KeptAdmin):
    """Rows that only services write."""

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False


@admin.register(Conversation)
class ConversationAdmin(ReadOnlyAdmin):
    list_display = ("id", "account", "source", "head_seq", "has_fork", "last_activity_at")
    list_filter = ("source",)
    list_select_related = ("account",)
    ordering = ("-last_activity_at", "-id")
    exact_fields = ("external_ref", "parent_call_id")


@admin.register(Fragment)
class FragmentAdmin(ReadOnlyAdmin):
    """What it says is shown with the attempt that sent it; here stands that it is there."""

    list_display = ("id", "kind", "created_at")
    list_filter = ("kind",)
    ordering = ("-id",)
    fields = ("kind", "created_at")


@admin.register(RawBody)
class RawBodyAdmin(ReadOnlyAdmin):
    """Whose it is and how large; the bytes are opened in the console, with a reason."""

    list_display = ("id", "raw_class", "size", "place", "created_at")
    list_filter = ("raw_class",)
    ordering = ("-id",)
    fields = ("id", "raw_class", "conversation_id", "account_id", "size", "place", "trouble", "created_at")
