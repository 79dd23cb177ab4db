"""What the one who looks did last, as the access log has it."""

from dataclasses import dataclass
from datetime import datetime
from typing import Final
from uuid import UUID

from django.contrib.auth.models import User
from django.urls import reverse

from access.actors import ActorKind
from access.models.log import AccessAction, AccessEntry, StatedReason, TargetKind
from access.reach import Reach
from access.reading import as_application
from console.thread.links import conversation_url
from console.titles import titles_for
from conversations.models import Account, Conversation

MOST: Final = 8
# Enough lines that a conversation read piece by piece does not push all others out.
_LOOKED_AT: Final = 60
_DID: Final = {
    AccessAction.OPEN: "looked at",
    AccessAction.REVEAL: "personal details shown",
    AccessAction.EXPORT: "exported",
    AccessAction.DOWNLOAD: "downloaded from",
    AccessAction.RAW: "raw payload read",
    AccessAction.STATE_REASON: "opened",
    AccessAction.CHANGE: "changed",
    AccessAction.JOB_START: "job started",
}


@dataclass(frozen=True, slots=True)
class Work:
    at: datetime
    title: str
    did: str
    url: str


def recent_work(*, user: User, reach: Reach, now: datetime) -> list[Work]:
    """Return the last things the user worked on, each once, newest first; five queries."""
    entries = AccessEntry.objects.filter(
        actor_kind=ActorKind.STAFF, actor_id=str(user.pk), action__in=list(_DID)
    ).order_by("-at", "-id")[:_LOOKED_AT]
    latest: dict[object, AccessEntry] = {}
    # The log and the reasons are nobody's customer data: the reader of those does not see them.
    with as_application():
        looked_at = list(entries)
    for entry in looked_at:
        subject = entry.conversation_id or entry.account_id or _own_subject(entry)
        if subject is not None:
            latest.setdefault(subject, entry)
    shown = list(latest.values())[: MOST * 2]
    titles = _titles(shown, reach, user=user, now=now)
    tickets = _tickets(shown)
    found = (_work(entry, titles, tickets) for entry in shown)
    return [work for work in found if work is not None][:MOST]


def _own_subject(entry: AccessEntry) -> str | None:
    """Effects and jobs are subjects by themselves; lists and single pages are no work."""
    named = entry.target_kind in (TargetKind.EFFECT, TargetKind.JOB) and entry.target_id
    return f"{entry.target_kind} {entry.target_id}" if named else None


def _titles(entries: list[AccessEntry], reach: Reach, *, user: User, now: datetime) -> dict[UUID, str]:
    ids = {entry.conversation_id for entry in entries if entry.conversation_id}
    conversations = Conversation.objects.filter(reach.within("account__realm_id"), pk__in=ids).only(
        "title", "started_at", "created_at"
    )
    readable = titles_for(user=user, ids=ids, now=now)
    accounts = Account.objects.filter(
        reach.within("realm_id"), pk__in={entry.account_id for entry in entries if entry.account_id}
    ).only("external_id")
    titles = {found.pk: readable.of(found) for found in conversations}
    return titles | {account.pk: f"Account {account.external_id}" for account in accounts}


def _tickets(entries: list[AccessEntry]) -> dict[UUID, str]:
    ids = {entry.reason_id for entry in entries if entry.reason_id}
    with as_application():
        return dict(StatedReason.objects.filter(pk__in=ids).exclude(ticket="").values_list("pk", "ticket"))


def _work(entry: AccessEntry, titles: dict[UUID, str], tickets: dict[UUID, str]) -> Work | None:
    did = _DID[AccessAction(entry.action)]
    ticket = tickets.get(entry.reason_id) if entry.reason_id else None
    did = f"{did} for {ticket}" if ticket else did
    if entry.conversation_id in titles:
        return Work(entry.at, titles[entry.conversation_id], did, conversation_url(entry.conversation_id))
    if entry.account_id in titles and not entry.conversation_id:
        url = reverse("console:account", args=[entry.account_id])
        return Work(entry.at, titles[entry.account_id], did, url)
    if entry.target_kind == TargetKind.JOB and _is_uuid(entry.target_id):
        return Work(entry.at, "A job", did, reverse("console:job-run", args=[entry.target_id]))
    return None


def _is_uuid(text: str) -> bool:
    try:
        UUID(text)
    except ValueError:
        return False
    return True
