"""An access request: everything about one person, as an archive that streams."""

from uuid import UUID

from django.http import HttpRequest, StreamingHttpResponse
from django.utils import timezone
from django.views.decorators.http import require_POST

from access.addresses import address_of
from access.models.log import AccessAction, TargetKind
from access.permissions import actor_of, requires
from access.rights import RightName
from access.services.logging import log_access
from console.views.accounts import reachable_account
from retention.services.person_export import count_conversations, export_person


@require_POST
@requires(RightName.EXPORT_PERSON)
def export(request: HttpRequest, account_id: UUID) -> StreamingHttpResponse:
    """The line of the access log stands before the first byte leaves."""
    account = reachable_account(request, account_id)
    log_access(
        actor=actor_of(request),
        action=AccessAction.EXPORT,
        target_kind=TargetKind.ACCOUNT,
        target_id=str(account.pk),
        realm_id=account.realm_id,
        account_id=account.pk,
        row_count=count_conversations(account_ids=[account.pk]),
        now=timezone.now(),
        address=address_of(request),
    )
    return StreamingHttpResponse(
        export_person(account_ids=[account.pk]),
        content_type="application/zip",
        headers={"Content-Disposition": f'attachment; filename="person-{account.pk}.zip"'},
    )
