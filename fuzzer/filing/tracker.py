"""What filing asks of a tracker, and what it may hear: above all, what may have come of a request to write."""

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
from generators.graph import Invalid

PUBLIC = "https://api.github.com"
TITLE, BODY = 256, 65_536
"""The most characters of an issue that GitHub takes."""

_REPOSITORY = re.compile(r"[A-Za-z0-9][A-Za-z0-9-]{0,38}/[A-Za-z0-9_.-]{1,100}")


@dataclass(frozen=True, slots=True)
class Patience:
    """Seconds, but for `attempts`, which bounds how often one thing is asked or sent.

    timeout  for one answer
    settle   after a lost answer to a write, what was written shows in lists, or will not any more
    poll     between two looks at such a list
    backoff  before the second attempt; twice as much before each further one
    longest  the longest that a server may ask to wait (Retry-After); more is an error
    """

    attempts: int = 4
    timeout: int = 30
    settle: float = 120.0
    poll: float = 10.0
    backoff: float = 1.0
    longest: float = 300.0
    sleep: Callable[[float], None] = field(default=time.sleep, repr=False)
    clock: Callable[[], float] = field(default=time.time, repr=False)

    @property
    def whole(self) -> float:
        """No write takes longer from its intent to its end."""
        return self.attempts * (self.attempts * (self.timeout + self.longest) + self.settle)


@dataclass(frozen=True, slots=True)
class Issue:
    """What is compared with a report that is about to be filed."""

    number: int
    title: str
    body: str
    url: str
    state: str


@dataclass(frozen=True, slots=True)
class Written:
    """It is there. `number` is the issue's."""

    number: int
    url: str


@dataclass(frozen=True, slots=True)
class Refused:
    """It is not there, and why."""

    told: str


@dataclass(frozen=True, slots=True)
class Lost:
    """Nobody knows whether it is there."""

    told: str


@dataclass(frozen=True, slots=True)
class Unchanged:
    """Since the last time that it was asked about."""


@dataclass(frozen=True, slots=True)
class Status:
    """What has become of an issue; `reason` is why it was closed."""

    state: State
    reason: str = ""
    labels: tuple[str, ...] = ()
    etag: str = ""


class Unreachable(EnvironmentMissing):
    """The tracker does not answer, or not now, or not to us."""


class Tracker(Protocol):
    """The issues of one repository. What reads raises `Unreachable` where nobody answers; what writes never does, and
    is never repeated where the first request may have been carried out.

    place  what the ledger calls it
    """

    place: str
    repository: str
    patience: Patience

    @property
    def can_write(self) -> bool: ...

    def create(self, title: str, body: str) -> Written | Refused | Lost: ...

    def comment(self, number: int, body: str) -> Written | Refused | Lost: ...

    def find(self, marker: str, since: float) -> Written | None:
        """The issue, open or closed, in whose body `marker` stands; from a list that is right at once."""

    def find_comment(self, number: int, marker: str, since: float) -> Written | None:
        """The comment in which it stands."""

    def changed_since(self, since: float) -> list[Issue]:
        """Open and closed issues that were made or changed since then; no pull requests."""

    def search(self, words: str, where: str) -> list[Issue]:
        """The best of the open and closed issues that have the words in their title or body (`where`). What was filed
        in the last minutes may be missing."""

    def status(self, number: int, etag: str) -> Status | Unchanged:
        """What has become of an issue since the answer that had this ETag."""


def place_of(repository: str, base_url: str = PUBLIC) -> str:
    """What the ledger calls it: the server's name and the repository's, in small letters. Raise `Invalid`."""
    if not _REPOSITORY.fullmatch(repository):
        raise Invalid(f"{repository!r} is no repository: OWNER/NAME")
    parts = urlsplit(base_url)
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.username or parts.query or parts.fragment:
        raise Invalid(f"{base_url!r} is no address of a GitHub server, as {PUBLIC}")
    if parts.scheme == "http" and not _is_this_machine(parts.hostname):
        raise Invalid(f"{base_url!r}: a token is sent by https only")
    return f"{parts.netloc}{parts.path.rstrip('/')}/{repository}".lower()


def _is_this_machine(host: str) -> bool:
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
