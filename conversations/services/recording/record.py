"""The main door: an exchange with a provider goes in, whole, once, and proved.

One transaction: find the conversation, lock it, match the request's history
against the tree, render the body from what will be stored, write what is new in
one statement, and say how the body is given back.
"""

from datetime import datetime
from uuid import UUID

from django.db import DataError, IntegrityError, transaction

from access.actors import Actor
from conversations.errors import NotFoundError, StoreError, constraint_of
from conversations.models import Account
from conversations.redaction.exchange import cut_exchange, note_cuts
from conversations.services.recording.exchange import (
    PROVIDERS,
    ProviderCall,
    Reading,
    RecordedExchange,
    read_exchange,
)
from conversations.services.recording.finding import find_conversation
from conversations.services.recording.once import KEY, ExchangeReusedError, find_known
from conversations.services.recording.placement import place_request
from conversations.services.recording.tree import lock_tree
from conversations.services.recording.writing import write_exchange, write_unplaced
from conversations.vocabulary import Dialect


def record_exchange(
    *,
    account: Account,
    request_body: bytes,
    response_body: bytes | None,
    dialect: Dialect,
    actor: Actor,
    now: datetime,
    provider: str = "",
    http_status: int | None = None,
    exchange_id: str = "",
    conversation_id: UUID | None = None,
    request_id: str = "",
    prompt_version: str = "",
    api_version: str = "",
    beta_headers: str = "",
    provider_request_id: str = "",
    started_at: datetime | None = None,
    first_token_at: datetime | None = None,
    finished_at: datetime | None = None,
) -> RecordedExchange:
    """Record one HTTP attempt: the request's new messages, the answer, the attempt and its cost.

    Delivered again, nothing is written and the first record is returned, also
    when two arrive at once. Nothing that crossed the wire is refused: what is
    broken is kept and marked, what is no conversation is kept whole. Secrets that
    the account's switch names are cut out first, and kept nowhere. Raises
    NotFoundError only for a conversation that is not the account's, and
    ExchangeReusedError for an exchange id that another body was recorded under.
    """
    cut = cut_exchange(
        account_id=account.id,
        realm_id=account.realm_id,
        request_body=request_body,
        response_body=response_body,
    )
    call = ProviderCall(
        account_id=account.id,
        realm_id=account.realm_id,
        request_body=cut.request_body,
        response_body=cut.response_body,
        dialect=dialect,
        provider=provider or PROVIDERS[dialect],
        actor=actor,
        now=now,
        http_status=http_status,
        exchange_id=exchange_id,
        conversation_id=conversation_id,
        request_id=request_id,
        prompt_version=prompt_version,
        api_version=api_version,
        beta_headers=beta_headers,
        provider_request_id=provider_request_id,
        started_at=started_at,
        first_token_at=first_token_at,
        finished_at=finished_at,
    )
    if not cut.spans:
        return record_reading(read_exchange(call))
    with transaction.atomic():
        recorded = record_reading(read_exchange(call))
        if not recorded.was_known:
            note_cuts(
                conversation_id=recorded.conversation_id,
                number=recorded.generation_number,
                spans=cut.spans,
                now=now,
            )
    return recorded


def record_reading(reading: Reading) -> RecordedExchange:
    """Write an exchange that was read; the part of `record_exchange` that needs the database."""
    try:
        try:
            return _record(reading)
        except (NotFoundError, ExchangeReusedError):
            raise
        except StoreError as refusal:
            # A history that no mark makes fit: kept whole, hung on the last message that fits.
            return _record(reading, refusal=str(refusal))
        except DataError:
            return _record(reading, refusal="a value that no column of the store can hold")
    except IntegrityError as error:
        if constraint_of(error) != KEY:
            raise
        # Another recorder was first: with this exchange, or with another one of the same id.
        return find_known(reading) or _record(reading)


@transaction.atomic
def _record(reading: Reading, *, refusal: str = "") -> RecordedExchange:
    known = find_known(reading)
    if known is not None:
        return known
    found = find_conversation(reading)
    tree = lock_tree(conversation_id=found.conversation_id, account_id=reading.call.account_id)
    if reading.request is None:
        return write_unplaced(reading, tree, at=None, why=reading.trouble)
    placement = place_request(reading.request.messages, tree=tree, base_seq=found.base_seq)
    if refusal:
        return write_unplaced(reading, tree, at=placement.below_seq, why=refusal)
    return write_exchange(reading, placement)
