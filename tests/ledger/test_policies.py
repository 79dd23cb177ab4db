import pytest

from conversations.errors import StoreError
from ledger.models import ToolPolicy, ToolPolicyChange
from ledger.services.policies import changes_of, save_policy
from tests.ledger.conftest import LATER, NOW

pytestmark = pytest.mark.django_db


def test_a_new_tool_is_logged_with_nothing_before(register):
    policy = register()

    [change] = policy.changes.all()
    assert (change.before, change.after["replay_policy"], change.changed_at) == (None, "ask", NOW)


def test_a_change_is_logged_with_both_values_and_who(register, realm, staff):
    policy = register()
    ben = staff("ben")

    save_policy(realm=realm, name="charge_card", user=ben, now=LATER, replay_policy="never")

    newest, _ = changes_of(policy)
    assert newest[0].changed_by == ben
    assert newest[1] == {"replay_policy": ("ask", "never")}


def test_saving_what_stands_is_no_change(register, realm, staff):
    register()

    save_policy(realm=realm, name="charge_card", user=staff("ben"), now=LATER, replay_policy="ask")

    assert ToolPolicyChange.objects.count() == 1


@pytest.mark.parametrize(
    ("values", "rule"),
    [
        ({"key_scope": "day"}, "policy-value-unknown"),
        ({"colour": "red"}, "policy-field-unknown"),
        ({"effectful": "no"}, "policy-contradicts-itself"),
        ({"processor": ""}, "policy-without-processor"),
        ({"rule": [{"path": "a", "is": "present"}]}, "rule-unused"),
        ({"effectful": "by_rule"}, "rule-empty"),
        ({"effectful": "by_rule", "rule": [{"is": "present"}]}, "rule-without-path"),
        ({"effectful": "by_rule", "rule": [{"path": "a", "is": "like"}]}, "rule-comparison-unknown"),
        ({"effectful": "by_rule", "rule": [{"path": "a", "is": "equal"}]}, "rule-without-value"),
        ({"effectful": "by_rule", "rule": [{"path": "a", "is": "one_of", "value": 1}]}, "rule-without-value"),
        ({"effectful": "by_rule", "rule": ["a > 1"]}, "rule-unreadable"),
    ],
)
def test_a_policy_that_says_nothing_sensible_is_refused(register, values, rule):
    with pytest.raises(StoreError) as refused:
        register(**values)

    assert refused.value.rule == rule
    assert ToolPolicy.objects.count() == 0
