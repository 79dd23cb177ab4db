"""After a restore: who was erased is found again by keyed digest, and erased again.

The approval was given the first time; the request that is opened here says where it comes from.
"""

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from uuid import UUID

from django.db import transaction

from conversations.models import Account, ErasedSubject
from conversations.services.erased import remember_erased, subject_digest
from conversations.vocabulary import ErasedKind
from retention.erasure.job import erase
from retention.models import ErasureRequest
from retention.services.erasing import start_erasure
from retention.services.taking_in import take_in
from retention.vocabulary import RequestOrigin, RequestState

PAGE = 1_000


@dataclass(slots=True)
class Reapplied:
    """What came back, and what became of it."""

    accounts: int = 0
    requests: list[ErasureRequest] = field(default_factory=list)


def reapply_erasures(*, now: datetime) -> Reapplied:
    """Erase again every account that is recognised; safe to repeat. Held ones stay until released."""
    found = list(recognised_accounts())
    reapplied = Reapplied(accounts=len(found))
    for account_id, realm_id in found:
        request = _open(account_id, realm_id, now=now)
        with transaction.atomic():
            run = start_erasure(request=request, requested_by=("job", "reapply"), now=now)
        erase(run_id=run.pk, clock=lambda: now)
        request.refresh_from_db()
        reapplied.requests.append(request)
    return reapplied


def recognised_accounts() -> Iterator[tuple[UUID, int]]:
    """Return accounts whose id, external id or e-mail is one of an erased person."""
    rows = Account.objects.order_by("pk").values_list("pk", "realm_id", "external_id", "email")
    last = UUID(int=0)
    while page := list(rows.filter(pk__gt=last)[:PAGE]):
        last = page[-1][0]
        asked: dict[bytes, tuple[UUID, int]] = {}
        for pk, realm_id, external_id, email in page:
            for kind, value in (
                (ErasedKind.ACCOUNT, str(pk)),
                (ErasedKind.EXTERNAL_ID, external_id),
                (ErasedKind.EMAIL, email),
            ):
                if value:
                    asked[subject_digest(kind=kind, realm_id=realm_id, value=value)] = (pk, realm_id)
        known = ErasedSubject.objects.filter(digest__in=list(asked)).values_list("digest", flat=True)
        yield from sorted({asked[bytes(digest)] for digest in known})


def erased_lines() -> Iterator[str]:
    """Return the list of erased people as lines of JSON: digests and times, to be kept beside backups."""
    for row in ErasedSubject.objects.order_by("pk").iterator():
        line = {
            "kind": row.kind,
            "digest": bytes(row.digest).hex(),
            "erased_at": row.erased_at.isoformat(),
        }
        yield json.dumps(line)


def read_erased(lines: Iterable[str], *, now: datetime) -> int:
    """Add the digests of a list that was kept outside the backup; returns how many were unknown."""
    digests = []
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
            digests.append((ErasedKind(row["kind"]), bytes.fromhex(row["digest"])))
        except (ValueError, KeyError, TypeError) as error:
            raise ValueError(f"line {number} is no digest of an erased person: {error}") from error
    return remember_erased(digests=digests, now=now)


@transaction.atomic
def _open(account_id: UUID, realm_id: int, *, now: datetime) -> ErasureRequest:
    known = ErasureRequest.objects.filter(
        origin=RequestOrigin.RESTORED, finished_at=None, accounts__account_id=account_id
    ).first()
    if known is not None:
        return known
    # A request of the desk that the backup still shows as open: it is the same person, and goes on.
    open_one = ErasureRequest.objects.filter(finished_at=None, accounts__account_id=account_id).first()
    if open_one is not None:
        open_one.origin, open_one.state = RequestOrigin.RESTORED, RequestState.APPROVED
        open_one.save(update_fields=["origin", "state"])
        return open_one
    request = take_in(
        realm_id=realm_id,
        account_ids=[account_id],
        received_at=now,
        now=now,
    )
    request.state = RequestState.APPROVED
    request.save(update_fields=["state"])
    return request
