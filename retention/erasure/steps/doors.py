"""First of all: what the person would be recognised by is remembered as digests, and no way in lets it in."""

from typing import Any

from conversations.models import Account, Conversation
from conversations.services.erased import remember_erased, subject_digest
from conversations.vocabulary import ErasedKind
from retention.erasure.outcome import Outcome
from retention.erasure.subject import Subject


def run(subject: Subject, after: Any) -> Outcome:
    realm_id = subject.request.realm_id
    found: list[tuple[ErasedKind, str]] = []
    for account in Account.objects.filter(pk__in=subject.account_ids):
        found += [
            (ErasedKind.ACCOUNT, str(account.pk)),
            (ErasedKind.EXTERNAL_ID, account.external_id),
            (ErasedKind.EMAIL, account.email),
        ]
    for identifier in subject.request.identifiers.exclude(value=""):
        if identifier.kind in ErasedKind:
            found.append((ErasedKind(identifier.kind), identifier.value))
    theirs = Conversation.objects.filter(account_id__in=subject.account_ids)
    for pk, external_ref in theirs.values_list("pk", "external_ref"):
        found += [(ErasedKind.CONVERSATION, str(pk)), (ErasedKind.EXTERNAL_REF, external_ref)]
    remember_erased(
        digests=[
            (kind, subject_digest(kind=kind, realm_id=realm_id, value=value))
            for kind, value in found
            if value
        ],
        now=subject.now,
    )
    return Outcome()
