"""One person who is to go, with something to find of them, and the desk that erases them."""

from functools import partial

import pytest

from tests.retention.desk import erased

NAME, EMAIL, CUSTOMER_ID = "Quirina Sample", "q.sample@example.org", "cust-88417"


@pytest.fixture
def person(make_account):
    return make_account(external_id=CUSTOMER_ID, label=NAME, email=EMAIL)


@pytest.fixture
def their_talk(person, make_talk):
    return make_talk(account_id=person.pk, words=f"I am {NAME}, write to {EMAIL}", title=f"{NAME}'s order")


@pytest.fixture
def desk(officer, second):
    """Take a request through to its end as two people do."""
    return partial(erased, officer=officer, second=second)


def states_of(request):
    return {step.name: step.state for step in request.steps.all()}
