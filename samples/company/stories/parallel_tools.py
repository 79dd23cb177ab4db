"""Four calls at once, three times: one of them fails, one answers with text that is no JSON.

Told through the Responses API without hosting: the whole history travels, reasoning and all.
"""

from datetime import datetime

from samples.company.responses_api import ResponsesTalk, output
from samples.company.shop import OSKAR, PROMPT, PROMPT_VERSION, tools_for_openai
from samples.company.story import Clock, Story
from samples.company.times import moment

CITIES = ("Wien", "Graz", "Linz", "Bregenz")


def story(today: datetime) -> Story:
    clock = Clock(moment(today, days=10, at="07:40:00"))
    talk = ResponsesTalk(
        key="nystrom-austria",
        clock=clock,
        model="gpt-5.6-sol",
        instructions=PROMPT,
        tools=tools_for_openai("get_weather", "search_trips"),
    )
    talk.say("Which of Wien, Graz, Linz and Bregenz is warmest this weekend, and how do I get there?")
    weather = [talk.call("get_weather", place=city, day="2026-11-21") for city in CITIES]
    talk.answer(talk.reasoning("Ask for all four at once."), *weather)
    skies = ('{"high": 9}', '{"high": 11}', "temporarily unavailable", '{"high": 7, "sky": "snow"}')
    talk.give(*(output(call, sky) for call, sky in zip(weather, skies, strict=True)))
    trips = [talk.call("search_trips", origin="Malmö", destination=city, day="2026-11-21") for city in CITIES]
    talk.answer(talk.words("Graz looks warmest so far. Now the connections."), *trips)
    talk.give(*(output(call, f'{{"changes": {n}}}') for n, call in enumerate(trips, start=1)))
    again = talk.call("get_weather", place="Linz", day="2026-11-21")
    talk.answer(again)
    talk.give(output(again, '{"high": 10}'))
    talk.answer(talk.words("Graz, at 11 °C, with two changes. Linz has 10 °C, with three changes."))
    title = "Warmest town in Austria this weekend"
    return Story("nystrom-austria", title, OSKAR, talk.exchanges, PROMPT_VERSION)
