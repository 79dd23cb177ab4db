"""A group of processes that live and end together, each line of theirs marked with its name."""

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType, TracebackType
from typing import Self

GRACE_SECONDS = 20
LOOK_EVERY_SECONDS = 0.2
# Ctrl-C, a service manager, and a terminal that was closed.
ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def say(name: str, line: str) -> None:
    sys.stdout.write(f"{name:<6} | {line}\n")
    sys.stdout.flush()


class Stop:
    """Whether somebody asked for the end. While things are set up, asking interrupts them."""

    def __init__(self) -> None:
        self.asked = threading.Event()
        self.interrupts = True

    def __call__(self, number: int, frame: FrameType | None) -> None:
        self.asked.set()
        if self.interrupts:
            self.interrupts = False
            raise KeyboardInterrupt

    @classmethod
    @contextmanager
    def on_signals(cls) -> Iterator["Stop"]:
        stop = cls()
        before = {number: signal.signal(number, stop) for number in ENDING}
        try:
            yield stop
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)


class Process:
    def __init__(self, name: str, command: list[str]) -> None:
        self.name = name
        self.command = command
        self.running: subprocess.Popen[str] | None = None

    @property
    def status(self) -> int | None:
        return self.running.poll() if self.running else None

    def start(self) -> None:
        # A session of its own: Ctrl-C reaches us alone, and we end the others in order.
        self.running = subprocess.Popen(
            self.command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            start_new_session=True,
            env={**os.environ, "PYTHONUNBUFFERED": "1"},
        )
        threading.Thread(target=self._echo, daemon=True).start()

    def _echo(self) -> None:
        if self.running and self.running.stdout:
            for line in self.running.stdout:
                say(self.name, line.rstrip("\n"))

    def ask_to_end(self) -> None:
        if self.running and self.running.poll() is None:
            self.running.terminate()

    def end(self, *, within: float) -> None:
        """Wait for the end that was asked for; then take down whatever is left of its session."""
        if self.running is None:
            return
        try:
            self.running.wait(timeout=max(within, 0))
        except subprocess.TimeoutExpired:
            say(self.name, "did not end in time and is killed")
        try:
            os.killpg(self.running.pid, signal.SIGKILL)
        except ProcessLookupError:
            return
        self.running.wait()


class Group:
    def __init__(self, processes: list[Process]) -> None:
        self.processes = processes

    def __enter__(self) -> Self:
        for process in self.processes:
            process.start()
        return self

    def wait(self, stop: Stop) -> Process | None:
        """Return None when the end is asked for, or the first process that ended by itself."""
        stop.interrupts = False
        while not stop.asked.wait(LOOK_EVERY_SECONDS):
            for process in self.processes:
                if process.status is not None:
                    return process
        return None

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        say("setup", "Stopping " + ", ".join(process.name for process in self.processes))
        deadline = time.monotonic() + GRACE_SECONDS
        for process in self.processes:
            process.ask_to_end()
        for process in self.processes:
            process.end(within=deadline - time.monotonic())
