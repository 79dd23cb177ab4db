"""What an exact hit is, whatever app it lies in."""

from dataclasses import dataclass
from uuid import UUID


@dataclass(frozen=True, slots=True)
class Place:
    """One place of an id. `kind` and `by` are words of the page; `state` is a code of `console.states`.

    `number` is an attempt's. `record_id`, `label` and `realm` are of what stands at a desk: its key, what
    it is called there, and whose it is.
    """

    kind: str
    by: str
    ident: str
    url: str
    realm_id: int | None
    name: str = ""
    state: str = ""
    seq: int | None = None
    number: int | None = None
    effect_id: UUID | None = None
    title: str = ""
    conversation_id: UUID | None = None
    account: str = ""
    account_id: UUID | None = None
    minor: int | None = None
    currency: str = ""
    record_id: str = ""
    label: str = ""
    realm: str = ""
