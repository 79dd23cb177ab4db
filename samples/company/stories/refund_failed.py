"""A refund that was promised, went out, and failed two days later: the card account had been closed."""

from datetime import datetime, timedelta

from samples.company import processor_ids as ids
from samples.company.messages_api import MessagesTalk, result, text
from samples.company.shop import DANA, PROMPT, PROMPT_VERSION, tools_for_messages
from samples.company.story import Clock, Story
from samples.company.times import moment


def story(today: datetime) -> Story:
    clock = Clock(moment(today, days=7, at="22:47:00"))
    tools = tools_for_messages("change_fare", "refund_charge", "get_booking")
    talk = MessagesTalk(
        key="moreno-refund",
        clock=clock,
        model="claude-sonnet-4-5-20250929",
        system=PROMPT,
        tools=tools,
        is_stream=False,
        api_version="2023-06-01",
    )
    talk.say("Move booking WM-60114 to Flexi please, card ending 7766")
    change = talk.call("change_fare", booking_ref="WM-60114", to="FLEXI")
    talk.answer(text("Flexi costs USD 76.99 more. I am changing it now."), change)
    talk.give(result(change, f'{{"status": "succeeded", "charge": "{ids.DANA_CHARGE}", "fare": "FLEXI"}}'))
    talk.answer(text("Done. WM-60114 is Flexi now; USD 76.99 were charged."))
    talk.say("Sorry, I changed my mind. Can I get that back? I am within the hour", after=1500)
    refund = talk.call(
        "refund_charge", charge=ids.DANA_CHARGE, amount="76.99", reason="requested_by_customer"
    )
    talk.answer(refund)
    talk.give(result(refund, f'{{"status": "pending", "refund": "{ids.DANA_REFUND}"}}'))
    talk.answer(text("The refund of USD 76.99 is on its way; it takes 5 to 10 days."))
    clock.now += timedelta(days=5)
    talk.say("It never came. My bank says they sent it back because that account is closed?")
    talk.answer(
        text(
            "Then the refund came back to us. I cannot send it to another account myself; a colleague in "
            "finance will ask you for one."
        )
    )
    title = "Fare change undone, refund came back"
    return Story("moreno-refund", title, DANA, talk.exchanges, PROMPT_VERSION)
