"""What the templates of a conversation are given, beside what was read."""

from datetime import datetime
from typing import Any
from urllib.parse import urlencode

from django.http import HttpRequest
from django.urls import reverse
from django.utils import timezone

from access.permissions import holds
from access.rights import RightName
from console.forms import NoteForm
from console.frame import frame_context
from console.markup.blocks import Sight
from console.masking import masked_email, masked_name
from console.opening import Opening
from console.thread.links import base_url
from console.thread.page import PIECE, Asked, ConversationPage, Fold, Thread
from console.thread.stay import hold_url, read_stay
from console.titles import title_of
from conversations.models import Conversation
from conversations.vocabulary import Source

PURPOSE = "What the customer saw, what each answer took, and what the tools did."


def page_context(
    request: HttpRequest, page: ConversationPage, *, opening: Opening, asked: Asked, now: datetime
) -> dict[str, Any]:
    conversation = page.conversation
    account = conversation.account
    return {
        **frame_context(
            request, now=now, title=title_of(conversation, is_open=opening.is_open), subtitle=PURPOSE
        ),
        **piece_context(request, conversation, page.thread, opening=opening, asked=asked),
        "page": page,
        "began_at": _began_at(conversation),
        "customer": masked_name(account.label) or account.external_id,
        "customer_email": masked_email(account.email) if account.email else "",
        "account_url": reverse("console:account", args=[account.pk]),
        "access_log_url": reverse("console:access-log") if may(request, RightName.READ_ACCESS_LOG) else "",
        "may_reveal": may(request, RightName.REVEAL_PERSONAL),
        "may_note": may(request, RightName.WRITE_NOTES),
        "zone": timezone.get_current_timezone_name(),
        "as_of_field": _as_of_field(page, asked),
        "is_one_day": _is_one_date(conversation),
        "compare_url": _compare_url(page),
        "here_query": _query_of(asked),
        "next_move": _next_move(page),
        "stay": read_stay(request, conversation, now=now),
        "hold_url": hold_url(request, conversation.pk),
        "next_body_url": _next_body_url(page),
        "log_times": "clock" if _is_one_day(page) else "both",
        "is_whole_log": asked.all_moves,
        "older_moves": page.log[-1].move.number if asked.all_moves and page.log else 0,
        "notes": page.notes,
        "note_form": NoteForm(),
        "quarantine": page.quarantine,
        "is_other_branch": not page.is_live and page.as_of is None,
    }


def piece_context(
    request: HttpRequest, conversation: Conversation, thread: Thread, *, opening: Opening, asked: Asked
) -> dict[str, Any]:
    return {
        "conversation": conversation,
        "base": base_url(conversation.pk),
        "sight": sight_of(request, conversation, opening, found=asked.found),
        "thread": thread,
        "opening": opening,
        "shows_effects": may(request, RightName.READ_EFFECTS),
        "before_url": _fold_url(conversation, thread.before, asked, from_end=True),
        "after_url": _fold_url(conversation, thread.after, asked, from_end=False),
    }


def sight_of(request: HttpRequest, conversation: Conversation, opening: Opening, *, found: str = "") -> Sight:
    return Sight(
        base=base_url(conversation.pk),
        is_open=opening.is_open,
        sees_raw=opening.sees_raw,
        shows_effects=may(request, RightName.READ_EFFECTS),
        found=found,
    )


def may(request: HttpRequest, right: RightName) -> bool:
    return holds(request.user, right)


def _query_of(asked: Asked) -> str:
    given = {"m": asked.message, "move": asked.move, "at": asked.at, "found": asked.found}
    query = urlencode({name: value for name, value in given.items() if value not in (None, "")})
    return f"?{query}" if query else ""


def _next_move(page: ConversationPage) -> int | None:
    """The move after the one shown; before the first one, the first."""
    if page.as_of is None:
        return None
    number = page.as_of.move.number + 1 if page.as_of.move else 1
    return number if number <= (page.conversation.head_move or 0) else None


def _next_body_url(page: ConversationPage) -> str:
    if not page.thread.path:
        return ""
    return reverse("console:next-body", args=[page.conversation.pk, page.thread.path[-1]])


def _began_at(conversation: Conversation) -> datetime | None:
    """None where an import brought it and its source did not say."""
    is_here = conversation.source != Source.IMPORTED
    return conversation.started_at or (conversation.created_at if is_here else None)


def _is_one_date(conversation: Conversation) -> bool:
    began = _began_at(conversation)
    return (
        began is not None
        and timezone.localtime(began).date() == timezone.localtime(conversation.last_activity_at).date()
    )


def _is_one_day(page: ConversationPage) -> bool:
    return len({timezone.localtime(line.move.moved_at).date() for line in page.log}) < 2


def _fold_url(conversation: Conversation, fold: Fold | None, asked: Asked, *, from_end: bool) -> str:
    """The piece of a fold that lies next to what is shown."""
    if fold is None:
        return ""
    start, end = fold.start, fold.end
    if fold.count > PIECE:
        start, end = (end - PIECE, end) if from_end else (start, start + PIECE)
    query: dict[str, object] = {"from": start, "to": end, "m": asked.message}
    query |= {"move": asked.move, "at": asked.at}
    given = {name: value for name, value in query.items() if value not in (None, "")}
    return f"{reverse('console:thread-piece', args=[conversation.pk])}?{urlencode(given)}"


def _as_of_field(page: ConversationPage, asked: Asked) -> str:
    if asked.at:
        return asked.at
    if page.as_of is not None:
        return timezone.localtime(page.as_of.moment).strftime("%Y-%m-%d %H:%M:%S")
    if page.log:
        return timezone.localtime(page.log[0].move.moved_at).strftime("%Y-%m-%d %H:%M:%S")
    return ""


def _compare_url(page: ConversationPage) -> str:
    """Compare what is shown with the live path, or the live path with the newest other branch."""
    head = page.conversation.head_seq
    leaves = [leaf for leaf in page.tree.leaves() if leaf != head]
    if head is None or not leaves:
        return ""
    other = page.thread.path[-1] if page.thread.path and not page.is_live else leaves[-1]
    if other == head:
        return ""
    address = reverse("console:compare", args=[page.conversation.pk])
    return f"{address}?{urlencode({'a': other, 'b': head})}"
