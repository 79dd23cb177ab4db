"""The processor's books as the judge: what each customer was charged, and whether the ledger says so."""

from collections.abc import Iterable, Mapping
from typing import Any

from evidence.crashes.stories import AMOUNT, Story
from ledger.models import Compensation, Contradiction, ToolEffect, WebhookEvent
from ledger.vocabulary import CompensationState, EffectState

_MOVED = (EffectState.APPLIED, EffectState.COMPENSATED)


def judge(stories: Iterable[Story], books: Mapping[str, Any]) -> list[str]:
    """Return everything that is not as it must be, each in a line; nothing is the proof."""
    charges: dict[str, list[dict[str, Any]]] = {}
    for charge in books["charges"]:
        charges.setdefault(charge["customer"], []).append(charge)
    refunds: dict[str, list[dict[str, Any]]] = {}
    for refund in books["refunds"]:
        refunds.setdefault(refund["charge"], []).append(refund)
    wrong: list[str] = []
    for story in stories:
        made = charges.get(story.customer, [])
        wrong += [
            f"story {story.number} ({story.kind}): {line}" for line in _judge_story(story, made, refunds)
        ]
    wrong += [
        f"contradiction {kind} {ref}" for kind, ref in Contradiction.objects.values_list("kind", "reference")
    ]
    known = {charge["id"] for charge in books["charges"]}
    troubled = WebhookEvent.objects.exclude(trouble="").filter(object_ref__in=known)
    wrong += [f"event {event.event_id} is in trouble: {event.trouble}" for event in troubled]
    return wrong


def _judge_story(
    story: Story, made: list[dict[str, Any]], refunds: Mapping[str, list[dict[str, Any]]]
) -> list[str]:
    wrong = []
    if len(made) > 1 or (story.wants and len(made) != 1):
        wrong.append(f"charged {len(made)} times, wanted {'once' if story.wants else 'at most once'}")
    effects = list(ToolEffect.objects.filter(conversation_id=story.conversation_id))
    moved = {effect.external_ref: effect for effect in effects if effect.state in _MOVED}
    if set(moved) != {charge["id"] for charge in made}:
        wrong.append(f"the ledger has {sorted(moved)}, the books {[charge['id'] for charge in made]}")
    for effect in effects:
        if effect.state == EffectState.PENDING:
            wrong.append(f"effect {effect.pk} is open")
    for charge in made:
        wrong += _judge_charge(charge, moved.get(charge["id"]), refunds.get(charge["id"], []))
    return wrong


def _judge_charge(
    charge: dict[str, Any], effect: ToolEffect | None, given_back: list[dict[str, Any]]
) -> list[str]:
    if effect is None:
        return []
    wrong = []
    if (effect.amount_settled_minor, effect.currency) != (charge["amount"], charge["currency"]):
        wrong.append(f"{charge['id']} settled {effect.amount_settled_minor}, charged {charge['amount']}")
    settled = Compensation.objects.filter(effect=effect, state=CompensationState.SETTLED)
    refunded = {refund["id"] for refund in given_back}
    if set(settled.values_list("external_ref", flat=True)) != refunded or len(refunded) > 1:
        wrong.append(f"{charge['id']}: refunds {sorted(refunded)} in the books, the ledger has others")
    is_whole = sum(refund["amount"] for refund in given_back) == AMOUNT
    if is_whole != (effect.state == EffectState.COMPENSATED):
        wrong.append(f"{charge['id']} is {effect.state}, {'all' if is_whole else 'not all'} was given back")
    wanted = Compensation.objects.filter(effect=effect).exclude(decided_at=None)
    if wanted.exists() and len(refunded) != 1:
        wrong.append(f"{charge['id']}: an approved refund was made {len(refunded)} times")
    return wrong
