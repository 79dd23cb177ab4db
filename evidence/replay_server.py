"""A provider on this machine: it answers each call with bytes that were laid ready, and keeps what it got.

The caller names the answer in the header `x-replay`, which the SDKs send along; nothing else of
the request decides. Bytes of a stream go out in pieces, as a provider's do.
"""

import gzip
import multiprocessing
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from multiprocessing.connection import Connection
from typing import Any

NAMED_BY = "x-replay"


@dataclass(slots=True)
class Reply:
    """What is answered. Seconds: `delay` before, `pause` between pieces. `cut`: bytes that get through."""

    body: bytes
    status: int = 200
    media_type: str = "application/json"
    pieces: int = 1
    delay: float = 0.0
    pause: float = 0.0
    is_gzipped: bool = False
    cut: int | None = None
    headers: dict[str, str] = field(default_factory=dict)

    def sent(self) -> bytes:
        return gzip.compress(self.body, 1) if self.is_gzipped else self.body


@dataclass(frozen=True, slots=True)
class Received:
    name: str
    path: str
    headers: dict[str, str]
    body: bytes


class ReplayServer(ThreadingHTTPServer):
    """`find` gives the answer for a name; what arrives is kept in `received`, as far as it is asked for."""

    daemon_threads = True
    request_queue_size = 256

    def __init__(self, find: Callable[[str], Reply], *, keep: int | None = None) -> None:
        self.find = find
        self.received: deque[Received] = deque(maxlen=keep)
        super().__init__(("127.0.0.1", 0), _Handler)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A caller that goes away in the middle is what some proofs are about."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    # Each piece goes out at once.
    wbufsize = 0
    disable_nagle_algorithm = True
    server: ReplayServer

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"] or 0))
        name = self.headers.get(NAMED_BY, "")
        headers = {key.lower(): value for key, value in self.headers.items()}
        self.server.received.append(Received(name, self.path, headers, body))
        self._answer(self.server.find(name))

    def do_GET(self) -> None:
        self.do_POST()

    def _answer(self, reply: Reply) -> None:
        if reply.delay:
            time.sleep(reply.delay)
        sent = reply.sent()
        head = [f"HTTP/1.1 {reply.status} Replayed", f"Content-Type: {reply.media_type}"]
        head += [f"{name}: {value}" for name, value in reply.headers.items()]
        if reply.is_gzipped:
            head.append("Content-Encoding: gzip")
        if reply.pieces > 1:
            self._send_in_pieces([*head, "Transfer-Encoding: chunked"], sent, reply)
            return
        head.append(f"Content-Length: {len(sent)}")
        if reply.cut is not None:
            sent, self.close_connection = sent[: reply.cut], True
        self.wfile.write("\r\n".join([*head, "\r\n"]).encode() + sent)

    def _send_in_pieces(self, head: list[str], sent: bytes, reply: Reply) -> None:
        self.wfile.write("\r\n".join([*head, "\r\n"]).encode())
        size, written = max(1, -(-len(sent) // reply.pieces)), 0
        for start in range(0, len(sent), size):
            piece = sent[start : start + size]
            if reply.cut is not None:
                piece = piece[: reply.cut - written]
            if piece:
                self.wfile.write(f"{len(piece):x}\r\n".encode() + piece + b"\r\n")
                written += len(piece)
            if reply.cut is not None and written >= reply.cut:
                self.close_connection = True
                return
            if reply.pause:
                time.sleep(reply.pause)
        self.wfile.write(b"0\r\n\r\n")

    def log_message(self, *args: Any, **kwargs: Any) -> None:
        """Nothing: thousands of calls are made."""


@contextmanager
def serving(server: ThreadingHTTPServer) -> Iterator[None]:
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        yield
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


@contextmanager
def in_a_process(replies: dict[str, Reply]) -> Iterator[str]:
    """Serve from a process of its own, which shares nothing with its callers; give the address."""
    context = multiprocessing.get_context("spawn")
    here, there = context.Pipe()
    process = context.Process(target=_serve_for_ever, args=(replies, there), daemon=True)
    process.start()
    there.close()
    try:
        yield here.recv()
    finally:
        process.terminate()
        process.join()


def _serve_for_ever(replies: dict[str, Reply], told: Connection) -> None:
    server = ReplayServer(replies.__getitem__, keep=0)
    told.send(server.url)
    server.serve_forever()
