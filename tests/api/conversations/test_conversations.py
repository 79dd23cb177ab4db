"""Conversations begun, listed and read along a path; the contract of a client that branches."""

import pytest
from django.db import connections

from access.models import AccessEntry, Scope
from access.models.log import AccessAction
from conversations.models import Account, Conversation
from tests.api.conversations.talking import ROOT, text
from tests.conversations.writers import at_once

pytestmark = pytest.mark.django_db


def test_a_conversation_begins_in_the_realm_of_the_key(client, realm):
    answer = client.post(
        f"{ROOT}/conversations",
        {
            "account": {"external_id": "c-1", "label": "Ada", "email": "ada@example.com"},
            "title": "Order 1042",
            "external_ref": "thread-7",
        },
    )
    assert answer.status_code == 201
    told = answer.json()
    assert answer["Location"] == f"{ROOT}/conversations/{told['id']}"
    account = Account.objects.get()
    assert (account.realm, account.external_id, account.label) == (realm, "c-1", "Ada")
    assert told["account"] == {"id": str(account.pk), "external_id": "c-1"}
    assert (told["title"], told["external_ref"], told["source"]) == ("Order 1042", "thread-7", "application")
    assert (told["head_id"], told["head_move"], told["message_count"]) == (None, 0, 0)


def test_the_same_reference_returns_what_is_there(client):
    body = {"account": {"external_id": "c-1"}, "external_ref": "thread-7"}
    first = client.post(f"{ROOT}/conversations", body)
    again = client.post(f"{ROOT}/conversations", body)
    assert (first.status_code, again.status_code) == (201, 200)
    assert first.json() == again.json()
    assert Conversation.objects.count() == 1


@pytest.mark.parametrize(
    ("body", "pointer"),
    [
        ({}, "#/account"),
        ({"account": "c-1"}, "#/account"),
        ({"account": {}}, "#/account/external_id"),
        ({"account": {"external_id": "a\x00b"}}, "#/account/external_id"),
        ({"account": {"external_id": "x" * 256}}, "#/account/external_id"),
        ({"account": {"external_id": "c", "email": "no"}}, "#/account/email"),
        ({"account": {"external_id": "c"}, "started_at": "yesterday"}, "#/started_at"),
        ([], "#"),
    ],
)
def test_what_cannot_be_taken_is_named(client, body, pointer):
    answer = client.post(f"{ROOT}/conversations", body)
    assert answer.status_code == 400
    assert [error["pointer"] for error in answer.json()["errors"]] == [pointer]
    assert not Conversation.objects.exists()


@pytest.mark.parametrize(
    "started_at", ["0001-01-01T00:00:00Z", "0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-14:00"]
)
def test_a_start_past_every_clock_is_refused_or_kept(client, started_at):
    body = {"account": {"external_id": "c-1"}, "started_at": started_at}
    assert client.post(f"{ROOT}/conversations", body).status_code in (201, 400)


def test_the_list_has_the_realms_own_only_newest_first(client, stranger, begin):
    first, second = begin(title="one"), begin(title="two")
    begin(stranger)
    first.append(text("hello"))
    told = client.get(f"{ROOT}/conversations").json()
    assert [row["id"] for row in told["data"]] == [first.id, second.id]
    assert (told["next"], told["previous"]) == (None, None)
    assert told["data"][0]["head_id"] == first.message_id(1)


def test_the_list_goes_on_by_key_there_and_back(client, begin):
    ids = [begin().id for _ in range(5)][::-1]
    seen, url = [], f"{ROOT}/conversations?limit=2&source=application"
    while url:
        page = client.get(url).json()
        seen.append([row["id"] for row in page["data"]])
        url, last = page["next"], page
    assert seen == [ids[:2], ids[2:4], ids[4:]]
    back = client.get(last["previous"]).json()
    assert [row["id"] for row in back["data"]] == ids[2:4]
    assert client.get(back["previous"]).json()["previous"] is None


def test_the_list_is_narrowed_by_the_consoles_filters(client, begin):
    forked, plain = begin(), begin(title="Refund of order 7")
    forked.append(text("one"))
    forked.post("/messages/1/edit", {"parts": [text("two")]})
    assert [row["id"] for row in client.get(f"{ROOT}/conversations?has_fork=true").json()["data"]] == [
        forked.id
    ]
    assert [row["id"] for row in client.get(f"{ROOT}/conversations?title=refund").json()["data"]] == [
        plain.id
    ]


