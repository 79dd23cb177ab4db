"""A file of 300 MB through the command, in a process of its own whose memory is watched."""

import json
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import psutil

from evidence.customers import new_account

SIZE = 300_000_000
_WORDS = (
    "order refund shipment parcel voucher seat ticket booking night hotel ferry harbour invoice",
    "address late early change cancel confirm window aisle breakfast luggage passport visa train",
    "platform delay weather",
)
WORDS = [word for line in _WORDS for word in line.split(" ")]


@dataclass(frozen=True)
class Large:
    """How the large import went."""

    messages: int
    rate: int
    peak_megabytes: int


def import_300_megabytes(*, size: int = SIZE) -> Large:
    """Write the file on one line, as the exporter does, import it, and watch time and memory."""
    account = new_account()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "conversations.json"
        messages = _write(path, size)
        command = [sys.executable, "manage.py", "import_conversations", str(path), "--no-originals"]
        started = time.perf_counter()
        process = subprocess.Popen(
            [*command, "--realm", account.realm.slug, "--account", account.external_id],
            env={**os.environ},
            stdout=subprocess.PIPE,
        )
        peak = _watch(process)
        seconds = time.perf_counter() - started
        output = process.stdout.read().decode() if process.stdout else ""
    assert process.returncode == 0, output
    assert f"{messages:,} messages" in output, output
    return Large(messages, round(messages / seconds), round(peak / 1_000_000))


def _watch(process: subprocess.Popen) -> int:
    watched = psutil.Process(process.pid)
    peak = 0
    while process.poll() is None:
        try:
            peak = max(peak, watched.memory_info().rss)
        except psutil.NoSuchProcess:
            break
        time.sleep(0.05)
    process.wait()
    return peak


def _write(path: Path, size: int) -> int:
    dice = random.Random(20260309)
    written = messages = 0
    with path.open("w", encoding="utf-8") as file:
        file.write("[")
        while written < size:
            text = json.dumps(_conversation(dice))
            messages += text.count('"author"')
            written += file.write(("," if written else "") + text)
        file.write("]")
    return messages


def _conversation(dice: random.Random) -> dict[str, object]:
    """A ChatGPT conversation of forty messages, some of them with a second answer."""
    key = f"{dice.getrandbits(128):032x}"
    moment = 1_700_000_000 + dice.randrange(50_000_000)
    mapping: dict[str, dict[str, object]] = {"root": {"message": None, "parent": None, "children": []}}
    parent = "root"
    for number in range(40):
        role = "assistant" if number % 2 else "user"
        for name in _siblings(dice, role, number):
            mapping[name] = {
                "parent": parent,
                "children": [],
                "message": {
                    "author": {"role": role, "name": None, "metadata": {}},
                    "create_time": moment + number + 0.5,
                    "content": {"content_type": "text", "parts": [_text(dice)]},
                    "status": "finished_successfully",
                    "weight": 1.0,
                    "recipient": "all",
                    "metadata": {"model_slug": "gpt-4"},
                },
            }
        parent = name
    return {
        "conversation_id": key,
        "title": key,
        "create_time": moment,
        "mapping": mapping,
        "current_node": parent,
    }


def _siblings(dice: random.Random, role: str, number: int) -> Iterator[str]:
    if role == "assistant" and dice.random() < 0.05:
        yield f"n{number}-first"
    yield f"n{number}"


def _text(dice: random.Random) -> str:
    return " ".join(dice.choices(WORDS, k=dice.randrange(20, 400)))
