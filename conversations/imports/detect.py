"""Which format a document is in, told by the shape of its first records, never by its name."""

from collections.abc import Iterator, Sequence
from types import ModuleType
from typing import Final, Protocol, cast

from conversations.drafts import ImportedConversation
from conversations.imports.formats import (
    chatgpt,
    claude_ai,
    claude_code,
    counterfoil_tree,
    flat_table,
    librechat,
    oasst,
    open_webui,
    openai_dialogues,
    recorded_traffic,
    tau2,
)
from conversations.imports.refusals import is_damaged, taken_for
from conversations.imports.streams import Document, Record
from conversations.imports.traffic import TrafficCall
from conversations.imports.trouble import Broken, DamagedFileError, RefusedFileError

type Found = ImportedConversation | TrafficCall | Broken


class Format(Protocol):
    """What a module in `formats/` offers; adding one to the list below is all there is to a new format."""

    LABEL: str

    def sniff(self, records: Sequence[Record]) -> bool: ...

    def read(self, document: Document) -> Iterator[Found]: ...


# The narrow shapes first: a flat table is the least particular.
_MODULES: Final[tuple[ModuleType, ...]] = (
    counterfoil_tree,
    recorded_traffic,
    chatgpt,
    claude_ai,
    open_webui,
    librechat,
    oasst,
    claude_code,
    tau2,
    openai_dialogues,
    flat_table,
)
FORMATS: Final = tuple(cast("Format", module) for module in _MODULES)


def detect_format(document: Document) -> Format:
    """Return the format that reads the document; RefusedFileError says what it was taken for."""
    records = document.sample()
    for one in FORMATS:
        if one.sniff(records):
            return one
    refusal = DamagedFileError if is_damaged(document, records) else RefusedFileError
    raise refusal(taken_for(document, records))
