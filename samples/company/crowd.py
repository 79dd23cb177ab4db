"""Some hundreds of ordinary conversations, the same ones for the same seed and day."""

from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Any

from samples.company.dice import Dice
from samples.company.matters import CITIES, FIRST_NAMES, LAST_NAMES, MATTERS, Turn
from samples.company.narrators import ChatNarrator, MessagesNarrator, Narrator, ResponsesNarrator
from samples.company.shop import PROMPT_VERSION
from samples.company.story import Customer, Mint, Story

MESSAGES_MODELS = (
    "claude-sonnet-5-5",
    "claude-sonnet-4-5-20250929",
    "claude-haiku-5-5",
    "claude-haiku-4-5-20251001",
    "claude-opus-5-5",
)
CHAT_MODELS = ("gpt-4.1-2025-04-14", "gpt-5.1-2025-11-13", "gpt-5-mini-2025-08-07", "gpt-4o-2024-08-06")
RESPONSES_MODELS = ("gpt-5.6-luna", "gpt-5.6-terra", "gpt-5.4-mini-2026-03-17")
DAYS = 75
OLDER_PROMPTS = ("travel-agent 39", "travel-agent 40")


def crowd(today: datetime, *, stories: int = 200, seed: str = "wendelmere") -> Iterator[Story]:
    """Tell `stories` conversations of the 75 days before `today`, oldest first."""
    for number in range(stories):
        yield _story(today, number, stories, seed)


def crowd_customers() -> list[Customer]:
    names = [f"{first} {last}" for last in LAST_NAMES for first in FIRST_NAMES]
    realms = ("wendelmere-eu", "wendelmere-eu", "wendelmere-uk", "wendelmere-us")
    return [
        Customer(f"cus-{5000 + n}", name, f"{name.lower().replace(' ', '.')}@example.com", realms[n % 4])
        for n, name in enumerate(names)
    ]


def _story(today: datetime, number: int, stories: int, seed: str) -> Story:
    key = f"{seed}-{number:04d}"
    dice = Dice(key)
    minutes_ago = (stories - number) * DAYS * 24 * 60 // stories + dice.below(300)
    start = today - timedelta(minutes=minutes_ago)
    matter = dice.pick(MATTERS)
    gaps = {
        "ref": f"WM-{dice.between(40000, 69999)}",
        "city": dice.pick(CITIES),
        "number": str(dice.between(6, 23)),
        "price": f"{dice.between(9, 240)}.{dice.pick(('00', '50', '90'))}",
        "day": (start + timedelta(days=dice.between(2, 40))).date().isoformat(),
        "charge": Mint(key + "/charge")("ch_3S", 22),
    }
    told = _narrator(dice, key, start)
    for turn in matter.turns:
        _tell(told, turn, gaps, dice)
    version = PROMPT_VERSION if minutes_ago < 30 * 24 * 60 else dice.pick(OLDER_PROMPTS)
    customer = dice.pick(crowd_customers())
    return Story(key, matter.title.format(**gaps), customer, told.exchanges(), version)


def _seconds_of(tool: str, dice: Dice) -> float:
    """How long a tool takes: what charges a card slower than what reads; now and then much longer."""
    usual = 900 if tool.startswith(("purchase", "book")) else 220
    return (usual + dice.below(usual) * (8 if dice.chance(8) else 1)) / 1000


def _narrator(dice: Dice, key: str, start: datetime) -> Narrator[Any]:
    is_stream = dice.chance(60)
    match dice.below(10):
        case 0 | 1 | 2 | 3 | 4:
            model = dice.pick(MESSAGES_MODELS)
            return MessagesNarrator(key=key, start=start, model=model, is_stream=is_stream)
        case 5 | 6 | 7:
            return ChatNarrator(key=key, start=start, model=dice.pick(CHAT_MODELS), is_stream=is_stream)
        case _:
            model = dice.pick(RESPONSES_MODELS)
            return ResponsesNarrator(key=key, start=start, model=model, is_stream=is_stream)


def _tell(told: Narrator[Any], turn: Turn, gaps: dict[str, str], dice: Dice) -> None:
    """One turn; now and then an attempt fails, an answer is asked for again, a question is edited."""
    before = told.mark()
    question, reply = turn.question.format(**gaps), turn.reply.format(**gaps)
    take = dice.between(8, 60) / 10
    told.ask(question, after=dice.between(15, 400))
    if dice.chance(6):
        told.overload()
    if turn.tool:
        arguments: dict[str, object] = {name: value.format(**gaps) for name, value in turn.arguments}
        if dice.chance(8):
            told.look_up(turn.tool, arguments, "timed out after 20 s", is_error=True, took=20)
        took = _seconds_of(turn.tool, Dice(f"{gaps['ref']}/{turn.tool}"))
        told.look_up(turn.tool, arguments, turn.found.format(**gaps), is_error=False, took=took)
    asked = told.mark()
    told.reply(reply, take=take)
    if dice.chance(7):
        told.back_to(asked)
        told.reply(f"{reply} Can I help with anything else?", take=take)
    elif dice.chance(5):
        told.back_to(before)
        told.ask(f"{question} (quickly)", after=dice.between(10, 60))
        told.reply(reply, take=take)
