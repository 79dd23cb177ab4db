"""What is not in is said, by line, and the rest goes in."""

import re

from conversations.models import Account, Conversation, Generation
from counterfoil_recorder.backfill.command import ALL_IN, SOME_BAD
from tests.client.backfill.conftest import call, dialogue, write


def test_lines_that_cannot_be_sent_are_named_and_the_rest_goes_in(backfill):
    good = dialogue("chat")
    bad = ['{"half', "[]", "7", {"path": "/v1/messages"}, call("x", "y", path="", dialect="")]
    status, told = backfill(write([good[0], *bad, "", good[1], good[2]]))

    assert status == SOME_BAD
    assert [int(n) for n in re.findall(r"calls\.jsonl, line (\d+): ", told)] == [2, 3, 4, 5, 6]
    for reason in ("no JSON:", "no JSON object", "bodies of a request", "give --dialect"):
        assert reason in told
    assert told.endswith("3 recorded, 5 bad lines\n")
    assert Conversation.objects.get().next_seq == 7
    # The next run does not read them again, and does not forget them.
    assert backfill("calls.jsonl")[0] == SOME_BAD


def test_what_the_store_refuses_is_named(backfill):
    lines = [call("a", "b", conversation_id="00000000-0000-7000-8000-000000000000"), call("c", "d")]
    status, told = backfill(write(lines))

    assert status == SOME_BAD
    assert "calls.jsonl, line 1: refused by the store: 404 no-conversation: " in told
    assert Generation.objects.count() == 1


def test_a_call_without_an_owner_is_a_bad_line(backfill):
    lines = [call("a", "b"), call("c", "d", account="customer-9")]

    assert "line 1: the line does not say whose call it is" in backfill(write(lines), account="")[1]
    assert Account.objects.get().external_id == "customer-9"


def test_other_traffic_is_passed_over(backfill):
    other = call("a", "b", path="/v1/messages/count_tokens"), call("a", "b", method="GET")

    assert backfill(write([*other, call("a", "b")])) == (
        ALL_IN,
        "1 recorded, 2 passed over that are no calls to a model\n",
    )
