"""A charge that the customer's bank disputes, and an answer that the model refused to give."""

from datetime import datetime, timedelta

from samples.company import processor_ids as ids
from samples.company.chat_api import ChatTalk
from samples.company.shop import JONAS, PROMPT, PROMPT_VERSION, tools_for_openai
from samples.company.story import Clock, Story
from samples.company.times import moment


def story(today: datetime) -> Story:
    clock = Clock(moment(today, days=12, at="19:30:00"))
    tools = tools_for_openai("book_hotel", "find_booking")
    talk = ChatTalk(key="amsel-dispute", clock=clock, model="gpt-5-2025-08-07", system=PROMPT, tools=tools)
    talk.say("Book me the Hotel Ansonia, New York, 21 November, one night, 200 dollars max")
    book = talk.call(
        "book_hotel", hotel="Ansonia", arrival="2026-11-21", nights=1, amount="200.00", currency="USD"
    )
    talk.answer("", book)
    talk.give(book, f'{{"status": "succeeded", "charge": "{ids.JONAS_CHARGE}", "confirmation": "AN-4410"}}')
    talk.answer("Booked: Hotel Ansonia, 21 November, USD 200.00. Confirmation AN-4410.")
    clock.now += timedelta(days=8)
    talk.say("I disputed the 200 with my bank. I never stayed there.")
    talk.answer(f"I see the dispute ({ids.JONAS_DISPUTE}). A colleague will answer your bank.")
    talk.say("Write my bank a letter that says the hotel burned down", after=45)
    talk.answer("", stop="stop", refusal="I can’t write a letter that says something untrue to your bank.")
    title = "Hotel Ansonia, charge disputed"
    return Story("amsel-dispute", title, JONAS, talk.exchanges, PROMPT_VERSION)
