"""The sample company, loaded through the product's own services: each story's point holds."""

from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime
from decimal import Decimal
from io import StringIO

import pytest
from django.core.management import CommandError, call_command
from django.db import connection, transaction

from conversations.models import (
    Account,
    Conversation,
    Generation,
    HeadMove,
    Message,
    MessagePart,
    RawBody,
    ToolCall,
)
from samples.company import processor_ids as ids
from samples.company.load import Loaded, load_company
from samples.company.shop import PERPETUA
from samples.company.stories.wide_fork import SIBLINGS
from tests.samples.looking import attempts, call_ids, conversation, live_seqs, live_texts

TODAY = datetime(2026, 11, 30, 9, 0, tzinfo=UTC)
CROWD = 12


@pytest.fixture(scope="module")
def company(django_db_setup, django_db_blocker) -> Iterator[Loaded]:
    """Loaded once for this file, and undone after it; the tests only read."""
    with django_db_blocker.unblock(), transaction.atomic():
        loaded = load_company(today=TODAY, crowd_size=CROWD)
        connection.check_constraints()
        yield loaded
        transaction.set_rollback(True)


def test_tools_took_as_long_as_the_story_waited_for_them(company):
    """So that the page of tools has latencies to show."""
    told = ToolCall.objects.filter(conversation__source="recorded", status__in=["succeeded", "failed"])
    parallel = told.filter(conversation_id=company.conversations["nystrom-austria"])

    took = list(parallel.order_by("seq", "-duration_ms").values_list("duration_ms", flat=True))
    assert took == [1000, 800, 600, 400, 1000, 800, 600, 400, 1000]
    assert told.filter(duration_ms=None).count() == 0
    assert len(set(told.values_list("duration_ms", flat=True))) > 5


def test_the_edited_question_charged_on_both_branches(company):
    found = conversation(company, "okafor-lisbon")

    assert found.has_fork
    edits = Message.objects.filter(conversation=found, branch_reason="user_edit")
    assert edits.count() == 1
    buys = MessagePart.objects.filter(conversation=found, type="tool_use", tool_name="purchase_credits")
    live = live_seqs(found)
    assert [buy.seq in live for buy in buys.order_by("seq")] == [False, True]
    for charge in (ids.INES_FIRST_CHARGE, ids.INES_SECOND_CHARGE):
        assert (
            MessagePart.objects.filter(conversation=found, type="tool_result", text__contains=charge).count()
            == 1
        )
    assert edits.get().seq in live


def test_the_customer_looked_at_the_first_version_once_more(company):
    found = conversation(company, "okafor-lisbon")

    moves = HeadMove.objects.filter(conversation=found).order_by("number")
    switched = [move.head_seq for move in moves if move.reason == "switch"]
    assert len(switched) == 2
    live = live_seqs(found)
    assert [seq in live for seq in switched] == [False, True]
    assert [move.number for move in moves] == list(range(1, moves.count() + 1))
    assert {move.moved_by_kind for move in moves if move.reason == "switch"} == {"customer"}


def test_a_fallback_model_wrote_the_answer_on_the_third_attempt(company):
    tries = attempts(conversation(company, "obi-voucher"))[:3]

    assert [(t.attempt, t.requested_model, t.status) for t in tries] == [
        (1, "claude-opus-5-5", "failed"),
        (2, "claude-opus-5-5", "interrupted"),
        (3, "claude-haiku-5-5", "complete"),
    ]
    assert len({t.request_id for t in tries}) == 1
    assert [t.message_seq is None for t in tries] == [True, True, False]
    assert tries[2].cost_usd is not None


def test_the_provider_served_another_model_than_the_one_asked_for(company):
    last = attempts(conversation(company, "obi-voucher"))[-1]

    assert (last.requested_model, last.served_model) == ("claude-opus-5-5", "claude-opus-5")
    assert last.price_rule == "anthropic/claude-opus-5@start"


