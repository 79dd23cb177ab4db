"""A line of 5,000 messages and a question with 300 answers: whatever is done with them, none by recursion."""

import json
import sys

import pytest
from django.db import connection

from access.actors import Actor, ActorKind
from conversations.models import Conversation
from conversations.reads.path import read_path
from conversations.replay import next_body_at
from conversations.replay.context import assemble
from conversations.search.words import Within, search_words
from conversations.services.exporting import export_trees, select_conversations
from conversations.services.forking import fork_conversation
from conversations.services.importing.importing import import_file
from conversations.vocabulary import Dialect
from tests.conversations.conftest import CUSTOMER, NOW
from tests.conversations.imports.reading import lines, write

IN_CHAT = {"dialect": Dialect.OPENAI_CHAT, "model": "gpt-4o"}
DEPTH = 5_000
WIDTH = 300
# One more than a statement may have parameters.
PAST_PARAMETERS = 65_536
LONG = 2_000
TURN = [{"role": "user", "content": "x"}, {"role": "assistant", "content": "y"}]


def messages_read() -> int:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT coalesce(sum(seq_tup_read + idx_tup_fetch), 0) FROM pg_stat_xact_user_tables"
            " WHERE relname = 'conversations_message'"
        )
        return int(cursor.fetchone()[0])


@pytest.fixture
def imported(realm, tmp_path):
    def take(data: bytes, name: str) -> Conversation:
        report = import_file(
            path=write(tmp_path, data, name),
            realm=realm,
            actor=Actor(ActorKind.IMPORTER),
            now=NOW,
            account="customer-1",
        )
        assert report.failed == []
        return Conversation.objects.get()

    return take


@pytest.fixture
def deep(imported):
    said = [{"role": "assistant" if n % 2 else "user", "content": f"word{n:04}"} for n in range(DEPTH)]
    return imported(lines({"id": "deep", "messages": said}), "deep.jsonl")


@pytest.fixture
def deeper(imported):
    said = [{"role": "user", "content": "x"} for _ in range(PAST_PARAMETERS)]
    return imported(lines({"id": "deeper", "messages": said}), "deeper.jsonl")


@pytest.fixture
def wide(imported):
    replies = [
        {"message_id": f"a{n:03}", "role": "assistant", "text": f"word{n:03}", "rank": n}
        for n in range(WIDTH)
    ]
    prompt = {"message_id": "p", "role": "prompter", "text": "?", "replies": replies}
    return imported(lines({"message_tree_id": "wide", "prompt": prompt}), "wide.jsonl")


def test_a_line_of_five_thousand_is_read_searched_replayed_forked_and_exported(deep):
    limit = sys.getrecursionlimit()

    body = json.loads(
        next_body_at(
            conversation_id=deep.pk, leaf_seq=DEPTH, dialect=Dialect.OPENAI_CHAT, model="gpt-4o"
        ).body
    )
    [hit] = search_words(text="word2500", within=Within())
    fork = fork_conversation(conversation_id=deep.pk, leaf_seq=DEPTH, actor=CUSTOMER, now=NOW)
    [tree] = export_trees(select_conversations(ids=[deep.pk]))

    assert [message["content"] for message in body["messages"]] == [f"word{n:04}" for n in range(DEPTH)]
    assert hit.seq == 2501
    assert [message.seq for message in read_path(conversation_id=fork.pk, leaf_seq=DEPTH)] == list(
        range(1, DEPTH + 1)
    )
    assert len(json.loads(tree)["messages"]) == DEPTH
    assert sys.getrecursionlimit() == limit


def test_a_line_longer_than_a_statements_parameters_is_cut_to_a_budget_and_forked(deeper):
    context = assemble(conversation_id=deeper.pk, leaf_seq=PAST_PARAMETERS, budget=50)
    fork = fork_conversation(conversation_id=deeper.pk, leaf_seq=PAST_PARAMETERS, actor=CUSTOMER, now=NOW)

    assert len(context.messages) + len(context.left_out) == PAST_PARAMETERS == fork.head_seq


def test_a_long_line_is_forked_and_imported_by_key_on_a_connection_that_wrote_short_ones_before(imported):
    short = imported(lines({"id": "short", "messages": TURN * 4}), "short.jsonl")
    for _ in range(8):
        fork_conversation(conversation_id=short.pk, leaf_seq=8, actor=CUSTOMER, now=NOW)
    Conversation.objects.all().delete()
    before = messages_read()

    long = imported(lines({"id": "long", "messages": TURN * (LONG // 2)}), "long.jsonl")
    fork_conversation(conversation_id=long.pk, leaf_seq=LONG, actor=CUSTOMER, now=NOW)

    # Each asks for its parent some times. One that reads its whole conversation reads a thousand times more.
    assert messages_read() - before < LONG * 100


def test_each_of_three_hundred_siblings_is_read_searched_replayed_and_exported(wide):
    bodies = [
        next_body_at(conversation_id=wide.pk, leaf_seq=seq, **IN_CHAT).body for seq in range(2, WIDTH + 2)
    ]
    [hit] = search_words(text="word299", within=Within())
    [tree] = export_trees(select_conversations(ids=[wide.pk]))

    assert [json.loads(body)["messages"][1]["content"][0]["text"] for body in bodies] == [
        f"word{n:03}" for n in range(WIDTH)
    ]
    assert (hit.seq, wide.has_fork, wide.head_seq) == (WIDTH + 1, True, 2)
    assert {message.get("parent") for message in json.loads(tree)["messages"][1:]} == {1}
