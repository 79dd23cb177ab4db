"""Accounts, found or made by the realm's own id for the customer."""

from datetime import datetime

from access.models import Realm
from conversations.errors import explained
from conversations.ids import mint_id
from conversations.models import Account
from conversations.services.erased import refuse_erased
from conversations.vocabulary import ErasedKind


@explained(place="an account")
def ensure_account(
    *, realm: Realm, external_id: str, now: datetime, label: str = "", email: str = ""
) -> Account:
    """Return the realm's account with this external id, made if it is new; safe for two at once.

    Label and e-mail are set only on a new account: what staff corrected is not overwritten by traffic.
    Raises ErasedError for the id of a person who was erased.
    """
    known = Account.objects.filter(realm=realm, external_id=external_id).first()
    if known is not None:
        return known
    refuse_erased(kind=ErasedKind.EXTERNAL_ID, realm_id=realm.pk, value=external_id)
    account, _ = Account.objects.get_or_create(
        realm=realm,
        external_id=external_id,
        defaults={"id": mint_id(now), "label": label, "email": email, "created_at": now},
    )
    return account
