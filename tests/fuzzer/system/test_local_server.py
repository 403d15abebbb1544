"""What clients of the loopback server may do: nothing, one byte at a time, too many at once, and go away."""

from __future__ import annotations

import socket
import struct
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

import pytest

from fuzzer.system import local_server
from fuzzer.system.local_server import LOOPBACK, LocalServer

pytestmark = pytest.mark.slow


@contextmanager
def served(page: Callable[[], bytes] = lambda: b"page", seconds: float = 30.0) -> Iterator[LocalServer]:
    with LocalServer("--port", 0, {"/": page}, "text/plain", seconds) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()


def connected(server: LocalServer) -> socket.socket:
    return socket.create_connection((LOOPBACK, server.server_port), timeout=300)


def request(server: LocalServer) -> bytes:
    return f"GET / HTTP/1.1\r\nHost: {LOOPBACK}:{server.server_port}\r\n\r\n".encode()


def answer(client: socket.socket) -> bytes:
    """All that comes until the server closes the connection."""
    received = b""
    with suppress(ConnectionError):
        while piece := client.recv(1 << 16):
            received += piece
    return received


def test_a_client_that_says_nothing_loses_its_connection() -> None:
    with served(seconds=0.2) as server, connected(server) as client:
        assert answer(client) == b""


def test_a_client_that_sends_one_byte_at_a_time_loses_its_connection() -> None:
    """Each byte comes long before the time of a read is over."""
    with served(seconds=0.5) as server, connected(server) as client:
        client.settimeout(0.05)
        client.sendall(b"GET / HTTP/1.1\r\nX: ")
        with suppress(ConnectionError):
            for _ in range(400):
                if closed(client):
                    return
                client.sendall(b"x")
            pytest.fail("it may send for as long as it likes")


def closed(client: socket.socket) -> bool:
    try:
        return client.recv(1) == b""
    except TimeoutError:
        return False


def test_a_client_that_does_not_take_its_answer_loses_its_connection() -> None:
    with served(lambda: bytes(64 << 20), seconds=0.5) as server:
        with connected(server) as client:
            client.sendall(request(server))
            client.recv(1)
            all_free(server)
        with connected(server) as other:
            other.sendall(request(server))
            assert answer(other).startswith(b"HTTP/1.0 200 OK")


def test_a_page_that_takes_long_to_make_is_sent() -> None:
    made = threading.Event()

    def page() -> bytes:
        made.wait(0.6)
        return b"page"

    with served(page, seconds=0.2) as server, connected(server) as client:
        client.sendall(request(server))
        assert answer(client).endswith(b"page")


def all_free(server: LocalServer) -> None:
    """Wait until no connection is left."""
    for _ in range(local_server.MOST_CONNECTIONS):
        assert server._free.acquire(timeout=300)
    server._free.release(local_server.MOST_CONNECTIONS)


def test_the_number_of_connections_is_bounded() -> None:
    with served() as server:
        idle = [connected(server) for _ in range(local_server.MOST_CONNECTIONS)]
        with connected(server) as further:
            assert answer(further) == b""
        for client in idle:
            client.close()
        all_free(server)
        with connected(server) as client:
            client.sendall(request(server))
            assert answer(client).endswith(b"page")


def test_a_reset_prints_nothing(capfd: pytest.CaptureFixture[str]) -> None:
    begun, gone = threading.Event(), threading.Event()

    def page() -> bytes:
        begun.set()
        assert gone.wait(300)
        return bytes(8 << 20)

    with served(page) as server:
        for text in (b"GET", request(server)):
            client = connected(server)
            client.sendall(text)
            if text != b"GET":
                assert begun.wait(300)
            client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            client.close()
        gone.set()
        all_free(server)
    assert capfd.readouterr() == ("", "")


def test_an_error_of_our_own_is_printed(capfd: pytest.CaptureFixture[str]) -> None:
    def page() -> bytes:
        raise KeyError("a bug")

    with served(page) as server, connected(server) as client:
        client.sendall(request(server))
        assert answer(client) == b""
        all_free(server)
    assert "KeyError: 'a bug'" in capfd.readouterr().err
