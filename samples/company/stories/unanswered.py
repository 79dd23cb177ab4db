"""A call that waits for its answer: the rail system never came back, and the thread ends there."""

from datetime import datetime

from samples.company import processor_ids as ids
from samples.company.messages_api import MessagesTalk, result, text
from samples.company.shop import KOFI, PROMPT, PROMPT_VERSION, tools_for_messages
from samples.company.story import Clock, Story
from samples.company.times import moment


def story(today: datetime) -> Story:
    clock = Clock(moment(today, days=9, at="16:02:00"))
    tools = tools_for_messages("book_rail", "search_trips")
    talk = MessagesTalk(key="larbi-rail", clock=clock, model="claude-sonnet-4-6", system=PROMPT, tools=tools)
    talk.say("One single Leeds to Penzance on Saturday, first train you can get")
    search = talk.call("search_trips", origin="Leeds", destination="Penzance", day="2026-11-28")
    talk.answer(search)
    talk.give(result(search, '{"trains": [{"no": "XC 0652", "dep": "06:52", "price": "99.00 EUR"}]}'))
    talk.answer(text("XC 0652 leaves at 06:52 and costs EUR 99.00. Shall I buy it?"))
    talk.say("yes", after=20)
    book = talk.call("book_rail", train="XC 0652", day="2026-11-28", amount="99.00", currency="EUR")
    talk.answer(text(f"Buying it now; the payment is {ids.KOFI_INTENT}."), book)
    title = "Leeds to Penzance, ticket never confirmed"
    return Story("larbi-rail", title, KOFI, talk.exchanges, PROMPT_VERSION)
