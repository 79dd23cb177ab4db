"""What a session leaves in the store, what several processes do to one, and what a failing network does."""

import asyncio
import json
import threading
from collections import deque

import httpx2
import pytest

from access.models import AccessEntry
from conversations.models import Account, Conversation, HeadMove, Message
from conversations.services.erased import remember_erased, subject_digest
from conversations.vocabulary import ErasedKind
from counterfoil_recorder import ConfigurationError, StoreUnavailable
from counterfoil_recorder.agents import CounterfoilSession, SessionRefused
from counterfoil_recorder.agents.items import messages_of
from tests.client.agents.conftest import do
from tests.client.agents.test_expectations import ANSWER, QUESTION, TURN

pytestmark = pytest.mark.django_db(transaction=True, databases=["default", "reader"])


def user(text):
    return {"role": "user", "content": text}


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


def test_several_processes_write_one_session(make_session):
    """Each has an object of its own; whoever is overtaken in the middle of a turn looks again."""
    writers = [make_session() for _ in range(4)]
    failed = []

    def turn(writer, n):
        call = {"type": "function_call", "call_id": f"c{writer}{n}", "name": "f", "arguments": "{}"}
        output = {"type": "function_call_output", "call_id": f"c{writer}{n}", "output": "done"}
        return [user(f"{writer} {n}"), call, output]

    def work(writer, session):
        try:
            for n in range(4):
                said = turn(writer, n)
                do(session.add_items(said[:2]))
                do(session.add_items(said[2:]))
        except Exception as error:  # noqa: BLE001 -- shown below
            failed.append(error)

    threads = [threading.Thread(target=work, args=it) for it in enumerate(writers)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert not failed
    kept = do(make_session().get_items())
    wanted = [item for writer in range(4) for n in range(4) for item in turn(writer, n)]
    assert sorted(map(str, kept)) == sorted(map(str, wanted))
    for writer in range(4):
        own = [item["content"] for item in kept if item.get("content", "").startswith(f"{writer} ")]
        assert own == [f"{writer} {n}" for n in range(4)]


@pytest.mark.parametrize(("length", "times"), [(12, 5), (3, 3)])
def test_two_processes_never_pop_the_same_item(make_session, length, times):
    do(make_session().add_items([user(str(n)) for n in range(length)]))
    popped = []

    def work(session):
        for _ in range(times):
            popped.append(do(session.pop_item()))

    threads = [threading.Thread(target=work, args=(make_session(),)) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    left = max(0, length - 2 * times)
    assert sorted(item["content"] for item in popped if item) == sorted(str(n) for n in range(left, length))
    assert do(make_session().get_items()) == [user(str(n)) for n in range(left)]


def test_what_the_store_refuses_in_a_first_turn_is_not_doubled(session):
    """The turn is a root: nothing could be moved back before it is written anew."""
    refused = {"type": "reasoning", "id": "rs_1", "summary": [{"type": "summary_text", "text": "\ud800"}]}
    turn = [refused, *TURN[2:4]]
    do(session.add_items(TURN[2:4]))
    do(session.add_items([refused, QUESTION]))
    assert do(session.get_items()) == [*TURN[2:4], refused, QUESTION]

    do(session.clear_session())
    do(session.add_items(turn))
    assert do(session.pop_item()) == turn[-1]
    assert do(session.get_items()) == turn[:-1]
    do(session.add_items([turn[-1], *TURN[4:6]]))
    assert do(session.get_items()) == [*turn, *TURN[4:6]]


@pytest.fixture
def meanwhile(make_session):
    """Let another process do something right before a session writes beside what stands."""

    def meanwhile(session, work):
        put_root = session._conversation._put_root

        def late(*args, **kwargs):
            session._conversation._put_root = put_root
            do(work(make_session()))
            return put_root(*args, **kwargs)

        session._conversation._put_root = late

    return meanwhile


def test_an_item_added_while_the_only_one_is_popped_stays(session, meanwhile):
    do(session.add_items([user("one")]))
    meanwhile(session, lambda other: other.add_items([user("two")]))

    assert do(session.pop_item()) == user("two")
    assert do(session.get_items()) == [user("one")]


def test_an_item_added_while_a_cleared_session_begins_stays(session, meanwhile):
    do(session.add_items([user("zero")]))
    do(session.clear_session())
    meanwhile(session, lambda other: other.add_items([user("one"), user("two")]))
    do(session.add_items([user("three"), user("four")]))

    assert do(session.get_items()) == [user(word) for word in ("one", "two", "three", "four")]


def test_an_item_added_while_a_branch_is_made_stays_where_it_was_said(session, meanwhile):
    do(session.add_items([user("one"), user("two")]))
    meanwhile(session, lambda other: other.add_items([user("three")]))
    do(session.create_branch_from_turn(2, "other"))

    assert do(session.get_items()) == [user("one")]
    assert do(session.get_items(branch_id="main")) == [user("one"), user("two"), user("three")]
    do(session.switch_to_branch("main"))
    assert do(session.get_items()) == [user("one"), user("two"), user("three")]


def test_two_branches_made_at_once_are_both_there(session, meanwhile):
    do(session.add_items([user("one"), user("two")]))
    meanwhile(session, lambda other: other.create_branch_from_turn(2, "theirs"))
    do(session.create_branch_from_turn(1, "ours"))

    assert do(session.get_items()) == []
    do(session.add_items([user("ours")]))
    told = {it["branch_id"]: it["message_count"] for it in do(session.list_branches())}
    assert told == {"main": 2, "theirs": 1, "ours": 1}


def test_a_switch_that_was_broken_off_is_finished_by_whoever_comes_next(make_session):
    session = make_session()
    do(session.add_items([QUESTION, ANSWER, user("more")]))
    do(session.create_branch_from_turn(2, "other"))
    conversation, branches = session._conversation, session._branches
    tail, registry = branches._state()
    # The process ends here, before the head is moved on.
    conversation._put_marker(registry.switched("main", from_leaf=tail.leaf_id), after=tail.move)

    assert do(make_session().get_items()) == [QUESTION, ANSWER, user("more")]
    assert do(make_session().list_branches())[0]["is_current"]


def test_a_branch_that_was_purged_holds_nothing(make_session):
    session = make_session()
    do(session.add_items([QUESTION, ANSWER]))
    conversation, branches = session._conversation, session._branches
    tail, registry = branches._state()
    gone = registry.created("gone", leaf_id=f"{conversation.id}.m999", from_leaf=tail.leaf_id, now="")
    conversation.mark(gone, after=tail.move)

    assert do(make_session().get_items()) == []
    do(session.switch_to_branch("main"))
    with pytest.raises(ValueError, match="does not exist"):
        do(session.switch_to_branch("gone"))
    assert [it["branch_id"] for it in do(session.list_branches())] == ["main"]
    assert do(session.get_items()) == [QUESTION, ANSWER]


@pytest.fixture
def faults(monkeypatch):
    """What happens to the next requests of new sessions: "refused", "lost", a status, or nothing."""
    faults = deque()

    class Faulty(httpx2.HTTPTransport):
        def handle_request(self, request):
            fault = faults.popleft() if faults else None
            if fault == "refused":
                raise httpx2.ConnectError("connection refused")
            if isinstance(fault, int):
                return httpx2.Response(fault, headers={"Retry-After": "0"})
            answer = super().handle_request(request)
            if fault == "lost":
                answer.read()
                answer.close()
                raise httpx2.ReadError("connection reset")
            return answer

    client = httpx2.Client
    monkeypatch.setattr(httpx2, "Client", lambda **options: client(transport=Faulty(), **options))
    return faults


@pytest.mark.parametrize("fault", ["refused", "lost", 503, 429])
def test_a_network_that_fails_doubles_and_loses_nothing(faults, make_session, fault):
    session = make_session()

    def shaken(work):
        for position in range(6):
            faults.clear()
            faults.extend([*[None] * position, fault])
            do(work(position))
        faults.clear()

    shaken(lambda n: session.add_items([user(f"{n}"), *TURN[2:6]]))
    assert do(session.get_items()) == [item for n in range(6) for item in (user(f"{n}"), *TURN[2:6])]
    popped = []

    async def pop(_):
        popped.append(await session.pop_item())

    shaken(pop)
    assert popped == [*reversed(TURN[2:6]), user("5"), TURN[5]]
    shaken(lambda _: session.clear_session())
    assert do(session.get_items()) == []


def test_a_store_that_is_away_is_said(faults, make_session):
    session = make_session(patience=0.3)
    faults.extend(["refused"] * 20)

    with pytest.raises(StoreUnavailable, match="connection refused"):
        do(session.add_items([QUESTION]))
    faults.clear()
    assert do(session.get_items()) == []


def test_what_the_store_refuses_for_good_is_said(make_session, realm):
    with pytest.raises(SessionRefused, match="401"):
        do(make_session(key="cfk_nothing").get_items())

    digest = subject_digest(kind=ErasedKind.EXTERNAL_ID, realm_id=realm.pk, value="customer-9")
    remember_erased(digests=[(ErasedKind.EXTERNAL_ID, digest)], now=realm.created_at)
    with pytest.raises(SessionRefused) as refused:
        do(make_session(account="customer-9").add_items([QUESTION]))
    assert refused.value.rule == "erased-subject"


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
