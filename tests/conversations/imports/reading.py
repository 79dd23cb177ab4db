"""Reads small exports, written by the tests themselves, up to the planned tree."""

import json
from dataclasses import dataclass
from pathlib import Path

from conversations.drafts import ImportedConversation, ImportedNode, MessageDraft
from conversations.imports.detect import detect_format
from conversations.imports.pairing import PairedMessage, pair
from conversations.imports.streams import open_documents
from conversations.imports.traffic import TrafficCall
from conversations.imports.tree import PlannedTree, plan_tree
from conversations.imports.trouble import Broken


@dataclass
class Export:
    """What a file was read into."""

    label: str
    conversations: list[ImportedConversation]
    broken: list[Broken]
    traffic: list[TrafficCall]


def write(folder: Path, content: object, name: str = "export.json") -> Path:
    path = folder / name
    if isinstance(content, bytes):
        path.write_bytes(content)
    else:
        path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
    return path


def lines(*records: object) -> str:
    return "".join(json.dumps(record) + "\n" for record in records)


def read_file(path: Path) -> Export:
    conversations: list[ImportedConversation] = []
    broken: list[Broken] = []
    labels: list[str] = []
    traffic: list[TrafficCall] = []
    for document in open_documents(path):
        reader = detect_format(document)
        labels.append(reader.LABEL)
        for one in reader.read(document):
            if isinstance(one, Broken):
                broken.append(one)
            elif isinstance(one, TrafficCall):
                traffic.append(one)
            else:
                conversations.append(one)
    return Export(", ".join(sorted(set(labels))), conversations, broken, traffic)


def read_one(folder: Path, content: object, name: str = "export.json") -> ImportedConversation:
    export = read_file(write(folder, content, name))
    assert export.broken == []
    (conversation,) = export.conversations
    return conversation


def said(node: ImportedNode) -> MessageDraft:
    assert node.message is not None
    return node.message


def planned(conversation: ImportedConversation) -> PlannedTree:
    return plan_tree(conversation.nodes, conversation.head_source_id)


def paired(conversation: ImportedConversation) -> tuple[dict[str, PairedMessage], list[str]]:
    """The messages by source id as they would be written, and what was found odd."""
    tree = planned(conversation)
    places = {one.node.source_id: place for place, one in enumerate(tree.placed)}
    messages = [
        PairedMessage(one.message, -1 if one.parent_source_id is None else places[one.parent_source_id])
        for one in tree.placed
    ]
    findings = list(tree.findings)
    pair(messages, findings)
    return {source_id: messages[place] for source_id, place in places.items()}, findings


def parents(conversation: ImportedConversation) -> dict[str, str | None]:
    return {one.node.source_id: one.parent_source_id for one in planned(conversation).placed}


def texts(conversation: ImportedConversation) -> list[list[str | None]]:
    return [[part.text for part in one.message.parts] for one in planned(conversation).placed]
