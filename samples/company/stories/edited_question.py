"""The edited question that charged twice.

Inês asks for 2,000 credits and is charged EUR 180.00. She then edits that very message to 1,500
credits: another branch, another charge of EUR 135.00, because the arguments differ. The first
charge is on a branch that nobody looks at any more. The answer after the edit was written by a
fallback model, on the third attempt; and the fare change timed out, so nobody knows about its 62.00.
Meanwhile she goes back to the first version for a moment, and the log of head moves shows it.
"""

from datetime import datetime

from samples.company import processor_ids as ids
from samples.company.messages_api import MessagesTalk, result, text
from samples.company.shop import INES, PROMPT, PROMPT_VERSION, tools_for_messages
from samples.company.story import Clock, HeadSwitch, Step, Story
from samples.company.times import moment

CARD = "pm_1SXmPbWm7TnLdR2vKc8QyT4s"
FLEXI = {"booking_ref": "WM-58213", "to": "FLEXI"}


def story(today: datetime) -> Story:
    clock = Clock(moment(today, days=6, at="13:52:10"))
    talk = MessagesTalk(
        key="okafor-lisbon", clock=clock, model="claude-opus-5", system=PROMPT, tools=tools_for_messages()
    )
    steps: list[Step] = []
    _ask_for_options(talk)
    fork = len(talk.history)
    _buy_two_thousand(talk)
    last_before_edit = talk.exchanges[-1].exchange_id
    _edit_to_fifteen_hundred(talk, fork)
    steps.extend(talk.exchanges)
    steps.append(HeadSwitch(last_before_edit, clock.wait(75)))
    steps.append(HeadSwitch(talk.exchanges[-1].exchange_id, clock.wait(48)))
    told = len(talk.exchanges)
    _ask_what_happened(talk)
    steps.extend(talk.exchanges[told:])
    title = "2,000 credits and the Flexi fare for the Lisbon trip, booking WM-58213 (Okafor party of two)"
    return Story("okafor-lisbon", title, INES, steps, PROMPT_VERSION)


def _ask_for_options(talk: MessagesTalk) -> None:
    talk.say("Hello, I have a booking to Lisbon under Okafor. Can you find it?")
    find = talk.call("find_booking", query="Okafor")
    talk.answer(text("I will look for it."), find)
    talk.give(
        result(find, '{"bookings": [{"ref": "WM-58213", "to": "LIS", "day": "2026-12-19", "fare": "BASIC"}]}')
    )
    talk.answer(text("Found it: WM-58213 to Lisbon on 19 December, two passengers, fare Basic."))
    talk.say(
        "can I move to the Flexi fare? the two of us, outbound only. and I want to use credits if that is "
        "cheaper. my old voucher was \u202e1447-RETNIW <b>does it still work</b>",
        after=250,
    )
    rules = talk.call("get_fare_rules", booking_ref="WM-58213", fare="BASIC")
    quote = talk.call("quote_upgrade", booking_ref="WM-58213", to="FLEXI", passengers=2)
    talk.answer(text("Let me look at the fare rules and at what an upgrade would cost."), rules, quote)
    talk.give(
        result(rules, '{"changes": "not included", "upgrade": ["FLEXI"], "refund": "none"}'),
        result(quote, '{"card": {"amount": "62.00", "currency": "EUR"}, "credits": 1380}'),
    )
    talk.answer(
        text(
            "Flexi costs 62.00 EUR more for both of you. You can pay by card, or with credits: 1,500 credits "
            "(135.00 EUR) cover this change and leave 120 over; 2,000 credits (180.00 EUR) also cover seats "
            "on the way back. The voucher WINTER-7441 expired on 31 October, so it no longer works."
        )
    )


def _buy_two_thousand(talk: MessagesTalk) -> None:
    talk.say("Please buy 2,000 credits and move us to Flexi", after=120)
    buy = talk.call("purchase_credits", credits=2000, amount="180.00", currency="EUR", payment_method=CARD)
    talk.answer(text("I will buy 2,000 credits on the card ending in 4242."), buy)
    receipt = (
        f'{{"status": "succeeded", "charge": "{ids.INES_FIRST_CHARGE}", '
        f'"payment_intent": "{ids.INES_FIRST_INTENT}", "balance": 2120}}'
    )
    talk.give(result(buy, receipt))
    talk.answer(text("2,000 credits are on your account; the balance is 2,120."))
    talk.say("ok and now rebook us, keep seat 14C please", after=70)
    rebook = talk.call("rebook_flight", booking_ref="WM-58213", seat="14C")
    talk.fail(529, "overloaded_error", "Overloaded")
    talk.answer(text("I will move the booking now."), rebook)
    talk.give(result(rebook, "Fare BASIC does not allow seat 14C to be kept.", is_error=True))
    talk.answer(
        text("The rebooking was refused: fare BASIC does not allow seat 14C to be kept. Nothing was charged.")
    )


def _edit_to_fifteen_hundred(talk: MessagesTalk, fork: int) -> None:
    talk.go_back(fork)
    talk.say("Sorry, 1,500 credits are enough. Please buy 1,500 and then move us to Flexi.", after=66)
    talk.fail(529, "overloaded_error", "Overloaded", take=9)
    talk.fail(529, "overloaded_error", "Overloaded", take=12)
    buy = talk.call("purchase_credits", credits=1500, amount="135.00", currency="EUR", payment_method=CARD)
    talk.model = "claude-sonnet-5"  # the application's own fallback: another model is asked
    talk.answer(text("I will buy 1,500 credits on the card ending in 4242 first."), buy)
    talk.model = "claude-opus-5"
    receipt = (
        f'{{"status": "succeeded", "charge": "{ids.INES_SECOND_CHARGE}", '
        f'"payment_intent": "{ids.INES_SECOND_INTENT}", "balance": 3620}}'
    )
    talk.give(result(buy, receipt))
    change = talk.call("change_fare", **FLEXI)
    talk.answer(text("Done: 1,500 credits added. Now the change to Flexi."), change)
    timed_out = f"Timed out after 30 s; the outcome is not known. payment_intent {ids.INES_FARE_INTENT}"
    talk.give(result(change, timed_out, is_error=True), after=30)
    talk.answer(
        text(
            "The fare system did not answer, so I cannot tell yet whether the change went through. Please do "
            "not pay again; I will check the booking before I try anything else."
        )
    )


def _ask_what_happened(talk: MessagesTalk) -> None:
    talk.say("Did the fare change go through? My bank shows 180, 135 and now 62 as reserved!!", after=200)
    look = talk.call("get_booking", booking_ref="WM-58213")
    talk.answer(look)
    talk.give(result(look, '{"ref": "WM-58213", "fare": "BASIC", "passengers": 2}'))
    talk.answer(
        text(
            "The booking still shows Basic, so the fare change is not confirmed. A colleague will look at "
            "the three payments with our payment provider and write to you today."
        )
    )
