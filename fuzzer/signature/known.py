"""Known behaviour: what is filed upstream, or documented as unsupported. Counted, not shown as new.

`known_issues.toml` has one table for each; what it says of a signature must all hold:

    [[known]]
    name = "square-root-of-integers"       short, and its own
    why = "one sentence"
    issue = 18443                          of apache/tvm, or a pull request there; or, where nothing is filed,
    page = "https://tvm.apache.org/..."    the documentation that says that this is not supported
    kind, component, stage, error, where   as in the signature
    skeleton, frame                        regular expressions, found anywhere in it
    ops = ["cumsum"]                       exactly the operators of the reduced case
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Collection, Iterable, Mapping
from functools import cache
from importlib.resources import files

import msgspec

from fuzzer.signature import Signature
from generators.graph import Invalid
from oracles.finding import Component, Kind
from oracles.outcome import Stage

FILE = "known_issues.toml"


class KnownIssue(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    name: str
    why: str
    issue: int | None = None
    page: str = ""
    kind: Kind | None = None
    component: Component | None = None
    stage: Stage | None = None
    error: str | None = None
    skeleton: str | None = None
    frame: str | None = None
    where: str | None = None
    ops: tuple[str, ...] | None = None

    @property
    def upstream(self) -> str:
        return f"apache/tvm #{self.issue}" if self.issue else self.page

    def matches(self, signature: Signature) -> bool:
        """Whether a finding is this. What is told by its operators alone is no bug of a pass on them."""
        same_ops = self.ops is None or (not signature.against and sorted(set(self.ops)) == sorted(set(signature.ops)))
        return same_ops and self.where in (None, signature.where) and self._matches_coarsely(signature)

    def may_be(self, signature: Signature, ops: Collection[str]) -> bool:
        """Whether a failure that only its operators tell from others may be this; `ops` are those of a whole case."""
        theirs = self.ops is not None and set(self.ops) <= set(ops) and not signature.against
        return theirs and self._matches_coarsely(signature)

    def _matches_coarsely(self, signature: Signature) -> bool:
        fields = ("kind", "component", "stage", "error")
        same = all(getattr(self, name) in (None, getattr(signature, name)) for name in fields)
        return same and all(
            pattern is None or re.search(pattern, text) is not None
            for pattern, text in ((self.skeleton, signature.skeleton), (self.frame, signature.frame))
        )


@cache
def known_issues() -> tuple[KnownIssue, ...]:
    """Those that ship with the project."""
    return parse(files("fuzzer.signature").joinpath(FILE).read_text(encoding="utf-8"), FILE)


def parse(text: str, where: str) -> tuple[KnownIssue, ...]:
    """Raise `Invalid` with one sentence that says what is wrong and where."""
    try:
        found = msgspec.convert(tomllib.loads(text), dict[str, list[KnownIssue]])
    except (tomllib.TOMLDecodeError, msgspec.ValidationError) as error:
        raise Invalid(f"{where}: {error}") from None
    if strangers := sorted(found.keys() - {"known"}):
        raise Invalid(f"{where}: {strangers[0]!r} is no table of it; each entry is a [[known]]")
    names: set[str] = set()
    for entry in found.get("known", []):
        if entry.name in names:
            raise Invalid(f"{where}: {entry.name!r} is there twice")
        names.add(entry.name)
        _check(entry, where)
    return tuple(found.get("known", []))


def _check(entry: KnownIssue, where: str) -> None:
    if not entry.issue and not entry.page.startswith("https://"):
        raise Invalid(f"{where}: {entry.name!r} may be a new bug: give it an issue, or a page that documents it")
    if entry.skeleton is None and entry.frame is None and entry.ops is None:
        raise Invalid(f"{where}: {entry.name!r} would hide too much: give it a skeleton, a frame or ops")
    for pattern in (entry.skeleton, entry.frame):
        try:
            re.compile(pattern or "")
        except re.error as error:
            raise Invalid(f"{where}: {entry.name!r}: {pattern!r} is no regular expression: {error}") from None


def match(signature: Signature, among: Iterable[KnownIssue] | None = None) -> KnownIssue | None:
    return next((entry for entry in (known_issues() if among is None else among) if entry.matches(signature)), None)


def possible_match(
    signature: Signature, ops: Collection[str], among: Iterable[KnownIssue] | None = None
) -> KnownIssue | None:
    return next((entry for entry in (known_issues() if among is None else among) if entry.may_be(signature, ops)), None)


def count_matches(seen: Mapping[str, int], findings: Iterable[Signature]) -> dict[KnownIssue, int]:
    """How often each entry was met: while fuzzing, and among findings that were saved before the entry was there."""
    old = [entry for signature in findings if (entry := match(signature))]
    return {entry: seen.get(entry.name, 0) + old.count(entry) for entry in known_issues()}
