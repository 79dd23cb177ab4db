"""The exact places of pasted ids, each with what it is and the page that opens there."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Final
from uuid import UUID

from django.urls import reverse

from access.reach import Reach
from console.masking import masked_name
from console.search.desk_ids import SHORTEST_BEFORE_A_TAIL, begun_desk_places, desk_places
from console.search.desks import DESKS_TRIED
from console.search.ends import ids_ending_so, may_be_an_end
from console.search.key_ids import key_places
from console.search.ledger_ids import effect_places, event_places, finding_places
from console.search.place import Place
from console.search.sight import Sight
from console.thread.links import conversation_url, message_url
from console.titles import Titles, label_of
from conversations.models import Conversation, Generation, ToolCall
from conversations.public_ids import generation_id, message_id
from conversations.search.lookup import (
    MOST,
    TRIED,
    HitKind,
    IdHit,
    find_by_id,
    find_by_prefix,
)
from conversations.search.pasted import Pasted, shouted

_KINDS: Final = {
    HitKind.CONVERSATION: "Conversation",
    HitKind.MESSAGE: "Message",
    HitKind.CALL: "Tool call",
    HitKind.RESULT: "Tool result",
    HitKind.ATTEMPT: "Attempt",
    HitKind.ACCOUNT: "Account",
}
_LONGEST_NAME: Final = 255
LEDGER_TRIED: Final = (
    "effect",
    "the processor's ids (intents, charges, refunds, disputes)",
    "idempotency key",
    "event",
    "finding",
)


@dataclass(slots=True)
class Tried:
    """One thing that was read out of what was pasted, and how many places it has."""

    term: str
    hits: int = 0
    shouted: str = ""


@dataclass(slots=True)
class ExactSearch:
    """`places` are in the order of the ids; `prefixed` and `ending` of longer ids that begin or end so."""

    places: list[Place] = field(default_factory=list)
    prefixed: list[Place] = field(default_factory=list)
    ending: list[Place] = field(default_factory=list)
    tried: list[Tried] = field(default_factory=list)
    accounts: list[UUID] = field(default_factory=list)

    def withhold(self, titles: Titles) -> None:
        """Leave out the titles that whoever looks may not read."""
        self.places = [_titled(place, titles) for place in self.places]
        self.prefixed = [_titled(place, titles) for place in self.prefixed]
        self.ending = [_titled(place, titles) for place in self.ending]

    @property
    def is_empty(self) -> bool:
        return not (self.places or self.prefixed or self.ending)

    @property
    def conversations(self) -> set[UUID]:
        found = (place.conversation_id for place in (*self.places, *self.prefixed, *self.ending))
        return {conversation_id for conversation_id in found if conversation_id is not None}

    @property
    def shouted(self) -> list[str]:
        return [tried.shouted for tried in self.tried if tried.shouted]


def _titled(place: Place, titles: Titles) -> Place:
    if place.conversation_id is None or titles.may_read(place.conversation_id):
        return place
    return replace(place, title=label_of(place.conversation_id))


def looked_in(sight: Sight) -> list[str]:
    """Return the kinds of ids that a term is looked up as, in words."""
    desks = [words for right, words in DESKS_TRIED.items() if not right or getattr(sight, right)]
    return [*TRIED, *(LEDGER_TRIED if sight.effects else ()), *chain.from_iterable(desks)]


def left_out(sight: Sight) -> list[str]:
    """Return the kinds of ids that are not looked for, because no page of theirs would open."""
    desks = [words for right, words in DESKS_TRIED.items() if right and not getattr(sight, right)]
    return [*(() if sight.effects else LEDGER_TRIED), *chain.from_iterable(desks)]


def find_places(*, pasted: Pasted, sight: Sight) -> ExactSearch:
    """Look up every id that was pasted. A few index probes for each; nothing is scanned."""
    found = ExactSearch(places=_spelled(pasted, sight.reach))
    # Such an id holds its conversation's id, which is then not what was looked for.
    named = {place.conversation_id for place in found.places}
    for term, uuid in _terms(pasted):
        if uuid in named:
            continue
        places = _places_of(term, uuid, sight)
        hint = "" if places else shouted(term) or _in_lower_case(term, sight)
        found.tried.append(Tried(term, len(places), hint))
        found.places += places
    if not found.places and " " in pasted.whole and len(pasted.whole) <= _LONGEST_NAME:
        # No id has a space; the name of a file and that of a matter may.
        found.places = desk_places(term=pasted.whole, uuid=None, sight=sight)
    found.places = list(dict.fromkeys(found.places))[:MOST]
    if not found.places:
        found.prefixed = _begin_so(pasted, sight)
        found.ending = [place for place in _end_so(pasted, sight) if place not in found.prefixed]
    found.accounts = [
        place.account_id
        for place in found.places
        if place.kind == _KINDS[HitKind.ACCOUNT] and place.account_id is not None
    ]
    return found


def _terms(pasted: Pasted) -> list[tuple[str, UUID | None]]:
    """The terms to look up; a uuid is looked up as itself, however it was written."""
    terms: dict[str, UUID | None] = {str(uuid): uuid for uuid in pasted.uuids}
    terms |= dict.fromkeys(pasted.digests)
    spelt = {variant for uuid in pasted.uuids for variant in (str(uuid), uuid.hex)}
    spelt |= {variant for digest in pasted.digests for variant in (digest, f"sha256:{digest}")}
    spelt |= {f"{uuid}{sign}{seq}" for uuid, seq in pasted.messages for sign in ("#", "#m", ".m")}
    spelt |= {f"{uuid}.g{number}" for uuid, number in pasted.attempts}
    for term in (*pasted.ids, *pasted.emails):
        if term.lower() not in spelt:
            terms.setdefault(term, None)
    return list(terms.items())


def _places_of(term: str, uuid: UUID | None, sight: Sight) -> list[Place]:
    places = _of_hits(find_by_id(term=term, realm_ids=sight.realm_ids, uuid=uuid))
    effects = []
    if sight.effects:
        effects = effect_places(term=term, uuid=uuid, reach=sight.reach)
        effects += event_places(term=term, reach=sight.reach)
        places += effects + finding_places(term=term, reach=sight.reach)
    places += key_places(term=term, sight=sight)
    return places + desk_places(term=term, uuid=uuid, sight=sight, is_effects=bool(effects))


def _in_lower_case(term: str, sight: Sight) -> str:
    """Return the id as it is known, where only capitals keep it from being found: CUS-1001."""
    lowered = term.lower()
    if lowered == term:
        return ""
    return lowered if find_by_id(term=lowered, realm_ids=sight.realm_ids, uuid=None) else ""


def _begin_so(pasted: Pasted, sight: Sight) -> list[Place]:
    """Places of ids that begin so; of an id that is shortened in its middle, those that end so too."""
    tails = {begin: tail for begin, tail in pasted.shortened if len(begin) >= SHORTEST_BEFORE_A_TAIL}
    terms = [term for term in pasted.ids if "…" not in term and ".." not in term]
    found: list[Place] = []
    for term in list(dict.fromkeys([*tails, *terms]))[:3]:
        tail = tails.get(term, "")
        begun = _of_hits(find_by_prefix(prefix=term, realm_ids=sight.realm_ids, tail=tail))
        if sight.effects:
            begun += effect_places(term=term, uuid=None, reach=sight.reach, is_prefix=True)
        begun += begun_desk_places(prefix=term, sight=sight, has_tail=bool(tail))
        found += [place for place in begun if place.ident.endswith(tail)]
    return list(dict.fromkeys(found))[:MOST]


def _end_so(pasted: Pasted, sight: Sight) -> list[Place]:
    ends = pasted.shortened or ([("", pasted.whole)] if may_be_an_end(pasted.whole) else [])
    found: list[Place] = []
    for begin, tail in ends[:3]:
        for whole in ids_ending_so(tail, begin=begin, sight=sight):
            found += _places_of(whole.term, whole.uuid, sight)
    return list(dict.fromkeys(found))[:MOST]


def _of_hits(hits: Sequence[IdHit]) -> list[Place]:
    """A result stands with its call, where the conversation has one call of that id."""
    calls = [hit for hit in hits if hit.kind == HitKind.CALL]
    single = {hit.conversation_id for hit in calls if _count(calls, hit) == 1}
    kept = [hit for hit in hits if hit.kind != HitKind.RESULT or hit.conversation_id not in single]
    lives = _lives(calls)
    places = [_place(hit, lives) for hit in kept]
    # One attempt may be found by several of its ids that are spelt alike.
    return list({(place.kind, place.url): place for place in places}.values())


def _count(calls: Iterable[IdHit], wanted: IdHit) -> int:
    return sum(
        hit.conversation_id == wanted.conversation_id and hit.matched == wanted.matched for hit in calls
    )


def _lives(calls: Sequence[IdHit]) -> dict[tuple[UUID | None, int | None, str], ToolCall]:
    if not calls:
        return {}
    keys = [(hit.conversation_id, hit.seq, hit.matched) for hit in calls]
    return {
        (call.conversation_id, call.seq, call.call_id): call for call in ToolCall.objects.filter(pk__in=keys)
    }


def _place(hit: IdHit, lives: dict[tuple[UUID | None, int | None, str], ToolCall]) -> Place:
    call = lives.get((hit.conversation_id, hit.seq, hit.matched)) if hit.kind == HitKind.CALL else None
    is_account = hit.kind == HitKind.ACCOUNT
    return Place(
        kind=_KINDS[hit.kind],
        by=hit.by,
        ident=hit.matched,
        url=_url(hit),
        name=call.name if call else "",
        state=call.status if call else "",
        seq=hit.seq,
        number=hit.number,
        title=masked_name(hit.title) if is_account else hit.title,
        conversation_id=hit.conversation_id,
        account=hit.account_external_id,
        account_id=hit.account_id,
        realm_id=hit.realm_id,
    )


def _url(hit: IdHit) -> str:
    if hit.kind == HitKind.ACCOUNT or hit.conversation_id is None:
        return reverse("console:account", args=[hit.account_id])
    if hit.kind == HitKind.ATTEMPT and hit.seq is None:
        return reverse("console:attempt", args=[hit.conversation_id, hit.number])
    address = conversation_url(hit.conversation_id, m=hit.seq, found=hit.matched)
    return f"{address}#m{hit.seq}" if hit.seq else address


def _spelled(pasted: Pasted, reach: Reach) -> list[Place]:
    """Messages and attempts by our own ids, which spell their conversation and their number."""
    if not (pasted.messages or pasted.attempts):
        return []
    named = {conversation_id for conversation_id, _ in (*pasted.messages, *pasted.attempts)}
    conversations = {
        found.pk: found
        for found in Conversation.objects.filter(
            reach.within("account__realm_id"), pk__in=named
        ).select_related("account")
    }
    places = []
    for conversation_id, seq in pasted.messages:
        found = conversations.get(conversation_id)
        if found is not None and 0 < seq < found.next_seq:
            ident, url = message_id(conversation_id, seq), message_url(conversation_id, seq)
            places.append(_own(found, "Message", ident, url, seq=seq))
    # Of an attempt whose detail was purged there is no page.
    kept = set(Generation.objects.filter(pk__in=pasted.attempts).values_list("pk", flat=True))
    for conversation_id, number in pasted.attempts:
        found = conversations.get(conversation_id)
        if found is not None and (conversation_id, number) in kept:
            ident = generation_id(conversation_id, number)
            url = reverse("console:attempt", args=[conversation_id, number])
            places.append(_own(found, "Attempt", ident, url))
    return places


def _own(found: Conversation, kind: str, ident: str, url: str, *, seq: int | None = None) -> Place:
    return Place(
        kind=kind,
        by="our own id",
        ident=ident,
        url=url,
        seq=seq,
        title=found.title,
        conversation_id=found.pk,
        account=found.account.external_id,
        account_id=found.account_id,
        realm_id=found.account.realm_id,
    )
