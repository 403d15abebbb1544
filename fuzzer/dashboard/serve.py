"""Serve the page over HTTP on the loopback address. The page is made again at each request."""

from __future__ import annotations

from collections.abc import Callable
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from generators.graph import Invalid

LOOPBACK = "127.0.0.1"


def server(page: Callable[[], str], port: int) -> ThreadingHTTPServer:
    """A server that calls `page` for each request. Port 0 chooses a free port. Raise `Invalid` if the port is in
    use."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            """Refuse other host names than the loopback's, so that a foreign page cannot read this one by DNS
            rebinding."""
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
            except (Invalid, OSError) as error:  # files may be moved while they are read
                status, text, kind = HTTPStatus.SERVICE_UNAVAILABLE, f"{error}\n", "text/plain"
            body = text.encode()
            self.send_response(status)
            self.send_header("Content-Type", f"{kind}; charset=utf-8")
            self.send_header("Content-Length", str(len(body)))
            self.send_header("Cache-Control", "no-store")
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:
            """Print nothing for requests."""

    try:
        return ThreadingHTTPServer((LOOPBACK, port), Handler)
    except OSError as error:
        raise Invalid(f"--port {port}: {error.strerror}") from None
