import signal
import sys
import threading
import time

import pytest

from config import processes
from config.processes import Group, Process, Stop

FOR_LONG = [sys.executable, "-c", "import time; print('at work', flush=True); time.sleep(60)"]
DEAF = [
    sys.executable,
    "-c",
    "import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN); " + FOR_LONG[2],
]


def ask_soon(stop):
    threading.Timer(0.5, stop.asked.set).start()


def test_processes_end_together_when_asked(capfd):
    stop = Stop()
    ask_soon(stop)
    members = [Process("first", FOR_LONG), Process("second", FOR_LONG)]
    with Group(members) as group:
        assert group.wait(stop) is None
    assert [member.status for member in members] == [-signal.SIGTERM, -signal.SIGTERM]
    said = capfd.readouterr().out
    assert "first  | at work\n" in said
    assert said.endswith("setup  | Stopping first, second\n")


def test_one_that_ends_by_itself_ends_the_others():
    failing = Process("failing", [sys.executable, "-c", "raise SystemExit(3)"])
    other = Process("other", FOR_LONG)
    with Group([other, failing]) as group:
        assert group.wait(Stop()) is failing
    assert (failing.status, other.status) == (3, -signal.SIGTERM)


def test_one_that_does_not_listen_is_killed(monkeypatch, capfd):
    monkeypatch.setattr(processes, "GRACE_SECONDS", 0.5)
    deaf = Process("deaf", DEAF)
    with Group([deaf]):
        wait_for(capfd, "deaf   | at work")
    assert deaf.status == -signal.SIGKILL
    assert "deaf   | did not end in time and is killed" in capfd.readouterr().out


def wait_for(capfd, words):
    deadline = time.monotonic() + 10
    while words not in capfd.readouterr().out:
        assert time.monotonic() < deadline
        time.sleep(0.05)


def test_the_first_signal_interrupts_setting_up_and_the_next_only_asks():
    with pytest.raises(KeyboardInterrupt), Stop.on_signals():
        signal.raise_signal(signal.SIGTERM)
    with Stop.on_signals() as stop:
        stop.interrupts = False
        signal.raise_signal(signal.SIGINT)
        assert stop.asked.is_set()
