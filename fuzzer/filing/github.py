"""GitHub's REST interface, through PyGithub. Import it where it is used, because PyGithub takes long to load.

PyGithub's own retries are off. A request to read is repeated up to `Patience.attempts` times. A request to write is
repeated only if the answer says that nothing was written. Without such an answer it is `Lost`, and `write_once.py`
finds out what became of it.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, TypeVar
from urllib.parse import quote

import github
import requests
from github import Auth, Github, GithubException, RateLimitExceededException
from github.Consts import API_VERSION_2022_11_28
from urllib3 import Retry

from fuzzer.filing.ledger import State
from fuzzer.filing.secret import Secret
from fuzzer.filing.tracker import (
    PUBLIC,
    Issue,
    Lost,
    Patience,
    Refused,
    Status,
    Unchanged,
    Unreachable,
    Written,
    place_of,
)

PAGE = 100
_UNSURE = (408,)
"""Status codes, beside 5xx, after which the request may have been carried out."""

_NO_ANSWER = (requests.RequestException, ValueError, KeyError, RuntimeError)
"""Errors without a complete answer: a broken connection, invalid JSON, a missing field, or a redirect to another server
(PyGithub raises RuntimeError for it)."""

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class _Busy:
    """The server did nothing. The request may be repeated after `seconds`."""

    seconds: float
    reason: str


class GitHub:
    """The issues of one repository. Without a token it can only read."""

    def __init__(
        self, repository: str, base_url: str = PUBLIC, token: Secret | None = None, patience: Patience = Patience()
    ) -> None:
        """Raise `Invalid` if the repository or the address is not valid, or the token would be sent without https."""
        self.place = place_of(repository, base_url)
        self.patience = patience
        self.repository = repository
        self._token = token
        self._github = Github(
            base_url=base_url.rstrip("/"),
            auth=Auth.Token(token.reveal()) if token else None,
            timeout=patience.timeout,
            user_agent="difftvm",
            per_page=PAGE,
            retry=Retry(0, read=False, redirect=False),
            seconds_between_requests=None,
            seconds_between_writes=None,
            api_version=API_VERSION_2022_11_28,
            lazy=True,
        )
        self._issues = self._github.get_repo(repository)

    @property
    def can_write(self) -> bool:
        return self._token is not None

    # Writing

    def create(self, title: str, body: str) -> Written | Refused | Lost:
        def send() -> Written:
            made = self._issues.create_issue(title=title, body=body)
            return Written(made.number, made.html_url)

        return self._written(send)

    def comment(self, number: int, body: str) -> Written | Refused | Lost:
        def send() -> Written:
            made = self._issues.get_issue(number).create_comment(body)
            return Written(number, made.html_url)

        return self._written(send)

    def _written(self, send: Callable[[], Written]) -> Written | Refused | Lost:
        for attempt in range(self.patience.attempts):
            try:
                return send()
            except (GithubException, *_NO_ANSWER) as error:
                match self._classified(error, attempt):
                    case _Busy(seconds=seconds) if seconds <= self.patience.longest:
                        self.patience.sleep(seconds)
                    case _Busy(reason=reason):
                        return Refused(reason)
                    case Refused() | Lost() as found:
                        return found
        return Refused(f"the server still asks to wait after {self.patience.attempts} attempts")

    # Reading

    def find(self, marker: str, since: float) -> Written | None:
        """The issue, open or closed, whose body has `marker`. The list has no delay, unlike the search."""
        return next((Written(i.number, i.url) for i in self.changed_since(since) if marker in i.body), None)

    def find_comment(self, number: int, marker: str, since: float) -> Written | None:
        def ask() -> Written | None:
            comments = self._issues.get_issue(number).get_comments(since=_utc(since))
            return next((Written(number, c.html_url) for c in comments if marker in (c.body or "")), None)

        return self._read(ask)

    def changed_since(self, since: float) -> list[Issue]:
        """Open and closed issues that were made or changed since `since`. Pull requests are left out."""

        def ask() -> list[Issue]:
            listed = self._issues.get_issues(state="all", sort="created", direction="desc", since=_utc(since))
            return [
                Issue(i.number, i.title, i.body or "", i.html_url, i.state) for i in listed if i.pull_request is None
            ]

        return self._read(ask)

    def search(self, words: str, where: str) -> list[Issue]:
        """The best hundred matches among open and closed issues that have the words in their title or body (`where`).
        Issues of the last minutes may be missing. Raise `Unreachable` if the search is not complete."""
        query = f'repo:{self.repository} is:issue in:{where} "{words}"'

        def ask() -> list[Issue]:
            _, found = self._github.requester.requestJsonAndCheck(
                "GET", "/search/issues", {"q": query, "per_page": PAGE}
            )
            if found["incomplete_results"]:
                raise requests.Timeout("the search was cut short")
            return [_issue(item) for item in found["items"]]

        return self._read(ask)

    def status(self, number: int, etag: str) -> Status | Unchanged:
        """The state of an issue. A request with the `etag` of the last answer is free of the hourly limit."""

        def ask() -> Status | Unchanged:
            headers = {"If-None-Match": etag} if etag else {}
            path = f"/repos/{quote(self.repository)}/issues/{number}"
            try:
                code, answer, body = self._github.requester.requestJson("GET", path, headers=headers)
                if code == 304:
                    return Unchanged()
                if code >= 400 or code in (301, 302):
                    raise github.Requester.Requester.createException(code, answer, _parsed(body))
                found = _parsed(body)
            except GithubException as error:
                if error.status in (301, 302, 404, 410):
                    return Status(State.GONE)
                raise
            labels = tuple(sorted(label["name"] for label in found["labels"]))
            return Status(State(found["state"]), found.get("state_reason") or "", labels, answer.get("etag", ""))

        return self._read(ask)

    def _read(self, ask: Callable[[], T]) -> T:
        reason = ""
        for attempt in range(self.patience.attempts):
            try:
                return ask()
            except (GithubException, *_NO_ANSWER) as error:
                match self._classified(error, attempt):
                    case _Busy(seconds=seconds, reason=reason) if seconds <= self.patience.longest:
                        pass
                    case Lost(reason=reason):
                        seconds = self.patience.backoff * (1 << attempt)
                    case _Busy(reason=reason) | Refused(reason=reason):
                        raise Unreachable(reason) from None
            if attempt + 1 < self.patience.attempts:
                self.patience.sleep(seconds)
        raise Unreachable(f"{reason} ({self.patience.attempts} attempts)")

    # Errors

    def _classified(self, error: Exception, attempt: int) -> _Busy | Refused | Lost:
        if not isinstance(error, GithubException):
            return Lost(self._without_token(f"{self.place}: no answer ({type(error).__name__})"))
        reason = self._without_token(f"{self.place}: {error.status} {error.message or _message(error.data)}")
        if error.status >= 500 or error.status < 400 or error.status in _UNSURE:
            return Lost(reason)
        headers = error.headers or {}
        limited = isinstance(error, RateLimitExceededException) or "retry-after" in headers
        if error.status == 429 or (error.status == 403 and limited):
            return _Busy(self._wait(headers, attempt), reason)
        return Refused(reason)

    def _wait(self, headers: dict[str, Any], attempt: int) -> float:
        """The seconds to wait, as GitHub's documentation asks: Retry-After; until the reset, if no requests remain;
        else a minute, doubled at each attempt."""
        if (after := str(headers.get("retry-after", ""))).isdigit():
            return float(after)
        reset = str(headers.get("x-ratelimit-reset", ""))
        if headers.get("x-ratelimit-remaining") == "0" and reset.isdigit():
            return max(1.0, float(reset) - self.patience.clock() + 1)
        return 60.0 * (1 << attempt)

    def _without_token(self, text: str) -> str:
        return self._token.hidden_in(text) if self._token else text


def _utc(seconds: float) -> datetime:
    return datetime.fromtimestamp(seconds, UTC)


def _issue(item: dict[str, Any]) -> Issue:
    return Issue(item["number"], item["title"], item.get("body") or "", item["html_url"], item["state"])


def _parsed(body: str) -> Any:
    return json.loads(body) if body else None


def _message(data: object) -> str:
    match data:
        case {"message": str(text)}:
            return text
        case _:
            return "no explanation"
