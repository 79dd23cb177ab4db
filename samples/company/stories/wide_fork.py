"""A wide fork: the quality team asked one question 300 times and kept every answer beside the others."""

from datetime import datetime

from samples.company.chat_api import ChatTalk
from samples.company.shop import QUALITY
from samples.company.story import Clock, Story
from samples.company.times import moment

SIBLINGS = 300
QUESTION = "My flight was cancelled this morning. What am I entitled to?"
OPENINGS = ("You may", "You can", "In the EU you", "As a rule you", "Since it was cancelled today, you")
ENDINGS = (
    "choose between a refund and another flight.",
    "ask for your money back within seven days.",
    "be rebooked at no cost, and get meals while you wait.",
    "claim up to 600 euros if the airline is to blame.",
)


def story(today: datetime) -> Story:
    clock = Clock(moment(today, days=5, at="01:00:00"))
    system = "Answer in one sentence."
    talk = ChatTalk(key="trial-cancelled-flight", clock=clock, model="gpt-4.1-mini-2025-04-14", system=system)
    talk.say(QUESTION, after=0)
    asked = len(talk.history)
    for number in range(SIBLINGS):
        opening = OPENINGS[number % len(OPENINGS)]
        ending = ENDINGS[number // len(OPENINGS) % len(ENDINGS)]
        talk.go_back(asked)
        talk.answer(f"{opening} {ending} (answer {number + 1})", take=0.8)
    title = "Trial: cancelled flight, 300 answers to one question"
    return Story("trial-cancelled-flight", title, QUALITY, talk.exchanges, "trial-passenger-rights 7")
