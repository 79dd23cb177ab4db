"""What was pasted into the search box: ids with the noise around them, or words.

People paste from tickets, logs, URLs and spreadsheets. Nothing that stands
around an id may keep it from being found, and nothing pasted may be an error.
"""

import re
from dataclasses import dataclass, field
from uuid import UUID

LONGEST = 2000
MOST_IDS = 20

_UUID = re.compile(r"(?<![0-9a-fA-F-])[0-9a-fA-F]{8}-?(?:[0-9a-fA-F]{4}-?){3}[0-9a-fA-F]{12}(?![0-9a-fA-F])")
_EMAIL = re.compile(r"[\w.+'-]+@[\w-]+(?:\.[\w-]+)+")
# prefix_rest, as providers and processors mint them; the chat completions' own has a hyphen.
_PREFIXED = re.compile(r"(?<![\w-])(?:[A-Za-z]{2,12}_[A-Za-z0-9_-]{3,}|chatcmpl-[\w-]{4,})")
# A message as the console's links have it, as the API spells it, and as its address there.
_MESSAGE_ADDRESS = re.compile(rf"({_UUID.pattern})(?:#m?|\.m|/messages/)(\d{{1,9}})(?!\d)", re.IGNORECASE)
_ATTEMPT_ADDRESS = re.compile(rf"({_UUID.pattern})\.g(\d{{1,9}})(?!\d)", re.IGNORECASE)
# The SHA-256 of a file or a report, as `sha256sum` and our pages write it.
_DIGEST = re.compile(r"(?<![0-9A-Za-z])[0-9a-fA-F]{64}(?![0-9A-Za-z])")
# What desks call their things; without an underscore they are seen only in these forms.
_NAMED = re.compile(r"(?<![\w-])(?:ER-\d{4}-\d{4,8}|F-\d{1,18})(?![\w-])", re.IGNORECASE | re.ASCII)
# "…a1b2c3", "toolu_01A7…Yh2P4n": an id with dots in the place of its beginning or its middle.
_SHORTENED = re.compile(r"([\w-]{0,255})(?:…|\.{2,})([\w-]{6,255})", re.ASCII)
# Files that the console hands out are named by the last eight digits of what they are of.
_FILE = re.compile(r"(?<![\w-])(?:compare|next|request|statement)-([0-9a-f]{8})(?![0-9a-f])")
_OUTER_NOISE = " \t\r\n\v\f\u00a0\u200b\u200e\u200f\ufeff\"'`´‘’“”«»<>()[]{},;:!?.|*…"
# Prefixes that processors and providers write in lower case: a shouted id is a different id.
KNOWN_PREFIXES = frozenset(
    {"toolu", "call", "srvtoolu", "ch", "pi", "re", "dp", "du", "py", "pyr", "txn", "evt", "req", "msg"}
    | {"resp", "conv", "fc", "cus", "in", "po", "tr", "cs", "seti", "pm", "rs", "ws", "mcp", "run"}
    | {"thread", "item", "batch", "file"}
)


@dataclass(frozen=True, slots=True)
class Pasted:
    """`ids` are tried as they stand, in order; `uuids` and `emails` are what of them is of that kind.

    `digests` are in lower case. `shortened` are ids with dots in them: how each begins, which may be
    nothing, and how it ends.

    `messages` and `attempts` are those that their own ids spell, by conversation and number.

    `whole` is the text without its outer noise: it is looked up as an id if it
    has no spaces. `words` is the text as it is searched for words, where quotes and
    an asterisk say something.
    """

    whole: str
    words: str = ""
    ids: list[str] = field(default_factory=list)
    uuids: list[UUID] = field(default_factory=list)
    emails: list[str] = field(default_factory=list)
    messages: list[tuple[UUID, int]] = field(default_factory=list)
    attempts: list[tuple[UUID, int]] = field(default_factory=list)
    digests: list[str] = field(default_factory=list)
    shortened: list[tuple[str, str]] = field(default_factory=list)
    is_cut: bool = False


def read_pasted(text: str) -> Pasted:
    """Find the ids in what was pasted; characters that no id holds are noise."""
    is_cut = len(text) > LONGEST
    text = text[:LONGEST].replace("\x00", " ")
    whole = text.strip(_OUTER_NOISE)
    found = [match[0] for form in (_PREFIXED, _NAMED) for match in form.finditer(text)]
    shortened = [(match[1], match[2]) for match in _SHORTENED.finditer(text)]
    emails = [match[0].strip(".'") for match in _EMAIL.finditer(text)]
    uuids = [UUID(match[0]) for match in _UUID.finditer(text)]
    ids = [token.strip("_-") if token.endswith(("-", "_")) else token for token in found]
    if whole and not re.search(r"\s", whole):
        ids.insert(0, whole)
    return Pasted(
        whole=whole,
        words=text.strip() if whole else "",
        ids=_distinct(ids),
        uuids=_distinct(uuids),
        emails=_distinct(emails),
        messages=_addressed(_MESSAGE_ADDRESS, text),
        attempts=_addressed(_ATTEMPT_ADDRESS, text),
        digests=_distinct([match[0].lower() for match in _DIGEST.finditer(text)]),
        shortened=_distinct([*shortened, *(("", match[1]) for match in _FILE.finditer(text))]),
        is_cut=is_cut,
    )


def shouted(term: str) -> str | None:
    """Return the id with its prefix in lower case, if ids with that prefix are written so."""
    prefix, separator, rest = term.partition("_")
    lowered = prefix.lower()
    return f"{lowered}_{rest}" if separator and prefix != lowered and lowered in KNOWN_PREFIXES else None


def _addressed(address: re.Pattern[str], text: str) -> list[tuple[UUID, int]]:
    return _distinct([(UUID(match[1]), int(match[2])) for match in address.finditer(text)])


def _distinct[T](items: list[T]) -> list[T]:
    return list(dict.fromkeys(items))[:MOST_IDS]
