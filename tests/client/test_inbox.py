"""The inbox: nothing left in it is missed, whether its reader sleeps or not, and callers wake nobody."""

import threading
import time

import pytest

from counterfoil_recorder import inbox as module
from counterfoil_recorder.inbox import Inbox


@pytest.fixture
def taken():
    return []


@pytest.fixture
def inbox(taken):
    box = Inbox()

    def read():
        while (work := box.take()) is not None:
            taken.append(work())

    reader = threading.Thread(target=read)
    reader.start()
    yield box
    box.close()
    reader.join(10)
    assert not reader.is_alive()


def wait_for(taken, count):
    deadline = time.monotonic() + 5
    while len(taken) < count:
        assert time.monotonic() < deadline, f"{len(taken)} of {count}"
        time.sleep(0.005)


def test_work_is_taken_in_the_order_in_which_it_was_left(inbox, taken):
    for number in range(1_000):
        inbox.leave(lambda number=number: number)
    wait_for(taken, 1_000)
    assert taken == list(range(1_000))


def test_a_reader_that_sleeps_is_woken_at_once(inbox, taken, monkeypatch):
    monkeypatch.setattr(module, "_SLEEPS_AFTER", 0.0)
    monkeypatch.setattr(module, "_SLEEPS_FOR", 60.0)
    inbox.leave(lambda: 0)
    wait_for(taken, 1)
    for number in range(1, 20):
        time.sleep(0.05)
        inbox.leave(lambda number=number: number)
        wait_for(taken, number + 1)


def test_what_a_finalizer_left_is_found_when_the_reader_looks_again(inbox, taken, monkeypatch):
    monkeypatch.setattr(module, "_SLEEPS_AFTER", 0.0)
    monkeypatch.setattr(module, "_SLEEPS_FOR", 0.1)
    time.sleep(0.05)
    inbox.leave_from_finalizer(lambda: "left")
    wait_for(taken, 1)


def test_many_callers_at_once_lose_nothing(inbox, taken, monkeypatch):
    monkeypatch.setattr(module, "_SLEEPS_AFTER", 0.0)

    def leave(start):
        for number in range(start, start + 500):
            inbox.leave(lambda number=number: number)
            if number % 50 == 0:
                time.sleep(0.002)

    callers = [threading.Thread(target=leave, args=(start,)) for start in range(0, 4_000, 500)]
    for caller in callers:
        caller.start()
    for caller in callers:
        caller.join()
    wait_for(taken, 4_000)
    assert sorted(taken) == list(range(4_000))


def test_a_closed_inbox_gives_what_is_in_it_and_then_ends():
    box = Inbox()
    box.leave(lambda: 1)
    box.close()
    assert box.take()() == 1
    assert box.take() is None
