import pytest

from conversations.drafts import MessageDraft, PartDraft
from conversations.errors import StoreError
from conversations.models import Message
from conversations.services.appending import append_message, edit_message, regenerate_message
from conversations.services.tool_results import answer_calls
from conversations.vocabulary import Dialect, PartType, Role
from tests.conversations.conftest import CUSTOMER, NOW
from tests.conversations.drafts import assistant, call, calls, result, results, user

pytestmark = pytest.mark.django_db


def write(service, conversation, message, **fields):
    return service(conversation_id=conversation.pk, message=message, actor=CUSTOMER, now=NOW, **fields)


def append(conversation, message, dialect=Dialect.ANTHROPIC_MESSAGES):
    return write(append_message, conversation, message, dialect=dialect)


@pytest.fixture
def asked(conversation):
    append(conversation, user())
    return conversation


@pytest.fixture
def called(asked):
    append(asked, calls("call_0", "call_1"))
    return asked


def spoken_first(role=Role.USER):
    return MessageDraft(role=role, parts=[PartDraft(type=PartType.TEXT, text="Here:"), result("call_0")])


@pytest.mark.parametrize(
    ("message", "rule", "block"),
    [
        (MessageDraft(role=Role.USER, parts=[call("call_0")]), "calls-by-assistant", 0),
        (MessageDraft(role=Role.ASSISTANT, parts=[call("call 0")]), "call-id-characters", 0),
        (MessageDraft(role=Role.ASSISTANT, parts=[call("call_0", arguments="[1]")]), "input-is-object", 0),
        (calls("call_0", "call_0"), "call-ids-unique", 1),
    ],
)
def test_what_the_provider_would_refuse_anywhere_is_refused(asked, message, rule, block):
    with pytest.raises(StoreError) as refused:
        append(asked, message)

    assert refused.value.rule == rule
    assert refused.value.place == f"conversation {asked.pk}, new message, block {block}"
    assert Message.objects.count() == 1


def test_results_come_first_in_their_message(called):
    with pytest.raises(StoreError) as refused:
        write(answer_calls, called, spoken_first(), dialect=Dialect.ANTHROPIC_MESSAGES)

    assert refused.value.rule == "results-come-first"
    assert Message.objects.count() == 2


def test_results_and_a_remark_after_them_are_fine(called):
    message = results("call_0", "call_1")
    message.parts.append(PartDraft(type=PartType.TEXT, text="And be quick."))

    write(answer_calls, called, message, dialect=Dialect.ANTHROPIC_MESSAGES)

    assert Message.objects.count() == 3


def test_edits_and_other_answers_are_judged_by_the_dialect_of_the_first(asked):
    append(asked, assistant())

    with pytest.raises(StoreError) as edited:
        write(edit_message, asked, MessageDraft(role=Role.USER, parts=[call("call_0")]), seq=1)
    with pytest.raises(StoreError) as regenerated:
        write(regenerate_message, asked, calls("call 0"), seq=2)

    assert (edited.value.rule, regenerated.value.rule) == ("calls-by-assistant", "call-id-characters")
    assert Message.objects.count() == 2


def test_a_message_of_no_dialect_is_bound_by_the_database_alone(asked):
    append(asked, calls("call 0"), dialect=None)

    assert Message.objects.count() == 2


def test_judging_costs_no_statement(asked, django_assert_num_queries):
    # A savepoint, the statement, the two checks, and the release.
    with django_assert_num_queries(4):
        append(asked, assistant())


def _block(**fields) -> MessageDraft:
    return MessageDraft(role=Role.ASSISTANT, parts=[PartDraft(**{"type": PartType.TOOL_USE, **fields})])


@pytest.mark.parametrize(
    ("message", "rule", "block"),
    [
        (assistant("a\x00b"), "character-not-storable", 0),
        (assistant("half \ud83d"), "character-not-storable", 0),
        (_block(payload=b"{}", tool_call_id="call_0", tool_name="f\x00"), "character-not-storable", 0),
        (_block(payload=b"{}", tool_call_id="c" * 256, tool_name="f"), "too-long", 0),
        (_block(payload=b"{}", tool_name="f"), "call-without-id", 0),
        (_block(payload=b"{}", tool_call_id="call_0"), "call-without-name", 0),
        (_block(tool_call_id="call_0", tool_name="f"), "block-without-bytes", 0),
        (_block(text="x", payload=b"x", type=PartType.TEXT), "block-said-twice", 0),
        (assistant(client_message_id="m\x00"), "character-not-storable", None),
        (assistant(client_message_id="m" * 256), "too-long", None),
        (assistant(token_count=2**31), "no-count", None),
        (assistant(token_count=-1), "no-count", None),
    ],
)
def test_what_no_column_holds_is_refused_and_named(asked, message, rule, block):
    with pytest.raises(StoreError) as refused:
        append(asked, message, dialect=None)

    where = "" if block is None else f", block {block}"
    assert (refused.value.rule, refused.value.place) == (rule, f"conversation {asked.pk}, new message{where}")
    assert Message.objects.count() == 1
