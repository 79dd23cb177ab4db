"""The first page's lines, and a charge that waits."""

import pytest

from access.rights import RoleName
from conversations.drafts import MessageDraft
from conversations.vocabulary import Role
from tests.console import money
from tests.console.conftest import NOW
from tests.conversations.drafts import user


@pytest.fixture
def registrar(make_staff):
    return make_staff(RoleName.ADMINISTRATOR, name="registrar")


@pytest.fixture
def charge(make_conversation, say, registrar):
    """A conversation with a charge that is settled, or was sent and not answered."""

    def make(number: int = 1, *, is_settled: bool = True):
        conversation = make_conversation(title=f"Trip {number}")
        money.register_tool(conversation, registrar)
        say(conversation, user())
        call_id = f"toolu_{number}"
        draft = MessageDraft(role=Role.ASSISTANT, parts=[money.charging(call_id)])
        effect = money.begin(conversation, say(conversation, draft), call_id)
        if is_settled:
            return money.settle(effect, f"ch_{number}")
        money.mark_sent(effect_id=effect.pk, now=NOW)
        return effect

    return make


def lines(page) -> dict[str, tuple[int, list[tuple[int, str]]]]:
    return {
        row.what: (row.count, row.amounts) for section in page.context["sections"] for row in section.rows
    }
