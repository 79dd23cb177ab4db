"""What keeps an import's cost even from its first message to its last."""

import gc

import pytest
from django.db import connection

from conversations.services.importing import importing, writing
from tests.conversations.imports.reading import lines

pytestmark = pytest.mark.django_db

TURNS = [{"role": "assistant" if n % 2 else "user", "content": str(n)} for n in range(30)]


def test_a_batch_makes_its_connections_plans_without_scans(imported, monkeypatch):
    """Tables that were emptied and vacuumed are as small as can be: a scan of them looks cheapest."""
    asked = []
    monkeypatch.setattr(writing, "check_deferred", lambda: asked.append(setting("enable_seqscan")))

    imported(lines({"id": "d-1", "messages": TURNS}), "train.jsonl")

    assert asked == ["off"]


@pytest.mark.parametrize("content", [lines({"id": "d-1", "messages": TURNS}), "no format at all"])
def test_the_collector_is_as_it_was_when_an_import_has_ended(imported, content):
    usual = gc.get_threshold()

    imported(content, "train.jsonl")

    assert gc.get_threshold() == usual


def test_the_collector_rests_while_an_import_goes_on(imported, monkeypatch):
    seen = []
    monkeypatch.setattr(importing, "settle_search", lambda: seen.append(gc.get_threshold()[0]))

    imported(lines({"id": "d-1", "messages": TURNS}), "train.jsonl")

    assert seen[0] > gc.get_threshold()[0]


def setting(name: str) -> str:
    with connection.cursor() as cursor:
        cursor.execute("SELECT current_setting(%s)", [name])
        return cursor.fetchone()[0]
