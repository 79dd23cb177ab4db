"""The product's web server in a process that is struck at a step, and comes back at the same address.

gunicorn with one worker that takes one request at a time, so that the steps have an order. The
socket is this process's: while the server is away, requests wait at it as they do behind a proxy.
"""

import os
import signal
import socket
import time
import warnings
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Any
from unittest.mock import patch

from django.core.wsgi import get_wsgi_application
from django.db import connections
from django.urls import get_resolver
from gunicorn.app.base import BaseApplication

from evidence.crashes.steps import How, Steps

_BACKLOG = 64
_DEATH_SECONDS = 10


class WebServer:
    """One address. `start` it, with a step at which it kills itself or without; `stop` it."""

    def __init__(self, *, clock: Callable[[], datetime], folder: Path) -> None:
        self._clock, self._told = clock, folder / "steps.txt"
        self._socket = socket.create_server(("127.0.0.1", 0), backlog=_BACKLOG)
        self._process = 0
        with warnings.catch_warnings():
            # No file is asked for here, so none need be collected.
            warnings.filterwarnings("ignore", message="No directory at")
            self._application = get_wsgi_application()
        # All of the product is read now, not by each server at its first request.
        list(get_resolver().url_patterns)

    @property
    def address(self) -> str:
        return f"127.0.0.1:{self._socket.getsockname()[1]}"

    def start(self, *, at: int = 0) -> None:
        connections.close_all()
        self._told.write_text("")
        self._process = os.fork()
        if self._process == 0:
            os.setpgid(0, 0)
            try:
                self._serve(_ToldSteps(at=at, told=self._told))
            finally:
                os._exit(1)
        # On both sides, so that the group is there whoever comes first.
        os.setpgid(self._process, self._process)

    def _serve(self, steps: Steps) -> None:
        _Served(self._application, self._socket.fileno(), steps=steps, clock=self._clock).run()

    def has_died(self) -> bool:
        """Tell whether it killed itself; it is given a moment for that."""
        deadline = time.monotonic() + _DEATH_SECONDS
        while self._process and time.monotonic() < deadline:
            if os.waitpid(self._process, os.WNOHANG) != (0, 0):
                self._process = 0
            else:
                time.sleep(0.01)
        return not self._process

    def stop(self) -> None:
        """Kill it with its workers, if it is there."""
        process, self._process = self._process, 0
        if process:
            os.killpg(process, signal.SIGKILL)
            os.waitpid(process, 0)

    def steps(self) -> list[str]:
        """What the server that ran last did, step by step."""
        return self._told.read_text().splitlines()

    def close(self) -> None:
        self.stop()
        self._socket.close()


class _ToldSteps(Steps):
    """Steps of a process that never comes to its end: each is written down as it is reached."""

    def __init__(self, *, at: int, told: Path) -> None:
        super().__init__(at=at, how=How.KILL)
        self._file = os.open(told, os.O_WRONLY | os.O_APPEND)

    def reach(self, name: str) -> None:
        os.write(self._file, f"{name}\n".encode())
        super().reach(name)

    def _strike(self) -> None:
        """The whole server: its master would start another worker."""
        os.kill(os.getppid(), signal.SIGKILL)
        os.kill(os.getpid(), signal.SIGKILL)


class _Served(BaseApplication):
    """The product under gunicorn, by the sandbox's clock."""

    def __init__(
        self, application: Any, descriptor: int, *, steps: Steps, clock: Callable[[], datetime]
    ) -> None:
        self._application, self._descriptor = application, descriptor
        self._steps, self._clock = steps, clock
        super().__init__()

    def load_config(self) -> None:
        for name, value in {
            "bind": [f"fd://{self._descriptor}"],
            "workers": 1,
            "worker_class": "sync",
            "loglevel": "critical",
            "control_socket_disable": True,
            "post_fork": self._watch,
        }.items():
            self.cfg.set(name, value)

    def load(self) -> Any:
        return self._application

    def _watch(self, server: Any, worker: Any) -> None:
        patch("django.utils.timezone.now", self._clock).start()
        self._steps.watch()
