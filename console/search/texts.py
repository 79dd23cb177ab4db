"""Texts that hold the words: one line each, whole snippets where the conversation is open."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

from django.contrib.auth.models import User
from django.http import QueryDict

from access.reach import Reach
from console.filtering import FilterGroup, filter_group
from console.thread.links import conversation_url
from console.titles import label_of, titles_for
from conversations.models import Account
from conversations.search.words import Within, WordHit, search_words
from conversations.vocabulary import GenerationStatus

_LINE: Final = 44
_SINCE: Final = (("1", "Last 24 hours"), ("7", "Last 7 days"), ("30", "Last 30 days"), ("90", "Last 90 days"))
_KINDS: Final = {
    "tool_use": "Call",
    "tool_result": "Result",
    "server_tool_use": "Call",
    "server_tool_result": "Result",
    "thinking": "Thinking",
}


@dataclass(frozen=True, slots=True)
class Text:
    """`pieces` are (words, is found) in order."""

    hit: WordHit
    title: str
    kind: str
    url: str
    pieces: list[tuple[str, bool]]
    is_cut: bool


@dataclass(frozen=True, slots=True)
class Narrowed:
    """What a search by words is narrowed to; `unknown_account` was typed and is nobody's id."""

    within: Within
    unknown_account: str = ""


def find_texts(*, words: str, narrowed: Narrowed, user: User, now: datetime) -> list[Text]:
    """Return texts that hold the words, newest first; two queries at most.

    Where no reason was stated for a conversation, a text is cut to one line around the words.
    """
    if narrowed.unknown_account:
        return []
    hits = search_words(text=words, within=narrowed.within)
    titles = titles_for(user=user, ids={hit.conversation_id for hit in hits}, now=now)
    return [_text(hit, is_open=titles.may_read(hit.conversation_id)) for hit in hits]


def narrow(*, query: QueryDict, reach: Reach, now: datetime) -> Narrowed:
    """Read what the search is narrowed to; what cannot be read narrows nothing."""
    account = query.get("account", "").strip()[:255]
    account_id = _account_id(account, reach) if account else None
    days = query.get("since", "")
    status = query.get("status", "")
    return Narrowed(
        Within(
            realm_ids=None if reach.sees_all else sorted(reach.realm_ids),
            account_id=account_id,
            tool_name=_clean(query.get("tool", "")),
            model=_clean(query.get("model", "")),
            status=status if status in GenerationStatus.values else "",
            since=now - timedelta(days=int(days)) if days in dict(_SINCE) else None,
        ),
        unknown_account=account if account and account_id is None else "",
    )


def narrowing_groups(query: QueryDict, texts: Sequence[Text]) -> list[FilterGroup]:
    """Return the links that narrow the search; tools are those that were found."""
    tools = sorted({text.hit.tool_name for text in texts if text.hit.tool_name} | _chosen(query, "tool"))
    groups = [
        filter_group(query=query, name="since", title="time", options=_SINCE, every="Any time"),
        filter_group(
            query=query, name="status", title="an attempt that was", options=GenerationStatus.choices
        ),
    ]
    if tools:
        options = [(tool, tool) for tool in tools[:12]]
        groups.append(filter_group(query=query, name="tool", title="a call of", options=options))
    return groups


def _text(hit: WordHit, *, is_open: bool) -> Text:
    address = conversation_url(hit.conversation_id, m=hit.seq)
    snippet, marks = (hit.snippet, hit.marks) if is_open else _one_line(hit.snippet, hit.marks)
    return Text(
        hit=hit,
        title=hit.title if is_open and hit.title.strip() else label_of(hit.conversation_id),
        kind=_KINDS.get(hit.type, "Message"),
        url=f"{address}#m{hit.seq}",
        pieces=_pieces(snippet, marks),
        is_cut=not is_open,
    )


def _one_line(snippet: str, marks: list[tuple[int, int]]) -> tuple[str, list[tuple[int, int]]]:
    """Cut a snippet to the words around its first mark."""
    at, until = marks[0] if marks else (0, 0)
    until = min(until, at + _LINE)
    start, end = max(0, at - _LINE), min(len(snippet), until + _LINE)
    before, after = "…" if start else "", "…" if end < len(snippet) else ""
    shift = len(before) - start
    kept = [(max(a, start) + shift, min(b, end) + shift) for a, b in marks if a < end and b > start]
    return f"{before}{snippet[start:end]}{after}", kept


def _pieces(snippet: str, marks: Sequence[tuple[int, int]]) -> list[tuple[str, bool]]:
    pieces: list[tuple[str, bool]] = []
    shown = 0
    for start, end in marks:
        if start < shown or end <= start:
            continue
        pieces += [(snippet[shown:start], False), (snippet[start:end], True)]
        shown = end
    pieces.append((snippet[shown:], False))
    return [piece for piece in pieces if piece[0]]


def _account_id(external_id: str, reach: Reach) -> UUID | None:
    accounts = Account.objects.filter(reach.within("realm_id"), external_id=_clean(external_id))
    return accounts.values_list("pk", flat=True).first()


def _chosen(query: QueryDict, name: str) -> set[str]:
    chosen = query.get(name, "")
    return {chosen} if chosen else set()


def _clean(text: str) -> str:
    return text.replace("\x00", "").strip()[:255]
