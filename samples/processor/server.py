"""The sockets: threads that read requests, write answers, and cut connections when asked to."""

import logging
import socket
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from samples.processor.application import Application
from samples.processor.errors import ApiError
from samples.processor.wire import Reply, Request, json_reply

logger = logging.getLogger(__name__)

MAX_BODY = 1024 * 1024


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server_version = "sandbox-processor"
    disable_nagle_algorithm = True
    timeout = 60
    server: "Server"

    def do_GET(self) -> None:
        self._serve()

    def do_POST(self) -> None:
        self._serve()

    def do_DELETE(self) -> None:
        self._serve()

    def log_request(self, code: int | str = "-", size: int | str = "-") -> None:
        """The books keep every request; the terminal stays quiet."""

    def _serve(self) -> None:
        length = self.headers.get("Content-Length", "0")
        is_chunked = "Transfer-Encoding" in self.headers
        if is_chunked or not length.isdecimal() or int(length) > MAX_BODY:
            self.close_connection = True
            self._write(json_reply(413, ApiError("The request is too large.").body))
            return
        headers = {name.lower(): value for name, value in self.headers.items()}
        body = self.rfile.read(int(length))
        self._write(self.server.application.handle(Request(self.command, self.path, headers, body)))

    def _write(self, reply: Reply) -> None:
        if reply.cut in ("before", "silent"):
            self._cut()
            return
        self.send_response(reply.status)
        for name, value in reply.headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(reply.body)))
        if self.close_connection:
            self.send_header("Connection", "close")
        self.end_headers()
        if reply.cut == "midway":
            self.wfile.write(reply.body[: len(reply.body) // 2])
            self._cut()
            return
        self.wfile.write(reply.body)

    def _cut(self) -> None:
        self.close_connection = True
        self.wfile.flush()
        self.connection.shutdown(socket.SHUT_RDWR)


class Server(ThreadingHTTPServer):
    """Answers on 127.0.0.1 only: its control levers are not for strangers."""

    daemon_threads = True
    request_queue_size = 128

    def __init__(self, port: int, application: Application) -> None:
        super().__init__(("127.0.0.1", port), Handler)
        self.application = application

    def handle_error(self, request: object, client_address: object) -> None:
        """A client that hangs up is what half of the tests are about, and no news."""
        if not isinstance(sys.exception(), ConnectionError):
            logger.error("a connection failed", exc_info=sys.exception())

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"
