"""A receiver of webhooks on a free port: keeps what came, answers what it is told to."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Event, Thread


@dataclass
class Receiver:
    url: str = ""
    status: int = 200
    got: list[tuple[bytes, str]] = field(default_factory=list)
    arrived: Event = field(default_factory=Event)


@contextmanager
def listening() -> Iterator[Receiver]:
    receiver = Receiver()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            receiver.got.append((body, self.headers["Stripe-Signature"]))
            receiver.arrived.set()
            self.send_response(receiver.status)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    receiver.url = f"http://127.0.0.1:{server.server_port}/hook"
    thread = Thread(target=server.serve_forever, args=(0.05,))
    thread.start()
    yield receiver
    server.shutdown()
    thread.join()
    server.server_close()
