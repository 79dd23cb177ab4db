"""The answer that a fallback model wrote: the first was overloaded, the second timed out.

Later in the same conversation the provider itself serves another model than the one asked for.
"""

from datetime import datetime

from samples.company.messages_api import MessagesTalk, text
from samples.company.shop import PERPETUA, PROMPT, PROMPT_VERSION
from samples.company.story import Clock, Story
from samples.company.times import moment


def story(today: datetime) -> Story:
    clock = Clock(moment(today, days=2, at="09:12:00"))
    talk = MessagesTalk(key="obi-voucher", clock=clock, model="claude-opus-5-5", system=PROMPT)
    talk.say("Voucher code WINTER-7741 rejected, says it has already been used by another account. Why??")
    talk.fail(529, "overloaded_error", "Overloaded", take=2)
    talk.time_out(take=60)
    talk.model = "claude-haiku-5-5"
    talk.answer(
        text(
            "A voucher can be used once. WINTER-7741 was redeemed on 2 November, and I cannot see by whom. "
            "If it was a gift, the person who bought it can ask us; a colleague needs their order number."
        )
    )
    talk.model = "claude-opus-5-5"
    talk.say("it was from my sister. order 55-20931", after=140)
    talk.answer(text("Thank you. I have passed the order number on to a colleague."), served="claude-opus-5")
    return Story("obi-voucher", "Voucher WINTER-7741 rejected", PERPETUA, talk.exchanges, PROMPT_VERSION)
