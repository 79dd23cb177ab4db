"""`script/evidence prices DATA`: our prices beside another calculator's, row by row.

DATA holds a public set of recorded usage objects with the price that another
calculator published for each (`prices/genai-prices-usages-golden.jsonl`). Every
row of a provider and a format that we read is priced and compared to the last
decimal. A difference counts as explained only where its cause is proved here;
one that is not ends the proof with a failure.
"""

import json
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

from conversations.pricing import Price, price_usage
from conversations.vocabulary import CostConfidence
from conversations.wire.shapes import Usage
from conversations.wire.usage import anthropic_usage, openai_chat_usage, openai_responses_usage

ROWS = Path("prices") / "genai-prices-usages-golden.jsonl"
# When the other list stood as it is: it knows a model of 24 July 2026, and not the cuts of 30 July.
AT = datetime(2026, 7, 28, tzinfo=UTC)

type Reader = Callable[[Mapping[str, object]], Usage]
READERS: dict[tuple[str, str], Reader] = {
    ("anthropic", "default"): anthropic_usage,
    ("openai", "chat"): openai_chat_usage,
    ("openai", "responses"): openai_responses_usage,
}
EXACT = "agree exactly"
PASSES = "the other leaves out passes that are billed apart (advisor, compaction)"
NOT_SOLD = "a model that this provider does not sell; the other took a reseller's price"
UNEXPLAINED = "unexplained"


@dataclass(frozen=True, slots=True)
class Comparison:
    """One row: what we say it cost, what the other said, and how the two relate."""

    file: str
    provider: str
    model: str
    ours: Price
    published: Decimal
    verdict: str


def main(arguments: list[str]) -> int:
    if len(arguments) != 1:
        sys.stderr.write("usage: script/evidence prices DATA\n")
        return 2
    rows = list(_rows(Path(arguments[0]) / ROWS))
    comparisons = [compared for row in rows if (compared := compare(row)) is not None]
    verdicts = Counter(comparison.verdict for comparison in comparisons)
    for comparison in comparisons:
        if comparison.verdict != EXACT:
            ours = comparison.ours.amount if comparison.ours.amount is not None else "unknown"
            print(f"{comparison.file}: {comparison.model}: ours {ours}, theirs {comparison.published}")
            print(f"    {comparison.verdict}")
    for verdict, count in sorted(verdicts.items()):
        print(f"{count:6} {verdict}")
    for reason, count in sorted(Counter(left_out(row) for row in rows if compare(row) is None).items()):
        print(f"{count:6} not compared: {reason}")
    print(
        f"prices: {len(rows)} rows, {len(comparisons)} of providers and formats that we read, "
        f"{verdicts[EXACT]} agree exactly, {verdicts[PASSES]} + {verdicts[NOT_SOLD]} differ for a proved "
        f"cause, {verdicts[UNEXPLAINED]} unexplained"
    )
    return 1 if verdicts[UNEXPLAINED] or not comparisons else 0


def _rows(path: Path) -> Iterator[dict[str, Any]]:
    with path.open(encoding="utf-8") as lines:
        for line in lines:
            yield json.loads(line, parse_float=Decimal)


def compare(row: Mapping[str, Any]) -> Comparison | None:
    """Compare a row; None where the other published no price for a provider and format of ours."""
    found = _published(row)
    if found is None:
        return None
    provider, flavor, published = found
    model = row["model"]
    usage = READERS[provider, flavor](row["body"]["usage"])
    ours = price_usage(provider=provider, model=model, usage=usage, at=AT)
    verdict = EXACT if ours.amount == published else _cause(provider, flavor, model, usage, ours, published)
    return Comparison(Path(row["body"]["file"]).name, provider, model, ours, published, verdict)


def _published(row: Mapping[str, Any]) -> tuple[str, str, Decimal] | None:
    for extraction in row["extracted"]:
        for entry in extraction["extractors"]:
            key = (entry["provider_id"], entry["api_flavor"])
            if key in READERS and "input_price" in entry:
                parts = Decimal(entry["input_price"]) + Decimal(entry.get("output_price", "0"))
                return *key, Decimal(entry.get("total_price", parts))
    return None


def _cause(provider: str, flavor: str, model: str, usage: Usage, ours: Price, published: Decimal) -> str:
    if ours.confidence == CostConfidence.UNKNOWN and ours.reason == f"no price for model {model}":
        return NOT_SOLD
    if "iterations" in usage.raw:
        totals = {key: value for key, value in usage.raw.items() if key != "iterations"}
        without = READERS[provider, flavor](totals)
        if price_usage(provider=provider, model=model, usage=without, at=AT).amount == published:
            return PASSES
    return UNEXPLAINED


def left_out(row: Mapping[str, Any]) -> str:
    """Why a row is not compared."""
    flavors = {
        (entry["provider_id"], entry["api_flavor"], "input_price" in entry)
        for extraction in row["extracted"]
        for entry in extraction["extractors"]
    }
    if ("openai", "embeddings", True) in flavors:
        return "an embedding, which is no conversation"
    if any((provider, flavor) in READERS for provider, flavor, _ in flavors):
        return "a format of ours, but the other published no price of a provider of ours"
    return "a usage format that we do not read"
