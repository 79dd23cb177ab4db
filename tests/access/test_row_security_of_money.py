"""What counterfoil_read sees of findings, statements, runs, refunds, events: what is of its realms."""

import io
from datetime import timedelta

import pytest

from access.actors import Actor, ActorKind
from access.models import Realm
from access.reach import Reach
from access.reading import reading_as
from conversations.ids import mint_id
from conversations.models import RedactionSwitch
from conversations.services.accounts import ensure_account
from conversations.services.starting import start_conversation
from ledger.models import Alert, Compensation, Finding, MatchDecision, ReconciliationPolicy, WebhookEvent
from ledger.reconciliation.desk import comment_on_finding
from ledger.reconciliation.running import reconcile
from ledger.reconciliation.starting import Asked, start_reconciliation
from ledger.services.compensating import request_compensation
from ledger.services.disputes import take_dispute
from ledger.services.policies import save_policy
from ledger.services.refunds import take_refund
from ledger.services.settling import settle_effect
from ledger.statements.importing import Told, import_statement
from ledger.vocabulary import CompensationReason
from tests.access.tenants import CHARGING, count, rows, staff, without_scans
from tests.conversations.conftest import NOW
from tests.ledger.conftest import Talk
from tests.ledger.schema.rows import insert
from tests.ledger.seen import AGENT, charged, disputed, refunded

pytestmark = [pytest.mark.schema, pytest.mark.django_db]

FINANCE = Actor(ActorKind.STAFF, "7")
LATER = NOW + timedelta(days=5)
# Each has rows of both realms in these tests.
FILLED = (
    "ledger_tooleffect",
    "ledger_effectmove",
    "ledger_effectreference",
    "ledger_compensation",
    "ledger_compensationnote",
    "ledger_compensationversion",
    "ledger_dispute",
    "ledger_disputeversion",
    "ledger_contradiction",
    "ledger_toolpolicy",
    "ledger_toolpolicychange",
    "ledger_webhookevent",
    "ledger_statement",
    "ledger_statementline",
    "ledger_reconciliationpolicy",
    "ledger_reconciliationrun",
    "ledger_runinput",
    "ledger_runrow",
    "ledger_sighting",
    "ledger_alert",
    "ledger_finding",
    "ledger_findingevent",
    "ledger_findingcomment",
    "ledger_matchdecision",
    "conversations_redactionswitch",
)


class Tenant:
    """A realm with a charge, what was given back of it, and a run that found something."""

    def __init__(self, slug: str) -> None:
        self.slug = slug
        self.realm = Realm.objects.create(slug=slug, name=slug, created_at=NOW)
        self.reach = Reach(realm_ids=frozenset({self.realm.pk}))
        account = ensure_account(realm=self.realm, external_id=f"customer-{slug}", now=NOW)
        save_policy(realm=self.realm, name="charge_card", user=staff(), now=NOW, **CHARGING)
        talk = Talk(start_conversation(account_id=account.pk, now=NOW))
        talk.says(f"a hotel in {slug}")
        self.effect = talk.begins(talk.calls(f"toolu_{slug}"), f"toolu_{slug}").effect
        self._settle()
        self._compare()

    def _settle(self) -> None:
        charge = f"ch_{self.slug}"
        seen = charged(charge, intent=f"pi_{self.slug}", effect_id=self.effect.pk)
        settle_effect(effect_id=self.effect.pk, seen=seen, actor=AGENT, now=NOW)
        back = refunded(f"re_{self.slug}", charge=charge, amount_minor=500)
        take_refund(effect_id=self.effect.pk, seen=back, actor=AGENT, now=NOW)
        request_compensation(
            effect_id=self.effect.pk,
            amount_minor=100,
            reason=CompensationReason.ERROR,
            user=staff(),
            now=NOW,
            note="charged twice",
        )
        bank = disputed(reference=f"dp_{self.slug}", charge_ref=charge)
        take_dispute(effect_id=self.effect.pk, seen=bank, now=NOW)
        insert("contradiction", effect_id=self.effect.pk, reference=f"ch_{self.slug}_2")
        WebhookEvent.objects.create(
            id=mint_id(NOW),
            processor="stripe",
            event_id=f"evt_{self.slug}",
            type="charge.succeeded",
            occurred_at=NOW,
            received_at=NOW,
            effect=self.effect,
        )
        RedactionSwitch.objects.create(realm=self.realm, kinds=["card"], set_at=NOW)
        ReconciliationPolicy.objects.create(realm=self.realm, updated_at=NOW)

    def _compare(self) -> None:
        text = f"kind,reference,currency,occurred_at,amount_minor\ncharge,ch_{self.slug}_9,usd,{NOW},700\n"
        told = Told(
            name="march.csv", processor="stripe", period_start=NOW - timedelta(days=1), period_end=LATER
        )
        imported = import_statement(
            realm=self.realm, file=io.BytesIO(text.encode()), told=told, actor=FINANCE, now=LATER
        )
        asked = Asked(realm=self.realm, processor="stripe", statement_ids=[imported.statement.pk])
        self.run = start_reconciliation(asked=asked, actor=FINANCE, now=LATER)
        reconcile(run_id=self.run.job_id, clock=lambda: LATER)
        finding = Finding.objects.filter(realm=self.realm).first()
        comment_on_finding(finding_id=finding.pk, text="asked the bank", user=staff(), now=LATER)
        MatchDecision.objects.create(
            realm=self.realm,
            processor="stripe",
            reference=f"ch_{self.slug}_9",
            effect=self.effect,
            is_confirmed=False,
            decided_by=staff(),
            decided_at=LATER,
        )
        Alert.objects.create(
            id=mint_id(LATER),
            kind="failed",
            channel="webhook",
            about=f"run {self.run.pk}",
            run=self.run,
            payload={},
            written_at=LATER,
            next_attempt_at=LATER,
        )


