"""What a request says when it has ended, and of whom it says nothing any more."""

import json

import pytest

from conversations.models import Account, ErasedSubject
from conversations.services.accounts import ensure_account
from conversations.services.erased import ErasedError
from retention.erasure.receipt import is_genuine
from tests.retention.conftest import NOW, remaining
from tests.retention.erasure.conftest import CUSTOMER_ID, EMAIL, NAME, states_of

pytestmark = pytest.mark.django_db


def test_a_person_is_gone_and_a_receipt_says_so(their_talk, person, desk, make_talk):
    other = make_talk()

    request = desk(person)

    assert request.state == "done"
    assert set(states_of(request).values()) == {"done"}
    assert remaining() == {other.id}
    assert not Account.objects.filter(pk=person.pk).exists()
    receipt = json.loads(request.receipt.body)
    assert receipt["erased"] == {
        "account": 1,
        "conversation": 1,
        "headmove": 1,
        "message": 1,
        "messagepart": 1,
    }
    assert is_genuine(request.receipt)


def test_the_receipt_names_nobody_and_the_request_no_longer_does(their_talk, person, desk):
    request = desk(person, aliases=["Mrs Q."])

    assert not any(name in request.receipt.body for name in (NAME, EMAIL, CUSTOMER_ID, str(person.pk)))
    assert set(request.identifiers.values_list("value", flat=True)) == {""}
    assert len(json.loads(request.receipt.body)["identifiers"]) == 4


def test_a_receipt_that_was_changed_is_not_genuine(their_talk, person, desk):
    receipt = desk(person).receipt
    receipt.body = receipt.body.replace('"account":1', '"account":2')

    assert not is_genuine(receipt)


def test_an_erased_person_does_not_come_back_by_an_import(their_talk, person, desk, realm):
    desk(person)

    with pytest.raises(ErasedError):
        ensure_account(realm=realm, external_id=CUSTOMER_ID, now=NOW)

    assert set(ErasedSubject.objects.values_list("kind", flat=True)) == {
        "account",
        "conversation",
        "email",
        "external_id",
    }
    assert not Account.objects.filter(external_id=CUSTOMER_ID).exists()