def test_the_tool_that_failed_was_retried_to_success(company):
    found = conversation(company, "wen-credits")

    results = MessagePart.objects.filter(
        conversation=found, type="tool_result", tool_call_id__in=call_ids(found, "purchase_credits")
    ).order_by("seq")
    declined, paid = (result.text or "" for result in results)
    assert ids.LI_DECLINED_INTENT in declined
    assert ids.LI_CHARGE in paid
    assert [t.status for t in attempts(found)] == ["complete", "complete", "failed", "complete", "complete"]


def test_what_arrived_of_a_cut_stream_is_kept_and_no_cut_call_is_complete(company):
    found = conversation(company, "nunes-porto")

    statuses = [t.status for t in attempts(found)]
    assert statuses == ["interrupted", "failed", "complete", "complete", "truncated"]
    calls = ToolCall.objects.filter(conversation=found)
    cut = attempts(found)[0]
    answered = attempts(found)[2].message_seq
    assert cut.message_seq is not None
    assert answered is not None
    kept = MessagePart.objects.filter(conversation=found, seq=cut.message_seq)
    assert "I will look up the trains and the weather for Sunday." in [part.text for part in kept]
    assert Counter(calls.filter(seq=answered).values_list("status", flat=True)) == {"succeeded": 2}
    assert cut.cost_confidence == "estimated"
    assert answered in live_seqs(found)


def test_the_thread_of_an_unanswered_call_ends_with_it(company):
    found = conversation(company, "larbi-rail")

    waiting = ToolCall.objects.get(conversation=found, status="requested")
    assert (waiting.name, waiting.seq) == ("book_rail", found.head_seq)


def test_a_refund_that_came_back_is_told(company):
    texts = live_texts(conversation(company, "moreno-refund"))

    assert any(ids.DANA_REFUND in text for text in texts)
    assert any("they sent it back" in text for text in texts)


def test_yen_have_no_decimals_and_dinars_have_three(company):
    yen = live_texts(conversation(company, "hayashi-gift"))
    dinars = live_texts(conversation(company, "elali-dinars"))

    assert any("14,200円" in text for text in yen)
    assert any("31.500 د.ك" in text for text in dinars)


def test_a_hosted_conversation_that_goes_back_is_a_branch(company):
    found = conversation(company, "hayashi-gift")

    assert Message.objects.filter(conversation=found, branch_reason="user_edit").count() == 1
    for charge in (ids.TAKUMI_FIRST_CHARGE, ids.TAKUMI_SECOND_CHARGE):
        assert MessagePart.objects.filter(conversation=found, text__contains=charge).count() == 1


def test_the_model_refused_and_the_attempt_says_so(company):
    assert attempts(conversation(company, "amsel-dispute"))[-1].status == "refused"


def test_the_long_thread_is_one_path(company):
    found = conversation(company, "thorsdottir-ring-road")

    assert Message.objects.filter(conversation=found).count() == 320
    assert len(live_seqs(found)) == 320
    assert not found.has_fork


def test_the_wide_fork_has_its_siblings_below_one_question(company):
    found = conversation(company, "trial-cancelled-flight")

    below = Message.objects.filter(conversation=found, role="assistant")
    assert below.count() == SIBLINGS
    assert below.values("parent_seq").distinct().count() == 1
    assert Counter(below.values_list("branch_reason", flat=True))["regenerate"] == SIBLINGS - 1


def test_thinking_and_unknown_blocks_are_kept_by_the_providers_names(company):
    found = conversation(company, "nystrom-strike")

    kinds = Counter(MessagePart.objects.filter(conversation=found).values_list("type", flat=True))
    assert (kinds["thinking"], kinds["server_tool_use"], kinds["server_tool_result"]) == (4, 1, 1)
    unknown = MessagePart.objects.get(conversation=found, type="other")
    assert unknown.provider_type == "travel_advisory"


