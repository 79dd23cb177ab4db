"""Realms that share one account at the processor: each judges its own, and sees no other's money."""

import io

import pytest

from access.models import Realm
from ledger.reconciliation.running import reconcile
from ledger.reconciliation.starting import Asked, start_reconciliation
from ledger.services.disputes import take_dispute
from ledger.statements.importing import Told, import_statement
from tests.conversations.conftest import NOW
from tests.ledger.reconciliation.conftest import CUT_OFF, FINANCE, SINCE, UNTIL, found, give, tied
from tests.ledger.seen import disputed

pytestmark = pytest.mark.django_db

HEADER = "kind,reference,currency,occurred_at,amount_minor,charge_ref,status,counterfoil_key\n"
AT = NOW.isoformat()


@pytest.fixture
def beside():
    """Reconcile a realm of its own that has nothing in the ledger."""
    other = Realm.objects.create(slug="other", name="Other", created_at=NOW)

    def make(*lines: str, **given):
        imported = import_statement(
            realm=other,
            file=io.BytesIO((HEADER + "\n".join(lines)).encode()),
            told=Told(name="all.csv", processor="stripe", period_start=SINCE, period_end=UNTIL),
            actor=FINANCE,
            now=UNTIL,
        )
        asked = Asked(
            realm=other,
            processor="stripe",
            statement_ids=[imported.statement.pk],
            cut_off=CUT_OFF,
            **given,
        )
        run = start_reconciliation(asked=asked, actor=FINANCE, now=CUT_OFF)
        reconcile(run_id=run.job_id, clock=lambda: CUT_OFF)
        run.refresh_from_db()
        return run

    return make


def test_what_is_anothers_is_no_finding_and_leaves_no_amount(beside, pays):
    effect = pays("ch_1")
    give(effect, "re_1", 500)
    take_dispute(effect_id=effect.pk, seen=disputed(amount_minor=700), now=NOW)

    run = beside(
        f"charge,ch_1,usd,{AT},2100,,,",
        f"release,txn_1,usd,{AT},200,ch_1,,",
        f"refund,re_1,usd,{AT},900,ch_1,,",
        f"refund,re_2,usd,{AT},100,ch_1,,",
        # Some statements name no charge with a dispute.
        f"dispute,dp_1,usd,{AT},800,,,",
        f"dispute,dp_2,usd,{AT},300,ch_1,,",
    )

    assert found(run) == []
    assert tied(run) == {}
    kept = run.rows.values_list(
        "matched_by", "effect_id", "compensation_id", "processor_minor", "ledger_minor"
    )
    assert set(kept) == {("other_realm", None, None, 0, 0)}


def test_a_charge_that_bears_only_the_key_of_another_realm_is_theirs(beside, begins):
    effect = begins()

    run = beside(f"charge,ch_9,usd,{AT},1900,,,{effect.idempotency_key}")

    assert found(run) == []
    assert run.rows.get().matched_by == "other_realm"


def test_what_no_realm_knows_is_judged_by_one_and_leaves_no_amount_in_the_others(beside):
    lines = (
        f"charge,ch_8,usd,{AT},1900,,,",
        f"charge,ch_9,usd,{AT},1900,,pending,",
        f"refund,re_9,usd,{AT},300,,,",
        f"dispute,dp_9,usd,{AT},300,,,",
    )

    judging, leaving = beside(*lines), beside(*lines, judges_unknown=False)

    assert [kind for kind, _, _ in found(judging)] == [
        "dispute_open",
        "missing_in_ledger",
        "missing_in_ledger",
    ]
    assert found(leaving) == []
    assert set(leaving.rows.values_list("matched_by", "processor_minor")) == {("other_realm", 0)}