@pytest.fixture
def eu() -> Tenant:
    return Tenant("eu")


@pytest.fixture
def us() -> Tenant:
    return Tenant("us")


def test_each_realm_sees_its_own_rows_of_every_table_and_no_other(eu, us):
    everything = {table: count(table) for table in FILLED}
    seen = []
    for reach in (eu.reach, us.reach, Reach(), Reach(sees_all=True)):
        with reading_as(reach):
            seen.append({table: count(table) for table in FILLED})

    of_eu, of_us, of_nobody, of_all = seen
    assert [table for table in FILLED if of_eu[table] == 0 or of_us[table] == 0] == []
    assert {table: of_eu[table] + of_us[table] for table in FILLED} == everything == of_all
    assert set(of_nobody.values()) == {0}


def test_another_realms_rows_are_not_there_even_by_their_keys(eu, us):
    finding = Finding.objects.filter(realm=us.realm).first()
    refund = Compensation.objects.get(external_ref="re_us")
    with reading_as(eu.reach):
        assert rows("SELECT * FROM ledger_finding WHERE id = %s", finding.pk) == []
        assert rows("SELECT * FROM ledger_findingcomment WHERE finding_id = %s", finding.pk) == []
        assert rows("SELECT * FROM ledger_reconciliationrun WHERE id = %s", us.run.pk) == []
        assert rows("SELECT * FROM ledger_runrow WHERE run_id = %s", us.run.pk) == []
        assert rows("SELECT * FROM ledger_compensationversion WHERE compensation_id = %s", refund.pk) == []
        assert rows("SELECT * FROM ledger_statementline WHERE reference = 'ch_us_9'") == []


def test_an_event_that_no_effect_knows_is_seen_by_who_sees_every_realm(eu):
    WebhookEvent.objects.filter(event_id="evt_eu").update(effect=None)

    with reading_as(eu.reach):
        assert count("ledger_webhookevent") == 0
    with reading_as(Reach(sees_all=True)):
        assert count("ledger_webhookevent") == 1


LOOK_UPS = {
    "the desk": "ledger_finding WHERE state = 'open' ORDER BY first_seen_at, id LIMIT 50",
    "what was found about an id": "ledger_finding WHERE reference = 'ch_1' AND reference <> ''",
    "the list of runs": "ledger_reconciliationrun ORDER BY requested_at DESC, id DESC LIMIT 50",
    "a run's rows": "ledger_runrow WHERE run_id = '0198f000-0000-0000-0000-000000000000' LIMIT 50",
    "the list of statements": "ledger_statement ORDER BY imported_at DESC, id DESC LIMIT 50",
    "lines about one object": "ledger_statementline WHERE reference = 'ch_1'",
}


@pytest.mark.parametrize("sought", LOOK_UPS)
def test_each_look_up_is_an_index_probe_under_the_policies(eu, sought):
    with reading_as(eu.reach), without_scans():
        plan = "\n".join(line for (line,) in rows(f"EXPLAIN SELECT * FROM {LOOK_UPS[sought]}"))

    assert "Index" in plan
    assert "Seq Scan" not in plan
