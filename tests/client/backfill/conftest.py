"""Lines of recorded traffic, and the command that sends them."""

import json
from pathlib import Path

import pytest

from counterfoil_recorder.backfill.command import main
from tests.client.conftest import message


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch, key):
    """The command looks for its key in the environment, and keeps its cursor where it is called."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COUNTERFOIL_KEY", key)
    return tmp_path


def call(*said, **changes):
    """Write a line: a request of what was said so far, in turns, and the answer to it."""
    roles = ("user", "assistant")
    messages = [{"role": roles[n % 2], "content": text} for n, text in enumerate(said[:-1])]
    request = {"model": "m", "max_tokens": 9, "messages": messages}
    line = {"path": "/v1/messages", "request_body": json.dumps(request), "response_status": 200}
    return line | {"response_body": message(said[-1]).decode()} | changes


def dialogue(name, turns=3, **changes):
    said = [f"{name} {n}" for n in range(2 * turns)]
    return [call(*said[: 2 * turn], **changes) for turn in range(1, turns + 1)]


def write(lines, name="calls.jsonl"):
    path = Path(name)
    path.write_text("".join(f"{line if isinstance(line, str) else json.dumps(line)}\n" for line in lines))
    return path


@pytest.fixture
def backfill(store, capsys):
    def backfill(*arguments, account="customer-7"):
        status = main([*map(str, arguments), "--url", store.url, "--account", account])
        return status, capsys.readouterr().err

    return backfill


def interleaved(*lists):
    return [line for several in zip(*lists, strict=True) for line in several]