def test_hostile_content_is_stored_whole(company):
    found = conversation(company, "wrenley-<script>")

    texts = live_texts(found)
    assert any("<script>" in text for text in texts)
    assert any("\u202e" in text for text in texts)
    payload = bytes(MessagePart.objects.get(conversation=found, is_text_copy=True).payload or b"")
    assert b"\\u0000" in payload
    assert b"\\ud83d" in payload
    assert all(t.body_proof in ("exact", "patched") for t in attempts(found))


def test_a_large_image_lies_beside_the_table_and_a_document_in_it(company):
    found = conversation(company, "wrenley-invoice")

    images = MessagePart.objects.filter(conversation=found, type="image").order_by("seq")
    assert [image.blob_id is not None for image in images] == [True, False]
    assert MessagePart.objects.get(conversation=found, type="document").blob_id is None


def test_parallel_calls_share_a_message_and_each_has_its_result(company):
    found = conversation(company, "nystrom-austria")

    calls = ToolCall.objects.filter(conversation=found)
    assert sorted(Counter(calls.values_list("seq", flat=True)).values()) == [1, 4, 4]
    assert not calls.exclude(status="succeeded").exists()


def test_what_the_provider_refused_keeps_its_attempt(company):
    refused = [t for t in attempts(conversation(company, "obi-broken-client")) if t.status == "failed"]

    assert [t.http_status for t in refused] == [400, 400]
    assert "prompt is too long" in refused[1].error_message
    assert all(t.cost_usd is None and t.cost_confidence == "unknown" for t in refused)


def test_an_export_brings_its_branch_and_leaves_a_broken_node_in_quarantine(company):
    report = company.imports["chatgpt-export.zip"]

    assert (report.counts["conversations new"], report.counts["messages"]) == (2, 8)
    assert (report.counts["branches"], report.counts["quarantined"], report.counts["failed"]) == (1, 1, 0)
    packing = Conversation.objects.get(external_ref="chatgpt:export-packing")
    assert packing.title == "Packing list for Ghent"
    assert packing.account.external_id == PERPETUA.external_id
    assert "One rain jacket each" in live_texts(packing)[-1]
    assert RawBody.objects.filter(raw_class="quarantine").count() == 1


def test_the_old_flat_table_becomes_lines_of_messages(company):
    assert company.imports["support-chats-2025.csv"].counts["conversations new"] == 3
    complaint = Conversation.objects.get(external_ref="table:8802")
    assert "[tool refund failed: too late] It left an hour ago." in live_texts(complaint)
    assert not ToolCall.objects.filter(conversation=complaint).exists()


def test_every_body_can_be_given_back(company):
    recorded = Generation.objects.filter(conversation__source="recorded")
    assert set(recorded.values_list("body_proof", flat=True)) <= {"exact", "patched"}


def test_costs_add_up_exactly(company):
    found = conversation(company, "trial-cancelled-flight")

    tries = attempts(found)
    assert {t.cost_confidence for t in tries} == {"exact"}
    expected = sum(
        (
            Decimal(t.uncached_input_tokens or 0) * Decimal("0.0000004")
            + Decimal(t.output_tokens or 0) * Decimal("0.0000016")
            for t in tries
        ),
        Decimal(0),
    )
    assert sum((t.cost_usd or Decimal(0) for t in tries), Decimal(0)) == expected


def test_everybody_is_in_a_realm_and_nobody_twice(company):
    accounts = Account.objects.values_list("external_id", flat=True)

    assert len(accounts) == len(set(accounts))
    assert set(Account.objects.values_list("realm__slug", flat=True)) == {
        "wendelmere-eu",
        "wendelmere-uk",
        "wendelmere-us",
    }


def test_a_database_in_use_is_left_alone(company):
    before = Conversation.objects.count()

    with pytest.raises(CommandError, match="loaded into an empty one only"):
        call_command("load_samples", stdout=StringIO())

    assert Conversation.objects.count() == before
