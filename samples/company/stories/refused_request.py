"""Requests that the provider refused: a body that is no conversation, a prompt that is too long.

Nothing was answered, and the bodies are kept with what came back.
"""

from datetime import datetime

from samples.company.messages_api import MessagesTalk, result, text
from samples.company.shop import PERPETUA, PROMPT, PROMPT_VERSION, tools_for_messages
from samples.company.story import Clock, Story
from samples.company.times import moment


def story(today: datetime) -> Story:
    clock = Clock(moment(today, days=11, at="12:00:00"))
    tools = tools_for_messages("find_booking")
    talk = MessagesTalk(
        key="obi-broken-client", clock=clock, model="claude-sonnet-4-6", system=PROMPT, tools=tools
    )
    talk.say("I have 1,350.00 EUR to spend and eleven people. Where to?")
    find = talk.call("find_booking", query="Obi")
    talk.answer(text("Let me see what you already have."), find)
    talk.say("hello? are you there", after=9)  # the client forgets the result of the call
    unanswered = (
        "messages.2: `tool_use` ids were found without `tool_result` blocks immediately after: "
        f"{find['id']}. Each `tool_use` block must have a corresponding `tool_result` block in the next one."
    )
    talk.fail(400, "invalid_request_error", unanswered)
    talk.go_back(len(talk.history) - 1)
    talk.give(result(find, '{"bookings": []}'))
    talk.answer(text("You have no bookings yet. For eleven people and 1,350.00 EUR I would look at Ghent."))
    talk.say("Here is our whole group chat, please read it: " + "who is in? " * 3000, after=400)
    talk.fail(400, "invalid_request_error", "prompt is too long: 201345 tokens > 200000 maximum")
    return Story("obi-broken-client", "Eleven people, 1,350 euros", PERPETUA, talk.exchanges, PROMPT_VERSION)
