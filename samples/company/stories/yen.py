"""A conversation in Japanese, in yen: a gift card that went out twice, because an answer was regenerated.

Told through OpenAI's Responses API, hosted: only what is new is sent, with the id of the last response.
"""

from datetime import datetime

from samples.company import processor_ids as ids
from samples.company.responses_api import ResponsesTalk, output
from samples.company.shop import PROMPT, PROMPT_VERSION, TAKUMI, tools_for_openai
from samples.company.story import Clock, Story
from samples.company.times import moment

GIFT = {"to": "haruka@example.com", "amount": "14200", "currency": "JPY"}


def story(today: datetime) -> Story:
    clock = Clock(moment(today, days=6, at="10:00:05"))
    talk = ResponsesTalk(
        key="hayashi-gift",
        clock=clock,
        model="gpt-5.6-terra",
        instructions=PROMPT,
        tools=tools_for_openai("send_gift_card", "find_booking"),
        is_stream=True,
        is_hosted=True,
    )
    talk.say(
        "妹の誕生日に旅行ギフトカードを贈りたいです。一万四千二百円分、haruka@example.com 宛にお願いします。"
    )
    talk.answer(
        talk.reasoning("金額と宛先を確認する必要がある。"),
        talk.words(
            "14,200円のギフトカードを haruka@example.com に送ります。4242で終わるカードでよろしいですか。"
        ),
    )
    before, response = len(talk.history), talk.last_response_id
    _send(talk, "はい、お願いします。", ids.TAKUMI_FIRST_CHARGE)
    talk.go_back(before, response_id=response)
    _send(talk, "はい、お願いします。「お誕生日おめでとう🎂」と書いてください。", ids.TAKUMI_SECOND_CHARGE)
    talk.say("届きましたか？ 妹は二通受け取ったと言っています。", after=90)
    talk.answer(
        talk.words(
            "申し訳ありません。二回送られたようです。担当者が確認して、余分な14,200円についてご連絡します。"
        )
    )
    title = "妹へのギフトカード、14,200円"
    return Story("hayashi-gift", title, TAKUMI, talk.exchanges, PROMPT_VERSION)


def _send(talk: ResponsesTalk, words: str, charge: str) -> None:
    talk.say(words, after=35)
    send = talk.call("send_gift_card", **GIFT)
    talk.answer(send)
    talk.give(output(send, f'{{"status":"succeeded","charge":"{charge}","amount":14200,"currency":"jpy"}}'))
    talk.answer(talk.words("ギフトカードを送りました。料金は14,200円です。"))
