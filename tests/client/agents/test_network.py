"""A failing network, a store that is away, and one that refuses."""

from collections import deque

import httpx2
import pytest

from conversations.services.erased import remember_erased, subject_digest
from conversations.vocabulary import ErasedKind
from counterfoil_recorder import StoreUnavailable
from counterfoil_recorder.agents import SessionRefused
from tests.client.agents.conftest import do
from tests.client.agents.items import QUESTION, TURN, user

pytestmark = pytest.mark.django_db(transaction=True, databases=["default", "reader"])


@pytest.fixture
def faults(monkeypatch):
    """What happens to the next requests of new sessions: "refused", "lost", a status, or nothing."""
    faults = deque()

    class Faulty(httpx2.HTTPTransport):
        def handle_request(self, request):
            fault = faults.popleft() if faults else None
            if fault == "refused":
                raise httpx2.ConnectError("connection refused")
            if isinstance(fault, int):
                return httpx2.Response(fault, headers={"Retry-After": "0"})
            answer = super().handle_request(request)
            if fault == "lost":
                answer.read()
                answer.close()
                raise httpx2.ReadError("connection reset")
            return answer

    client = httpx2.Client
    monkeypatch.setattr(httpx2, "Client", lambda **options: client(transport=Faulty(), **options))
    return faults


@pytest.mark.parametrize("fault", ["refused", "lost", 503, 429])
def test_a_network_that_fails_doubles_and_loses_nothing(faults, make_session, fault):
    session = make_session()

    def shaken(work):
        for position in range(6):
            faults.clear()
            faults.extend([*[None] * position, fault])
            do(work(position))
        faults.clear()

    shaken(lambda n: session.add_items([user(f"{n}"), *TURN[2:6]]))
    assert do(session.get_items()) == [item for n in range(6) for item in (user(f"{n}"), *TURN[2:6])]
    popped = []

    async def pop(_):
        popped.append(await session.pop_item())

    shaken(pop)
    assert popped == [*reversed(TURN[2:6]), user("5"), TURN[5]]
    shaken(lambda _: session.clear_session())
    assert do(session.get_items()) == []


def test_a_store_that_is_away_is_said(faults, make_session):
    session = make_session(patience=0.3)
    faults.extend(["refused"] * 20)

    with pytest.raises(StoreUnavailable, match="connection refused"):
        do(session.add_items([QUESTION]))
    faults.clear()
    assert do(session.get_items()) == []


def test_what_the_store_refuses_for_good_is_said(make_session, realm):
    with pytest.raises(SessionRefused, match="401"):
        do(make_session(key="cfk_nothing").get_items())

    digest = subject_digest(kind=ErasedKind.EXTERNAL_ID, realm_id=realm.pk, value="customer-9")
    remember_erased(digests=[(ErasedKind.EXTERNAL_ID, digest)], now=realm.created_at)
    with pytest.raises(SessionRefused) as refused:
        do(make_session(account="customer-9").add_items([QUESTION]))
    assert refused.value.rule == "erased-subject"
