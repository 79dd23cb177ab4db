"""The last step looks for the names again, also where no rule points."""

import json

import pytest

from conversations.models import MessagePart
from conversations.services.recording import record_exchange
from conversations.vocabulary import Dialect
from retention.archiving import archive_bytes
from retention.erasure.steps import searching
from tests.conversations.schema.rows import fetch
from tests.retention.conftest import CUSTOMER, NOW
from tests.retention.erasure.conftest import NAME, states_of

pytestmark = pytest.mark.django_db


def test_what_is_found_again_is_named_and_no_receipt_is_written(their_talk, person, desk, make_talk):
    make_talk(words=f"My neighbour {NAME} has the same problem")

    request = desk(person)

    assert request.state == "partly_done"
    step = request.steps.get(name="searching")
    assert (step.state, step.cause) == ("skipped", "found again in conversations_messagepart.text")
    assert not hasattr(request, "receipt")
    assert MessagePart.objects.count() == 1


def test_a_name_inside_somebody_elses_archive_is_found(their_talk, person, desk, make_talk):
    other = make_talk(words=f"My neighbour is {NAME}")
    archive_bytes(conversation_id=other.id, now=NOW)

    request = desk(person)

    assert request.state == "partly_done"
    step = request.steps.get(name="searching")
    assert step.kept["an archive file"] == 1


def test_files_are_searched_a_page_at_a_time_each_once(folder, monkeypatch):
    monkeypatch.setattr(searching, "FILES", 2)
    for key in ("aa/1", "aa/2", "aa/3", "ab/1"):
        path = folder / key
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(f"{NAME} of {key}".encode())
    (folder / "aa/2").unlink()
    (folder / "aa/2").symlink_to(folder / "taken by the purge meanwhile")

    found, after = [], ["files", "", 0]
    while after[0] == "files":
        outcome = searching._search([NAME], after)
        found.append(outcome.kept.get("blob storage", 0))
        after = outcome.after

    assert (found, after) == ([1, 2, 0], ["broker", "", 0])


def test_a_name_that_only_the_patch_of_a_body_holds_is_found(person, desk, make_account):
    """The rendering differs from what was sent by a member that no row has: the patch quotes it."""
    other = make_account(external_id="other")
    body = json.dumps(
        {
            "model": "claude-sonnet-4-5",
            "max_tokens": 100,
            "messages": [
                {"role": "user", "content": "Where is order 1042? " * 40, "name": NAME},
                {"role": "user", "content": [{"type": "text", "text": "Please."}]},
            ],
        },
        indent=1,
    )
    record_exchange(
        account=other,
        request_body=body.encode(),
        response_body=None,
        dialect=Dialect.ANTHROPIC_MESSAGES,
        actor=CUSTOMER,
        now=NOW,
        exchange_id="x-1",
    )
    assert fetch("SELECT body_proof FROM conversations_generation") == [("patched",)]

    request = desk(person)

    assert request.steps.get(name="searching").kept["conversations_generation.body_patch"] == 1


def test_a_person_of_short_names_is_erased_and_the_receipt_says_what_was_not_searched(
    make_account, make_talk, desk
):
    short = make_account(external_id="42")
    make_talk(account_id=short.pk)

    request = desk(short)

    assert request.state == "done", states_of(request)
    steps = {step["step"]: step for step in json.loads(request.receipt.body)["steps"]}
    assert steps["searching"]["kept"] == {"names too short to search for": 1}
