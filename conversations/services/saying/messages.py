"""A message that an application hands over, made into a draft as its dialect writes it."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from conversations.drafts import MessageDraft
from conversations.errors import StoreError
from conversations.services.saying.blocks import ComposingError, SaidBlock, compose_body, read_composed
from conversations.vocabulary import Dialect, Role
from conversations.wire.shapes import WireError


@dataclass(frozen=True, slots=True)
class SaidMessage:
    """A message as an application gives it. `occurred_at` is the caller's time, where it differs."""

    role: Role
    blocks: Sequence[SaidBlock]
    dialect: Dialect | None = None
    client_message_id: str | None = None
    token_count: int | None = None
    occurred_at: datetime | None = None
    is_hidden: bool = False


def draft_message(said: SaidMessage, *, dialect: Dialect | None) -> MessageDraft:
    """Return the message as it is stored under `dialect`.

    A message that names another dialect than the one it is stored under is refused, as is one whose
    blocks cannot be read or are several messages there. Blocks without any dialect are kept in a
    neutral form and can be said in all.
    """
    if said.dialect not in (None, dialect):
        raise StoreError(
            "dialect-differs",
            f"this message is written in {said.dialect}, where it stands {dialect or 'none'} is spoken",
            place="new message",
        )
    try:
        body = compose_body(said.blocks, role=said.role, dialect=dialect)
        draft = read_composed(body, role=said.role, dialect=dialect)
    except WireError as error:
        rule = "blocks-unfit" if isinstance(error, ComposingError) else "block-not-readable"
        place = f"new message, block {error.place}" if error.place else "new message"
        raise StoreError(rule, error.reason, place=place) from error
    draft.client_message_id = said.client_message_id
    draft.token_count = said.token_count
    draft.occurred_at = said.occurred_at
    draft.is_hidden = said.is_hidden
    return draft
