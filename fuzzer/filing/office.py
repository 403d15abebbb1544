"""The options that choose a tracker, and the fleet that reproduces findings."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType

from fuzzer.filing.ledger import Ledger, default_path
from fuzzer.filing.secret import Secret
from fuzzer.filing.tracker import PUBLIC, Tracker, place_of
from fuzzer.isolate.fleet import Fleet
from fuzzer.system import temporary
from fuzzer.toolchains.registry import find
from generators.graph import Invalid


@dataclass(frozen=True, slots=True)
class TrackerOptions:
    """The repository, the server and the ledger that the command line names."""

    repository: str | None
    base_url: str = PUBLIC
    ledger: Path | None = None

    @property
    def place(self) -> str:
        return place_of(self.repository, self.base_url) if self.repository else ""

    def tracker(self, token: Secret | None) -> Tracker:
        """Connect to the repository. Raise `Invalid` if none was named."""
        if self.repository is None:
            raise Invalid("--repo OWNER/NAME is missing")
        from fuzzer.filing.github import GitHub  # here: requests takes long to load

        return GitHub(self.repository, self.base_url, token)

    def open_ledger(self) -> Ledger:
        return Ledger(self.ledger or default_path())


class LazyFleet:
    """A fleet that starts at the first call. Most findings are held back before anything has to run."""

    def __init__(self) -> None:
        self._stack = ExitStack()
        self._fleet: Fleet | None = None

    def __call__(self) -> Fleet:
        if self._fleet is None:
            scratch = temporary.new_folder()
            self._fleet = self._stack.enter_context(Fleet(scratch, find, new_interpreters=True))
        return self._fleet

    def __enter__(self) -> LazyFleet:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        self._stack.close()
