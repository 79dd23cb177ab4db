"""The deepest and the widest conversation: in, read, rendered, found, replayed and out again."""

import json
import tempfile
import time
from pathlib import Path

from conversations.models import Account, Conversation, Message
from conversations.reads.path import read_path
from conversations.replay import next_body_at
from conversations.services.exporting import export_trees, select_conversations
from conversations.services.importing.importing import import_file
from conversations.vocabulary import Dialect
from evidence.customers import NOW, RECORDER, new_account

DEPTH = 5_000
WIDTH = 300


def import_deep_and_wide() -> str:
    """Return the figures in one phrase; raises AssertionError where something is not as it must be."""
    deep = _dialogue(DEPTH)
    seconds = {}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        account, seconds["import"] = _import(folder / "deep.jsonl", json.dumps({"messages": deep}))
        conversation = Conversation.objects.get(account=account)
        assert conversation.head_seq == DEPTH
        started = time.perf_counter()
        path = read_path(conversation_id=conversation.pk, leaf_seq=DEPTH)
        seconds["read"] = time.perf_counter() - started
        assert len(path) == DEPTH
        started = time.perf_counter()
        made = next_body_at(
            conversation_id=conversation.pk, leaf_seq=DEPTH, dialect=Dialect.OPENAI_CHAT, model="m"
        )
        seconds["render"] = time.perf_counter() - started
        assert json.loads(made.body)["messages"] == deep
        started = time.perf_counter()
        trees = b"".join(export_trees(select_conversations(ids=[conversation.pk])))
        seconds["export"] = time.perf_counter() - started
        back, _ = _import(folder / "back.jsonl", trees.decode())
        assert Message.objects.filter(conversation__account=back).count() == DEPTH

        nested, _ = _import(folder / "nested.json", _nested(DEPTH))
        assert Message.objects.filter(conversation__account=nested).count() == DEPTH

        wide, _ = _import(folder / "wide.jsonl", json.dumps(_wide(WIDTH)))
        siblings = Message.objects.filter(conversation__account=wide, parent_seq=1)
        assert siblings.count() == WIDTH
        assert [message.client_message_id for message in siblings.order_by("seq")[:2]] == ["a000", "a001"]
    times = ", ".join(f"{what} {1000 * seconds[what]:.0f} ms" for what in seconds)
    return f"{DEPTH:,} messages in one line and {WIDTH} siblings ({times})"


def _dialogue(size: int) -> list[dict[str, str]]:
    return [
        {"role": "assistant" if n % 2 else "user", "content": f"message number {n} of a long thread"}
        for n in range(size)
    ]


def _nested(size: int) -> str:
    """A LibreChat thread as it exports one: every answer inside the question's children."""
    opening = "".join(
        f'{{"messageId":"m{n}","isCreatedByUser":{"false" if n % 2 else "true"},"text":"{n}","children":['
        for n in range(size)
    )
    return '{"conversationId":"deep","messages":[' + opening + "]}" * size + "]}"


def _wide(size: int) -> dict[str, object]:
    replies = [
        {"message_id": f"a{n:03}", "role": "assistant", "text": f"answer {n}", "rank": n} for n in range(size)
    ]
    prompt = {"message_id": "p", "role": "prompter", "text": "Which?", "replies": replies}
    return {"message_tree_id": "wide", "prompt": prompt}


def _import(path: Path, content: str) -> tuple[Account, float]:
    path.write_text(content, encoding="utf-8")
    account = new_account()
    started = time.perf_counter()
    report = import_file(path=path, realm=account.realm, actor=RECORDER, now=NOW, account=account.external_id)
    assert report.exit_status == 0, report.failed
    return account, time.perf_counter() - started
