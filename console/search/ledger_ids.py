"""Places in the ledger: effects by every id that the processor or we know them by, events, findings."""

import re
from collections.abc import Iterable
from typing import Final
from uuid import UUID

from django.db.models import Q
from django.urls import reverse

from access.reach import Reach
from console.search.place import Place
from console.states import effect_state
from conversations.search.lookup import MOST, SHORTEST_PREFIX, prefix_end, uuid_bounds
from ledger.models import Compensation, Finding, ToolEffect, WebhookEvent
from ledger.prefixes import find_effects_by_prefix
from ledger.querysets import find_effects_by_reference

# Events are unique per processor; the index begins with it.
_PROCESSORS: Final = ("stripe",)
# As the desk writes it; the number is a bigint's.
_FINDING: Final = re.compile(r"F-([0-9]{1,18})", re.IGNORECASE | re.ASCII)


def effect_places(*, term: str, uuid: UUID | None, reach: Reach, is_prefix: bool = False) -> list[Place]:
    """Return the effects that an id touches, or which an id that begins so leads to."""
    if is_prefix:
        return _begun(term, reach) if len(term) >= SHORTEST_PREFIX else []
    if uuid is not None:
        own = Q(pk=uuid) | Q(pk__in=Compensation.objects.filter(pk=uuid).values("effect_id"))
        return _places(_in_reach(own, reach), term, "effect")
    ids = set(find_effects_by_reference(term).values_list("pk", flat=True))
    ids |= set(Compensation.objects.filter(idempotency_key=term).values_list("effect_id", flat=True))
    return _places(_in_reach(Q(pk__in=ids), reach), term, _by(term)) if ids else []


def _begun(prefix: str, reach: Reach) -> list[Place]:
    """Three queries at most; each place says the whole id that was found."""
    bounds = uuid_bounds(prefix)
    own = _in_reach(Q(pk__range=bounds), reach) if bounds else []
    places = [place for effect in own for place in _places([effect], str(effect.pk), "effect")]
    found = find_effects_by_prefix(prefix=prefix, end=prefix_end(prefix), most=MOST)
    if not found:
        return places
    effects = {effect.pk: effect for effect in _in_reach(Q(pk__in={one.effect_id for one in found}), reach)}
    for one in found:
        if one.effect_id in effects:
            places += _places([effects[one.effect_id]], one.matched, _by(one.matched))
    return places


def event_places(*, term: str, reach: Reach) -> list[Place]:
    """Return the processor's event of this id, if it belongs to an effect within reach."""
    events = WebhookEvent.objects.filter(processor__in=_PROCESSORS, event_id=term).exclude(effect=None)
    effects = {event.effect_id for event in events}
    return _places(_in_reach(Q(pk__in=effects), reach), term, "event") if effects else []


def finding_places(*, term: str, reach: Reach) -> list[Place]:
    """Return the finding that is called so: "F-12"."""
    named = _FINDING.fullmatch(term)
    if named is None:
        return []
    findings = Finding.objects.filter(reach.within("realm_id"), pk=int(named[1])).select_related("account")
    return [
        Place(
            kind="Finding",
            by="finding",
            ident=str(finding),
            url=reverse("console:finding", args=[finding.pk]),
            realm_id=finding.realm_id,
            record_id=str(finding.pk),
            label=finding.get_kind_display(),
            effect_id=finding.effect_id,
            account=finding.account.external_id if finding.account else "",
            account_id=finding.account_id,
            minor=finding.amount_minor,
            currency=finding.currency,
        )
        for finding in findings
    ]


def _in_reach(condition: Q, reach: Reach) -> list[ToolEffect]:
    effects = ToolEffect.objects.filter(reach.within("realm_id"), condition).select_related("account")
    return list(effects.order_by("-requested_at", "-id")[:MOST])


def _places(effects: Iterable[ToolEffect], term: str, by: str) -> list[Place]:
    return [
        Place(
            kind="Effect",
            by=by,
            ident=term,
            url=reverse("console:effect", args=[effect.pk]),
            realm_id=effect.realm_id,
            effect_id=effect.pk,
            seq=effect.call_seq,
            name=effect.tool_name,
            state=effect_state(effect),
            conversation_id=effect.conversation_id,
            account=effect.account.external_id if effect.account else effect.account_pseudonym,
            account_id=effect.account_id,
            minor=effect.amount_minor,
            currency=effect.currency,
        )
        for effect in effects
    ]


def _by(term: str) -> str:
    prefix = term.partition("_")[0]
    return _NAMES.get(prefix, "the processor's id")


_NAMES: Final = {
    "pi": "payment intent",
    "ch": "charge",
    "py": "charge",
    "re": "refund",
    "pyr": "refund",
    "dp": "dispute",
    "du": "dispute",
    "evt": "event",
    "txn": "balance movement",
    "cf1": "idempotency key",
}
