"""Serves pages over HTTP on the loopback address. A client that is slow or does nothing loses its connection.

Requests that name another host are refused, so that a foreign web page cannot read these pages by DNS rebinding.
"""

from __future__ import annotations

import socket
import sys
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from generators.graph import Invalid

LOOPBACK = "127.0.0.1"
SECONDS = 30.0
"""The time in which a request must arrive, and the time in which its answer must be taken."""

MOST_CONNECTIONS = 32
"""At once. Further ones are closed."""

Page = Callable[[], bytes]
"""Makes a page at each request. May raise `Invalid` or `OSError`: files may be moved while they are read."""


class LocalServer(ThreadingHTTPServer):
    """Serve pages by their paths. Port 0 takes any free port. Raise `Invalid` where the port is taken."""

    daemon_threads = True
    request_queue_size = MOST_CONNECTIONS

    def __init__(
        self, option: str, port: int, pages: Mapping[str, Page], content_type: str, seconds: float = SECONDS
    ) -> None:
        self.pages, self.content_type, self.seconds = pages, content_type, seconds
        self._free = threading.Semaphore(MOST_CONNECTIONS)
        try:
            super().__init__((LOOPBACK, port), _Handler)
        except OSError as error:
            raise Invalid(f"{option} {port}: {error.strerror}") from None

    def process_request(self, request: Any, client_address: Any) -> None:
        if self._free.acquire(blocking=False):
            super().process_request(request, client_address)
        else:
            self.shutdown_request(request)

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        try:
            super().process_request_thread(request, client_address)
        finally:
            self._free.release()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Print nothing where a client has gone."""
        if not isinstance(sys.exception(), OSError):
            super().handle_error(request, client_address)


class _Handler(BaseHTTPRequestHandler):
    """One request for each connection."""

    server: LocalServer

    def setup(self) -> None:
        """Start the clock of the request. The timeout of a socket is for each read, which a client that sends one byte
        at a time never meets. For an answer, it is for the whole."""
        super().setup()
        self.connection.settimeout(self.server.seconds)
        self._clock = threading.Timer(self.server.seconds, self._end)
        self._clock.daemon = True
        self._clock.start()

    def finish(self) -> None:
        self._clock.cancel()
        super().finish()

    def _end(self) -> None:
        with suppress(OSError):
            self.connection.shutdown(socket.SHUT_RDWR)

    def do_GET(self) -> None:
        self._clock.cancel()
        port = self.connection.getsockname()[1]
        if self.headers.get_all("Host") not in ([f"{LOOPBACK}:{port}"], [f"localhost:{port}"]):
            self.send_error(HTTPStatus.MISDIRECTED_REQUEST)
        elif (page := self.server.pages.get(self.path)) is None:
            self.send_error(HTTPStatus.NOT_FOUND)
        else:
            self._answer(page)

    def _answer(self, page: Page) -> None:
        try:
            status, body, content_type = HTTPStatus.OK, page(), self.server.content_type
        except (Invalid, OSError) as error:
            status, body, content_type = HTTPStatus.SERVICE_UNAVAILABLE, f"{error}\n".encode(), _PLAIN
        self.send_response(status)
        self.send_header("Content-Type", content_type)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Cache-Control", "no-store")
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """Print nothing for requests."""


_PLAIN = "text/plain; charset=utf-8"
