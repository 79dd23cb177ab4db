"""Rows that name a moment before the cut-off, and are written when the run has read: no repeat has them."""

from datetime import timedelta

import pytest

from conversations.services.heads import switch_head
from ledger.models import EffectReference, EffectUse, MatchDecision
from ledger.reconciliation import running
from ledger.reconciliation.starting import repeat_reconciliation
from ledger.services.disputes import take_dispute
from ledger.services.refunds import take_refund
from ledger.services.sending import mark_sent
from ledger.services.settling import settle_effect
from ledger.vocabulary import ReferenceKind
from tests.conversations.conftest import CUSTOMER
from tests.ledger.conftest import Talk
from tests.ledger.reconciliation.conftest import CUT_OFF, DAY, FINANCE, line
from tests.ledger.seen import AGENT, charged, declined, disputed, refunded

pytestmark = pytest.mark.django_db

LATE = CUT_OFF - timedelta(hours=1)
SMALL = '{"order": 7, "amount": 700, "currency": "usd"}'


class Month:
    """What the ledger has before the run; each method writes one late row."""

    def __init__(self, talk, other, pays, begins, staff):
        self.talk, self.begins, self.staff = talk, begins, staff
        self.paid = pays("ch_1")
        self.open = begins()
        asked = talk.says()
        self.left = pays("ch_2", talk=talk, below=asked)
        self.live = talk.calls("toolu_again", below=talk.edits(asked))
        # Of another amount than ch_9, which is nobody's.
        seq = other.calls("toolu_unsent", arguments=SMALL, below=other.says())
        self.unsent = other.begins(seq, "toolu_unsent").effect

    def refund(self):
        take_refund(effect_id=self.paid.pk, seen=refunded("re_1"), actor=AGENT, now=LATE)

    def dispute(self):
        take_dispute(effect_id=self.paid.pk, seen=disputed(), now=LATE)

    def move(self):
        seen = charged("ch_9", effect_id=self.open.pk)
        settle_effect(effect_id=self.open.pk, seen=seen, actor=AGENT, now=LATE)

    def reference(self):
        EffectReference.objects.create(
            effect=self.open, processor="stripe", kind=ReferenceKind.CHARGE, reference="ch_9", seen_at=LATE
        )

    def effect(self):
        self.begins(now=LATE)

    def sending(self):
        """Before the run it had begun, and nothing had left."""
        mark_sent(effect_id=self.unsent.pk, now=LATE, find_by={"customer": "cus_1"})

    def head(self):
        switch_head(conversation_id=self.talk.id, seq=self.left.call_seq, actor=CUSTOMER, now=LATE)

    def use(self):
        EffectUse.objects.create(
            conversation_id=self.talk.id,
            seq=self.live,
            call_id="toolu_again",
            effect=self.left,
            used_at=LATE,
        )

    def contradiction(self):
        seen = declined("ch_1", intent="pi_ch_1", effect_id=self.paid.pk)
        settle_effect(effect_id=self.paid.pk, seen=seen, actor=AGENT, now=LATE)

    def decision(self):
        MatchDecision.objects.create(
            realm_id=self.open.realm_id,
            processor="stripe",
            reference="ch_9",
            effect=self.open,
            is_confirmed=True,
            decided_by=self.staff("ann"),
            decided_at=LATE,
        )


@pytest.fixture
def month(talk, make_conversation, pays, begins, staff):
    return Month(talk, Talk(make_conversation()), pays, begins, staff)


LATE_ROWS = (
    "refund",
    "dispute",
    "move",
    "reference",
    "effect",
    "sending",
    "head",
    "use",
    "contradiction",
    "decision",
)


@pytest.mark.parametrize("late", LATE_ROWS)
def test_a_row_that_is_written_late_is_in_no_repeat_and_in_every_new_run(late, month, statement, run):
    lines = [line("charge", "ch_1", 1900), line("charge", "ch_2", 1900), line("charge", "ch_9", 1900)]
    document = statement(*lines, line("refund", "re_1", 1000, charge_ref="ch_1"))
    first = run(document)

    getattr(month, late)()

    assert repeated(first).report == first.report
    assert run(document).report != first.report


def repeated(first):
    now = CUT_OFF + 9 * DAY
    again = repeat_reconciliation(run_id=first.pk, actor=FINANCE, now=now)
    running.reconcile(run_id=again.job_id, clock=lambda: now)
    again.refresh_from_db()
    return again
