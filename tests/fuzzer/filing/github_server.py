"""A GitHub on the loopback: issues and comments of any repository, in memory, over real HTTP, with faults on demand.

It keeps what its clients rely on: lists come in pages and are right at once, the search lags behind, answers carry
ETags, writing needs the token. `test_github_server.py` holds its answers against GitHub's OpenAPI description.
"""

from __future__ import annotations

import hashlib
import json
import re
import socket
import struct
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import Enum, auto
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

JSON = dict[str, Any]
TOKEN = "ghp_loopback"
ME = "difftvm-tester"


class Fault(Enum):
    """What goes wrong with one request."""

    SECONDARY_LIMIT = auto()  # 403 with Retry-After
    PRIMARY_LIMIT = auto()  # 403, nothing remains until the reset
    TOO_MANY = auto()  # 429 with Retry-After
    BAD_GATEWAY_BEFORE = auto()  # 502, nothing was done
    BAD_GATEWAY_AFTER = auto()  # 502, it was done
    RESET_BEFORE = auto()
    RESET_AFTER = auto()
    CUT_SHORT = auto()  # done; half of the answer comes
    LATE = auto()  # the connection breaks at once, and it is done a while later
    GONE = auto()  # 410
    INVALID = auto()  # 422
    ECHO = auto()  # 403, and the token comes back in the message


DONE_ALL_THE_SAME = (Fault.BAD_GATEWAY_AFTER, Fault.RESET_AFTER, Fault.CUT_SHORT, Fault.LATE)
RETRY_AFTER = 7
LATE_SECONDS = 0.3


@dataclass(frozen=True, slots=True)
class Answer:
    """What was sent for a request, for tests to look at."""

    method: str
    route: str
    status: int
    body: Any


@dataclass(frozen=True, slots=True)
class Reply:
    """An answer before it is sent. `send`, if given, writes what follows the headers in the place of `body`. With
    `framed`, the length of the body is a header."""

    status: str
    headers: list[tuple[str, str]]
    body: bytes
    send: Callable[[Callable[[bytes], object]], None] | None = None
    framed: bool = True

    @property
    def head(self) -> bytes:
        length = [("Content-Length", str(len(self.body)))] if self.framed and self.send is None else []
        lines = [f"HTTP/1.1 {self.status}", *(f"{name}: {value}" for name, value in [*self.headers, *length])]
        return "\r\n".join([*lines, "", ""]).encode("latin-1")


Alter = Callable[[str, str, Reply], Reply]


@dataclass(slots=True)
class Repository:
    issues: list[JSON] = field(default_factory=list)
    comments: dict[int, list[JSON]] = field(default_factory=dict)
    indexed: set[int] = field(default_factory=set)


class GitHubServer:
    """`faults` are used up by the requests whose method they name, in order; None is none. `index()` lets the
    search see everything. `on_write` is called before anything is written. `alter` gets the method and the route of
    a request with the right answer, and returns the one to send; the connection is closed after one that differs."""

    def __init__(self) -> None:
        self.repositories: dict[str, Repository] = {}
        self.faults: dict[str, list[Fault | None]] = {"GET": [], "POST": []}
        self.answers: list[Answer] = []
        self.sent: list[JSON] = []
        self.headers: list[dict[str, str]] = []
        self.token = TOKEN
        self.on_write: Callable[[], None] = lambda: None
        self.alter: Alter = lambda method, route, reply: reply
        self.lock = threading.RLock()
        self.http = _Http(("127.0.0.1", 0), _Handler)
        self.http.github = self

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.http.server_port}"

    def repository(self, name: str) -> Repository:
        return self.repositories.setdefault(name.lower(), Repository())

    def issues(self, name: str) -> list[JSON]:
        with self.lock:
            return list(self.repository(name).issues)

    def index(self) -> None:
        with self.lock:
            for repository in self.repositories.values():
                repository.indexed = {issue["number"] for issue in repository.issues}

    def add_issue(self, name: str, title: str, body: str = "", **changes: Any) -> JSON:
        with self.lock:
            repository = self.repository(name)
            number = len(repository.issues) + 1
            issue = _issue(self.url, name, number, title, body) | changes
            repository.issues.append(issue)
            return issue

    def change(self, name: str, number: int, **changes: Any) -> None:
        with self.lock:
            self.repository(name).issues[number - 1].update(changes, updated_at=_now())

    def label(self, name: str, number: int, *labels: str) -> None:
        described = [
            {"id": i, "node_id": f"L{i}", "url": f"{self.url}/repos/{name}/labels/{label}", "name": label}
            | {"description": None, "color": "ededed", "default": False}
            for i, label in enumerate(labels)
        ]
        self.change(name, number, labels=described)

    def add_comment(self, name: str, number: int, body: str) -> JSON:
        with self.lock:
            comments = self.repository(name).comments.setdefault(number, [])
            comment = _comment(self.url, name, number, len(comments) + 1, body)
            comments.append(comment)
            return comment


