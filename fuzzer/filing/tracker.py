"""The interface to an issue tracker, and its answers. A request to write has three: written, refused, or unknown."""

from __future__ import annotations

import ipaddress
import re
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol
from urllib.parse import urlsplit

from fuzzer.filing.ledger import State
from fuzzer.system.environment import EnvironmentMissing
from fuzzer.system.exit_codes import Exit
from generators.graph import Invalid

PUBLIC = "https://api.github.com"
TITLE, BODY = 256, 65_536
"""GitHub's limits for an issue, in characters."""

_REPOSITORY = re.compile(r"[A-Za-z0-9][A-Za-z0-9-]{0,38}/[A-Za-z0-9_.-]{1,100}")


@dataclass(frozen=True, slots=True)
class Patience:
    """How long to wait for a tracker, in seconds, and how often to repeat a request.

    attempts  the largest number of times that a request is sent
    timeout   for one answer
    settle    after a lost answer to a write, the time after which the new issue is in the list or will never be
    poll      between two requests for that list
    backoff   before the second attempt; it doubles before each later one
    longest   the longest accepted Retry-After of a server; a longer one is an error
    listing   the time after which no further page of a list is asked for
    in_all    the time of all requests of a command, and of the waits between them
    """

    attempts: int = 4
    timeout: int = 30
    settle: float = 120.0
    poll: float = 10.0
    backoff: float = 1.0
    longest: float = 300.0
    listing: float = 600.0
    in_all: float = 3600.0
    sleep: Callable[[float], None] = field(default=time.sleep, repr=False)
    clock: Callable[[], float] = field(default=time.time, repr=False)

    @property
    def whole(self) -> float:
        """An upper bound on the seconds of a write, from its intent to its result."""
        return self.attempts * (self.attempts * (self.timeout + self.longest) + self.settle)


@dataclass(frozen=True, slots=True)
class Issue:
    """An issue of the tracker, as far as a new report is compared with it."""

    number: int
    title: str
    body: str
    url: str
    state: str


@dataclass(frozen=True, slots=True)
class Written:
    """The issue or comment exists. `number` is the issue's."""

    number: int
    url: str


@dataclass(frozen=True, slots=True)
class Refused:
    """The issue or comment was not written, for `reason`."""

    reason: str


@dataclass(frozen=True, slots=True)
class Lost:
    """It is unknown whether the issue or comment was written."""

    reason: str


@dataclass(frozen=True, slots=True)
class Unchanged:
    """The issue is as it was at the last request."""


@dataclass(frozen=True, slots=True)
class Status:
    """The current state of an issue. `reason` is why it was closed."""

    state: State
    reason: str = ""
    labels: tuple[str, ...] = ()
    etag: str = ""


class Unreachable(EnvironmentMissing):
    """The tracker does not answer."""


class Denied(Unreachable):
    """The tracker refuses to be read, or its answer cannot be used."""

    exit = Exit.DENIED


class Tracker(Protocol):
    """The issues of one repository, which the ledger calls `place`.

    Methods that read raise `Unreachable` if there is no answer. Methods that write do not raise it, and they never
    repeat a request that may have been carried out.
    """

    place: str
    repository: str
    patience: Patience

    @property
    def can_write(self) -> bool: ...

    def create(self, title: str, body: str) -> Written | Refused | Lost: ...

    def comment(self, number: int, body: str) -> Written | Refused | Lost: ...

    def find(self, marker: str, since: float) -> Written | None:
        """The issue, open or closed, whose body has `marker`. It is read from the list, which has no delay."""

    def find_comment(self, number: int, marker: str, since: float) -> Written | None:
        """The comment that has `marker`."""

    def changed_since(self, since: float) -> list[Issue]:
        """Open and closed issues that were made or changed since `since`. Pull requests are left out."""

    def search(self, words: str, where: str) -> list[Issue]:
        """The best matches among open and closed issues that have the words in their title or body (`where`). Issues of
        the last minutes may be missing."""

    def status(self, number: int, etag: str) -> Status | Unchanged:
        """The state of an issue, if it changed since the answer that had this ETag."""


def place_of(repository: str, base_url: str = PUBLIC) -> str:
    """The name of a repository in the ledger: server and repository in lower case. Raise `Invalid`."""
    if not _REPOSITORY.fullmatch(repository):
        raise Invalid(f"{repository!r} is not a repository of the form OWNER/NAME")
    parts = urlsplit(base_url)
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.username or parts.query or parts.fragment:
        raise Invalid(f"{base_url!r} is not the address of a GitHub server, such as {PUBLIC}")
    if parts.scheme == "http" and not _is_this_machine(parts.hostname):
        raise Invalid(f"{base_url!r}: a token is sent by https only")
    return f"{parts.netloc}{parts.path.rstrip('/')}/{repository}".lower()


def _is_this_machine(host: str) -> bool:
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
