"""What customers bring with them: files of other systems, which go in through the importer.

A data export of ChatGPT (with an edited question, a tool, and one node that is no message) and a
dump of the flat table that the company kept before.
"""

import csv
import io
import json
import zipfile
from dataclasses import dataclass
from datetime import datetime

from samples.company.shop import PERPETUA, QUALITY
from samples.company.story import Customer
from samples.company.times import moment

BROKEN_NODE = "node-without-author"


@dataclass(frozen=True, slots=True)
class ImportFile:
    name: str
    content: bytes
    customer: Customer


def import_files(today: datetime) -> list[ImportFile]:
    return [
        ImportFile("chatgpt-export.zip", _zipped(_chatgpt(today)), PERPETUA),
        ImportFile("support-chats-2025.csv", _flat_table(), QUALITY),
    ]


def _zipped(conversations: object) -> bytes:
    """A zip whose bytes depend on nothing but what is in it."""
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w") as archive:
        entry = zipfile.ZipInfo("conversations.json", date_time=(2026, 11, 20, 9, 0, 0))
        archive.writestr(entry, json.dumps(conversations, ensure_ascii=False))
        archive.writestr(zipfile.ZipInfo("chat.html", date_time=(2026, 11, 20, 9, 0, 0)), "<html></html>")
    return target.getvalue()


def _chatgpt(today: datetime) -> list[dict[str, object]]:
    start = moment(today, days=40, at="17:20:00").timestamp()
    edited = _Export("Packing list for Ghent", start)
    root = edited.node(None, "", "")
    asked = edited.node(root, "user", "What do I pack for three days in Ghent?")
    edited.node(asked, "assistant", "Warm clothes, a rain jacket, good shoes, and room for chocolate.")
    again = edited.node(root, "user", "What do I pack for three days in Ghent with eleven people?")
    edited.node(
        again, "assistant", "One rain jacket each, one first-aid kit for all, and a printed list of names."
    )
    broken = _Export("Train budget", start + 7200)
    begun = broken.node(broken.node(None, "", ""), "user", "Add up 18.90 times eleven")
    called = broken.node(begun, "assistant", "print(18.90 * 11)", recipient="python")
    found = broken.node(called, "tool", "207.9", name="python")
    broken.node(found, "assistant", "That makes 207.90 EUR for eleven tickets.")
    broken.mapping[BROKEN_NODE] = {
        "id": BROKEN_NODE,
        "parent": begun,
        "children": [],
        "message": {"content": {"content_type": "text", "parts": ["lost"]}},
    }
    return [edited.whole(), broken.whole()]


class _Export:
    """One conversation of the export, node by node; the last node is the current one."""

    def __init__(self, title: str, start: float) -> None:
        self.title = title
        self.start = start
        self.mapping: dict[str, dict[str, object]] = {}
        self.last = ""
        self._children: dict[str, list[str]] = {}

    def node(
        self, parent: str | None, role: str, words: str, *, recipient: str = "all", name: str = ""
    ) -> str:
        node_id = f"{self.title.split()[0].lower()}-{len(self.mapping)}"
        message: dict[str, object] | None = None
        if role:
            is_code = recipient != "all"
            content: dict[str, object] = (
                {"content_type": "code", "language": "python", "text": words}
                if is_code
                else {"content_type": "text", "parts": [words]}
            )
            message = {
                "id": node_id,
                "author": {"role": role, "name": name or None, "metadata": {}},
                "create_time": self.start + 20 * len(self.mapping),
                "content": content,
                "recipient": recipient,
                "metadata": {"model_slug": "gpt-5"} if role == "assistant" else {},
            }
        children = self._children.setdefault(node_id, [])
        self.mapping[node_id] = {"id": node_id, "parent": parent, "children": children, "message": message}
        if parent is not None:
            self._children[parent].append(node_id)
        self.last = node_id
        return node_id

    def whole(self) -> dict[str, object]:
        return {
            "id": f"export-{self.title.split()[0].lower()}",
            "title": self.title,
            "create_time": self.start,
            "update_time": self.start + 600,
            "mapping": self.mapping,
            "current_node": self.last,
            "default_model_slug": "gpt-5",
        }


def _flat_table() -> bytes:
    """Three chats of the old system: one row a message, calls of tools long since turned into prose."""
    rows = [
        ("chat", "role", "text", "time"),
        ("8801", "user", "is the pool heated", "2025-06-02T09:14:00Z"),
        ("8801", "assistant", "[tool get_hotel ok] Yes, from May to September.", "2025-06-02T09:14:09Z"),
        ("8802", "user", "refund my rail ticket pls", "2025-06-02T10:01:00Z"),
        ("8802", "assistant", "[tool refund failed: too late] It left an hour ago.", "2025-06-02T10:01:12Z"),
        ("8802", "user", "that is not fair, the queue was long", "2025-06-02T10:02:40Z"),
        ("8802", "assistant", "I am sorry. I can note a complaint.", "2025-06-02T10:02:52Z"),
        ("8803", "user", "Привет, можно с собакой?", "2025-06-03T07:00:00Z"),
        ("8803", "assistant", "Да, собаки до 10 кг едут бесплатно.", "2025-06-03T07:00:05Z"),
    ]
    target = io.StringIO(newline="")
    csv.writer(target).writerows(rows)
    return target.getvalue().encode()
