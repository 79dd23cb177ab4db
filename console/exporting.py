"""What every export of a list leaves in the access log, before its first line leaves."""

from django.http import HttpRequest
from django.utils import timezone

from access.addresses import address_of
from access.models.log import AccessAction, TargetKind
from access.permissions import actor_of
from access.services.logging import log_access


def log_list_export(request: HttpRequest, name: str, *, row_count: int | None = None) -> None:
    """Write that the list of this name is taken out, by whom; its filters are no part of the line."""
    log_access(
        actor=actor_of(request),
        action=AccessAction.EXPORT,
        target_kind=TargetKind.LIST,
        target_id=name,
        row_count=row_count,
        now=timezone.now(),
        address=address_of(request),
    )
