"""Everything in a folder of exports goes in, or is refused by its name: `script/evidence imports FOLDER`.

The folder holds `manifest.jsonl`, a line for each file with what is in it by
other people's count. Each file is imported twice, into an account of its own;
every count that differs is explained, and what cannot be explained is a fault.
Then come a line of 5,000 messages, 300 siblings, and a file of 300 MB.
"""

import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from conversations.models import Account, Conversation, Message, MessagePart, ToolCall
from conversations.services.importing.importing import import_file
from conversations.services.importing.report import ImportReport
from evidence.customers import NOW, RECORDER, new_account
from evidence.import_large import import_300_megabytes
from evidence.import_oracles import compare_with_oracles
from evidence.import_shapes import import_deep_and_wide

KINDS = ("trajectories", "exports", "agent_sessions", "trees")
# How a refusal begins that knows no name for what the file holds.
NAMELESS = ("JSON of something else", "a CSV table of something else", "no JSON", "an empty file")
MEMORY_MEGABYTES = 300


@dataclass
class Figures:
    files: int = 0
    imported: int = 0
    refused: int = 0
    holding_none: int = 0
    totals: Counter[str] = field(default_factory=Counter)
    explained: int = 0
    faults: list[str] = field(default_factory=list)


def main(arguments: list[str]) -> int:
    if len(arguments) != 1:
        print("usage: script/evidence imports FOLDER")
        return 2
    folder = Path(arguments[0])
    figures = Figures()
    accounts: dict[str, Account] = {}
    for entry in _manifest(folder):
        account = accounts[entry["file"]] = new_account()
        _import_and_compare(folder, entry, account, figures)
    figures.faults += compare_with_oracles(accounts)
    shapes = import_deep_and_wide()
    large = import_300_megabytes()
    if large.peak_megabytes > MEMORY_MEGABYTES:
        figures.faults.append(f"the import of 300 MB took {large.peak_megabytes} MB of memory")
    for fault in figures.faults:
        print("FAULT", fault)
    print(
        f"imports: {figures.imported} of {figures.files} files imported,"
        f" {figures.totals['conversations']:,} conversations, {figures.totals['messages']:,} messages,"
        f" {figures.totals['branches']:,} branch points, {figures.totals['calls']:,} calls,"
        f" {figures.totals['results']:,} results, {figures.totals['quarantined']} quarantined,"
        f" {figures.totals['failed']} conversations not readable; {figures.refused} files refused"
        f" ({figures.holding_none} hold no conversations); {figures.explained} differences explained;"
        f" {shapes}; 300 MB at {large.rate:,} messages a second in {large.peak_megabytes} MB;"
        f" {len(figures.faults)} faults"
    )
    return 1 if figures.faults else 0


def _manifest(folder: Path) -> Iterator[dict]:
    for line in (folder / "manifest.jsonl").read_text(encoding="utf-8").splitlines():
        entry = json.loads(line)
        if entry["kind"] in KINDS:
            yield entry


def _import_and_compare(folder: Path, entry: dict, account: Account, figures: Figures) -> None:
    figures.files += 1
    report = _import(folder / entry["file"], account)
    if not report.formats:
        _note_refusal(entry, report, figures)
        return
    figures.imported += 1
    counts = count(account)
    counts.update({"quarantined": report.counts["quarantined"], "failed": report.counts["failed"]})
    figures.totals.update(counts)
    print(f"{entry['file']}: {report.formats[0]}: {report.summary()}")
    for name, reported, found, reason in _differences(entry, counts, report):
        if reason:
            figures.explained += 1
            print(f"  {name}: the manifest says {reported}, found {found}: {reason}")
        else:
            figures.faults.append(f"{entry['file']}: {name}: the manifest says {reported}, found {found}")
    again = _import(folder / entry["file"], account)
    if count(account) != count_without(counts) or again.counts["messages"]:
        figures.faults.append(f"{entry['file']}: the second import added something")


def _import(path: Path, account: Account) -> ImportReport:
    return import_file(path=path, realm=account.realm, actor=RECORDER, now=NOW, account=account.external_id)


def _note_refusal(entry: dict, report: ImportReport, figures: Figures) -> None:
    figures.refused += 1
    (refusal,) = report.refused
    figures.holding_none += refusal.text.endswith(("no conversations", "not JSON"))
    if refusal.text.startswith(NAMELESS):
        figures.faults.append(f"{entry['file']}: refused without a name: {refusal.text}")
    print(f"{entry['file']}: refused: {refusal.text}")


def count(account: Account) -> Counter[str]:
    """What the store holds for an account, asked of the rows."""
    conversations = Conversation.objects.filter(account=account)
    mine = {"conversation__account": account}
    parents = Counter(Message.objects.filter(**mine).values_list("conversation_id", "parent_seq"))
    results = MessagePart.objects.filter(
        conversation_id__in=conversations.values("pk"), type="tool_result", orphan=False
    )
    return Counter(
        {
            "conversations": conversations.count(),
            "messages": Message.objects.filter(**mine).count(),
            "calls": ToolCall.objects.filter(conversation_id__in=conversations.values("pk")).count(),
            "results": results.count(),
            "tool messages": Message.objects.filter(**mine, role="tool").count(),
            "branches": sum(children > 1 for children in parents.values()),
        }
    )


def count_without(counts: Counter[str]) -> Counter[str]:
    kept = counts.keys() - {"quarantined", "failed"}
    return Counter({name: counts[name] for name in kept})


_NAMES = {
    "convs": "conversations",
    "messages": "messages",
    "tool_calls": "calls",
    "tool_messages": "tool messages",
    "branch_points": "branches",
}


def _differences(
    entry: dict, counts: Counter[str], report: ImportReport
) -> Iterator[tuple[str, int, int, str]]:
    for key, name in _NAMES.items():
        reported = entry.get(key)
        if reported is None or reported == counts[name]:
            continue
        yield name, reported, counts[name], _explanation(name, reported, counts, report)


def _explanation(name: str, reported: int, counts: Counter[str], report: ImportReport) -> str:
    """The reasons that together make up the whole difference; nothing if they do not."""
    if name == "conversations" and reported == counts[name] + counts["failed"]:
        return f"{counts['failed']} could not be read and is reported"
    if name != "messages":
        return ""
    reasons = Counter({"nodes in quarantine": counts["quarantined"]})
    summaries = 0
    for remark in report.remarks:
        words = remark.text.split()
        if "were further pieces of" in remark.text:
            reasons["records that were further pieces of an answer"] += int(words[0])
        elif remark.text.endswith("summary records are no messages"):
            summaries += int(words[0])
    missing = reported - counts["messages"] - reasons.total()
    if missing not in (0, summaries):
        return ""
    # Some manifests count the summaries among the messages.
    reasons["summaries"] = missing
    return ", ".join(f"{number} {reason}" for reason, number in reasons.items() if number)
