"""The stories as bytes: what the importer and the recorder are given, before any database."""

from datetime import UTC, datetime, timedelta

import pytest

from conversations.vocabulary import Dialect
from conversations.wire.dialects import module_for
from conversations.wire.render import render_request
from samples.company import told
from samples.company.crowd import crowd
from samples.company.exports import import_files
from samples.company.story import Exchange

TODAY = datetime(2026, 11, 30, 9, 0, tzinfo=UTC)


def all_exchanges(today: datetime) -> list[Exchange]:
    stories = [*told.stories(today), *crowd(today, stories=40)]
    return [exchange for story in stories for exchange in story.exchanges]


def test_the_same_day_tells_the_same_bytes():
    assert all_exchanges(TODAY) == all_exchanges(TODAY)
    assert import_files(TODAY) == import_files(TODAY)


def test_another_day_moves_the_times_and_nothing_else():
    moved = all_exchanges(TODAY + timedelta(days=1))

    assert [exchange.exchange_id for exchange in moved] == [e.exchange_id for e in all_exchanges(TODAY)]
    shifts = {
        after.started_at - before.started_at
        for before, after in zip(all_exchanges(TODAY), moved, strict=True)
    }
    assert shifts == {timedelta(days=1)}


def test_nothing_is_told_from_the_future():
    assert max(exchange.ended_at for exchange in all_exchanges(TODAY)) < TODAY


def test_every_exchange_id_is_told_once():
    ids = [exchange.exchange_id for exchange in all_exchanges(TODAY)]

    assert len(ids) == len(set(ids))


@pytest.mark.parametrize("dialect", list(Dialect))
def test_every_request_is_cut_and_put_together_again(dialect):
    requests = [exchange.request for exchange in all_exchanges(TODAY) if exchange.dialect == dialect]

    for body in requests:
        cut = module_for(dialect).parse_request(body)
        again = render_request(
            cut.envelope,
            cut.messages,
            dialect=dialect,
            style=cut.style,
            preamble=cut.preamble,
            leading=cut.leading,
            tools=cut.tools,
        )
        assert again == body
    assert requests


def test_no_address_is_a_real_one():
    addresses = {story.customer.email for story in [*told.stories(TODAY), *crowd(TODAY, stories=40)]}

    assert {address.partition("@")[2] for address in addresses} == {"example.com"}
