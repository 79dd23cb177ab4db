"""A long thread: a journey round Iceland planned over three weeks, 320 messages on one path."""

from datetime import datetime

from samples.company import processor_ids as ids
from samples.company.messages_api import MessagesTalk, result, text
from samples.company.shop import PROMPT, PROMPT_VERSION, SIGRUN, tools_for_messages
from samples.company.story import Clock, Story
from samples.company.times import moment

PLACES = (
    "Reykjavík",
    "Selfoss",
    "Vík",
    "Höfn",
    "Egilsstaðir",
    "Mývatn",
    "Akureyri",
    "Ísafjörður",
    "Snæfellsnes",
)
MATTERS = (
    ("How far is it from {here} to {there}?", "From {here} to {there} it is about {number} km."),
    ("And with children, how many stops?", "With children: {number} minutes more, and two stops."),
    ("Is the pool in {there} open in {month}?", "It is open in {month}, until {number} minutes past 20."),
    ("What does a guest house cost there?", "In {month}, about {number} euros a night in {there}."),
    ("Can we see the northern lights?", "In {month} the chance in {there} is {number} in a thousand."),
    ("og hvað með hestaferð?", "Hestaferð við {there} kostar um {number} evrur á mann, tvær stundir."),
    ("Please note that Bjartur is allergic to nuts", "Noted: Bjartur, allergic to nuts, on list {number}."),
    ("ok. next day?", "Next: from {here} to {there}, kilometre {number} of the journey, in {month}."),
)
TURNS = 156
MONTHS = ("May", "June", "August", "September")


def story(today: datetime) -> Story:
    clock = Clock(moment(today, days=24, at="20:05:00"))
    tools = tools_for_messages("get_weather", "purchase_credits")
    talk = MessagesTalk(
        key="thorsdottir-ring-road",
        clock=clock,
        model="claude-haiku-5-5",
        system=PROMPT,
        tools=tools,
        is_stream=False,
    )
    for turn in range(TURNS):
        question, reply = MATTERS[turn % len(MATTERS)]
        words = {
            "here": PLACES[turn % len(PLACES)],
            "there": PLACES[(turn + 1) % len(PLACES)],
            "month": MONTHS[turn % len(MONTHS)],
            "number": 20 + turn * 7 % 380,
        }
        talk.say(question.format(**words), after=30 if turn % 12 else 120_000)
        talk.answer(text(reply.format(**words)), take=1.1)
    _buy_credits(talk)
    title = "Round Iceland with three children, June"
    return Story("thorsdottir-ring-road", title, SIGRUN, talk.exchanges, PROMPT_VERSION)


def _buy_credits(talk: MessagesTalk) -> None:
    talk.say("Lovely. Please buy 700 credits so that we can pay for day 1", after=300)
    weather = talk.call("get_weather", place="Vík", day="2027-06-12")
    talk.answer(weather)
    talk.give(result(weather, "No forecast so far ahead.", is_error=True))
    buy = talk.call(
        "purchase_credits", credits=700, amount="63.35", currency="EUR", payment_method="pm_1SWnIsk4242"
    )
    talk.answer(text("There is no forecast yet. I am buying the credits."), buy)
    talk.give(result(buy, f'{{"status": "succeeded", "charge": "{ids.SIGRUN_CHARGE}", "balance": 700}}'))
    talk.answer(text("700 credits, EUR 63.35. Góða ferð!"))
    talk.say("Takk fyrir!", after=12)
    talk.answer(text("Verði ykkur að góðu."))
