"""The erasure desk takes a request in: who the person is, under which names, since when the clock runs."""

from collections.abc import Iterable
from datetime import datetime, timedelta
from uuid import UUID

from django.contrib.auth.models import User
from django.db import connection, transaction
from django.db.models import Q

from access.models import ApiKey
from conversations.errors import ConflictError, NotFoundError
from conversations.ids import mint_id
from conversations.models import Account
from conversations.services.erased import subject_digest
from conversations.vocabulary import ErasedKind
from conversations.wire.literals import readable_copy
from retention.models import ErasureAccount, ErasureIdentifier, ErasureRequest
from retention.services.erasing import log_change
from retention.vocabulary import IdentifierKind, RequestOrigin, RequestState

TERM = timedelta(days=30)
# One number at a time: the row's number is made from a count of the year.
NUMBERING = 0x00C0_FF11


def find_accounts(*, realm_id: int, names: Iterable[str]) -> list[Account]:
    """Return the realm's accounts with any of these names: e-mail address, external id or account id."""
    wanted = Q()
    for name in {name.strip() for name in names} - {""}:
        wanted |= Q(email__iexact=name) | Q(external_id=name)
        try:
            wanted |= Q(pk=UUID(name))
        except ValueError:
            continue
    return list(Account.objects.filter(wanted, realm_id=realm_id).order_by("pk")) if wanted else []


@transaction.atomic
def take_in(
    *,
    realm_id: int,
    account_ids: Iterable[UUID],
    received_at: datetime,
    now: datetime,
    user: User | None = None,
    key: ApiKey | None = None,
    aliases: Iterable[str] = (),
    address: str | None = None,
) -> ErasureRequest:
    """Open a request about these accounts of one person; its clock runs from when it was received.

    Each account belongs to one open request at most. It comes from a person at the desk, from an
    application's key, or from neither where a restore brought the erased person back.
    """
    # Locked before it is asked what is open: two who take one person in at once are one request.
    locked = Account.objects.select_for_update(no_key=True).filter(
        pk__in=list(account_ids), realm_id=realm_id
    )
    accounts = list(locked.order_by("pk"))
    if not accounts:
        raise NotFoundError("no-account", "no account of this realm was named")
    taken = ErasureAccount.objects.filter(
        account_id__in=[account.pk for account in accounts], request__finished_at=None
    ).first()
    if taken is not None:
        raise ConflictError(
            "requested", "there is an open request about this account", place=str(taken.request)
        )
    request = ErasureRequest(
        id=mint_id(now),
        number=_next_number(now),
        realm_id=realm_id,
        origin=_origin(user, key),
        state=RequestState.INTAKE,
        received_at=received_at,
        due_at=received_at + TERM,
        taken_in_by=user,
        taken_in_by_key=key,
    )
    digest = subject_digest(kind=ErasedKind.ACCOUNT, realm_id=realm_id, value=str(accounts[0].pk))
    request.pseudonym = f"erased-{digest.hex()[:16]}"
    request.save(force_insert=True)
    for account in accounts:
        ErasureAccount.objects.create(request=request, account_id=account.pk)
    _name(request, accounts, aliases)
    log_change(request, user=user, key=key, now=now, address=address)
    return request


def _next_number(now: datetime) -> str:
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(%s)", [NUMBERING])
        cursor.execute(
            "SELECT coalesce(max(substr(number, length(%(year)s) + 1)::int), 0) + 1"
            " FROM retention_erasurerequest WHERE starts_with(number, %(year)s)",
            {"year": f"ER-{now.year}-"},
        )
        return f"ER-{now.year}-{cursor.fetchone()[0]:04d}"


def _name(request: ErasureRequest, accounts: Iterable[Account], aliases: Iterable[str]) -> None:
    named: list[tuple[IdentifierKind, str]] = [(IdentifierKind.ALIAS, alias) for alias in aliases]
    for account in accounts:
        named += [
            (IdentifierKind.EMAIL, account.email),
            (IdentifierKind.EXTERNAL_ID, account.external_id),
            (IdentifierKind.ALIAS, account.label),
        ]
    for kind, value in named:
        value = readable_copy(value.strip())
        if value:
            ErasureIdentifier.objects.get_or_create(
                request=request,
                kind=kind,
                digest=_digest(request, kind, value),
                defaults={"value": value},
            )


def _digest(request: ErasureRequest, kind: IdentifierKind, value: str) -> bytes:
    of = ErasedKind.EXTERNAL_ID if kind == IdentifierKind.EXTERNAL_ID else ErasedKind.EMAIL
    return subject_digest(kind=of, realm_id=request.realm_id, value=value)


def _origin(user: User | None, key: ApiKey | None) -> RequestOrigin:
    if key is not None:
        return RequestOrigin.APPLICATION
    return RequestOrigin.RESTORED if user is None else RequestOrigin.DESK
