"""`script/server`: everything set up, then the console with a worker and a beat, until Ctrl-C.

It is made for one machine and a first look, so it is a demo unless COUNTERFOIL_DEMO=0 says
otherwise; docs/operator.md tells how the same processes run on servers of one's own.
"""

import argparse
import fcntl
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from django.core.exceptions import ImproperlyConfigured
from django.db import OperationalError

from config import databases, demo_processor, embedded, ports, roles
from config.demo_processor import DemoProcessor
from config.embedded_postgres import EmbeddedServerError
from config.processes import Group, Process, Stop, say

PYTHON = str(Path(sys.executable))
ROOT = Path(__file__).resolve().parent.parent


def main(arguments: list[str]) -> int:
    options = parse(arguments)
    if not ports.is_free(options.port, host=options.host):
        sys.stderr.write(f"Port {options.port} is in use: choose another with --port or PORT.\n")
        return 1
    os.environ.setdefault("COUNTERFOIL_DEMO", "1")
    os.environ.setdefault("LOG_FORMAT", "console")
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    os.chdir(ROOT)
    try:
        with Stop.on_signals() as stop, servers():
            processor = demo_processor.arrange()
            prepare(processor)
            with beat_for_this_project() as has_beat:
                return serve(
                    stop, host=options.host, port=options.port, has_beat=has_beat, processor=processor
                )
    except (EmbeddedServerError, ImproperlyConfigured) as error:
        sys.stderr.write(f"{error}\n")
        return 1
    except OperationalError as error:
        sys.stderr.write(f"The database does not answer: {' '.join(str(error).split())}\n")
        return 1
    except KeyboardInterrupt:
        say("setup", "Stopped before everything was set up")
        return 0


def parse(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="script/server", description="Open the console on this machine.")
    parser.add_argument("--host", default=os.environ.get("HOST", "127.0.0.1"))
    parser.add_argument("--port", type=int, default=os.environ.get("PORT", "8000"))
    return parser.parse_args(arguments)


@contextmanager
def servers() -> Iterator[None]:
    """Have a database and a broker: the given ones, or else the embedded ones with their roles."""
    if os.environ.get("DATABASE_URL") and os.environ.get("BROKER_URL"):
        say("setup", "Using the database and the broker that the environment names")
        yield
        return
    say("setup", "Starting the embedded PostgreSQL and Valkey (data in var/servers/demo)")
    with embedded.lease(databases.DEMO_SERVERS) as started:
        if not os.environ.get("DATABASE_URL"):
            roles.ensure(started.postgres_url(), database=databases.DEMO_DATABASE)
            urls = roles.urls(started.postgres_url(), database=databases.DEMO_DATABASE)
            os.environ.update({roles.VARIABLE_OF_ALIAS[alias]: url for alias, url in urls.items()})
        os.environ.setdefault("BROKER_URL", started.broker_url)
        yield
        say("setup", "Stopping the embedded servers")


def prepare(processor: DemoProcessor | None) -> None:
    """Bring the database up to date; a new one gets the sample company, and a demo its staff."""
    import django

    django.setup()
    from django.conf import settings
    from django.core.management import call_command, get_commands
    from django.db import connections

    say("setup", "Migrating the database")
    call_command("migrate", database="owner", interactive=False, verbosity=0)
    if settings.DEMO:
        is_new = "load_samples" in get_commands() and is_empty()
        if is_new:
            say("setup", "Loading the sample company")
            call_command("load_samples")
        if processor is not None:
            processor.write_books(is_new=is_new)
        call_command("create_demo_staff")
    say("setup", "Collecting static files")
    call_command("collectstatic", interactive=False, verbosity=0)
    connections.close_all()


def is_empty() -> bool:
    from conversations.models import Account

    return not Account.objects.exists()


@contextmanager
def beat_for_this_project() -> Iterator[bool]:
    """Tell whether the beat is ours to run: of two servers of one project, the first has it."""
    embedded.VAR.mkdir(parents=True, exist_ok=True)
    with (embedded.VAR / "beat.lock").open("a") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            say("setup", "Another server of this project runs the beat")
            yield False
            return
        yield True


def serve(stop: Stop, *, host: str, port: int, has_beat: bool, processor: DemoProcessor | None) -> int:
    celery = [PYTHON, "-m", "celery", "--quiet", "--app", "config"]
    processes = [
        Process(
            "web", [PYTHON, "-m", "gunicorn", "--config", "config/gunicorn.py", "--bind", f"{host}:{port}"]
        ),
        Process("worker", [*celery, "worker", "--concurrency", "2", "--without-gossip", "--without-mingle"]),
    ]
    if processor is not None:
        processes.append(Process("stripe", processor.command(host=host, port=port)))
    if has_beat:
        processes.append(Process("beat", [*celery, "beat", "--pidfile="]))
    with Group(processes) as group:
        say("setup", f"The console is at http://{host}:{port}/ (Ctrl-C stops everything)")
        ended = group.wait(stop)
    if ended is None:
        return 0
    say("setup", f"{ended.name} ended by itself (exit status {ended.status}), so everything was stopped")
    return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