@pytest.mark.parametrize(
    "query",
    [
        "status=gone",
        "active_since=soon",
        "limit=0",
        "limit=201",
        "limit=x",
        "after=x",
        "account=%00",
        "limit=²",
    ],
)
def test_a_list_refuses_what_it_cannot_read(client, query):
    answer = client.get(f"{ROOT}/conversations?{query}")
    assert answer.status_code == 400
    assert answer.json()["rule"] in ("invalid", "cursor-unknown")


def test_the_number_of_queries_of_the_list_is_fixed(client, begin, django_assert_num_queries):
    begin()
    client.get(f"{ROOT}/conversations")
    # The key; the reader's transaction, role and the end of both; the rows with their accounts.
    with django_assert_num_queries(6):
        client.get(f"{ROOT}/conversations")
    for _ in range(5):
        begin()
    with django_assert_num_queries(6):
        client.get(f"{ROOT}/conversations")


def test_a_path_is_told_with_the_versions_beside_it(answered):
    first = answered.get().json()
    assert [message["id"] for message in first["path"]] == [answered.message_id(1), answered.message_id(2)]
    assert [message["versions"] for message in first["path"]] == [[], []]

    edited = answered.post("/messages/1/edit", {"parts": [text("Where is order 1043?")]}).json()
    assert edited["message"]["branch_reason"] == "user_edit"

    told = answered.get().json()
    assert (told["head_id"], told["head_move"], told["path_length"]) == (answered.message_id(3), 3, 1)
    [message] = told["path"]
    assert message["parts"][0]["text"] == "Where is order 1043?"
    assert [(one["id"], one["leaf_id"]) for one in message["versions"]] == [
        (answered.message_id(1), answered.message_id(2)),
        (answered.message_id(3), answered.message_id(3)),
    ]
    # What the customer turns back to, by the leaf that the versions name.
    back = answered.client.put(f"{answered.url}/head", {"message_id": message["versions"][0]["leaf_id"]})
    assert back.status_code == 200
    assert answered.path() == ["Where is order 1042?", "On its way."]


def test_the_path_as_of_a_moment_or_a_move(answered):
    moves = answered.get("/head-moves").json()["data"]
    assert [move["number"] for move in moves] == [2, 1]
    answered.post("/messages/1/edit", {"parts": [text("Another")]})

    for as_of in ("2", moves[0]["moved_at"], moves[0]["moved_at"].replace("Z", "+00:00")):
        told = answered.get(f"?as_of={as_of}").json()
        assert [message["seq"] for message in told["path"]] == [1, 2]
        assert told["as_of"]["head_move"] == 2
        assert [message["versions"] for message in told["path"]] == [[], []]
    before = answered.get("?as_of=2001-01-01T00:00:00Z").json()
    assert (before["path"], before["as_of"]["head_move"]) == ([], None)
    assert answered.get("?as_of=99").status_code == 404
    for unread in ("yesterday", "2026-02-30T00:00:00Z", "2026-02-03T00:00:00", "0001-01-01T00:00:00Z", "²"):
        assert answered.get(f"?as_of={unread}").status_code == 400


def test_only_the_end_of_a_long_path(answered):
    told = answered.get("?last=1").json()
    assert ([message["seq"] for message in told["path"]], told["path_length"]) == ([2], 2)
    assert answered.get("?last=0").status_code == 400


def test_an_unchanged_conversation_is_not_sent_again(answered):
    first = answered.get()
    assert first["ETag"].startswith('"2-')
    logged = AccessEntry.objects.filter(action=AccessAction.API_READ).count()
    again = answered.get(HTTP_IF_NONE_MATCH=first["ETag"])
    assert (again.status_code, again.content, again["ETag"]) == (304, b"", first["ETag"])
    assert AccessEntry.objects.filter(action=AccessAction.API_READ).count() == logged
    assert answered.get(HTTP_IF_NONE_MATCH=f'"1", W/{first["ETag"]}').status_code == 304

    # A version beside the path changes the answer without moving the head.
    Conversation.objects.filter(pk=answered.id).update(title="renamed")
    assert answered.get(HTTP_IF_NONE_MATCH=first["ETag"]).status_code == 200


@pytest.mark.parametrize(("asked", "count"), [("", 2), ("?last=1", 1), ("?last=5", 2)])
def test_reading_a_path_is_in_the_access_log_with_the_messages_told(answered, asked, count):
    answered.get(asked)
    entry = AccessEntry.objects.filter(action=AccessAction.API_READ).latest("id")
    assert (entry.target_kind, entry.target_id, entry.row_count) == ("conversation", answered.id, count)
    assert str(entry.conversation_id) == answered.id
    assert entry.account_id is not None


