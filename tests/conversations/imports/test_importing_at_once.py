import threading

import pytest
from django.db import connection

from access.actors import Actor, ActorKind
from access.models import Realm
from conversations.models import Conversation, HeadMove, Message
from conversations.services.importing import importing
from conversations.services.importing.importing import import_file
from conversations.services.importing.report import ImportReport
from tests.conversations.conftest import NOW
from tests.conversations.imports.reading import lines, write
from tests.conversations.invariants import assert_well_formed

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def elsewhere():
    return Realm.objects.create(slug="wendelmere", name="Wendelmere Travel", created_at=NOW)


def dialogues(count: int, turns: int = 4) -> str:
    messages = [{"role": "assistant" if n % 2 else "user", "content": str(n)} for n in range(turns)]
    return lines(*({"id": f"d-{n}", "messages": messages} for n in range(count)))


def run(path, realm) -> ImportReport:
    return import_file(path=path, realm=realm, actor=Actor(ActorKind.IMPORTER), now=NOW, account="c-1")


def test_batches_written_side_by_side_lose_nothing(elsewhere, tmp_path, monkeypatch):
    monkeypatch.setattr(importing, "BATCH_MESSAGES", 2)

    report = run(write(tmp_path, dialogues(40), "train.jsonl"), elsewhere)

    assert (Conversation.objects.count(), Message.objects.count()) == (40, 160)
    assert (report.counts["conversations new"], report.counts["messages"]) == (40, 160)


def test_one_conversation_twice_in_a_file_is_one_with_all_of_both(elsewhere, tmp_path, monkeypatch):
    monkeypatch.setattr(importing, "BATCH_MESSAGES", 1)
    short, long = dialogues(1, turns=2), dialogues(1, turns=6)

    report = run(write(tmp_path, short + long + short, "train.jsonl"), elsewhere)

    conversation = Conversation.objects.get()
    assert Message.objects.count() == 6
    assert report.counts["failed"] == 0
    assert_well_formed(conversation.pk)


def test_two_imports_of_one_file_at_once_write_it_once(elsewhere, tmp_path):
    path = write(tmp_path, dialogues(30), "train.jsonl")
    reports: list[ImportReport] = []

    def work() -> None:
        try:
            reports.append(run(path, elsewhere))
        finally:
            connection.close()

    threads = [threading.Thread(target=work) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert [report.counts["failed"] for report in reports] == [0, 0, 0]
    assert (Conversation.objects.count(), Message.objects.count(), HeadMove.objects.count()) == (30, 120, 30)
