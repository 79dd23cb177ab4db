"""Recorded traffic is sent once, in order, whatever happens on the way; what is not in is said, by line."""

import gzip
import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import call_command

from conversations.models import Account, Conversation, Generation
from conversations.replay.bodies import request_body_of
from counterfoil_recorder.backfill.calls import call_of
from counterfoil_recorder.backfill.command import ALL_IN, NOT_FINISHED, SOME_BAD, WRONG_CALL, main
from counterfoil_recorder.backfill.sending import Settled
from tests.client.conftest import message
from tests.client.test_delivery import wait_until


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch, key):
    """The command looks for its key in the environment, and keeps its cursor where it is called."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COUNTERFOIL_KEY", key)
    return tmp_path


def call(*said, **changes):
    """Write a line: a request of what was said so far, in turns, and the answer to it."""
    roles = ("user", "assistant")
    messages = [{"role": roles[n % 2], "content": text} for n, text in enumerate(said[:-1])]
    request = {"model": "m", "max_tokens": 9, "messages": messages}
    line = {"path": "/v1/messages", "request_body": json.dumps(request), "response_status": 200}
    return line | {"response_body": message(said[-1]).decode()} | changes


def dialogue(name, turns=3, **changes):
    said = [f"{name} {n}" for n in range(2 * turns)]
    return [call(*said[: 2 * turn], **changes) for turn in range(1, turns + 1)]


def write(lines, name="calls.jsonl"):
    path = Path(name)
    path.write_text("".join(f"{line if isinstance(line, str) else json.dumps(line)}\n" for line in lines))
    return path


@pytest.fixture
def backfill(store, capsys):
    def backfill(*arguments, account="customer-7"):
        status = main([*map(str, arguments), "--url", store.url, "--account", account])
        return status, capsys.readouterr().err

    return backfill


def interleaved(*lists):
    return [line for several in zip(*lists, strict=True) for line in several]


def test_calls_are_recorded_in_the_conversations_that_they_made(backfill):
    lines = interleaved(*(dialogue(f"chat {n}", conversation=f"chat-{n}") for n in range(5)))
    status, told = backfill(write(lines))

    assert (status, told) == (ALL_IN, "15 recorded\n")
    assert Account.objects.get().external_id == "customer-7"
    assert sorted(Conversation.objects.values_list("external_ref", flat=True)) == [
        f"chat-{n}" for n in range(5)
    ]
    for conversation in Conversation.objects.all():
        assert conversation.next_seq == 7
        assert set(conversation.generations.values_list("match", flat=True)) == {"started", "continued"}
    bodies = {
        request_body_of(conversation_id=g.conversation_id, number=g.number) for g in Generation.objects.all()
    }
    assert bodies == {line["request_body"].encode() for line in lines}


def test_calls_that_name_no_conversation_stay_in_order(backfill):
    """A line that came before the one it goes on from would begin a conversation of its own."""
    backfill(write(dialogue("chat", turns=8)), "--in-flight", 8)

    assert Conversation.objects.get().next_seq == 17


def test_what_belongs_together_is_told_by_a_member(backfill):
    lines = interleaved(*(dialogue(f"chat {n}", trace=f"t{n}") for n in range(6)))
    backfill(write(lines), "--together", "trace")

    assert sorted(Conversation.objects.values_list("next_seq", flat=True)) == [7] * 6


def test_a_second_run_adds_nothing(backfill):
    path = write(dialogue("chat"))
    backfill(path)

    status, told = backfill(path)
    assert status == ALL_IN
    assert "goes on behind line 3" in told
    assert "0 recorded; by earlier runs 3 recorded" in told

    assert backfill(path, "--again") == (ALL_IN, "0 recorded, 3 known before\n")
    assert Generation.objects.count() == 3


def test_a_file_that_grew_is_gone_on_with(backfill):
    lines = dialogue("chat")
    backfill(write(lines[:2]))

    assert "1 recorded; by earlier runs 2 recorded" in backfill(write(lines))[1]
    assert Conversation.objects.get().next_seq == 7


def test_a_line_that_is_still_being_written_is_read_again(backfill):
    lines = dialogue("chat")
    path = write(lines)
    path.write_text(path.read_text()[:-30])
    status, told = backfill(path)
    assert (status, "line 3: no JSON" in told) == (SOME_BAD, True)

    status, told = backfill(write(lines))
    assert (status, told.splitlines()[-1]) == (ALL_IN, "1 recorded; by earlier runs 2 recorded")


def test_what_was_imported_from_the_same_file_is_known(backfill):
    path = write(dialogue("chat"))
    call_command("import_conversations", path, realm="north", account="customer-7", stdout=StringIO())

    assert backfill(path) == (ALL_IN, "0 recorded, 3 known before\n")
    assert Generation.objects.count() == 3


def test_another_file_of_the_same_name_is_sent_whole(backfill):
    backfill(write(dialogue("one")))

    assert backfill(write(dialogue("two"))) == (ALL_IN, "3 recorded\n")


def test_another_store_or_account_does_not_go_by_the_cursor(backfill):
    path = write(dialogue("chat"))
    backfill(path)

    assert "goes on" not in backfill(path, account="customer-8")[1]


def test_lines_that_cannot_be_sent_are_named_and_the_rest_goes_in(backfill):
    good = dialogue("chat")
    bad = ['{"half', "[]", "7", {"path": "/v1/messages"}, call("x", "y", path="", dialect="")]
    status, told = backfill(write([good[0], *bad, "", good[1], good[2]]))

    assert status == SOME_BAD
    assert [int(n) for n in re.findall(r"calls\.jsonl, line (\d+): ", told)] == [2, 3, 4, 5, 6]
    for reason in ("no JSON:", "no JSON object", "bodies of a request", "give --dialect"):
        assert reason in told
    assert told.endswith("3 recorded, 5 bad lines\n")
    assert Conversation.objects.get().next_seq == 7
    # The next run does not read them again, and does not forget them.
    assert backfill("calls.jsonl")[0] == SOME_BAD


def test_what_the_store_refuses_is_named(backfill):
    lines = [call("a", "b", conversation_id="00000000-0000-7000-8000-000000000000"), call("c", "d")]
    status, told = backfill(write(lines))

    assert status == SOME_BAD
    assert "calls.jsonl, line 1: refused by the store: 404 no-conversation: " in told
    assert Generation.objects.count() == 1


def test_a_call_without_an_owner_is_a_bad_line(backfill):
    lines = [call("a", "b"), call("c", "d", account="customer-9")]

    assert "line 1: the line does not say whose call it is" in backfill(write(lines), account="")[1]
    assert Account.objects.get().external_id == "customer-9"


def test_other_traffic_is_passed_over(backfill):
    other = call("a", "b", path="/v1/messages/count_tokens"), call("a", "b", method="GET")

    assert backfill(write([*other, call("a", "b")])) == (
        ALL_IN,
        "1 recorded, 2 passed over that are no calls to a model\n",
    )


def test_what_is_known_of_a_call_goes_with_it(backfill):
    line = call(
        *("a", "b"),
        exchange_id="x-1",
        request_id="r-1",
        prompt_version="p-2",
        provider="bedrock",
        timestamp=1_700_000_000_000,
        finished_at="2023-11-14T22:13:21Z",
        response_status=529,
    )
    backfill(write([line]))

    kept = Generation.objects.get()
    assert (kept.request_id, kept.prompt_version, kept.provider, kept.http_status) == (
        "r-1",
        "p-2",
        "bedrock",
        529,
    )
    assert (kept.finished_at.isoformat(), kept.total_ms) == ("2023-11-14T22:13:21+00:00", 1000)


def test_nested_requests_and_values_in_place_of_texts_are_read(backfill):
    first = call("a", "b")
    nested = {
        "request": {"url": "https://api.anthropic.com/v1/messages?beta=true", "body": first["request_body"]},
        "response": {"status": 200, "body": json.loads(first["response_body"])},
    }
    assert backfill(write([nested])) == (ALL_IN, "1 recorded\n")
    [generation] = Generation.objects.all()
    assert (generation.status, generation.http_status) == ("complete", 200)


def test_a_packed_file_is_read_and_gone_on_with(backfill):
    lines = dialogue("chat")
    path = Path("calls.jsonl.gz")
    path.write_bytes(gzip.compress(write(lines[:2]).read_bytes()))
    backfill(path)
    path.write_bytes(gzip.compress(write(lines).read_bytes()))

    assert "1 recorded; by earlier runs 2 recorded" in backfill(path)[1]


def test_the_store_is_waited_for(backfill, store):
    store.faults.extend([503, "lost", "cut", 429])

    assert backfill(write(dialogue("chat")), "--in-flight", 1) == (ALL_IN, "2 recorded, 1 known before\n")
    assert Generation.objects.count() == 3


def test_a_store_that_stays_away_ends_the_run_which_can_be_gone_on_with(backfill, store):
    path = write(dialogue("chat"))
    store.faults.extend([*[503] * 50])

    status, told = backfill(path, "--patience", 0.5, "--in-flight", 1)
    assert status == NOT_FINISHED
    assert "run the same command again" in told
    store.faults.clear()
    assert backfill(path)[0] == ALL_IN
    assert Conversation.objects.get().next_seq == 7


def test_what_is_called_wrongly_is_said(backfill, monkeypatch):
    assert backfill("nowhere.jsonl") == (WRONG_CALL, "nowhere.jsonl: there is no such file\n")
    monkeypatch.delenv("COUNTERFOIL_KEY")
    status, told = backfill(write([]))
    assert status == WRONG_CALL
    assert "COUNTERFOIL_KEY" in told


def test_a_key_that_does_not_open_is_said_at_once(backfill, monkeypatch):
    monkeypatch.setenv("COUNTERFOIL_KEY", "cfk_nothing")

    assert backfill(write(dialogue("chat")))[0] == NOT_FINISHED


def test_a_run_that_is_killed_is_gone_on_with(backfill, store, here, key):
    lines = interleaved(*(dialogue(f"chat {n}", conversation=f"chat-{n}") for n in range(10)))
    path = write(lines)
    environment = {
        "PATH": os.environ["PATH"],
        "COUNTERFOIL_KEY": key,
        "PYTHONPATH": os.pathsep.join(sys.path),
    }
    command = [sys.executable, "-m", "counterfoil_recorder.backfill", str(path), "--url", store.url]
    process = subprocess.Popen(
        [*command, "--account", "customer-7"], env=environment, cwd=here, stderr=subprocess.DEVNULL
    )
    try:
        wait_until(lambda: Generation.objects.count() >= 5)
    finally:
        process.send_signal(signal.SIGKILL)
        process.wait()

    assert backfill(path)[0] == ALL_IN
    assert Generation.objects.count() == len(lines)
    assert set(Conversation.objects.values_list("next_seq", flat=True)) == {7}


def test_the_file_is_read_no_faster_than_the_store_takes_it(backfill, store, monkeypatch):
    read = []

    def counted(*arguments, **options):
        read.append(1)
        return call_of(*arguments, **options)

    monkeypatch.setattr("counterfoil_recorder.backfill.command.call_of", counted)
    monkeypatch.setattr("counterfoil_recorder.backfill.sending._WAITING_BYTES", 1_000_000)
    path = write([call(f"{n} {'x' * 99_000}", "b", trace=str(n)) for n in range(40)])
    store.faults.extend(["hang"] * 4)
    run = threading.Thread(target=backfill, args=(path, "--together", "trace"))
    run.start()
    wait_until(lambda: len(read) >= 10)
    time.sleep(0.3)
    # One more is read before there is room for it; a sender on whose lanes nothing hangs goes on.
    assert len(read) < 40
    waiting = len(read) - Generation.objects.count()
    store.release.set()
    run.join()

    assert waiting <= 11
    assert Generation.objects.count() == 40


def test_pieces_of_work_are_counted_up_to_the_first_gap():
    settled = Settled()
    numbers = [settled.begin() for _ in range(4)]
    for number in (numbers[1], numbers[0], numbers[3]):
        settled.settle(number, f"n{number}")

    assert settled.take() == ["n1", "n2"]
    assert settled.take() == []
    settled.settle(numbers[2], "n3")
    assert settled.take() == ["n3", "n4"]
    assert settled.counts.total() == 4