def test_the_number_of_queries_of_a_path_is_fixed(talk, django_assert_num_queries):
    def exchange(words):
        opened = talk.ask(words)
        talk.finish(opened["generation"]["id"], f"about {words}")

    exchange("one")
    talk.get()
    # The key; the reader's transaction, role and the end of both; the conversation and its tree; of the
    # path its branch reasons, odd parts, calls, attempts, and the messages; the log's row, stepping out
    # of the role and back.
    with django_assert_num_queries(15):
        talk.get()
    for words in ("two", "three", "four", "five", "six"):
        exchange(words)
    talk.post("/messages/1/edit", {"parts": [text("other")]})
    with django_assert_num_queries(15):
        talk.get()


def test_the_tree_tells_every_message_without_a_word(answered):
    answered.post("/messages/1/edit", {"parts": [text("zwei Nächte")]})
    told = answered.get("/tree")
    assert "Nächte" not in told.content.decode()
    nodes = told.json()["nodes"]
    assert [(node["seq"], node["parent_id"], node["is_live"], node["bytes"]) for node in nodes] == [
        (1, None, False, len("Where is order 1042?")),
        (2, answered.message_id(1), False, len("On its way.")),
        (3, None, True, 12),
    ]


def test_head_moves_are_told_newest_first_and_paged(talk):
    for words in ("one", "two", "three"):
        talk.append(text(words))
    page = talk.get("/head-moves?limit=2").json()
    assert [(move["number"], move["message_id"], move["reason"]) for move in page["data"]] == [
        (3, talk.message_id(3), "append"),
        (2, talk.message_id(2), "append"),
    ]
    assert page["data"][0]["by_kind"] == "application"
    following = talk.client.get(page["next"]).json()
    assert [move["number"] for move in following["data"]] == [1]
    assert [m["number"] for m in talk.client.get(following["previous"]).json()["data"]] == [3, 2]


def test_a_fork_is_a_conversation_of_its_own(answered):
    body = {"leaf_id": answered.message_id(1), "external_ref": "fork-1"}
    first = answered.post("/fork", body)
    again = answered.post("/fork", body)
    assert (first.status_code, again.status_code) == (201, 200)
    assert first.json()["id"] == again.json()["id"] != answered.id
    told = answered.client.get(f"{ROOT}/conversations/{first.json()['id']}").json()
    assert [(m["parts"][0]["text"], m["branch_reason"]) for m in told["path"]] == [
        ("Where is order 1042?", "fork")
    ]


@pytest.mark.django_db(transaction=True)
def test_eight_that_begin_or_fork_at_once_begin_one(begin, client_of, issue):
    talk, issued = begin(), issue()
    talk.append(text("hello"))
    wanted = [
        (f"{ROOT}/conversations", {"account": {"external_id": "new"}, "external_ref": "one"}),
        (f"{talk.url}/fork", {"leaf_id": talk.message_id(1), "external_ref": "two"}),
    ]
    for address, body in wanted:

        def post(address=address, body=body):
            answer = client_of(issued).post(address, body)
            connections.close_all()
            return answer.status_code, answer.json()["id"]

        outcomes = at_once(*[post] * 8)

        assert sorted(status for status, _ in outcomes) == [200] * 7 + [201]
        assert len({identity for _, identity in outcomes}) == 1
    assert Conversation.objects.count() == 3
    assert Account.objects.count() == 2


def test_a_key_that_may_only_write_is_told_no_title(issue, client_of, begin):
    talk = begin(title="My illness", external_ref="thread-7", account={"external_id": "c-1"})
    talk.append(text("hello"))
    writer = client_of(issue(scopes=[Scope.WRITE]))
    body = {"account": {"external_id": "c-1"}, "external_ref": "thread-7"}
    again = writer.post(f"{ROOT}/conversations", body)
    fork = writer.post(f"{talk.url}/fork", {"leaf_id": talk.message_id(1)})
    assert (again.json()["id"], again.json()["title"], fork.json()["title"]) == (talk.id, None, None)


def test_scopes_are_asked_for(issue, client_of, answered):
    reader, writer = client_of(issue(scopes=[Scope.READ])), client_of(issue(scopes=[Scope.WRITE]))
    assert reader.post(f"{ROOT}/conversations", {"account": {"external_id": "c"}}).status_code == 403
    assert writer.get(f"{ROOT}/conversations").status_code == 403
    assert writer.get(answered.url).status_code == 403
