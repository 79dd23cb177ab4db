"""Effects beside the calls that caused them, and their sums by branch and currency."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from uuid import UUID

from django.urls import reverse

from console.states import effect_state, look_of
from console.thread.links import message_url
from ledger.models import EffectUse, ToolEffect
from ledger.vocabulary import EffectState, Standing


@dataclass(frozen=True, slots=True)
class ShownEffect:
    """An effect at one call: the call that caused it, or one that was given its outcome again."""

    id: UUID
    seq: int | None
    call_id: str
    url: str
    state: str
    minor: int | None
    currency: str
    ref: str
    standing: str
    refunded_minor: int
    is_use: bool = False

    @property
    def word(self) -> str:
        return f"{look_of(self.state).word}, used again" if self.is_use else ""


@dataclass(frozen=True, slots=True)
class EffectSum:
    """What one branch did in one currency and one state."""

    state: str
    currency: str
    minor: int
    refunded_minor: int
    url: str

    @property
    def word(self) -> str:
        return look_of(self.state).word.lower()


def read_effects(conversation_id: UUID, *, live: Collection[int]) -> list[ShownEffect]:
    """Return every effect of the conversation at each call that has it; two queries at most.

    It lives where any call that uses it is on the live path.
    """
    effects = list(ToolEffect.objects.filter(conversation_id=conversation_id).order_by("requested_at", "id"))
    if not effects:
        return []
    uses = list(
        EffectUse.objects.filter(conversation_id=conversation_id).values_list("effect_id", "seq", "call_id")
    )
    living = {effect.id for effect in effects if effect.call_seq in live}
    living |= {effect_id for effect_id, seq, _ in uses if seq in live}
    shown = {effect.id: _shown(effect, is_live=effect.id in living) for effect in effects}
    again = [
        _used_again(shown[effect_id], seq=seq, call_id=call_id)
        for effect_id, seq, call_id in uses
        if effect_id in shown
    ]
    return [*shown.values(), *again]


def by_call(effects: Iterable[ShownEffect]) -> dict[tuple[int, str], list[ShownEffect]]:
    found: dict[tuple[int, str], list[ShownEffect]] = {}
    for effect in effects:
        if effect.seq is not None:
            found.setdefault((effect.seq, effect.call_id), []).append(effect)
    return found


def sums_of(effects: Iterable[ShownEffect], conversation_id: UUID) -> list[EffectSum]:
    """Return the sums by currency and state, an effect counted once however often it was used."""
    groups: dict[tuple[str, str], list[ShownEffect]] = {}
    for effect in effects:
        if not effect.is_use and effect.minor is not None:
            groups.setdefault((effect.currency, effect.state), []).append(effect)
    return [_sum(key, found, conversation_id) for key, found in sorted(groups.items())]


def _sum(key: tuple[str, str], found: Sequence[ShownEffect], conversation_id: UUID) -> EffectSum:
    currency, state = key
    first = found[0]
    one_page = first.url if len(found) == 1 or first.seq is None else message_url(conversation_id, first.seq)
    return EffectSum(
        state=state,
        currency=currency,
        minor=sum(effect.minor or 0 for effect in found),
        refunded_minor=sum(effect.refunded_minor for effect in found),
        url=one_page,
    )


def _shown(effect: ToolEffect, *, is_live: bool) -> ShownEffect:
    standing = Standing.LIVE.value if is_live else Standing.ABANDONED.value
    if effect.detached_at is not None:
        standing = Standing.DETACHED.value
    settled = effect.state in (EffectState.APPLIED, EffectState.COMPENSATED)
    amount = effect.amount_settled_minor if settled else effect.amount_minor
    return ShownEffect(
        id=effect.id,
        seq=effect.call_seq,
        call_id=effect.call_id,
        url=reverse("console:effect", args=[effect.id]),
        state=effect_state(effect),
        minor=effect.amount_minor if amount is None else amount,
        currency=effect.currency,
        ref=effect.external_ref,
        standing=standing,
        refunded_minor=effect.amount_compensated_minor,
    )


def _used_again(effect: ShownEffect, *, seq: int, call_id: str) -> ShownEffect:
    return ShownEffect(
        **{name: getattr(effect, name) for name in ShownEffect.__slots__}
        | {"seq": seq, "call_id": call_id, "is_use": True}
    )
