"""What the two people of the privacy office do at their desk, in few words."""

from collections.abc import Sequence
from typing import Any

from django.contrib.auth.models import User

from conversations.models import Account
from jobs.models import JobRun
from retention.erasure.job import erase
from retention.models import ErasureRequest, LegalHold
from retention.services.erasing import approve_erasure, check_identity, prepare_preview
from retention.services.holds import approve_release, request_release
from retention.services.taking_in import take_in
from retention.vocabulary import IdentityCheck
from tests.retention.conftest import NOW


def release(hold: LegalHold, officer: User, second: User) -> None:
    request_release(hold_id=hold.pk, user=officer, now=NOW)
    approve_release(hold_id=hold.pk, user=second, now=NOW)


def request_for(*accounts: Account, user: User, aliases: Sequence[str] = ()) -> ErasureRequest:
    """A request to erase whom these accounts belong to, taken in and not looked at."""
    return take_in(
        realm_id=accounts[0].realm_id,
        account_ids=[account.pk for account in accounts],
        aliases=aliases,
        received_at=NOW,
        now=NOW,
        user=user,
    )


def previewed(*accounts: Account, user: User, **given: Any) -> ErasureRequest:
    """A request that only waits for a second person."""
    request = request_for(*accounts, user=user, **given)
    check_identity(request_id=request.pk, how=IdentityCheck.SIGNED_IN, user=user, now=NOW)
    return prepare_preview(request_id=request.pk, user=user, now=NOW)


def erased(*accounts: Account, officer: User, second: User, **given: Any) -> ErasureRequest:
    """A request that went through to its end, as far as it comes today."""
    request = previewed(*accounts, user=officer, **given)
    return work_on(approve_erasure(request_id=request.pk, user=second, now=NOW))


def work_on(run: JobRun) -> ErasureRequest:
    done = erase(run_id=run.pk, clock=lambda: NOW)
    assert done is not None
    assert done.state == "succeeded", done.error
    return ErasureRequest.objects.get(pk=run.scope)
