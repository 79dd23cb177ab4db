import os
import socket
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from http.client import HTTPConnection

import pytest
import stripe

from samples.processor.process import ROOT, LeverRefusedError, run_processor

PARAMS = {"amount": 2000, "currency": "usd", "payment_method": "pm_card_visa", "confirm": True}


def test_the_sandbox_is_a_process_of_its_own_and_ends_with_its_block():
    with run_processor() as processor:
        assert processor.pid != os.getpid()
        assert processor.client().v1.charges.list().data == []
        port = int(processor.base_url.rpartition(":")[2])

    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.1", port), timeout=1)


def test_the_books_and_the_keys_survive_a_kill(tmp_path):
    with run_processor(data=tmp_path / "books.sqlite3") as processor:
        intent = processor.client().v1.payment_intents.create(PARAMS, {"idempotency_key": "k-1"})

        processor.kill()
        processor.start_again()

        api = processor.client().v1
        assert api.payment_intents.create(PARAMS, {"idempotency_key": "k-1"}).id == intent.id
        assert len(api.charges.list().data) == 1


def test_a_key_that_was_running_when_the_process_died_has_done_nothing(tmp_path):
    with run_processor(data=tmp_path / "books.sqlite3") as processor:
        processor.ask_for("slow", seconds=30, when="before")
        with ThreadPoolExecutor(1) as pool:
            sent = pool.submit(
                processor.client().v1.payment_intents.create, PARAMS, {"idempotency_key": "k-1"}
            )
            while not processor.books()["idempotency_keys"]:
                time.sleep(0.02)
            processor.kill()
            assert isinstance(sent.exception(), stripe.APIConnectionError)
        processor.start_again()

        api = processor.client().v1
        assert api.charges.list().data == []
        again = api.payment_intents.create(PARAMS, {"idempotency_key": "k-1"})
        assert "Idempotent-Replayed" not in again.last_response.headers


def test_the_clock_starts_where_it_is_told_and_stands_if_frozen():
    with run_processor(clock="2026-03-01T12:00:00Z", frozen=True) as processor:
        intent = processor.client().v1.payment_intents.create(PARAMS)

        assert (processor.now(), intent.created) == (1772366400, 1772366400)
        assert processor.turn_clock(seconds=60) == 1772366460
        assert processor.now() == 1772366460


def test_the_clock_does_not_turn_back(processor):
    now = processor.now()

    with pytest.raises(LeverRefusedError, match="forward only"):
        processor.pull("clock", {"now": now - 10})

    assert processor.now() >= now


def test_a_reset_empties_the_books_and_may_set_the_clock(processor, stripe_api, pay):
    pay(key="k-1")

    processor.reset(now="2026-03-01T12:00:00Z", frozen=True)

    books = processor.books()
    assert books.pop("now") == 1772366400
    assert {name for name, rows in books.items() if rows} == set()


def test_a_clock_that_cannot_be_read_stops_the_start():
    command = [sys.executable, "-m", "samples.processor", "--clock", "yesterday"]

    ended = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=20, check=False)

    assert (ended.returncode, ended.stdout) == (2, "")
    assert ended.stderr == "samples.processor: Not a moment: yesterday\n"


@pytest.mark.parametrize("length", ["-1", "many", str(2 * 1024 * 1024)])
def test_a_body_that_is_too_large_or_lies_about_its_length_is_refused(processor, length):
    connection = HTTPConnection(processor.base_url.removeprefix("http://"), timeout=5)
    connection.putrequest("POST", "/v1/refunds")
    connection.putheader("Content-Length", length)
    connection.endheaders()

    assert connection.getresponse().status == 413
    connection.close()


@pytest.mark.parametrize("body", ["amount[=5", "a[b][c][d][e][f][g]=5", "amount=5&amount[k]=6", "metadata=x"])
def test_a_hostile_form_is_refused_politely(processor, body):
    connection = HTTPConnection(processor.base_url.removeprefix("http://"), timeout=5)
    headers = {"Authorization": f"Bearer {processor.api_key}"}
    connection.request("POST", "/v1/payment_intents", body, headers)

    response = connection.getresponse()

    assert response.status == 400
    assert b"invalid_request_error" in response.read()
    connection.close()


@pytest.mark.parametrize("wish", [{"advance": "a day"}, {"now": "soon"}, {"now": "2026-03-01T12:00:00"}])
def test_a_wish_that_cannot_be_read_is_refused(processor, wish):
    with pytest.raises(LeverRefusedError):
        processor.pull("clock", wish)


@pytest.mark.parametrize(
    ("authorization", "status"),
    [
        ("Basic c2tfdGVzdF9zYW5kYm94Og==", 200),  # sk_test_sandbox:
        ("Basic !", 401),
        ("Basic", 401),
        ("Bearer sk_test_sandbox", 200),
    ],
)
def test_the_key_may_come_as_the_user_of_basic_authentication(processor, authorization, status):
    connection = HTTPConnection(processor.base_url.removeprefix("http://"), timeout=5)
    connection.request("GET", "/v1/charges", headers={"Authorization": authorization})

    assert connection.getresponse().status == status
    connection.close()


def test_levers_ask_for_the_api_key(processor):
    connection = HTTPConnection(processor.base_url.removeprefix("http://"), timeout=5)
    connection.request("POST", "/sandbox/reset", "{}")

    assert connection.getresponse().status == 401
    connection.close()
