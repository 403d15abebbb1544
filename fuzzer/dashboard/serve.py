"""Serve the page over HTTP on the loopback address. The page is made again at each request."""

from __future__ import annotations

from collections.abc import Callable

from fuzzer.system.local_server import LocalServer


def server(page: Callable[[], str], port: int) -> LocalServer:
    """A server that calls `page` for each request. Port 0 chooses a free port. Raise `Invalid` if the port is in
    use."""
    return LocalServer("--port", port, {"/": lambda: page().encode()}, "text/html; charset=utf-8")
