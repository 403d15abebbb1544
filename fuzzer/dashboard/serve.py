"""The page over HTTP on the loopback, made anew at each reload."""

from __future__ import annotations

from collections.abc import Callable
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from generators.graph import Invalid

LOOPBACK = "127.0.0.1"


def server(page: Callable[[], str], port: int) -> ThreadingHTTPServer:
    """Raises `Invalid` where the port is taken; port 0 takes any that is free."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            """Other names than the loopback's own are refused: a page of somebody else's, whose name was made to point
            here, must not read this one."""
            here = self.connection.getsockname()[1]
            if self.headers.get("Host") not in (f"{LOOPBACK}:{here}", f"localhost:{here}"):
                self.send_error(HTTPStatus.MISDIRECTED_REQUEST)
            elif self.path != "/":
                self.send_error(HTTPStatus.NOT_FOUND)
            else:
                self._answer()

        def _answer(self) -> None:
            try:
                status, text, kind = HTTPStatus.OK, page(), "text/html"
            except (Invalid, OSError) as error:  # what is gathered may be moved away meanwhile
                status, text, kind = HTTPStatus.SERVICE_UNAVAILABLE, f"{error}\n", "text/plain"
            body = text.encode()
            self.send_response(status)
            self.send_header("Content-Type", f"{kind}; charset=utf-8")
            self.send_header("Content-Length", str(len(body)))
            self.send_header("Cache-Control", "no-store")
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:
            """Nothing: requests are nobody's news."""

    try:
        return ThreadingHTTPServer((LOOPBACK, port), Handler)
    except OSError as error:
        raise Invalid(f"--port {port}: {error.strerror}") from None
