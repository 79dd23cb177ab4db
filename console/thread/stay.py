"""How long a conversation stays, in one line of its page: the day of its purge, or why not."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final
from uuid import UUID

from django.http import HttpRequest
from django.urls import reverse

from access.permissions import holds
from access.rights import RightName
from conversations.models import Conversation
from retention.blockers import Blocked
from retention.standing import standing_of
from retention.vocabulary import Blocker

_WHILE: Final = {
    Blocker.HOLD: "it is held",
    Blocker.DISPUTE: "a dispute is open",
    Blocker.OPEN_EFFECT: "an effect is open",
    Blocker.OPEN_REFUND: "a refund is on its way",
    Blocker.FINDING: "a finding is open",
    Blocker.ARCHIVE: "its archive cannot be opened",
    Blocker.BUSY: "somebody works on it",
}


@dataclass(frozen=True, slots=True)
class Reason:
    """`what` is the matter of a hold or the processor's id of a dispute, for who may see it."""

    words: str
    url: str = ""
    what: str = ""


@dataclass(frozen=True, slots=True)
class Stay:
    """`goes_at` is None where every policy keeps it; `is_due` that only the next purge is waited for."""

    goes_at: datetime | None
    is_due: bool
    reasons: Sequence[Reason]


def read_stay(request: HttpRequest, conversation: Conversation, *, now: datetime) -> Stay:
    """Return when the conversation goes and what keeps it, one line for each kind of reason."""
    standing = standing_of(conversation_id=conversation.pk, conversation=conversation, now=now)
    first: dict[Blocker, Blocked] = {}
    for blocker in standing.blockers:
        first.setdefault(blocker.kind, blocker)
    goes_at = standing.goes_at
    return Stay(
        goes_at=goes_at,
        is_due=goes_at is not None and goes_at <= now,
        reasons=[_reason(request, blocker) for blocker in first.values()],
    )


def hold_url(request: HttpRequest, conversation_id: UUID) -> str:
    """Return the page that places a hold on the conversation, for who may."""
    if not holds(request.user, RightName.PLACE_HOLDS):
        return ""
    return f"{reverse('console:place-hold')}?kind=conversation&target={conversation_id}"


def _reason(request: HttpRequest, blocker: Blocked) -> Reason:
    sees_effects = holds(request.user, RightName.READ_EFFECTS)
    url = what = ""
    if blocker.kind == Blocker.HOLD and holds(request.user, RightName.READ_RETENTION):
        url, what = reverse("console:holds"), blocker.what
    elif blocker.kind == Blocker.OPEN_EFFECT and sees_effects:
        url = reverse("console:effect", args=[blocker.what])
    elif blocker.kind == Blocker.FINDING and sees_effects:
        url = reverse("console:finding", args=[blocker.what])
    elif blocker.kind == Blocker.DISPUTE and sees_effects:
        what = blocker.what
    return Reason(_WHILE[blocker.kind], url, what)
