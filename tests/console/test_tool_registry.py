"""The tool registry in words: for those who read it, and in the log of its changes."""

import re

import pytest
from django.utils.html import strip_tags

from access.rights import RoleName
from ledger.services.policies import save_policy
from tests.console.conftest import NOW

pytestmark = pytest.mark.django_db


@pytest.fixture
def policy(realm, make_staff):
    """A tool that was registered free, and then made to ask where a rule says so."""
    owner = make_staff(RoleName.ADMINISTRATOR, name="registrar")
    known = {"realm": realm, "name": "charge_card", "user": owner, "now": NOW}
    save_policy(**known, effectful="no", replay_policy="free", key_scope="branch_root")
    return save_policy(
        **known,
        effectful="by_rule",
        rule=[{"path": "action", "is": "equal", "value": "buy"}],
        replay_policy="ask",
        key_scope="branch_root",
        processor="stripe",
    )


def words_of(page) -> str:
    assert page.status_code == 200
    return " ".join(strip_tags(page.content.decode().replace("<", " <")).split())


def test_who_may_not_change_a_tool_reads_its_settings_in_words(log_in, policy):
    words = words_of(log_in(RoleName.SUPPORT).get(f"/tool-registry/{policy.pk}/"))

    assert "Touches the world By rule" in words
    assert "A re-run on another branch Ask" in words
    assert "Equal calls are one operation by Branch root" in words
    assert not re.search(r"effectful|replay_policy|key_scope|by_rule|branch_root", words)


def test_the_log_of_changes_names_settings_and_values_as_the_form_does(log_in, policy):
    page = log_in(RoleName.SUPPORT).get(f"/tool-registry/{policy.pk}/")

    newest, first = page.context["changes"]
    assert newest.settings == [
        ("Touches the world", "No", "By rule"),
        (
            "Rule, where it depends on arguments",
            "",
            '[{"is": "equal", "path": "action", "value": "buy"}]',
        ),
        ("A re-run on another branch", "Free", "Ask"),
        ("Processor", "", "stripe"),
    ]
    # What was never said, such as the path of an amount, is no change.
    assert [label for label, _, _ in first.settings] == [
        "Touches the world",
        "A re-run on another branch",
        "Equal calls are one operation by",
        "Operation",
        "Amounts are written in",
    ]
    assert "Touches the world No → By rule" in words_of(page)


def test_the_list_and_the_form_write_choices_in_sentence_case(log_in, policy):
    registry = words_of(log_in(RoleName.SUPPORT).get("/tool-registry/"))
    form = words_of(log_in(RoleName.ADMINISTRATOR, name="ada").get(f"/tool-registry/{policy.pk}/"))

    for page in (registry, form):
        assert "Branch root" in page
        assert "By rule" in page
        assert not re.search("Branch Root|By Rule", page)
