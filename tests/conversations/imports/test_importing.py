"""An export becomes conversations of one account."""

import json
from datetime import UTC, datetime, timedelta

from access.actors import ActorKind
from access.models import Realm
from conversations.models import Conversation, Generation, HeadMove, Message, RawBody
from conversations.services.appending import append_message
from conversations.services.importing.importing import import_file
from conversations.services.importing.report import ExitStatus
from conversations.services.raw_bodies import open_raw_body
from conversations.vocabulary import GenerationStatus, HeadMoveReason, RawClass, ReplayObstacle, Source
from tests.conversations import drafts
from tests.conversations.conftest import CUSTOMER, NOW
from tests.conversations.imports.exports import IMPORTER, chat, five, node, rows
from tests.conversations.imports.reading import write
from tests.conversations.invariants import assert_well_formed


def test_a_conversation_arrives_with_its_tree_head_log_and_original(imported):
    moment = 1_700_000_000.0
    mapping = {
        "u": node("user", "Hi", create_time=moment),
        "a": node("assistant", "one", "u", create_time=moment + 1),
        "b": node("assistant", "two", "u", create_time=moment + 2),
    }
    export = [chat("k", mapping, "a", create_time=moment)]

    report = imported(export)

    conversation = Conversation.objects.get()
    started = datetime.fromtimestamp(moment, UTC)
    assert (conversation.source, conversation.external_ref, conversation.title) == (
        Source.IMPORTED,
        "chatgpt:k",
        "chat k",
    )
    assert conversation.started_at == started
    # UUIDv7: the first 48 bits are the conversation's own start, not the import's.
    assert conversation.id.int >> 80 == int(moment * 1000)
    assert conversation.last_activity_at == started + timedelta(seconds=2)
    assert (conversation.has_fork, conversation.replay_obstacle) == (True, ReplayObstacle.FOREIGN_FORMAT)
    assert list(Message.objects.order_by("seq").values_list("seq", "parent_seq", "client_message_id")) == [
        (1, None, "u"),
        (2, 1, "a"),
        (3, 1, "b"),
    ]
    move = HeadMove.objects.get()
    assert (move.head_seq, move.reason, move.moved_at, move.moved_by_kind) == (
        2,
        HeadMoveReason.IMPORT,
        NOW,
        ActorKind.IMPORTER,
    )
    original = RawBody.objects.get()
    assert original.raw_class == RawClass.IMPORT
    assert json.loads(open_raw_body(original)) == export[0]
    assert report.exit_status == ExitStatus.COMPLETE
    assert report.summary() == "1 conversations new, 3 messages, 3 parts, 1 branches, 0 failed"
    assert_well_formed(conversation.id)


def test_another_realm_gets_conversations_of_its_own(imported, tmp_path):
    imported(five())
    other = Realm.objects.create(slug="other", name="Other", created_at=NOW)

    path = write(tmp_path, five())
    import_file(path=path, realm=other, actor=IMPORTER, now=NOW, account="c-7")

    assert Conversation.objects.filter(account__realm=other).count() == 5
    assert Conversation.objects.count() == 10


def test_a_dry_run_says_what_would_happen_and_keeps_nothing(imported):
    before = rows()

    report = imported(five(), is_dry_run=True)

    assert rows() == before
    assert report.summary() == "dry run, nothing kept: 5 conversations new, 10 messages, 10 parts, 0 failed"


def test_unknown_times_stay_unknown_and_purge_nothing_by_accident(imported):
    imported([chat("k", {"u": node("user", "hi", create_time=None)}, "u", create_time=0)])

    conversation = Conversation.objects.get()
    assert conversation.started_at is None
    assert Message.objects.get().occurred_at is None
    assert conversation.last_activity_at == NOW


def test_an_empty_conversation_is_kept(imported):
    report = imported([chat("k", {"root": {"parent": None, "children": [], "message": None}}, "root")])

    conversation = Conversation.objects.get()
    assert (conversation.head_seq, conversation.next_seq) == (None, 1)
    assert HeadMove.objects.count() == 0
    assert report.exit_status == ExitStatus.COMPLETE


def test_a_source_that_names_its_customers_needs_no_account(imported):
    table = "chat,role,text,user_id\nx,user,hi,cust-1\ny,user,ho,cust-2\n"

    imported(table, "dump.csv", account="")

    owners = Conversation.objects.order_by("external_ref").values_list("account__external_id", flat=True)
    assert list(owners) == ["cust-1", "cust-2"]


def test_without_any_account_nothing_is_guessed(imported):
    report = imported(five(), account="")

    assert Conversation.objects.count() == 0
    assert {one.text for one in report.failed} == {"the source does not say whose it is; name the account"}


def test_a_dialogue_is_well_formed_with_its_system_message_in_front_which_is_no_part_of_the_path(imported):
    said = [("system", "Be brief."), ("user", "Hi"), ("assistant", "Hello.")]
    for number in (0, 1):
        messages = [{"role": role, "content": text} for role, text in said[number:]]
        imported({"id": f"d-{number}", "messages": messages})

    whole, bare = Conversation.objects.order_by("external_ref")
    digests = [
        list(one.messages.order_by("seq").values_list("path_digest", flat=True)) for one in (whole, bare)
    ]
    assert digests[0] == [None, *digests[1]]
    assert_well_formed(whole.id)
    append_message(
        conversation_id=whole.id, message=drafts.user("And?"), actor=CUSTOMER, now=NOW + timedelta(days=1)
    )
    assert_well_formed(whole.id)


def test_an_answer_whose_model_is_known_has_an_attempt_that_names_it(imported):
    mapping = {
        "u": node("user", "hi"),
        "a": node("assistant", "hello", "u"),
        "b": node("assistant", "hullo", "u", metadata={"model_slug": "model-y"}),
    }

    imported([chat("k", mapping, "a", default_model_slug="model-x")])

    attempts = Generation.objects.order_by("number")
    assert list(attempts.values_list("number", "served_model", "leaf_seq", "message_seq", "provider")) == [
        (1, "model-x", 1, 2, "openai"),
        (2, "model-y", 1, 3, "openai"),
    ]
    assert {attempt.dialect for attempt in attempts} == {""}
    assert {attempt.cost_usd for attempt in attempts} == {None}
    conversation = Conversation.objects.get()
    assert conversation.next_generation == 3
    assert_well_formed(conversation.id)


def test_an_answer_that_the_source_marks_as_cut_off_is_not_complete(imported):
    mapping = {
        "u": node("user", "hi"),
        "whole": node("assistant", "hello", "u", status="finished_successfully"),
        "stopped": node("assistant", "hel", "u", status="in_progress"),
        "long": node("assistant", "hell", "u", metadata={"finish_details": {"type": "max_tokens"}}),
    }

    imported([chat("k", mapping, "whole", default_model_slug="model-x")])

    attempts = Generation.objects.all()
    said = Message.objects.in_bulk([(attempt.conversation_id, attempt.message_seq) for attempt in attempts])
    assert {
        said[attempt.conversation_id, attempt.message_seq].client_message_id: attempt.status
        for attempt in attempts
    } == {
        "whole": GenerationStatus.COMPLETE,
        "stopped": GenerationStatus.INTERRUPTED,
        "long": GenerationStatus.TRUNCATED,
    }
