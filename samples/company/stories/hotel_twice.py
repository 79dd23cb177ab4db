"""One hotel, booked twice: the customer edited the question to another room, and both were charged."""

from datetime import datetime

from samples.company import processor_ids as ids
from samples.company.messages_api import MessagesTalk, result, text
from samples.company.shop import AMELIE, PROMPT, PROMPT_VERSION, tools_for_messages
from samples.company.story import Clock, Story
from samples.company.times import moment


def story(today: datetime) -> Story:
    clock = Clock(moment(today, days=6, at="11:44:00"))
    tools = tools_for_messages("find_booking", "book_hotel", "search_trips")
    talk = MessagesTalk(
        key="thibault-trieste", clock=clock, model="claude-sonnet-5-5", system=PROMPT, tools=tools
    )
    talk.say("Bonjour ! Une chambre à Trieste du 12 au 14 décembre, vue sur la mer si possible.")
    talk.answer(
        text(
            "L’hôtel Savoia a deux chambres : vue mer à 412,00 EUR pour deux nuits, vue cour à 398,00 EUR. "
            "Laquelle dois-je réserver, avec la carte qui finit par 1881 ?"
        )
    )
    fork = len(talk.history)
    _book(talk, "La vue mer, s’il vous plaît.", amount="412.00", charge=ids.AMELIE_FIRST_CHARGE)
    talk.go_back(fork)
    _book(talk, "La vue cour, finalement.", amount="398.00", charge=ids.AMELIE_SECOND_CHARGE)
    title = "Hotel in Trieste, two nights in December"
    return Story("thibault-trieste", title, AMELIE, talk.exchanges, PROMPT_VERSION)


def _book(talk: MessagesTalk, wish: str, *, amount: str, charge: str) -> None:
    talk.say(wish, after=130)
    book = talk.call(
        "book_hotel", hotel="Savoia, Trieste", arrival="2026-12-12", nights=2, amount=amount, currency="EUR"
    )
    talk.answer(text("Je réserve."), book)
    talk.give(result(book, f'{{"status": "succeeded", "charge": "{charge}", "voucher": "TS-{charge[-4:]}"}}'))
    talk.answer(text(f"C’est réservé : deux nuits, {amount.replace('.', ',')} EUR sur votre carte."))
