"""The store is waited for; a run that is killed can be gone on with."""

import os
import signal
import subprocess
import sys
import threading
import time

from conversations.models import Conversation, Generation
from counterfoil_recorder.backfill.calls import call_of
from counterfoil_recorder.backfill.command import ALL_IN, NOT_FINISHED
from counterfoil_recorder.backfill.sending import Settled
from tests.client.backfill.conftest import call, dialogue, interleaved, write
from tests.client.conftest import wait_until


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
