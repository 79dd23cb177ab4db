"""Two streams that did not end: one cut off within a tool call, one ended by an error event.

What arrived is kept, the attempt says how it ended, and the call that was cut is never passed off as
complete. The customer's question is answered on the third attempt.
"""

from datetime import datetime

from samples.company.messages_api import MessagesTalk, result, text
from samples.company.shop import PROMPT, PROMPT_VERSION, RAFAEL, tools_for_messages
from samples.company.story import Clock, Story
from samples.company.times import moment


def story(today: datetime) -> Story:
    clock = Clock(moment(today, days=3, at="18:20:00"))
    tools = tools_for_messages("search_trips", "get_weather")
    talk = MessagesTalk(
        key="nunes-porto", clock=clock, model="claude-haiku-4-5-20251001", system=PROMPT, tools=tools
    )
    talk.say("Which trains go from Porto to Faro on Sunday morning, and will it rain?")
    trips = talk.call("search_trips", origin="Porto Campanhã", destination="Faro", day="2026-11-29")
    weather = talk.call("get_weather", place="Faro", day="2026-11-29")
    opening = text("I will look up the trains and the weather for Sunday.")
    talk.cut_off(opening, trips, weather, at_share=0.72)
    talk.break_off(opening, error="overloaded_error", words="Overloaded")
    talk.answer(opening, trips, weather)
    talk.give(
        result(trips, '{"trains": [{"no": "IC 570", "dep": "08:39"}, {"no": "AP 180", "dep": "09:40"}]}'),
        result(weather, '{"sky": "sunny", "high": 19}'),
    )
    talk.answer(text("IC 570 leaves at 08:39 and AP 180 at 09:40. Faro will be sunny, 19 °C."))
    talk.say("Tell me everything about the AP 180 and its stations", after=55)
    talk.answer(
        text("The Alfa Pendular 180 runs from Porto Campanhã to Faro. Its stations are, in order: Vila Nova"),
        stop="max_tokens",
    )
    return Story("nunes-porto", "Trains from Porto to Faro on Sunday", RAFAEL, talk.exchanges, PROMPT_VERSION)
