"""Damaged export files by the thousand: `script/evidence fuzz_imports [--count N] [--seed S]`.

Each file is imported for an account of its own. It must not crash; what the
store then holds must be whole and well-formed; and nothing may be lost without
a word: every record is a conversation or a failure, every node a message, in
quarantine, or counted as none.
"""

import argparse
import logging
import random
import tempfile
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from django.db import connection

from conversations.drafts import ImportedConversation
from conversations.imports.detect import detect_format
from conversations.imports.streams import open_documents
from conversations.imports.tree import plan_tree
from conversations.imports.trouble import Broken, RefusedFileError
from conversations.models import Account, Conversation, Message
from conversations.services.importing.importing import import_file
from evidence.customers import NOW, RECORDER, new_account
from evidence.fuzz_mutations import damage
from evidence.fuzz_seeds import SEEDS

logger = logging.getLogger(__name__)

COUNT = 20_000
CHECK_EVERY = 500
# Asked of all rows of the accounts that were imported since the last time; each finds what must not be.
BROKEN = {
    "numbers with a gap": """
        SELECT c.id FROM conversations_conversation c WHERE c.account_id = ANY(%s)
        AND c.external_ref NOT LIKE 'counterfoil:%%' AND c.next_seq - 1 <> (
            SELECT count(*) FROM conversations_message m WHERE m.conversation_id = c.id)""",
    "a head of no message": """
        SELECT c.id FROM conversations_conversation c WHERE c.account_id = ANY(%s) AND c.head_seq IS NULL
        AND EXISTS (SELECT FROM conversations_message m WHERE m.conversation_id = c.id)""",
    "a fork that is not known": """
        SELECT c.id FROM conversations_conversation c WHERE c.account_id = ANY(%s) AND NOT c.has_fork
        AND EXISTS (
            SELECT FROM conversations_message m WHERE m.conversation_id = c.id
            GROUP BY m.parent_seq HAVING count(*) > 1)""",
    "a head without its line": """
        SELECT c.id FROM conversations_conversation c WHERE c.account_id = ANY(%s)
        AND coalesce(c.head_move, 0) <> (
            SELECT count(*) FROM conversations_headmove h WHERE h.conversation_id = c.id)""",
}


@dataclass
class Figures:
    files: int = 0
    outcomes: Counter[str] = field(default_factory=Counter)
    faults: list[str] = field(default_factory=list)
    unchecked: list[Account] = field(default_factory=list)


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="script/evidence fuzz_imports")
    parser.add_argument("--count", type=int, default=COUNT)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--first", type=int, default=0, help="the number of the first file")
    options = parser.parse_args(arguments)
    figures = Figures()
    started = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        for number in range(options.first, options.first + options.count):
            _one(number, options.seed, Path(folder), figures)
            if len(figures.unchecked) >= CHECK_EVERY:
                _check_rows(figures)
                print(f"{number + 1:,} files, {len(figures.faults)} faults", flush=True)
    _check_rows(figures)
    for fault in figures.faults[:50]:
        print("FAULT", fault)
    outcomes = figures.outcomes
    print(
        f"fuzz_imports: {figures.files:,} damaged files (seed {options.seed}) in"
        f" {time.monotonic() - started:.0f} s: {outcomes['complete']:,} went in whole,"
        f" {outcomes['partial']:,} in part, {outcomes['refused']:,} were refused;"
        f" {outcomes['conversations']:,} conversations, {outcomes['messages']:,} messages,"
        f" {outcomes['quarantined']:,} nodes in quarantine, {outcomes['failed']:,} failures named;"
        f" {len(figures.faults)} faults"
    )
    return 1 if figures.faults else 0


def _one(number: int, seed: int, folder: Path, figures: Figures) -> None:
    dice = random.Random(f"{seed}-{number}")
    sound = dice.choice(SEEDS)
    name, data = damage(sound, dice)
    path = folder / name
    path.write_bytes(data)
    account = new_account()
    figures.files += 1
    try:
        report = import_file(
            path=path, realm=account.realm, actor=RECORDER, now=NOW, account=account.external_id
        )
        lost = _lost_silently(path)
    except Exception as error:
        logger.exception("file %s (%s)", number, name)
        figures.faults.append(f"file {number} ({name}): {type(error).__name__}: {error}")
        return
    figures.unchecked.append(account)
    figures.outcomes[report.exit_status.name.lower()] += 1
    for what in ("messages", "quarantined", "failed"):
        figures.outcomes[what] += report.counts[what]
    figures.outcomes["conversations"] += report.counts["conversations new"]
    conversations = Conversation.objects.filter(account=account).count()
    messages = Message.objects.filter(conversation__account=account).count()
    if conversations != report.counts["conversations new"] or messages != report.counts["messages"]:
        figures.faults.append(f"file {number} ({name}): the report and the rows differ: {report.summary()}")
    figures.faults += [f"file {number} ({name}): {one}" for one in lost]


def _lost_silently(path: Path) -> list[str]:
    """Read the file once more by hand and hold what was made of it against what stands in it."""
    faults = []
    try:
        documents = list(open_documents(path))
    except RefusedFileError:
        return []
    for document in documents:
        try:
            reader = detect_format(document)
        except RefusedFileError:
            continue
        records = sum(1 for _ in document.records())
        found = list(reader.read(document))
        if not found and records:
            faults.append(f"{records} records and no word about them")
        for one in found:
            if isinstance(one, Broken) and not one.reason:
                faults.append("a failure without a reason")
            elif isinstance(one, ImportedConversation):
                faults += _lost_nodes(one)
    return faults


def _lost_nodes(conversation: ImportedConversation) -> list[str]:
    nodes = len(conversation.nodes)
    tree = plan_tree(conversation.nodes, conversation.head_source_id)
    structural = sum(node.message is None and not node.trouble for node in conversation.nodes)
    doubled = sum("kept once" in text for text in tree.findings)
    accounted = len(tree.placed) + len(tree.quarantined) + structural + doubled
    # A node without a message that stands twice counts in both.
    return [] if accounted >= nodes else [f"{nodes - accounted} of {nodes} nodes went nowhere"]


def _check_rows(figures: Figures) -> None:
    ids = [account.pk for account in figures.unchecked]
    with connection.cursor() as cursor:
        for rule, question in BROKEN.items():
            cursor.execute(question, [ids])
            figures.faults += [f"conversation {row[0]}: {rule}" for row in cursor.fetchall()]
    figures.unchecked.clear()
