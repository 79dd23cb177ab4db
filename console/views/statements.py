"""Statements: the list, importing one, and one with the lines that could not be read."""

from uuid import UUID

from django.contrib import messages
from django.db import transaction
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_http_methods

from access.addresses import address_of
from access.models.log import AccessAction, TargetKind
from access.permissions import actor_of, holds, requires, staff_of
from access.reach import reach_of
from access.reading import reads_customers
from access.rights import RightName
from access.services.logging import log_access
from console.frame import frame_context
from console.listing import list_context, read_page
from console.reconciling.forms import StatementForm
from conversations.errors import StoreError
from ledger.models import Statement, StatementLine
from ledger.statements.importing import Imported, Told, import_statement

# A line's number is a 32-bit integer.
_LONGEST_NUMBER = 10


@never_cache
@require_GET
@requires(RightName.READ_EFFECTS)
@reads_customers
def statements(request: HttpRequest) -> HttpResponse:
    reach = reach_of(staff_of(request))
    found = Statement.objects.filter(reach.within("realm_id")).select_related("realm")
    page = read_page(request, found, moment="imported_at")
    context = frame_context(
        request,
        now=timezone.now(),
        title="Statements",
        subtitle="What processors say has moved: exports and their own lists, every row kept as it came.",
    )
    context |= list_context(request.GET, page) | {
        "rows": page.rows,
        "may_import": holds(request.user, RightName.RECONCILE),
    }
    return render(request, "console/reconciling/statements.html", context)


@never_cache
@require_GET
@requires(RightName.READ_EFFECTS)
@reads_customers
def statement(request: HttpRequest, statement_id: UUID) -> HttpResponse:
    reach = reach_of(staff_of(request))
    found = (
        Statement.objects.filter(reach.within("realm_id"), pk=statement_id).select_related("realm").first()
    )
    if found is None:
        raise Http404("There is no such statement.")
    troubled = StatementLine.objects.filter(statement=found).exclude(trouble="").order_by("number")
    context = frame_context(
        request,
        now=timezone.now(),
        title=found.name,
        subtitle="A statement, and what could not be read of it.",
    )
    context |= {
        "statement": found,
        "digest": f"sha256:{bytes(found.sha256).hex()}",
        # Where realms share an account at the processor, its lines are of all of them.
        "line": _line(found, request.GET.get("line", "")) if reach.sees_all else None,
        "troubled": list(troubled[:200]),
        "may_start": holds(request.user, RightName.RECONCILE),
    }
    return render(request, "console/reconciling/statement.html", context)


def _line(statement: Statement, number: str) -> StatementLine | None:
    is_number = number.isascii() and number.isdigit() and len(number) < _LONGEST_NUMBER
    return StatementLine.objects.filter(statement=statement, number=number).first() if is_number else None


@never_cache
@require_http_methods(["GET", "POST"])
@requires(RightName.RECONCILE)
def import_file(request: HttpRequest) -> HttpResponse:
    reach = reach_of(staff_of(request))
    form = StatementForm(request.POST or None, request.FILES or None, reach=reach)
    if form.is_valid():
        try:
            imported = _import(request, form)
        except StoreError as error:
            form.add_error("file", f"Nothing was imported: {error}.")
        else:
            return _answer(request, imported)
    context = frame_context(
        request,
        now=timezone.now(),
        title="Import a statement",
        subtitle="The same content twice adds nothing. Rows that cannot be read for certain are told.",
    )
    return render(request, "console/reconciling/import.html", context | {"form": form})


def _import(request: HttpRequest, form: StatementForm) -> Imported:
    told = Told(
        name=form.cleaned_data["file"].name or "statement.csv",
        processor=form.cleaned_data["processor"],
        zone=form.cleaned_data["zone"],
        period_start=form.cleaned_data["period_start"],
        period_end=form.cleaned_data["period_end"],
    )
    now = timezone.now()
    with transaction.atomic():
        imported = import_statement(
            realm=form.cleaned_data["realm"],
            file=form.cleaned_data["file"],
            told=told,
            actor=actor_of(request),
            now=now,
        )
        log_access(
            actor=actor_of(request),
            action=AccessAction.CHANGE,
            target_kind=TargetKind.STATEMENT,
            target_id=str(imported.statement.pk),
            realm_id=imported.statement.realm_id,
            row_count=imported.statement.line_count,
            now=now,
            address=address_of(request),
        )
    return imported


def _answer(request: HttpRequest, imported: Imported) -> HttpResponse:
    statement = imported.statement
    if not imported.is_new:
        messages.info(request, "This content was imported before; nothing was added.")
    elif statement.skipped_count:
        messages.warning(
            request, f"{statement.skipped_count} of {statement.line_count} lines could not be read."
        )
    else:
        messages.success(request, f"{statement.line_count} lines were read.")
    return HttpResponseRedirect(reverse("console:statement", args=[statement.pk]))
