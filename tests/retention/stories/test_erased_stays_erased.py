"""Elsewhere, who had been erased came back: with a restore, an import, a late answer."""

import json

import pytest

from access.actors import Actor, ActorKind
from conversations.errors import NotFoundError, StoreError
from conversations.models import Account, Conversation, ErasedSubject, Generation, RawBody
from conversations.services.accounts import ensure_account
from conversations.services.appending import append_message
from conversations.services.exporting import export_trees
from conversations.services.generations import Attempt, Outcome, begin_generation, finish_generation
from conversations.services.importing.importing import import_file
from conversations.services.starting import start_conversation
from conversations.vocabulary import Dialect, GenerationStatus
from jobs.models import JobRun
from jobs.services.starting import start_job
from ledger.services.events import take_in_event, work_event
from ledger.services.hearing import RawAnswer, hear_answer
from ledger.services.sending import mark_sent
from retention.services.continuing import CONTINUE, continue_erasures
from retention.services.holds import place_hold
from retention.services.reapplying import reapply_erasures
from tests.conversations.drafts import assistant, user
from tests.conversations.schema.rows import fetch
from tests.ledger.stripe_events import charge, dispute, event, refund
from tests.retention.conftest import CUSTOMER, NOW, remaining
from tests.retention.desk import erased, release, work_on
from tests.retention.stores import everywhere

pytestmark = pytest.mark.django_db


NAME, EMAIL, EXTERNAL = "Quirina Sample", "q.sample@example.org", "cust-88417"


