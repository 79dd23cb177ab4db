"""Which effect a piece of evidence is about: by our own id in its metadata, by the key, by the objects."""

from collections.abc import Iterable

from ledger.evidence import AnySeen, OutcomeSeen, RefundSeen
from ledger.models import EffectReference, ToolEffect
from ledger.querysets import effects_of_key
from ledger.vocabulary import Operation, ReferenceKind

_OBJECTS = (ReferenceKind.INTENT, ReferenceKind.CHARGE)


def effect_of_outcome(seen: OutcomeSeen) -> ToolEffect | None:
    """Return the effect that an outcome settles."""
    own = [reference for kind, reference in seen.references if kind != ReferenceKind.TARGET]
    return _by_marks(seen) or _by_references(seen.processor, own, kinds=[*_OBJECTS, ReferenceKind.REFUND])


def charge_of(seen: AnySeen) -> ToolEffect | None:
    """Return the effect whose charge a refund or a dispute is about."""
    charge, intent = getattr(seen, "charge_ref", ""), getattr(seen, "intent_ref", "")
    return _by_references(
        seen.processor, filter(None, [charge, intent]), kinds=_OBJECTS, operation=Operation.CHARGE
    )


def refund_call_of(seen: RefundSeen) -> ToolEffect | None:
    """Return the effect of a tool that made this refund itself, if one did."""
    found = _by_marks(seen) or _by_references(
        seen.processor, [seen.reference], kinds=[ReferenceKind.REFUND], operation=Operation.REFUND
    )
    return found if found is not None and found.operation == Operation.REFUND else None


def _by_marks(seen: AnySeen) -> ToolEffect | None:
    if seen.effect_id is not None:
        marked = ToolEffect.objects.filter(pk=seen.effect_id, processor=seen.processor).first()
        if marked is not None:
            return marked
    if seen.idempotency_key:
        return effects_of_key(seen.idempotency_key).filter(processor=seen.processor).first()
    return None


def _by_references(
    processor: str,
    references: Iterable[str],
    *,
    kinds: Iterable[ReferenceKind],
    operation: Operation | None = None,
) -> ToolEffect | None:
    """The first effect that knows one of the objects: an older one, if several do."""
    found = EffectReference.objects.filter(
        processor=processor, reference__in=list(references), kind__in=list(kinds)
    )
    if operation is not None:
        found = found.filter(effect__operation=operation)
    reference = found.select_related("effect").order_by("id").first()
    return reference.effect if reference else None
