"""Look-ups are index probes under the policies too."""

import pytest

from access.reading import reading_as
from tests.access.tenants import rows, without_scans

pytestmark = [pytest.mark.schema, pytest.mark.django_db]


LOOK_UPS = {
    "a call by its id": "conversations_messagepart WHERE tool_call_id = 'toolu_eu_0001'",
    "a call by the beginning of its id": (
        "conversations_messagepart WHERE tool_call_id ~>=~ 'toolu_eu' AND tool_call_id ~<~ 'toolu_ev'"
    ),
    "a message by its client's id": "conversations_message WHERE client_message_id = 'm-1'",
    "an attempt by its response": (
        "conversations_generation WHERE provider_response_id = 'msg_1' AND provider_response_id <> ''"
    ),
    "an attempt by its request": "conversations_generation WHERE request_id = 'r-1'",
    "a conversation by the beginning of its id": (
        "conversations_conversation WHERE id BETWEEN '0198f000-0000-0000-0000-000000000000'"
        " AND '0198ffff-ffff-ffff-ffff-ffffffffffff'"
    ),
    "a conversation at its source": (
        "conversations_conversation WHERE external_ref = 'x' AND external_ref <> ''"
    ),
    "an account by the customer's id": "conversations_account WHERE external_id = 'customer-eu'",
    "the newest conversations": "conversations_conversation ORDER BY last_activity_at DESC, id DESC LIMIT 50",
    "an effect by its reference": "ledger_tooleffect WHERE external_ref = 'ch_1' AND external_ref <> ''",
    "the messages of a conversation": (
        "conversations_message WHERE conversation_id = '0198f000-0000-0000-0000-000000000000'"
    ),
}


@pytest.mark.parametrize("sought", LOOK_UPS)
def test_each_look_up_is_an_index_probe_under_the_policies(eu, sought):
    with reading_as(eu.reach), without_scans():
        plan = "\n".join(line for (line,) in rows(f"EXPLAIN SELECT * FROM {LOOK_UPS[sought]}"))

    assert "Index" in plan
    assert "Seq Scan" not in plan


def test_an_e_mail_is_looked_up_past_the_policies_because_lower_may_not_see_rows_first(eu):
    sql = "EXPLAIN SELECT id FROM conversations_account WHERE lower(email) = 'x' AND email <> ''"
    with without_scans():
        assert "account_email" in "\n".join(line for (line,) in rows(sql))
        with reading_as(eu.reach):
            assert "Index Cond: (lower" not in "\n".join(line for (line,) in rows(sql))