class TestWhoWasErasedStaysErased:
    """An erasure is a standing rule: after a hold, a restore, an import, a late answer."""

    @pytest.fixture
    def person(self, make_account):
        return make_account(external_id=EXTERNAL, label=NAME, email=EMAIL)

    @pytest.fixture
    def talks(self, person, make_talk):
        return [
            make_talk(account_id=person.pk, words=f"I am {NAME}", external_ref=f"crm:{n}") for n in range(3)
        ]

    def test_the_release_of_a_hold_finishes_the_request(self, person, talks, officer, second):
        hold = place_hold(conversation_id=talks[0].id, matter="M-8", user=officer, now=NOW)
        assert erased(person, officer=officer, second=second).state == "partly_done"
        assert remaining() == {talks[0].id}
        release(hold, officer, second)

        run = start_job(kind=CONTINUE, requested_by=("job", "test"), now=NOW)
        continue_erasures(run_id=run.pk, clock=lambda: NOW)
        again = JobRun.objects.get(kind="retention.erase", state="queued")
        request = work_on(again)

        assert request.state == "done"
        assert remaining() == set()

    def test_who_came_back_with_a_restore_is_erased_again(self, person, talks, officer, second, make_talk):
        erased(person, officer=officer, second=second)
        # As the backup had it: the account's row, and a conversation.
        back = Account.objects.create(
            id=person.pk, realm=person.realm, external_id=EXTERNAL, label=NAME, email=EMAIL, created_at=NOW
        )
        make_talk(account_id=back.pk, words=f"I am {NAME}")

        reapplied = reapply_erasures(now=NOW)

        assert [request.state for request in reapplied.requests] == ["done"]
        assert everywhere(NAME) == []

    def test_their_old_export_is_refused_and_counted(self, person, talks, officer, second, tmp_path, realm):
        old = tmp_path / "export.jsonl"
        old.write_bytes(b"".join(export_trees(Conversation.objects.all())))
        erased(person, officer=officer, second=second)

        report = import_file(
            path=old, realm=realm, actor=Actor(ActorKind.IMPORTER), now=NOW, account="somebody-else"
        )

        assert report.counts["failed"] == 3
        assert "erased" in report.failed[0].text
        assert remaining() == set()

    def test_a_late_answer_finds_nothing_to_be_written_into(self, person, talks, officer, second):
        attempt = Attempt(
            request_id="r-1",
            provider="anthropic",
            dialect=Dialect.ANTHROPIC_MESSAGES,
            requested_model="claude-sonnet-4-5",
        )
        begun, _ = begin_generation(conversation_id=talks[0].id, leaf_seq=1, attempt=attempt, now=NOW)
        erased(person, officer=officer, second=second)

        with pytest.raises(NotFoundError):
            finish_generation(
                conversation_id=talks[0].id,
                number=begun.number,
                outcome=Outcome(GenerationStatus.COMPLETE, message=assistant(f"Hello {NAME}")),
                actor=CUSTOMER,
                now=NOW,
            )
        with pytest.raises(StoreError):
            append_message(conversation_id=talks[0].id, message=user(NAME), actor=CUSTOMER, now=NOW)
        assert not Generation.objects.exists()
        assert everywhere(NAME) == []

    def test_a_late_event_moves_the_money_and_leaves_no_bytes(self, bought, officer, second):
        mark_sent(effect_id=bought.pk, now=NOW)
        whole = {"amount": 1900, "amount_captured": 1900, "metadata": {"counterfoil_effect": str(bought.pk)}}
        self.hear("charge.succeeded", charge(**whole), "evt_1")
        request = erased(bought.account, officer=officer, second=second)
        theirs = {"billing_details": {"name": NAME, "email": EMAIL}}

        late = self.hear("refund.created", refund(amount=1900, **theirs), "evt_2")

        bought.refresh_from_db()
        assert (bought.account_pseudonym, bought.state) == (request.pseudonym, "compensated")
        assert (late.trouble, late.effect_id, late.raw_id) == ("", bought.pk, None)
        assert not RawBody.objects.exists()

    def test_a_late_event_about_what_is_disputed_is_evidence(self, bought, officer, second):
        mark_sent(effect_id=bought.pk, now=NOW)
        whole = {"amount": 1900, "amount_captured": 1900, "metadata": {"counterfoil_effect": str(bought.pk)}}
        self.hear("charge.succeeded", charge(**whole), "evt_1")
        erased(bought.account, officer=officer, second=second)

        late = self.hear("charge.dispute.created", dispute(), "evt_2")

        assert (late.trouble, RawBody.objects.get().pk) == ("", late.raw_id)

    def test_an_answer_that_is_handed_in_again_is_not_kept(self, bought, officer, second):
        mark_sent(effect_id=bought.pk, now=NOW)
        body = json.dumps(charge(amount=1900, amount_captured=1900, receipt_email=EMAIL)).encode()
        hear_answer(effect_id=bought.pk, raw=RawAnswer(200, body), actor=CUSTOMER, now=NOW)
        erased(bought.account, officer=officer, second=second)
        assert not RawBody.objects.exists()

        hear_answer(effect_id=bought.pk, raw=RawAnswer(200, body), actor=CUSTOMER, now=NOW)

        assert not RawBody.objects.exists()

    def hear(self, kind, carried, event_id):
        taken = take_in_event(processor="stripe", body=event(kind, carried, event_id=event_id), now=NOW)
        worked = work_event(event_id=taken.event.pk, now=NOW)
        worked.refresh_from_db()
        return worked

    def test_the_list_holds_digests_only(self, person, talks, officer, second, realm):
        erased(person, officer=officer, second=second)

        stored = json.dumps(
            [
                list(row)
                for row in fetch("SELECT kind, encode(digest, 'hex') FROM conversations_erasedsubject")
            ]
        )

        assert ErasedSubject.objects.count() == 9
        assert not [name for name in (NAME, EMAIL, EXTERNAL) if name in stored]
        with pytest.raises(StoreError):
            ensure_account(realm=realm, external_id=EXTERNAL, now=NOW)
        other = ensure_account(realm=realm, external_id="other", now=NOW)
        with pytest.raises(StoreError):
            start_conversation(account_id=other.pk, now=NOW, external_ref="crm:1")
