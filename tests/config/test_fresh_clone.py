"""The first ten minutes of somebody new: clone, `script/server`, Ctrl-C, `script/test`."""

import http.cookiejar
import json
import os
import re
import signal
import socket
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Iterator
from dataclasses import replace

import psycopg
import pytest
from psycopg.sql import SQL, Identifier

from config import ports, roles
from tests.config.stranger import Stranger, arrive

# One file goes to one worker: its tests share a stranger, whose second start follows the first.
pytestmark = pytest.mark.fresh_clone


STOP_SECONDS = 90


@pytest.fixture(scope="module")
def stranger() -> Iterator[Stranger]:
    with arrive() as somebody:
        yield somebody


class Server:
    """`script/server` of the clone, with all that it has said."""

    def __init__(self, stranger: Stranger, *, port: int) -> None:
        self.url = f"http://127.0.0.1:{port}"
        self.process = stranger.start("script/server", "--port", str(port))
        self.said = ""

    def wait_until_it_says(self, words: str) -> None:
        """Read on to the line with these words. The output ends with the process, so this ends too."""
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self.said += line
            if words in line:
                return
        pytest.fail(f"script/server ended before it said {words!r}:\n{self.said}")

    def get(self, path: str) -> tuple[int, str]:
        deadline = time.monotonic() + STOP_SECONDS
        while True:
            try:
                with urllib.request.urlopen(self.url + path, timeout=20) as answer:
                    return answer.status, answer.read().decode()
            except (urllib.error.URLError, TimeoutError):
                # It listens before it has loaded all of itself.
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.2)

    def interrupt(self) -> int:
        self.process.send_signal(signal.SIGINT)
        rest, _ = self.process.communicate(timeout=STOP_SECONDS)
        self.said += rest
        return self.process.returncode


def log_in(server: Server, *, name: str, password: str) -> str:
    """Log in as the console's form does; return the address that one lands on."""
    jar = http.cookiejar.CookieJar()
    browser = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(jar))
    with browser.open(f"{server.url}/admin/login/?next=/admin/") as page:
        token = re.search(r'name="csrfmiddlewaretoken" value="(\w+)"', page.read().decode())
    assert token
    form = {"username": name, "password": password, "next": "/admin/", "csrfmiddlewaretoken": token[1]}
    with browser.open(f"{server.url}/admin/login/", urllib.parse.urlencode(form).encode()) as page:
        address: str = page.geturl()
    return address


def test_one_command_opens_the_console_and_ctrl_c_leaves_nothing_behind(stranger):
    port = ports.choose(preferred=None)
    server = Server(stranger, port=port)
    server.wait_until_it_says("The console is at")
    assert server.get("/admin/login/")[0] == 200
    assert json.loads(server.get("/healthz")[1]) == {
        "database": True,
        "broker": True,
        "append_only_guarded": True,
    }
    password = re.search(r"^ +auditor +(\S+)$", server.said, re.MULTILINE)
    assert password
    assert log_in(server, name="auditor", password=password[1]) == f"{server.url}/admin/"
    running = " ".join(stranger.processes())
    for part in ("gunicorn", "config worker", "config beat", "pginstall/bin/postgres", "valkey-server"):
        assert part in running
    ping = (".venv/bin/python", "-m", "celery", "--app", "config", "inspect", "ping", "--timeout", "20")
    assert "pong" in stranger.run(*ping)[1]

    assert server.interrupt() == 0

    assert stranger.processes() == []
    assert ports.is_free(port)
    assert list((stranger.clone / "var").rglob("*.pid")) == []


def test_a_second_start_finds_the_data_of_the_first(stranger):
    server = Server(stranger, port=ports.choose(preferred=None))
    server.wait_until_it_says("The console is at")
    assert server.get("/admin/login/")[0] == 200
    assert server.interrupt() == 0
    assert "Staff of the demo" not in server.said
    assert stranger.processes() == []


@pytest.fixture
def given_servers(admin_url: str, broker_url: str) -> Iterator[dict[str, str]]:
    """A database and a broker that somebody else runs, as the environment names them."""
    name = f"counterfoil_given_{os.getpid()}"
    with psycopg.connect(admin_url, autocommit=True) as admin:
        admin.execute(SQL("CREATE DATABASE {}").format(Identifier(name)))
        try:
            yield {"DATABASE_URL": roles.with_database(admin_url, name), "BROKER_URL": broker_url}
        finally:
            admin.execute(SQL("DROP DATABASE {} WITH (FORCE)").format(Identifier(name)))


def test_servers_that_are_named_are_used_instead(stranger, given_servers):
    told = replace(stranger, environment=stranger.environment | given_servers | {"COUNTERFOIL_DEMO": "1"})
    server = Server(told, port=ports.choose(preferred=None))
    server.wait_until_it_says("The console is at")
    assert json.loads(server.get("/healthz")[1])["database"] is True
    assert "Using the database and the broker that the environment names" in server.said
    assert "pginstall" not in " ".join(stranger.processes())
    with psycopg.connect(given_servers["DATABASE_URL"]) as connection:
        [(count,)] = connection.execute("SELECT count(*) FROM conversations_conversation").fetchall()
    assert count > 100
    assert server.interrupt() == 0
    assert stranger.processes() == []


def test_tests_run_on_servers_that_are_named(stranger, given_servers):
    told = replace(stranger, environment=stranger.environment | given_servers)
    status, said = told.run("script/test", "tests/config/test_roles.py")
    assert status == 0, said
    assert stranger.processes() == []


def test_one_command_checks_and_tests(stranger):
    status, said = stranger.run("script/test", "tests/config/test_roles.py")
    assert status == 0, said
    assert re.fullmatch(r"=+ \d+ passed in .* =+", said.rstrip().splitlines()[-1])
    for step in ("== ruff check", "== ruff format", "== import contract", "== tests"):
        assert step in said
    assert stranger.processes() == []


def test_a_port_in_use_gets_one_clear_line(stranger):

    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        status, said = stranger.run("script/server", "--port", str(port))
    assert (status, said) == (1, f"Port {port} is in use: choose another with --port or PORT.\n")


def test_a_missing_python_gets_one_clear_line(stranger):
    stranger.environment["COUNTERFOIL_PYTHON"], kept = (
        "/nowhere/python3",
        stranger.environment["COUNTERFOIL_PYTHON"],
    )
    try:
        status, said = stranger.run("script/server")
    finally:
        stranger.environment["COUNTERFOIL_PYTHON"] = kept
    assert (status, said) == (
        1,
        "Counterfoil needs Python 3.12 or newer with venv: none was found at /nowhere/python3.\n",
    )
