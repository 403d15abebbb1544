"""GitHub's REST interface. Import it where it is used, because requests takes long to load.

A request to read is repeated up to `Patience.attempts` times. A request to write is repeated only if the answer says
that nothing was written. Without such an answer it is `Lost`, and `write_once.py` finds out what became of it.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import TypeVar
from urllib.parse import quote

from fuzzer.filing import answers
from fuzzer.filing.answers import PAGE, count, decoded
from fuzzer.filing.bounded_http import Answer, BadAnswer, NoAnswer, Server
from fuzzer.filing.ledger import State
from fuzzer.filing.secret import Secret
from fuzzer.filing.time_budget import TimeBudget
from fuzzer.filing.tracker import (
    PUBLIC,
    Denied,
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
from fuzzer.system.terminal import one_sentence

MOST_PAGES, MOST_KEPT = 400, 20
"""The largest number of pages of a list that is searched, and of one that is returned as a whole."""

_UNSURE = (408,)
"""Status codes, beside 5xx, after which the request may have been carried out."""

_MOVED = (301, 302, 307, 308)
_HEADERS = {"Accept": "application/vnd.github+json", "X-GitHub-Api-Version": "2022-11-28"}

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class _Busy:
    """The server did nothing. The request may be repeated after `seconds`."""

    seconds: float
    reason: str


class GitHub:
    """The issues of one repository, for one command: all requests together have a limit of time. Without a token it can
    only read."""

    def __init__(
        self, repository: str, base_url: str = PUBLIC, token: Secret | None = None, patience: Patience = Patience()
    ) -> None:
        """Raise `Invalid` if the repository or the address is not valid, or the token would be sent without https."""
        self.place = place_of(repository, base_url)
        self._time = TimeBudget(self.place, patience.in_all, patience.sleep)
        self.patience = replace(patience, sleep=self._time.sleep)
        self.repository = repository
        self._token = token
        self._server = Server(base_url, token, patience.timeout, _HEADERS)
        self._issues = f"/repos/{quote(repository)}/issues"

    @property
    def can_write(self) -> bool:
        return self._token is not None

    # Writing

    def create(self, title: str, body: str) -> Written | Refused | Lost:
        def result(answer: Answer) -> Written:
            made = decoded(answer, answers.Created)
            return Written(made.number, made.html_url)

        return self._written(self._issues, {"title": title, "body": body}, result)

    def comment(self, number: int, body: str) -> Written | Refused | Lost:
        def result(answer: Answer) -> Written:
            return Written(number, decoded(answer, answers.Comment).html_url)

        return self._written(f"{self._issues}/{number}/comments", {"body": body}, result)

    def _written(
        self, path: str, sent: Mapping[str, str], result: Callable[[Answer], Written]
    ) -> Written | Refused | Lost:
        for attempt in range(self.patience.attempts):
            try:
                with self._time.of_a_request():
                    answer = self._server.post(path, sent)
                if answer.status == 201:
                    return result(answer)
            except (NoAnswer, BadAnswer) as error:
                return Lost(self._sentence(error))
            match self._classified(answer, attempt):
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
        listed = self._changed(since, MOST_PAGES)
        return next((Written(issue.number, issue.url) for issue in listed if marker in issue.body), None)

    def find_comment(self, number: int, marker: str, since: float) -> Written | None:
        comments = self._listed(f"{self._issues}/{number}/comments", {"since": _utc(since)}, answers.Comments)
        return next((Written(number, each.html_url) for each in comments if marker in (each.body or "")), None)

    def changed_since(self, since: float) -> list[Issue]:
        """Open and closed issues that were made or changed since `since`. Pull requests are left out."""
        return list(self._changed(since, MOST_KEPT))

    def _changed(self, since: float, most_pages: int) -> Iterator[Issue]:
        query = {"state": "all", "sort": "created", "direction": "desc", "since": _utc(since)}
        listed = self._listed(self._issues, query, answers.Issues, most_pages)
        return (_issue(each) for each in listed if each.pull_request is None)

    def search(self, words: str, where: str) -> list[Issue]:
        """The best hundred matches among open and closed issues that have the words in their title or body (`where`).
        Issues of the last minutes may be missing. Raise `Unreachable` if the search is not complete."""

        def result(answer: Answer) -> list[Issue]:
            found = decoded(answer, answers.Found)
            if found.incomplete_results:
                raise NoAnswer("the search was cut short")
            return [_issue(item) for item in found.items if item.pull_request is None]

        query = {"q": f'repo:{self.repository} is:issue in:{where} "{words}"', "per_page": str(PAGE)}
        return self._read("/search/issues", query, result)

    def status(self, number: int, etag: str) -> Status | Unchanged:
        """The state of an issue. A request with the `etag` of the last answer is free of the hourly limit."""
        headers = {"If-None-Match": etag} if answers.is_etag(etag) else {}

        def result(answer: Answer) -> Status | Unchanged:
            match answer.status:
                case 200:
                    found = decoded(answer, answers.IssueState)
                    if found.number != number:
                        raise BadAnswer(f"it was asked for issue {number} and answers with issue {found.number}")
                    reason = found.state_reason or ""
                    return Status(State(found.state), reason, found.label_names, answers.etag(answer))
                case 304 if headers:
                    return Unchanged()
                case 301 | 302 | 404 | 410:
                    return Status(State.GONE)
                case other:
                    raise BadAnswer(f"{other} is no answer to this request")

        return self._read(f"{self._issues}/{number}", {}, result, headers, accepted=(200, 301, 302, 304, 404, 410))

    def _listed(self, path: str, query: Mapping[str, str], form: type[list[T]], most: int = MOST_PAGES) -> Iterator[T]:
        """The items of all pages. Raise `Denied` if there are more than `most`, or they take too long."""
        over = time.monotonic() + self.patience.listing

        def result(answer: Answer) -> tuple[list[T], dict[str, str] | None]:
            return decoded(answer, form), answers.next_page(answer, self._server)

        page = {**query, "per_page": str(PAGE)}
        for _ in range(most):
            items, following = self._read(path, page, result)
            yield from items
            if following is None:
                return
            if time.monotonic() > over:
                raise Denied(f"{self.place}: its list takes more than {self.patience.listing:g} s")
            page |= following
        raise Denied(f"{self.place}: its list has more than {most} pages")

    def _read(
        self,
        path: str,
        query: Mapping[str, str],
        result: Callable[[Answer], T],
        headers: Mapping[str, str] | None = None,
        accepted: tuple[int, ...] = (200,),
    ) -> T:
        """Raise `Denied` if the server refuses or its answer cannot be used, `Unreachable` if there is no answer."""
        failed: _Busy | Lost = Lost("it was not asked")
        for attempt in range(self.patience.attempts):
            try:
                with self._time.of_a_request():
                    answer = self._server.get(path, query, headers)
                if answer.status in accepted:
                    return result(answer)
                if answer.status < 400:
                    raise BadAnswer(_no_answer(answer.status))
                found = self._classified(answer, attempt)
            except BadAnswer as error:
                raise Denied(self._sentence(error)) from None
            except NoAnswer as error:
                found = Lost(self._sentence(error))
            match found:
                case Refused(reason=reason):
                    raise Denied(reason)
                case _Busy(seconds=seconds, reason=reason) if seconds > self.patience.longest:
                    raise Denied(f"{reason}; it asks to wait {seconds:.0f} s")
                case _Busy(seconds=seconds):
                    failed = found
                case Lost():
                    failed, seconds = found, self.patience.backoff * (1 << attempt)
            if attempt + 1 < self.patience.attempts:
                self.patience.sleep(seconds)
        kind = Denied if isinstance(failed, _Busy) else Unreachable
        raise kind(f"{failed.reason} ({self.patience.attempts} attempts)")

    # Errors

    def _classified(self, answer: Answer, attempt: int) -> _Busy | Refused | Lost:
        text = answers.message(answer)
        reason = self._sentence(f"{answer.status} {text}")
        if answer.status >= 500 or answer.status < 400 or answer.status in _UNSURE:
            return Lost(reason)
        spent = answer.headers.get("X-RateLimit-Remaining") == "0"
        limited = spent or "Retry-After" in answer.headers or "rate limit" in text.lower()
        if answer.status == 429 or (answer.status == 403 and limited):
            return _Busy(self._wait(answer, attempt), reason)
        return Refused(reason)

    def _wait(self, answer: Answer, attempt: int) -> float:
        """The seconds to wait, as GitHub's documentation asks: Retry-After; until the reset, if no requests remain;
        else a minute, doubled at each attempt."""
        if (after := count(answer, "Retry-After")) is not None:
            return after
        reset = count(answer, "X-RateLimit-Reset")
        if answer.headers.get("X-RateLimit-Remaining") == "0" and reset is not None:
            return max(1.0, reset - self.patience.clock() + 1)
        return 60.0 * (1 << attempt)

    def _sentence(self, error: object) -> str:
        """One bounded line that names the place. A server may repeat the token that it was sent."""
        text = f"{self.place}: {error}"
        return one_sentence(self._token.hidden_in(text) if self._token else text)


def _utc(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def _issue(found: answers.ListedIssue) -> Issue:
    return Issue(found.number, one_sentence(found.title), found.body or "", found.html_url, found.state)


def _no_answer(status: int) -> str:
    if status in _MOVED:
        return (
            f"{status}, it sends the request elsewhere, which difftvm does not follow; name the repository as it is now"
        )
    return f"{status} is no answer to this request"
