"""What stands before the store in tests: it passes requests on, or does what networks and servers do."""

import socket
import threading
from collections import deque
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import httpx2

HOP_BY_HOP = {"connection", "transfer-encoding", "content-encoding", "content-length", "server", "date"}


class Gateway:
    """An address that stays the same while the store behind it goes and comes back.

    `faults` are used up one by one by the next exchanges that are sent: a status to answer with,
    "cut" to break off before the whole request is read, "lost" to record it and lose the answer,
    "hang" to say nothing until `release`.
    """

    def __init__(self, store_url: str) -> None:
        self._store = httpx2.Client(base_url=store_url, timeout=30)
        self.faults: deque[int | str] = deque()
        self.sent: list[bytes] = []
        self.release = threading.Event()
        with socket.create_server(("127.0.0.1", 0)) as free:
            self.port = free.getsockname()[1]
        self._server: _Server | None = None

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def open(self) -> None:
        self._server = _Server(self)
        threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True).start()

    def close(self) -> None:
        """Refuse every connection, as a machine does on which nothing listens."""
        if self._server is not None:
            self._server.shutdown()
            self._server.server_close()
            self._server.break_connections()
            self._server = None

    def pass_on(self, handler: BaseHTTPRequestHandler, body: bytes) -> httpx2.Response:
        headers = {name: value for name, value in handler.headers.items() if name.lower() != "host"}
        return self._store.request(handler.command, handler.path, headers=headers, content=body)


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 64

    def __init__(self, gateway: Gateway) -> None:
        self.gateway = gateway
        self._connections: set[socket.socket] = set()
        super().__init__(("127.0.0.1", gateway.port), _Handler)

    def process_request(self, request: Any, client_address: Any) -> None:
        self._connections.add(request)
        super().process_request(request, client_address)

    def shutdown_request(self, request: Any) -> None:
        self._connections.discard(request)
        super().shutdown_request(request)

    def break_connections(self) -> None:
        for connection in tuple(self._connections):
            with suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Callers break off here by design."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Server

    def do_POST(self) -> None:
        gateway = self.server.gateway
        fault = gateway.faults.popleft() if gateway.faults else None
        if fault == "cut":
            self.rfile.read(100)
            self._break_off()
            return
        body = self.rfile.read(int(self.headers["Content-Length"]))
        if fault == "hang":
            gateway.release.wait()
        if isinstance(fault, int):
            self._say(fault, {"Content-Type": "text/html"}, b"<h1>Sorry</h1>")
            return
        gateway.sent.append(body)
        answer = gateway.pass_on(self, body)
        if fault == "lost":
            self._break_off()
        else:
            self._pass_back(answer)

    def do_GET(self) -> None:
        self._pass_back(self.server.gateway.pass_on(self, b""))

    def _break_off(self) -> None:
        self.close_connection = True
        self.connection.shutdown(socket.SHUT_RDWR)

    def _pass_back(self, answer: httpx2.Response) -> None:
        kept = {name: value for name, value in answer.headers.items() if name not in HOP_BY_HOP}
        self._say(answer.status_code, kept, answer.content)

    def _say(self, status: int, headers: dict[str, str], body: bytes) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args: Any, **kwargs: Any) -> None:
        """Nothing."""
