"""`python -m samples.processor --port 12111 --data var/processor.sqlite3`."""

import argparse
import os
import signal
import sys
import tempfile
from pathlib import Path
from threading import Thread
from types import FrameType

from samples.processor import API_KEY, SIGNING_KEY
from samples.processor.application import Application
from samples.processor.clock import parse_moment
from samples.processor.control import send_webhooks_to
from samples.processor.errors import ApiError
from samples.processor.server import Server


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="samples.processor", description="A sandbox that stands in for Stripe."
    )
    parser.add_argument("--port", type=int, default=0, help="0 takes a free one and prints it")
    parser.add_argument("--data", type=Path, help="the SQLite file; without one the books are thrown away")
    parser.add_argument("--clock", help="start the clock at this moment (ISO 8601 with zone, or Unix time)")
    parser.add_argument("--frozen", action="store_true", help="the clock moves only when it is turned")
    parser.add_argument("--api-key", default=API_KEY)
    parser.add_argument("--webhook-url", help="send every event there")
    parser.add_argument("--webhook-secret", default=SIGNING_KEY)
    parser.add_argument(
        "--until-stdin-closes", action="store_true", help="end with the process that started it"
    )
    return parser.parse_args()


def main() -> int:
    options = arguments()
    with tempfile.TemporaryDirectory(prefix="processor-") as thrown_away:
        data = options.data or Path(thrown_away) / "books.sqlite3"
        data.parent.mkdir(parents=True, exist_ok=True)
        application = Application(data, api_key=options.api_key, webhook_secret=options.webhook_secret)
        try:
            prepare(application, options)
        except ApiError as error:
            sys.stderr.write(f"samples.processor: {error}\n")
            return 2
        serve(application, options)
    return 0


def prepare(application: Application, options: argparse.Namespace) -> None:
    if options.clock is not None:
        moment = int(options.clock) if options.clock.isdecimal() else parse_moment(options.clock)
        application.clock.start_at(moment, is_frozen=options.frozen)
    elif options.frozen:
        application.clock.turn(to=application.clock.now(), is_frozen=True)
    if options.webhook_url:
        # With this start's secret; one of an earlier start was signed with that one's.
        for endpoint in application.store.all("webhook_endpoint", url=options.webhook_url):
            application.store.delete(endpoint["id"])
        send_webhooks_to(application, {"url": options.webhook_url}, "")


def serve(application: Application, options: argparse.Namespace) -> None:
    server = Server(options.port, application)

    def stop(_: int, __: FrameType | None) -> None:
        # `shutdown` waits for the loop that this very thread runs.
        Thread(target=server.shutdown).start()

    signal.signal(signal.SIGTERM, stop)
    signal.signal(signal.SIGINT, stop)
    if options.until_stdin_closes:
        Thread(target=_stop_with_stdin, daemon=True).start()
    application.sender.start()
    sys.stdout.write(f"sandbox processor on {server.url}\n")
    sys.stdout.flush()
    server.serve_forever(poll_interval=0.1)
    server.server_close()
    application.close()


def _stop_with_stdin() -> None:
    sys.stdin.read()
    os.kill(os.getpid(), signal.SIGTERM)


if __name__ == "__main__":
    sys.exit(main())
