"""The exact places of pasted ids, each with what it is and the page that opens there."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Final
from uuid import UUID

from django.urls import reverse

from access.reach import Reach
from console.masking import masked_name
from console.search.ledger_ids import effect_places, event_places, finding_places
from console.search.place import Place
from console.thread.links import conversation_url, message_url
from console.titles import Titles, label_of
from conversations.models import Conversation, ConversationNote, Generation, ToolCall
from conversations.public_ids import generation_id, message_id
from conversations.search.lookup import MOST, TRIED, HitKind, IdHit, find_by_id, find_by_prefix
from conversations.search.pasted import Pasted, shouted

_KINDS: Final = {
    HitKind.CONVERSATION: "Conversation",
    HitKind.MESSAGE: "Message",
    HitKind.CALL: "Tool call",
    HitKind.RESULT: "Tool result",
    HitKind.ATTEMPT: "Attempt",
    HitKind.ACCOUNT: "Account",
}
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
    """`places` are in the order of the ids; `prefixed` are places of longer ids that begin so."""

    places: list[Place] = field(default_factory=list)
    prefixed: list[Place] = field(default_factory=list)
    tried: list[Tried] = field(default_factory=list)
    accounts: list[UUID] = field(default_factory=list)

    def withhold(self, titles: Titles) -> None:
        """Leave out the titles that whoever looks may not read."""
        self.places = [_titled(place, titles) for place in self.places]
        self.prefixed = [_titled(place, titles) for place in self.prefixed]

    @property
    def conversations(self) -> set[UUID]:
        found = (place.conversation_id for place in (*self.places, *self.prefixed))
        return {conversation_id for conversation_id in found if conversation_id is not None}

    @property
    def shouted(self) -> list[str]:
        return [tried.shouted for tried in self.tried if tried.shouted]


def _titled(place: Place, titles: Titles) -> Place:
    if place.conversation_id is None or titles.may_read(place.conversation_id):
        return place
    return replace(place, title=label_of(place.conversation_id))


def looked_in(*, sees_effects: bool) -> list[str]:
    """Return the kinds of ids that a term is looked up as, in words."""
    return [*TRIED, "ticket of a note", *(LEDGER_TRIED if sees_effects else ())]


def find_places(*, pasted: Pasted, reach: Reach, sees_effects: bool) -> ExactSearch:
    """Look up every id that was pasted. A few index probes for each; nothing is scanned."""
    found = ExactSearch(places=_spelled(pasted, reach))
    # Such an id holds its conversation's id, which is then not what was looked for.
    named = {place.conversation_id for place in found.places}
    for term, uuid in _terms(pasted):
        if uuid in named:
            continue
        places = _places_of(term, uuid, reach, sees_effects=sees_effects)
        hint = "" if places else shouted(term) or _in_lower_case(term, reach)
        found.tried.append(Tried(term, len(places), hint))
        found.places += places
    found.places = list(dict.fromkeys(found.places))[:MOST]
    if not found.places:
        found.prefixed = _begin_so(pasted, reach, sees_effects=sees_effects)
    found.accounts = [
        place.account_id
        for place in found.places
        if place.kind == _KINDS[HitKind.ACCOUNT] and place.account_id is not None
    ]
    return found


def _terms(pasted: Pasted) -> list[tuple[str, UUID | None]]:
    """The terms to look up; a uuid is looked up as itself, however it was written."""
    terms: dict[str, UUID | None] = {str(uuid): uuid for uuid in pasted.uuids}
    spelt = {variant for uuid in pasted.uuids for variant in (str(uuid), uuid.hex)}
    spelt |= {f"{uuid}{sign}{seq}" for uuid, seq in pasted.messages for sign in ("#", "#m", ".m")}
    spelt |= {f"{uuid}.g{number}" for uuid, number in pasted.attempts}
    for term in (*pasted.ids, *pasted.emails):
        if term.lower() not in spelt:
            terms.setdefault(term, None)
    return list(terms.items())


def _places_of(term: str, uuid: UUID | None, reach: Reach, *, sees_effects: bool) -> list[Place]:
    realm_ids = None if reach.sees_all else sorted(reach.realm_ids)
    hits = find_by_id(term=term, realm_ids=realm_ids, uuid=uuid)
    places = _of_hits(hits) + _tickets(term, reach)
    if sees_effects:
        places += effect_places(term=term, uuid=uuid, reach=reach) + event_places(term=term, reach=reach)
        places += finding_places(term=term, reach=reach)
    return places


def _in_lower_case(term: str, reach: Reach) -> str:
    """Return the id as it is known, where only capitals keep it from being found: CUS-1001."""
    lowered = term.lower()
    if lowered == term:
        return ""
    realm_ids = None if reach.sees_all else sorted(reach.realm_ids)
    return lowered if find_by_id(term=lowered, realm_ids=realm_ids, uuid=None) else ""


def _begin_so(pasted: Pasted, reach: Reach, *, sees_effects: bool) -> list[Place]:
    realm_ids = None if reach.sees_all else sorted(reach.realm_ids)
    found: list[Place] = []
    for term in pasted.ids[:3]:
        found += _of_hits(find_by_prefix(prefix=term, realm_ids=realm_ids))
        if sees_effects:
            found += effect_places(term=term, uuid=None, reach=reach, is_prefix=True)
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


def _tickets(term: str, reach: Reach) -> list[Place]:
    notes = (
        ConversationNote.objects.filter(reach.within("conversation__account__realm_id"), ticket=term)
        .select_related("conversation__account")
        .order_by("-written_at")[:MOST]
    )
    return [
        Place(
            kind="Staff note",
            by="ticket of a note",
            ident=note.ticket,
            url=f"{conversation_url(note.conversation_id)}#note-{note.pk}",
            title=note.conversation.title,
            conversation_id=note.conversation_id,
            account=note.conversation.account.external_id,
            account_id=note.conversation.account_id,
            realm_id=note.conversation.account.realm_id,
        )
        for note in notes
    ]


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
