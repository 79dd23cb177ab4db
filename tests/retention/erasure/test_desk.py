"""From intake to approval: who may do what, whom it is about, and how long it may take."""

from datetime import timedelta

import pytest

from access.models import AccessEntry
from conversations.errors import ConflictError
from conversations.models import Account, Conversation
from jobs.models import JobRun
from retention.errors import TwoPeopleError
from retention.models import ErasureRequest
from retention.services.erasing import approve_erasure, extend_term, withdraw
from retention.services.taking_in import find_accounts
from tests.conversations.schema.rows import execute
from tests.retention.conftest import NOW, remaining
from tests.retention.desk import previewed, request_for
from tests.retention.erasure.conftest import CUSTOMER_ID, EMAIL

pytestmark = pytest.mark.django_db


def test_whoever_took_it_in_cannot_approve_it(their_talk, person, officer):
    request = previewed(person, user=officer)

    with pytest.raises(TwoPeopleError):
        approve_erasure(request_id=request.pk, user=officer, now=NOW)

    assert remaining() == {their_talk.id}
    assert not JobRun.objects.exists()


def test_nothing_is_approved_before_it_was_previewed(their_talk, person, officer, second):
    request = request_for(person, user=officer)

    with pytest.raises(ConflictError):
        approve_erasure(request_id=request.pk, user=second, now=NOW)

    assert ErasureRequest.objects.get().state == "intake"


@pytest.mark.parametrize("name", [EMAIL.upper(), CUSTOMER_ID])
def test_a_person_is_found_by_what_they_are_called(person, make_account, name):
    make_account()

    assert find_accounts(realm_id=person.realm_id, names=[name, "nobody"]) == [person]


def test_a_person_is_found_by_the_accounts_own_id(person, make_account):
    assert find_accounts(realm_id=person.realm_id, names=[str(person.pk)]) == [person]


def test_the_preview_has_three_groups(their_talk, person, bought, officer, make_talk):
    execute(
        "UPDATE conversations_conversation SET account_id = %s WHERE id = %s",
        person.pk,
        bought.conversation_id,
    )
    execute("UPDATE ledger_tooleffect SET account_id = %s", person.pk)

    preview = previewed(person, user=officer).preview

    rows = {row["store"]: (row["erased"], row["pseudonymised"], row["kept"]) for row in preview}
    assert rows["accounts"] == (0, 0, 1)
    assert rows["conversation"] == (1, 0, 1)
    assert rows["message"] == (1, 0, 2)
    assert rows["effects"] == (0, 1, 0)
    assert preview[0]["ground"] == f"An effect is open: {bought.pk}"


def test_the_clock_is_extended_once_with_a_reason(person, officer):
    request = request_for(person, user=officer)
    assert request.due_at == NOW + timedelta(days=30)

    extended = extend_term(request_id=request.pk, user=officer, now=NOW, note="many accounts")

    assert extended.due_at == NOW + timedelta(days=90)
    with pytest.raises(ConflictError):
        extend_term(request_id=request.pk, user=officer, now=NOW, note="more")


def test_a_withdrawn_request_forgets_the_names(person, officer):
    request = request_for(person, user=officer)

    withdraw(request_id=request.pk, user=officer, now=NOW)

    assert set(request.identifiers.values_list("value", flat=True)) == {""}
    assert Account.objects.filter(pk=person.pk).exists()


def test_one_account_has_one_open_request(person, officer):
    first = request_for(person, user=officer)

    with pytest.raises(ConflictError):
        request_for(person, user=officer)

    assert (first.number, ErasureRequest.objects.count()) == ("ER-2026-0001", 1)


def test_every_act_of_the_desk_is_in_the_access_log(their_talk, person, desk):
    request = desk(person)

    lines = AccessEntry.objects.filter(target_kind="erasure").values_list("action", "target_id")
    assert list(lines) == [("change", request.number)] * 4
    assert not Conversation.objects.exists()
