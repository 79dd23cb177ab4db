"""The database and Python compute one chain of digests."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from conversations.digests import chain, path_salt
from tests.conversations.schema.rows import fetch

pytestmark = [pytest.mark.schema, pytest.mark.django_db]


@given(start=st.binary(max_size=16), units=st.lists(st.binary(max_size=40), max_size=6))
@settings(max_examples=60, deadline=None)
def test_the_chain_is_the_same(start, units):
    assert fetch("SELECT conversations_chain(%s, %s::bytea[])", start, units) == [(chain(start, units),)]


@given(account_id=st.uuids())
@settings(max_examples=30, deadline=None)
def test_the_salt_is_the_same(account_id):
    salted = fetch("SELECT substring(sha256(uuid_send(%s)) FROM 1 FOR 16)", account_id)

    assert salted == [(path_salt(account_id),)]


def test_without_a_start_or_units_there_is_no_digest():
    assert fetch("SELECT conversations_chain(NULL, '{}'), conversations_chain('', NULL)") == [(None, None)]
