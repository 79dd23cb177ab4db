"""What a session leaves in the store, and what it says where it is set wrongly."""

import asyncio
import json

import httpx2
import pytest

from access.models import AccessEntry
from conversations.models import Account, Conversation, HeadMove, Message
from counterfoil_recorder import ConfigurationError
from counterfoil_recorder.agents import CounterfoilSession
from counterfoil_recorder.agents.items import messages_of
from tests.client.agents.conftest import do
from tests.client.agents.items import ANSWER, QUESTION, TURN, user

pytestmark = pytest.mark.django_db(transaction=True, databases=["default", "reader"])


def roles():
    return list(Message.objects.order_by("seq").values_list("role", "is_hidden"))


def test_nothing_is_deleted_and_the_log_has_each_step(session):
    do(session.add_items([QUESTION, ANSWER]))
    do(session.pop_item())
    do(session.add_items([ANSWER]))
    do(session.clear_session())
    do(session.add_items([QUESTION]))

    assert roles() == [
        *(("user", False), ("assistant", False), ("assistant", False)),
        *(("system", True), ("user", False)),
    ]
    assert list(HeadMove.objects.order_by("number").values_list("head_seq", flat=True)) == [1, 2, 1, 3, 4, 5]
    assert list(Message.objects.order_by("seq").values_list("parent_seq", flat=True)) == [
        None,
        1,
        1,
        None,
        None,
    ]


def test_a_session_is_a_conversation_of_its_customer(make_session):
    for account in ("customer-7", "customer-8"):
        do(make_session(account=account, label="Ada").add_items([user(account)]))

    assert do(make_session(account="customer-8").get_items()) == [user("customer-8")]
    assert Account.objects.get(external_id="customer-7").label == "Ada"
    assert set(Conversation.objects.values_list("external_ref", flat=True)) == {"agents:chat-42"}
    session = make_session(account="customer-7")
    assert do(session.conversation_id()) == str(
        Conversation.objects.get(account__external_id="customer-7").pk
    )


def test_any_name_is_a_name(make_session):
    names = ["x" * 300, " chat", "chat", "\x00", "\ud800"]
    for name in names:
        do(make_session(name).add_items([user(repr(name))]))

    assert [do(make_session(name).get_items()) for name in names] == [[user(repr(name))] for name in names]


def test_the_body_that_would_be_sent_next_is_one_that_the_provider_takes(session, live_server, session_key):
    do(session.add_items([QUESTION, *TURN[1:4], *TURN[4:], user("Thanks")]))
    do(session.clear_session())
    do(session.add_items(TURN))
    path = f"/api/v1/conversations/{do(session.conversation_id())}/next-body"
    named = {"dialect": "openai_responses", "model": "gpt-5"}
    headers = {"Authorization": f"Bearer {session_key}", "Accept": "application/json"}
    told = httpx2.get(live_server.url + path, params=named, headers=headers).json()

    assert json.loads(told["body"])["input"] == TURN
    assert told["violations"] == []


def test_reading_is_in_the_access_log(session):
    do(session.add_items([QUESTION]))
    before = AccessEntry.objects.count()
    do(session.get_items())

    assert AccessEntry.objects.count() == before + 1


def test_only_what_the_store_cannot_keep_as_a_conversation_is_wrapped():
    call, output = TURN[2], TURN[4]
    wrapped = {True: "agents_item", False: None}

    def kinds(*items):
        return [
            [wrapped["agents_item" in block] or json.loads(block).get("type") for block in said.blocks]
            for said in messages_of(items)
        ]

    assert kinds(*TURN[1:]) == [
        ["reasoning", "function_call", "function_call"],
        *(["function_call_output"], ["function_call_output"], ["message"]),
    ]
    assert kinds(call) == [["function_call"]]
    assert kinds(call, QUESTION) == [["agents_item"], [None]]
    assert kinds(output) == [["agents_item"]]
    assert kinds(call, output, output) == [["function_call"], ["function_call_output"], ["agents_item"]]
    assert kinds(call, call, output) == [["function_call", "agents_item"], ["function_call_output"]]


def test_what_is_set_wrongly_is_said_at_once(monkeypatch):
    monkeypatch.delenv("COUNTERFOIL_KEY", raising=False)
    for told in ({"url": "counterfoil.example", "key": "k"}, {"url": "https://counterfoil.example"}):
        with pytest.raises(ConfigurationError):
            CounterfoilSession("chat-42", account="customer-7", **told)


def test_the_environment_names_the_store(live_server, session_key, monkeypatch):
    monkeypatch.setenv("COUNTERFOIL_URL", live_server.url)
    monkeypatch.setenv("COUNTERFOIL_KEY", session_key)
    session = CounterfoilSession("chat-42", account="customer-7")
    do(session.add_items([QUESTION]))

    assert do(session.get_items()) == [QUESTION]
    session.close()


def test_work_is_done_in_the_order_it_was_asked_for(session):
    async def work():
        adding = [asyncio.ensure_future(session.add_items([user(str(n))])) for n in range(5)]
        popping = asyncio.ensure_future(session.pop_item())
        await asyncio.gather(*adding)
        return await popping

    assert do(work()) == user("4")
    assert do(session.get_items()) == [user(str(n)) for n in range(4)]
