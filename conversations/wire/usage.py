"""Token counts in disjoint buckets, from each provider's own way of counting.

Anthropic's `input_tokens` leaves cached tokens out; OpenAI's counts include
them. What a provider does not say stays None, which is not zero; so does a
count past any answer's, a share of the output that is more than the whole, and
an input of which more is said to be cached than there was of it.
"""

from collections.abc import Mapping
from decimal import Decimal

from conversations.vocabulary import Dialect
from conversations.wire.shapes import Usage

_LARGEST = 2**31  # what a column holds, and a thousand times the largest context


def anthropic_usage(raw: Mapping[str, object]) -> Usage:
    """Buckets from Anthropic's usage. Where passes are listed, they are the whole: totals leave some out."""
    passes = counted_passes(raw)
    usage = _sum([_anthropic_pass(entry) for entry in passes]) if passes else _anthropic_pass(raw)
    usage.reasoning = _share(count_in(_object(raw, "output_tokens_details"), "thinking_tokens"), usage.output)
    usage.web_searches = count_in(_object(raw, "server_tool_use"), "web_search_requests")
    usage.raw = dict(raw)
    return usage


def counted_passes(raw: Mapping[str, object]) -> list[Mapping[str, object]]:
    """The passes over a model that an Anthropic answer lists; none where not every one says its tokens."""
    listed = raw.get("iterations")
    passes = [entry for entry in listed if isinstance(entry, Mapping)] if isinstance(listed, list) else []
    is_counted = all(count_in(entry, "input_tokens") is not None for entry in passes)
    return passes if is_counted and isinstance(listed, list) and len(passes) == len(listed) else []


def _anthropic_pass(raw: Mapping[str, object]) -> Usage:
    written = count_in(raw, "cache_creation_input_tokens")
    split = _object(raw, "cache_creation")
    one_hour = count_in(split, "ephemeral_1h_input_tokens")
    five_minutes = count_in(split, "ephemeral_5m_input_tokens")
    if written is None and (one_hour is not None or five_minutes is not None):
        written = (one_hour or 0) + (five_minutes or 0)
    if written is not None:
        # A stream's total grows after the split was sent; what the split does not explain is
        # the default kind, which five minutes is.
        one_hour = min(one_hour or 0, written)
        five_minutes = written - one_hour
    return Usage(
        uncached_input=count_in(raw, "input_tokens"),
        cache_read=count_in(raw, "cache_read_input_tokens"),
        cache_write_5m=five_minutes,
        cache_write_1h=one_hour,
        output=count_in(raw, "output_tokens"),
    )


def openai_chat_usage(raw: Mapping[str, object]) -> Usage:
    """Buckets from Chat Completions' usage, whose prompt tokens include the cached ones."""
    return _openai_usage(
        raw,
        given=count_in(raw, "prompt_tokens"),
        details=_object(raw, "prompt_tokens_details"),
        output=count_in(raw, "completion_tokens"),
        reasoning=count_in(_object(raw, "completion_tokens_details"), "reasoning_tokens"),
    )


def openai_responses_usage(raw: Mapping[str, object]) -> Usage:
    """Buckets from Responses' usage, whose input tokens include the cached ones."""
    return _openai_usage(
        raw,
        given=count_in(raw, "input_tokens"),
        details=_object(raw, "input_tokens_details"),
        output=count_in(raw, "output_tokens"),
        reasoning=count_in(_object(raw, "output_tokens_details"), "reasoning_tokens"),
    )


def _openai_usage(
    raw: Mapping[str, object],
    *,
    given: int | None,
    details: Mapping[str, object],
    output: int | None,
    reasoning: int | None,
) -> Usage:
    cached = count_in(details, "cached_tokens")
    written = count_in(details, "cache_write_tokens")
    rest = None if given is None else given - (cached or 0) - (written or 0)
    return Usage(
        # Less than nothing is left where a gateway counts the cached ones apart, or wrongly.
        uncached_input=None if rest is None or rest < 0 else rest,
        cache_read=cached,
        cache_write_5m=written,
        output=output,
        reasoning=_share(reasoning, output),
        raw=dict(raw),
    )


def usage_in(raw: Mapping[str, object], *, dialect: Dialect) -> Usage:
    """Buckets from the usage object of the dialect's provider."""
    read = {
        Dialect.ANTHROPIC_MESSAGES: anthropic_usage,
        Dialect.OPENAI_CHAT: openai_chat_usage,
        Dialect.OPENAI_RESPONSES: openai_responses_usage,
    }
    return read[dialect](raw)


def _sum(passes: list[Usage]) -> Usage:
    total = Usage()
    for name in ("uncached_input", "cache_read", "cache_write_5m", "cache_write_1h", "output"):
        counts = [count for entry in passes if (count := getattr(entry, name)) is not None]
        setattr(total, name, sum(counts) if counts and sum(counts) < _LARGEST else None)
    return total


def _share(part: int | None, whole: int | None) -> int | None:
    return None if part is not None and whole is not None and part > whole else part


def _object(raw: Mapping[str, object], name: str) -> Mapping[str, object]:
    value = raw.get(name)
    return value if isinstance(value, Mapping) else {}


def count_in(raw: Mapping[str, object], name: str) -> int | None:
    """The count under a name; None for what is none. Local servers also write a whole number as 20.0."""
    value = raw.get(name)
    if not isinstance(value, int | Decimal) or isinstance(value, bool) or not 0 <= value < _LARGEST:
        return None
    return int(value) if value == int(value) else None
