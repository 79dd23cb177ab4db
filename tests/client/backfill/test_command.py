"""A command that is called wrongly says so."""

from counterfoil_recorder.backfill.command import NOT_FINISHED, WRONG_CALL
from tests.client.backfill.conftest import dialogue, write


def test_what_is_called_wrongly_is_said(backfill, monkeypatch):
    assert backfill("nowhere.jsonl") == (WRONG_CALL, "nowhere.jsonl: there is no such file\n")
    monkeypatch.delenv("COUNTERFOIL_KEY")
    status, told = backfill(write([]))
    assert status == WRONG_CALL
    assert "COUNTERFOIL_KEY" in told


def test_a_key_that_does_not_open_is_said_at_once(backfill, monkeypatch):
    monkeypatch.setenv("COUNTERFOIL_KEY", "cfk_nothing")

    assert backfill(write(dialogue("chat")))[0] == NOT_FINISHED
