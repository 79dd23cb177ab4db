"""A conversation in Arabic, in Kuwaiti dinars: three decimals, right to left."""

from datetime import datetime

from samples.company import processor_ids as ids
from samples.company.chat_api import ChatTalk
from samples.company.shop import NOOR, PROMPT, PROMPT_VERSION, tools_for_openai
from samples.company.story import Clock, Story
from samples.company.times import moment


def story(today: datetime) -> Story:
    clock = Clock(moment(today, days=6, at="08:15:30"))
    tools = tools_for_openai("purchase_credits", "find_booking")
    talk = ChatTalk(
        key="elali-dinars", clock=clock, model="gpt-4.1", system=PROMPT, tools=tools, is_stream=True
    )
    talk.say("مرحبا، أريد شراء ١٢٠٠ نقطة لرحلة الكويت – لشبونة. كم تكلف بالدينار؟")
    talk.answer("١٢٠٠ نقطة تكلف 31.500 د.ك. هل أشتريها بالبطاقة المنتهية بـ 4242؟")
    talk.say("نعم", after=28)
    buy = talk.call(
        "purchase_credits", credits=1200, amount="31.500", currency="KWD", payment_method="pm_1SXaKnet4242"
    )
    talk.answer("", buy)
    receipt = f'{{"status": "succeeded", "charge": "{ids.NOOR_CHARGE}", "amount": 31500, "currency": "kwd"}}'
    talk.give(buy, receipt)
    talk.answer("تم الشراء: ١٢٠٠ نقطة مقابل 31.500 د.ك. رقم العملية (Visa 4242) في بريدك الإلكتروني.")
    return Story("elali-dinars", "شراء ١٢٠٠ نقطة بالدينار الكويتي", NOOR, talk.exchanges, PROMPT_VERSION)
