"""The tool that failed and was retried to success: a declined card, then another one.

Told through OpenAI's Chat Completions, where each result is a message of its own.
"""

from datetime import datetime

from samples.company import processor_ids as ids
from samples.company.chat_api import ChatTalk
from samples.company.shop import LI, PROMPT, PROMPT_VERSION, tools_for_openai
from samples.company.story import Clock, Story
from samples.company.times import moment


def story(today: datetime) -> Story:
    clock = Clock(moment(today, days=6, at="11:36:20"))
    tools = tools_for_openai("purchase_credits", "find_booking", "get_weather")
    talk = ChatTalk(key="wen-credits", clock=clock, model="gpt-5.1-2025-11-13", system=PROMPT, tools=tools)
    talk.say("I need 480 credits on my account, and what is the weather in Leeds on Friday?")
    buy = talk.call(
        "purchase_credits", credits=480, amount="44.00", currency="GBP", payment_method="pm_1SXbVisa0002"
    )
    weather = talk.call("get_weather", place="Leeds", day="2026-11-27")
    talk.answer("480 credits cost GBP 44.00. One moment.", buy, weather)
    talk.give(weather, '{"sky": "rain", "high": 8}')
    declined = (
        f'{{"error": {{"code": "card_declined", "payment_intent": "{ids.LI_DECLINED_INTENT}", '
        '"message": "Your card was declined."}}'
    )
    talk.give(buy, declined)
    talk.answer("Your card ending in 0002 was declined, so nothing was charged. Friday in Leeds: rain, 8 °C.")
    talk.say("use the other one then, 4242", after=65)
    again = talk.call(
        "purchase_credits", credits=480, amount="44.00", currency="GBP", payment_method="pm_1SXbVisa4242"
    )
    talk.fail(500, "server_error", "The server had an error while processing your request.")
    talk.answer("", again)
    talk.give(again, f'{{"status": "succeeded", "charge": "{ids.LI_CHARGE}", "balance": 480}}')
    talk.answer("Done: 480 credits, GBP 44.00 on the card ending in 4242.")
    return Story("wen-credits", "480 credits after a declined card", LI, talk.exchanges, PROMPT_VERSION)
