"""HTTP with one server that is not trusted: each answer has at most `ANSWER_BYTES`, and a limit of time as a whole.

A request goes to that server only. No redirect is followed, no cookie is kept, and no password of `~/.netrc` is sent.
"""

from __future__ import annotations

import json
import os
import socket
import struct
import threading
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from http.cookiejar import DefaultCookiePolicy
from typing import Any
from urllib.parse import urlsplit
from weakref import WeakSet

import requests
import urllib3
from requests.adapters import HTTPAdapter
from requests.auth import AuthBase

from fuzzer.filing.secret import Secret

ANSWER_BYTES = 8 << 20
"""A hundred texts of the largest size that GitHub takes have 6.6 million characters."""

_PIECE = 1 << 16


class NoAnswer(Exception):
    """There is no complete answer. Whether the request was carried out is unknown."""


class BadAnswer(Exception):
    """There is an answer that cannot be used."""


@dataclass(frozen=True, slots=True)
class Answer:
    """A complete answer. The names of its headers may be looked up in any case."""

    status: int
    headers: Mapping[str, str]
    body: bytes


class Server:
    """Ask for one answer at a time. `seconds` is the limit for each."""

    def __init__(self, base_url: str, token: Secret | None, seconds: float, headers: Mapping[str, str]) -> None:
        self._base_url, self._seconds = base_url.rstrip("/"), seconds
        self._connections = _Connections()
        self._session = _Session()
        self._session.trust_env = urlsplit(base_url).scheme == "https"  # a proxy would see a token that is sent by http
        self._session.auth = _Authorization(token)
        self._session.cookies.set_policy(DefaultCookiePolicy(allowed_domains=()))
        # the server may just have closed a connection that is used again: nobody knows what became of a POST then
        own = {"User-Agent": "difftvm", "Accept-Encoding": "identity", "Connection": "close"}
        self._session.headers.update({**headers, **own})
        for scheme in ("http://", "https://"):
            self._session.mount(scheme, _Adapter(self._connections))

    def get(self, path: str, query: Mapping[str, str], headers: Mapping[str, str] | None = None) -> Answer:
        """Raise `NoAnswer` or `BadAnswer`."""
        return self._ask("GET", path, params=query, headers=headers)

    def post(self, path: str, sent: object) -> Answer:
        """Raise `NoAnswer` or `BadAnswer`. After each of them, the request may have been carried out."""
        return self._ask("POST", path, data=json.dumps(sent).encode(), headers={"Content-Type": "application/json"})

    def is_at(self, url: str) -> bool:
        """Whether an address is one of this server. Raise `ValueError` if it is none."""
        here, there = urlsplit(self._base_url), urlsplit(url)
        return (here.scheme, here.netloc.lower()) == (there.scheme, there.netloc.lower())

    def _ask(self, method: str, path: str, **more: Any) -> Answer:
        url = self._base_url + path
        with self._connections.closed_after(self._seconds) as over, closing(self._session):
            try:
                with self._session.request(
                    method, url, stream=True, allow_redirects=False, timeout=self._seconds, **more
                ) as response:
                    answer = Answer(response.status_code, response.headers, _body(response))
            except (requests.RequestException, urllib3.exceptions.HTTPError, OSError) as error:
                what = f"not complete after {self._seconds:g} s" if over.is_set() else type(error).__name__
                raise NoAnswer(f"no answer ({what})") from None
            if over.is_set():  # the end of the connection may look like the end of the answer
                raise NoAnswer(f"no answer (not complete after {self._seconds:g} s)")
            return answer


def _body(response: requests.Response) -> bytes:
    if response.headers.get("Content-Encoding", "identity").lower() != "identity":
        raise BadAnswer("its answer is compressed, which it was not asked for")
    body = bytearray()
    while piece := response.raw.read1(_PIECE, decode_content=False):
        body += piece
        if len(body) > ANSWER_BYTES:
            raise BadAnswer(f"its answer has more than {ANSWER_BYTES >> 20} MiB")
    return bytes(body)


class _Session(requests.Session):
    """Without this, requests reads the whole body of a redirect, and its address, even if it is not to follow it."""

    def get_redirect_target(self, resp: requests.Response) -> None:
        return None


class _Authorization(AuthBase):
    """Without it, requests takes a password from `~/.netrc`."""

    def __init__(self, token: Secret | None) -> None:
        self._token = token

    def __call__(self, request: requests.PreparedRequest) -> requests.PreparedRequest:
        if self._token:
            request.headers["Authorization"] = f"token {self._token.reveal()}"
        return request


class _Connections:
    """The open connections. They end when the time for an answer is over. The time limit of requests is for each read,
    which a server that sends one byte at a time never meets."""

    def __init__(self) -> None:
        self._connecting: Any = None
        self._sockets: WeakSet[socket.socket] = WeakSet()
        self._over = threading.Event()

    @contextmanager
    def closed_after(self, seconds: float) -> Iterator[threading.Event]:
        """Yield what is set when the time is over. All connections are closed at the end of this context, and those
        that are cut off are reset."""
        self._over = threading.Event()
        timer = threading.Timer(seconds, self._end, [self._over])
        timer.daemon = True
        timer.start()
        try:
            yield self._over
        finally:
            timer.cancel()
            for each in self._sockets:
                with suppress(OSError):
                    connected = _below_tls(each)
                    _reset_when_closed(connected)
                    os.close(connected.detach())

    def connect(self, connection: Any, connect: Any) -> None:
        """Remember the socket of a connection: the connection forgets it while an answer without a length is read."""
        self._connecting = connection
        connect()
        self._sockets.add(connection.sock)
        if self._over.is_set():
            raise TimeoutError

    def _end(self, over: threading.Event) -> None:
        over.set()
        sockets: list[Any] = [*self._sockets, getattr(self._connecting, "sock", None)]
        for each in filter(None, sockets):
            with suppress(OSError):
                connected = _below_tls(each)
                _reset_when_closed(connected)
                socket.socket.shutdown(connected, socket.SHUT_RDWR)


def _below_tls(connected: Any) -> socket.socket:
    below: socket.socket = getattr(connected, "socket", connected)  # an https connection through an https proxy
    return below


def _reset_when_closed(connected: socket.socket) -> None:
    """A connection that may not linger is closed with an RST. Without it, a server that waits until it can send more
    learns of the end after a minute."""
    connected.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))


class _Adapter(HTTPAdapter):
    """Reports each new connection, those to proxies too."""

    def __init__(self, connections: _Connections) -> None:
        self._connections = connections
        super().__init__(max_retries=urllib3.Retry(0, read=False, redirect=False))

    def init_poolmanager(self, *arguments: Any, **more: Any) -> None:
        super().init_poolmanager(*arguments, **more)
        self._report_connections(self.poolmanager)

    def proxy_manager_for(self, proxy: str, **more: Any) -> Any:
        manager = super().proxy_manager_for(proxy, **more)
        self._report_connections(manager)
        return manager

    def _report_connections(self, manager: Any) -> None:
        pools = manager.pool_classes_by_scheme
        manager.pool_classes_by_scheme = {scheme: self._reporting(pool) for scheme, pool in pools.items()}

    def _reporting(self, pool: Any) -> Any:
        base, connections = pool.ConnectionCls, self._connections

        def connect(connection: Any) -> None:
            connections.connect(connection, lambda: base.connect(connection))

        return type(pool.__name__, (pool,), {"ConnectionCls": type(base.__name__, (base,), {"connect": connect})})
