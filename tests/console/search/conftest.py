"""The search box, as somebody of support uses it, and a conversation to be found."""

import pytest

from access.rights import RoleName
from tests.conversations.drafts import assistant, calls, results, user

CALL = "toolu_01A7bK9wq2Vd8sJ1n4Yh2P"


@pytest.fixture
def support(log_in):
    return log_in(RoleName.SUPPORT)


@pytest.fixture
def talk(make_conversation, say, answer):
    """A question, a call, its result, an answer."""
    conversation = make_conversation(title="Lisbon upgrade")
    asked = say(conversation, user("can I move to the Flexi fare with my old voucher?"))
    answer(
        conversation, asked, calls(CALL), provider_response_id="msg_01XYZ", provider_request_id="req_01XYZ"
    )
    say(conversation, results(CALL))
    say(conversation, assistant("Flexi costs 62.00 EUR more."))
    return conversation


def find(client, pasted: str, **more: str):
    return client.get("/search/", {"q": pasted, **more})


def leads_to(client, *pasted: str) -> list[str]:
    """Where the box leads at once; an answer that is a page says how many places it lists."""
    return [
        answer.headers.get("Location") or f"{len(answer.context['exact'].places)} places"
        for answer in (find(client, text) for text in pasted)
    ]
