"""Lists: one shape, pages by key with the addresses of the pages beside, filters shared with the console."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import django_filters
from django.db.models import Model, QuerySet
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter
from rest_framework import serializers
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request

from conversations.paging import AFTER, BEFORE, BadCursorError, Page, cut_page, page_by_key

LIMIT: Final = "limit"
MOST: Final = 200
USUAL: Final = 50
_LARGEST: Final = 2**31 - 1


@dataclass(frozen=True, slots=True)
class Slice[Row]:
    """One page of a list, with the cursors of the pages beside it; empty where there is none."""

    rows: Sequence[Row]
    next: str = ""
    previous: str = ""


def page_parameters() -> list[OpenApiParameter]:
    return [
        OpenApiParameter(
            LIMIT,
            {"type": "integer", "minimum": 1, "maximum": MOST, "default": USUAL},
            description="How many rows a page has at most.",
        ),
        OpenApiParameter(AFTER, str, description="A cursor, as `next` has it."),
        OpenApiParameter(BEFORE, str, description="A cursor, as `previous` has it."),
    ]


def limit_of(request: Request) -> int:
    given = request.query_params.get(LIMIT)
    if given is None:
        return USUAL
    if not (given.isascii() and given.isdigit() and len(given) <= 9 and 1 <= int(given) <= MOST):
        raise ValidationError({LIMIT: f"a whole number from 1 to {MOST}"})
    return int(given)


def page_of[M: Model](request: Request, rows: QuerySet[M], *, moment: str) -> Slice[M]:
    """Return the page that the address names, by a moment and the id; one query."""
    page: Page[M] = page_by_key(
        rows,
        moment=moment,
        size=limit_of(request),
        after=request.query_params.get(AFTER, ""),
        before=request.query_params.get(BEFORE, ""),
    )
    return Slice(page.rows, next=page.older, previous=page.newer)


def page_by_number[M: Model](
    request: Request, rows: QuerySet[M], *, by: str, is_descending: bool = False
) -> Slice[M]:
    """Return the page that the address names, by a number that is unique in the list; one query."""
    after, before = (_number(request.query_params.get(name, "")) for name in (AFTER, BEFORE))
    on, back = ("lt", "gt") if is_descending else ("gt", "lt")
    ordered = rows.order_by(f"-{by}" if is_descending else by)
    if before is not None:
        ordered = ordered.reverse().filter(**{f"{by}__{back}": before})
    elif after is not None:
        ordered = ordered.filter(**{f"{by}__{on}": after})
    page: Page[M] = cut_page(
        ordered,
        size=limit_of(request),
        is_back=before is not None,
        is_first=before is None and after is None,
        cursor_of=lambda row: str(getattr(row, by)),
    )
    return Slice(page.rows, next=page.older, previous=page.newer)


def list_answer(request: Request, page: Slice[Any], data: Sequence[Any]) -> dict[str, Any]:
    """Return the body of every list."""
    return {
        "data": data,
        "next": _beside(request, AFTER, page.next),
        "previous": _beside(request, BEFORE, page.previous),
    }


def list_of(row: type[serializers.Serializer], *, name: str) -> serializers.Serializer:
    """Return the serializer that describes a list of such rows."""
    fields = {
        "__doc__": "One page of the list, with the addresses of the pages beside it.",
        "data": row(many=True),
        "next": serializers.URLField(allow_null=True),
        "previous": serializers.URLField(allow_null=True),
    }
    kind: Any = type(name, (serializers.Serializer,), fields)
    return kind()


def filter_parameters(
    filters: type[django_filters.FilterSet], *, without: Sequence[str] = ()
) -> list[OpenApiParameter]:
    """Describe a filter set of the console as parameters of the address."""
    return [
        OpenApiParameter(name, _kind_of(one), description=str(one.label or ""), enum=_choices_of(one))
        for name, one in filters.base_filters.items()
        if name not in without
    ]


def filtered[M: Model](
    request: Request,
    filters: type[django_filters.FilterSet],
    rows: QuerySet[M],
    *,
    without: Sequence[str] = (),
) -> QuerySet[M]:
    """Narrow the rows by the address; what a filter cannot read is refused, by its name."""
    given = request.query_params.copy()
    for name in without:
        given.pop(name, None)
    narrowing = filters(given, queryset=rows)
    if not narrowing.is_valid():
        raise ValidationError({name: [str(e) for e in errors] for name, errors in narrowing.errors.items()})
    narrowed: QuerySet[M] = narrowing.qs
    return narrowed


def _kind_of(one: django_filters.Filter) -> Any:
    if isinstance(one, django_filters.BooleanFilter):
        return OpenApiTypes.BOOL
    if isinstance(one, django_filters.IsoDateTimeFilter):
        return OpenApiTypes.DATETIME
    return OpenApiTypes.STR


def _choices_of(one: django_filters.Filter) -> list[str] | None:
    choices = one.extra.get("choices")
    return None if choices is None else [str(value) for value, _ in choices]


def _number(cursor: str) -> int | None:
    if not cursor:
        return None
    if not (cursor.isascii() and cursor.isdigit() and len(cursor) <= 10 and int(cursor) <= _LARGEST):
        raise BadCursorError(f"{cursor[:80]!r} is no cursor of a list")
    return int(cursor)


def _beside(request: Request, name: str, cursor: str) -> str | None:
    if not cursor:
        return None
    query = request.query_params.copy()
    for other in (AFTER, BEFORE):
        query.pop(other, None)
    query[name] = cursor
    return request.build_absolute_uri(f"{request.path}?{query.urlencode()}")
