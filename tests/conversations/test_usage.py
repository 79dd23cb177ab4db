from decimal import Decimal

import pytest

from access.actors import Actor, ActorKind
from access.models import AccessEntry
from conversations.errors import ConflictError, NotFoundError, StoreError
from conversations.models import Generation, Message
from conversations.services.usage import CAME_LATE, correct_usage
from conversations.vocabulary import GenerationStatus
from conversations.wire.shapes import Usage
from tests.conversations.attempts import begin, finish
from tests.conversations.conftest import NOW
from tests.conversations.drafts import assistant

pytestmark = pytest.mark.django_db

# The stream was cut off before the provider said how much it wrote.
PARTIAL = Usage(uncached_input=60, raw={"input_tokens": 60, "output_tokens": 1})
LATE = Usage(uncached_input=60, output=105, raw={"input_tokens": 60, "output_tokens": 105})


REPORTER = Actor(ActorKind.APPLICATION, "7")


def correct(conversation, usage=LATE, **given):
    return correct_usage(
        conversation_id=conversation.pk, number=1, usage=usage, actor=REPORTER, now=NOW, **given
    )


@pytest.fixture
def interrupted(asked):
    begin(asked)
    finish(asked, status=GenerationStatus.INTERRUPTED, message=assistant("Your ord"), usage=PARTIAL)
    return asked


def test_an_interrupted_stream_costs_at_least_what_is_certain(interrupted):
    generation = Generation.objects.get()

    assert (generation.status, generation.output_tokens) == ("interrupted", None)
    assert (generation.cost_usd, generation.cost_confidence) == (Decimal("0.00018"), "estimated")
    assert Message.objects.get(seq=generation.message_seq).role == "assistant"


def test_a_late_report_replaces_the_estimate(interrupted):
    correct(interrupted)

    generation = Generation.objects.get()
    assert (generation.status, generation.output_tokens) == ("interrupted", 105)
    assert (generation.cost_usd, generation.cost_confidence) == (Decimal("0.001755"), "exact")
    assert generation.usage == {"input_tokens": 60, "output_tokens": 105}
    assert generation.notes == [CAME_LATE]


def test_the_same_report_again_changes_nothing(interrupted):
    correct(interrupted)

    correct(interrupted)

    assert Generation.objects.get().notes == [CAME_LATE]
    assert AccessEntry.objects.count() == 1


def test_who_changed_a_cost_and_when_stands_in_the_log(interrupted):
    correct(interrupted)

    line = AccessEntry.objects.get()
    assert (line.at, line.actor_kind, line.actor_id, line.action) == (NOW, "application", "7", "change")
    assert (line.target_kind, line.target_id) == ("attempt", f"{interrupted.pk}.g1")
    assert (line.realm_id, line.account_id) == (interrupted.account.realm_id, interrupted.account_id)


@pytest.mark.parametrize("usage", [Usage(), Usage(output=105), Usage(uncached_input=60)])
def test_a_report_that_does_not_count_both_leaves_the_estimate(interrupted, usage):
    with pytest.raises(StoreError) as refused:
        correct(interrupted, usage)

    assert refused.value.rule == "usage-incomplete"
    generation = Generation.objects.get()
    assert (generation.cost_usd, generation.notes) == (Decimal("0.00018"), [])


def test_the_tier_that_was_priced_is_the_one_that_is_kept(interrupted):
    correct(interrupted, service_tier="batch")

    generation = Generation.objects.get()
    assert (generation.service_tier, generation.cost_usd) == ("batch", Decimal("0.0008775"))


def test_a_second_report_that_says_otherwise_is_refused(interrupted):
    correct(interrupted)

    with pytest.raises(ConflictError) as refused:
        correct(interrupted, Usage(uncached_input=60, output=900))

    assert refused.value.rule == "usage-corrected"
    assert Generation.objects.get().output_tokens == 105


def test_a_report_for_an_attempt_that_runs_is_refused(asked):
    begin(asked)

    with pytest.raises(ConflictError) as refused:
        correct(asked)

    assert refused.value.rule == "attempt-open"
    assert Generation.objects.get().output_tokens is None


def test_a_report_for_an_answer_that_reported_itself_is_refused(asked):
    begin(asked)
    finish(asked, message=assistant(), usage=Usage(uncached_input=60, output=100))

    with pytest.raises(ConflictError) as refused:
        correct(asked)

    assert refused.value.rule == "usage-known"
    assert Generation.objects.get().output_tokens == 100


def test_a_whole_answer_that_reported_nothing_takes_a_report(asked):
    begin(asked)
    finish(asked, message=assistant())

    correct(asked)

    assert Generation.objects.get().output_tokens == 105


def test_a_report_for_no_attempt_is_not_found(asked):
    with pytest.raises(NotFoundError):
        correct(asked)