@contextmanager
def serving() -> Iterator[GitHubServer]:
    server = GitHubServer()
    thread = threading.Thread(target=server.http.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.http.shutdown()
        thread.join()
        server.http.server_close()


class _Http(ThreadingHTTPServer):
    github: GitHubServer
    daemon_threads = True
    request_queue_size = 64

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Clients that are killed in the middle of an answer are what this is for."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: _Http

    def log_message(self, format: str, *args: Any) -> None:
        return

    @property
    def github(self) -> GitHubServer:
        return self.server.github

    def do_GET(self) -> None:
        self._serve("GET")

    def do_POST(self) -> None:
        self._serve("POST")

    def _serve(self, method: str) -> None:
        length = int(self.headers.get("Content-Length", 0))
        sent = json.loads(self.rfile.read(length)) if length else {}
        with self.github.lock:
            self.github.headers.append(dict(self.headers))
            waiting = self.github.faults[method]
            fault = waiting.pop(0) if waiting else None
            if method == "POST":
                self.github.sent.append(sent)
                self.github.on_write()
        if fault is Fault.LATE:
            self._reset()
            time.sleep(LATE_SECONDS)
        if fault in (None, *DONE_ALL_THE_SAME):
            with self.github.lock:
                status, body, headers, route = self._routed(method, sent)
            if fault is None:
                self._answer(method, route, status, body, headers)
        if fault is not None:
            self._fail(method, fault)

    # Faults

    def _fail(self, method: str, fault: Fault) -> None:
        match fault:
            case Fault.LATE:
                return
            case Fault.RESET_BEFORE | Fault.RESET_AFTER:
                self._reset()
            case Fault.CUT_SHORT:
                self.send_response(201)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", "4000")
                self.end_headers()
                self.wfile.write(b'{"number": ')
                self._reset()
            case Fault.BAD_GATEWAY_BEFORE | Fault.BAD_GATEWAY_AFTER:
                self._error(method, 502, "Server Error")
            case Fault.SECONDARY_LIMIT:
                message = "You have exceeded a secondary rate limit. Please wait a few minutes before you try again."
                self._error(method, 403, message, {"Retry-After": str(RETRY_AFTER)})
            case Fault.TOO_MANY:
                self._error(method, 429, "Too many requests", {"Retry-After": str(RETRY_AFTER)})
            case Fault.PRIMARY_LIMIT:
                reset = str(int(time.time()) + RETRY_AFTER)
                headers = {"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": reset}
                self._error(method, 403, f"API rate limit exceeded for {ME}.", headers)
            case Fault.GONE:
                self._error(method, 410, "Issues are disabled for this repo")
            case Fault.INVALID:
                self._error(method, 422, "Validation Failed", errors=[{"resource": "Issue", "code": "invalid"}])
            case Fault.ECHO:
                self._error(method, 403, f"Forbidden for {self.headers['Authorization']}")

    def _reset(self) -> None:
        """An RST at the client."""
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.close_connection = True
        self.rfile.close()
        self.connection.close()

    def _error(
        self, method: str, status: int, message: str, headers: dict[str, str] | None = None, **more: Any
    ) -> None:
        body = {"message": message, "documentation_url": "https://docs.github.com/rest", **more}
        self._answer(method, self._route(), status, body, headers or {})

    # Answers

    def _answer(self, method: str, route: str, status: int, body: Any, headers: dict[str, str]) -> None:
        data = json.dumps(body).encode()
        etag = f'W/"{hashlib.sha256(data).hexdigest()}"'
        if method == "GET" and status == 200 and self.headers.get("If-None-Match") == etag:
            status, data = 304, b""
        self.github.answers.append(Answer(method, route, status, body if data else None))
        named = {**headers, "ETag": etag, "Content-Type": "application/json; charset=utf-8"}
        right = Reply(f"{status} {HTTPStatus(status).phrase}", list(named.items()), data)
        reply = self.github.alter(method, route, right)
        self.close_connection = reply is not right
        self.wfile.write(reply.head)
        if reply.send:
            reply.send(self.wfile.write)
        else:
            self.wfile.write(reply.body)

    def _route(self) -> str:
        return re.sub(r"/repos/[^/]+/[^/]+", "/repos/O/R", re.sub(r"/\d+(?=/|$)", "/N", urlsplit(self.path).path))

    def _routed(self, method: str, sent: JSON) -> tuple[int, Any, dict[str, str], str]:
        parts = urlsplit(self.path)
        query = {key: values[0] for key, values in parse_qs(parts.query).items()}
        route, steps = self._route(), parts.path.strip("/").split("/")
        match self.headers.get("Authorization"):
            case None if method == "POST":
                return 401, _message("Requires authentication"), {}, route
            case str(sent_with) if sent_with != f"token {self.github.token}":
                return 401, _message("Bad credentials"), {}, route
        name = "/".join(steps[1:3])
        match method, route:
            case "POST", "/repos/O/R/issues":
                return 201, self.github.add_issue(name, sent["title"], sent["body"]), {}, route
            case "GET", "/repos/O/R/issues":
                return self._listed(self._filtered(name, query), query, route)
            case "GET", "/search/issues":
                return 200, self._searched(query), {}, route
            case "GET", "/repos/O/R/issues/N":
                there = [i for i in self.github.issues(name) if i["number"] == int(steps[4])]
                return (200, there[0], {}, route) if there else (404, _message("Not Found"), {}, route)
            case "POST", "/repos/O/R/issues/N/comments":
                return 201, self.github.add_comment(name, int(steps[4]), sent["body"]), {}, route
            case "GET", "/repos/O/R/issues/N/comments":
                comments = self.github.repository(name).comments.get(int(steps[4]), [])
                return self._listed([c for c in comments if c["updated_at"] >= query.get("since", "")], query, route)
            case _:
                return 404, _message("Not Found"), {}, route

    def _filtered(self, name: str, query: dict[str, str]) -> list[JSON]:
        state, since = query.get("state", "open"), query.get("since", "")
        found = [i for i in self.github.issues(name) if state in ("all", i["state"]) and i["updated_at"] >= since]
        return sorted(found, key=lambda i: (i["created_at"], i["number"]), reverse=query.get("direction") != "asc")

    def _listed(self, items: list[JSON], query: dict[str, str], route: str) -> tuple[int, Any, dict[str, str], str]:
        size, page = int(query.get("per_page", 30)), int(query.get("page", 1))
        pages = max(1, -(-len(items) // size))
        address = f"{self.github.url}{urlsplit(self.path).path}"
        links = [
            f'<{address}?{urlencode({**query, "page": number})}>; rel="{rel}"'
            for rel, number in (("next", page + 1), ("last", pages))
            if page < pages
        ]
        return 200, items[(page - 1) * size : page * size], {"Link": ", ".join(links)} if links else {}, route

    def _searched(self, query: dict[str, str]) -> JSON:
        """Search issues. The query has repo:, is:issue, in:title or in:body, and words in quotation marks."""
        text = query["q"]
        name = re.search(r"repo:(\S+)", text)[1]
        where = re.search(r"in:(\S+)", text)[1]
        words = re.search(r'"(.*)"', text)[1].lower()
        repository = self.github.repository(name)
        found = [
            issue | {"score": 1.0}
            for issue in repository.issues
            if issue["number"] in repository.indexed and words in issue[where].lower()
        ]
        found = [issue for issue in found if "pull_request" not in issue][: int(query.get("per_page", 30))]
        return {"total_count": len(found), "incomplete_results": False, "items": found, "search_type": "lexical"}


def _now() -> str:
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def _message(text: str) -> JSON:
    return {"message": text, "documentation_url": "https://docs.github.com/rest"}


def _user(url: str) -> JSON:
    mine = f"{url}/users/{ME}"
    links = ("followers", "following", "gists", "starred", "subscriptions", "organizations", "repos", "events")
    return {
        "login": ME,
        "id": 1,
        "node_id": "U1",
        "avatar_url": f"{url}/u/1",
        "gravatar_id": "",
        "url": mine,
        "html_url": f"{url}/{ME}",
        **{f"{link}_url": f"{mine}/{link}" for link in (*links, "received_events")},
        "type": "User",
        "site_admin": False,
    }


def _issue(url: str, name: str, number: int, title: str, body: str) -> JSON:
    mine = f"{url}/repos/{name}/issues/{number}"
    links = {f"{link}_url": f"{mine}/{link}" for link in ("comments", "events", "timeline")}
    return {
        "id": 1000 + number,
        "node_id": f"I{number}",
        "url": mine,
        "repository_url": f"{url}/repos/{name}",
        "labels_url": f"{mine}/labels{{/name}}",
        **links,
        "html_url": f"{url}/{name}/issues/{number}",
        "number": number,
        "state": "open",
        "state_reason": None,
        "title": title,
        "body": body,
        "user": _user(url),
        "labels": [],
        "assignee": None,
        "assignees": [],
        "milestone": None,
        "locked": False,
        "active_lock_reason": None,
        "comments": 0,
        "closed_at": None,
        "created_at": _now(),
        "updated_at": _now(),
        "author_association": "NONE",
    }


def _comment(url: str, name: str, number: int, count: int, body: str) -> JSON:
    issue = f"{url}/repos/{name}/issues/{number}"
    return {
        "id": 100 * number + count,
        "node_id": f"C{number}.{count}",
        "url": f"{url}/repos/{name}/issues/comments/{100 * number + count}",
        "html_url": f"{url}/{name}/issues/{number}#issuecomment-{100 * number + count}",
        "body": body,
        "user": _user(url),
        "created_at": _now(),
        "updated_at": _now(),
        "issue_url": issue,
        "author_association": "NONE",
    }
