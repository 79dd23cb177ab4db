"""The one search box: an id leads straight to its place, words to the texts that hold them."""

from datetime import datetime
from typing import Any

from django.db import transaction
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET

from access.addresses import address_of
from access.models.log import AccessAction, TargetKind
from access.permissions import actor_of, holds, requires, staff_of
from access.reach import reach_of
from access.reading import reads_customers
from access.rights import RightName
from access.services.logging import log_access
from console.frame import frame_context
from console.search.ends import NOT_BY_END
from console.search.places import ExactSearch, find_places, left_out, looked_in
from console.search.sight import Sight, sight_of
from console.search.texts import Text, find_texts, narrow, narrowing_groups
from console.titles import titles_for
from conversations.search.pasted import Pasted, read_pasted

PURPOSE = "Finds every id as it stands, e-mail addresses of customers, and words in what was said."
_NOTHING = (
    "No id is spelt so, none begins so, and no text holds all of these words. "
    "Give fewer words, lift what narrows the search, or paste more of the id."
)


@never_cache
@require_GET
@requires(RightName.READ_CONVERSATIONS)
@reads_customers
def search(request: HttpRequest) -> HttpResponse:
    """One exact place is opened at once; several are listed, each saying what it is.

    Texts are searched where no id was found, or with `in=texts`.
    """
    now = timezone.now()
    pasted = read_pasted(request.GET.get("q", ""))
    wants_texts = request.GET.get("in") == "texts"
    sight = sight_of(staff_of(request), reach_of(staff_of(request)))
    with transaction.atomic():
        exact = _look_up(request, pasted, sight, now)
        if len(exact.places) == 1 and not wants_texts:
            return HttpResponseRedirect(exact.places[0].url)
        exact.withhold(titles_for(user=staff_of(request), ids=exact.conversations, now=now))
        texts = (
            _texts(request, pasted, sight, now)
            if pasted.whole and (wants_texts or not exact.places)
            else None
        )
    context = frame_context(request, now=now, title="Search", subtitle=PURPOSE)
    return render(
        request, "console/search/page.html", context | _context(request, pasted, sight, exact, texts)
    )


def _look_up(request: HttpRequest, pasted: Pasted, sight: Sight, now: datetime) -> ExactSearch:
    exact = find_places(pasted=pasted, sight=sight)
    if pasted.emails or exact.accounts:
        # Whom somebody looked for: the account where it was found, never what was typed.
        only = exact.accounts[0] if len(exact.accounts) == 1 else None
        _log(request, now, AccessAction.SEARCH_PERSON, TargetKind.ACCOUNT, only, len(exact.accounts))
    return exact


def _texts(request: HttpRequest, pasted: Pasted, sight: Sight, now: datetime) -> list[Text] | None:
    if not holds(request.user, RightName.READ_BODIES):
        return None
    narrowed = narrow(query=request.GET, reach=sight.reach, now=now)
    texts = find_texts(words=pasted.words, narrowed=narrowed, user=staff_of(request), now=now)
    _log(request, now, AccessAction.OPEN, TargetKind.LIST, None, len(texts))
    return texts


def _context(
    request: HttpRequest, pasted: Pasted, sight: Sight, exact: ExactSearch, texts: list[Text] | None
) -> dict[str, Any]:
    query = request.GET.copy()
    query["in"] = "texts"
    return {
        "search_words": request.GET.get("q", "")[:2000].replace("\x00", ""),
        "pasted": pasted,
        "exact": exact,
        "texts": texts,
        "may_read_texts": holds(request.user, RightName.READ_BODIES),
        "looked_in": looked_in(sight),
        "left_out": left_out(sight),
        "nothing_found": f"{_NOTHING} {NOT_BY_END}",
        "not_by_end": NOT_BY_END,
        "groups": narrowing_groups(request.GET, texts or []) if texts is not None else [],
        "clear": f"{reverse('console:search')}?{_only_words(request)}",
        "texts_url": f"?{query.urlencode()}",
        "typed": [(name, label, request.GET.get(name, "")[:255]) for name, label in _TYPED],
        "kept": [(name, request.GET[name]) for name in ("q", "in", "since", "status") if name in request.GET],
        "some_are_cut": any(text.is_cut for text in texts or []),
    }


_TYPED = (("account", "Account id"), ("model", "Model"), ("tool", "Tool"))


def _only_words(request: HttpRequest) -> str:
    query = request.GET.copy()
    for name in set(query) - {"q", "in"}:
        del query[name]
    return query.urlencode()


def _log(
    request: HttpRequest,
    now: datetime,
    action: AccessAction,
    kind: TargetKind,
    account_id: Any,
    count: int,
) -> None:
    log_access(
        actor=actor_of(request),
        action=action,
        target_kind=kind,
        target_id="search",
        account_id=account_id,
        row_count=count,
        now=now,
        address=address_of(request),
    )
