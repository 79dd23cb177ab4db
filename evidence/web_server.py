"""The product's web server as operators run it: gunicorn with config/gunicorn.py, in processes of its own."""

import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from typing import Final

_START_SECONDS: Final = 60


class WebServer:
    """One address, at which the server is started, killed, and started again."""

    def __init__(self, *, workers: int = 2, threads: int = 4) -> None:
        with socket.create_server(("127.0.0.1", 0)) as free:
            self._port = free.getsockname()[1]
        self._size = {"WEB_WORKERS": str(workers), "WEB_THREADS": str(threads)}
        self._process: subprocess.Popen[bytes] | None = None
        self._said = tempfile.TemporaryFile()  # noqa: SIM115 -- shown where it does not start

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._port}"

    @property
    def pid(self) -> int:
        """The master's; its workers are its children."""
        return 0 if self._process is None else self._process.pid

    def start(self) -> None:
        """Return once it answers. It uses the database that this process was set up with."""
        command = [sys.executable, "-m", "gunicorn", "--config", "config/gunicorn.py"]
        self._process = subprocess.Popen(
            [*command, "--bind", f"127.0.0.1:{self._port}"],
            env=os.environ | self._size | {"LOG_LEVEL": "ERROR"},
            start_new_session=True,
            stderr=self._said,
        )
        deadline = time.monotonic() + _START_SECONDS
        while not self._answers():
            if self._process.poll() is not None or time.monotonic() > deadline:
                self._said.seek(0)
                raise RuntimeError(f"the web server does not start: {self._said.read().decode()[-2000:]}")
            time.sleep(0.1)

    def kill(self) -> None:
        """End master and workers at once, with whatever they are doing."""
        if self._process is not None:
            os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()
            self._process = None

    def _answers(self) -> bool:
        try:
            with urllib.request.urlopen(f"{self.url}/healthz", timeout=5):  # noqa: S310 -- our own address
                return True
        except urllib.error.HTTPError:
            # It answers, if only that its broker does not.
            return True
        except OSError:
            return False
