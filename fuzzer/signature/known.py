"""Known issues: failures that are filed upstream or documented as unsupported. They are counted, not shown as new.

`known_issues.toml` has one table for each. A signature matches if all fields of the table match:

    [[known]]
    name = "square-root-of-integers"       short and unique
    why = "one sentence"
    issue = 18443                          an issue or pull request of apache/tvm; or, if none is filed,
    page = "https://tvm.apache.org/..."    the documentation that says that this is not supported
    kind, component, stage, error, where   equal to the field of the signature
    skeleton, frame                        regular expressions that match anywhere in the field
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
    """One table of `known_issues.toml`."""

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
        """The issue, or the address of the documentation."""
        return f"apache/tvm #{self.issue}" if self.issue else self.page

    def matches(self, signature: Signature) -> bool:
        """Return whether the final signature of a finding matches.

        An issue that is described by operators does not match a failure that was found by comparing two lanes.
        """
        same_ops = self.ops is None or (not signature.against and sorted(set(self.ops)) == sorted(set(signature.ops)))
        return same_ops and self.where in (None, signature.where) and self._matches_coarse_fields(signature)

    def may_be(self, signature: Signature, ops: Collection[str]) -> bool:
        """Return whether the reduced failure may match. `ops` are the operators of the case before reduction.

        Only issues that are described by operators are considered.
        """
        has_ops = self.ops is not None and set(self.ops) <= set(ops) and not signature.against
        return has_ops and self._matches_coarse_fields(signature)

    def _matches_coarse_fields(self, signature: Signature) -> bool:
        fields = ("kind", "component", "stage", "error")
        same = all(getattr(self, name) in (None, getattr(signature, name)) for name in fields)
        return same and all(
            pattern is None or re.search(pattern, text) is not None
            for pattern, text in ((self.skeleton, signature.skeleton), (self.frame, signature.frame))
        )


@cache
def known_issues() -> tuple[KnownIssue, ...]:
    """Return the known issues that are part of the project."""
    return parse(files("fuzzer.signature").joinpath(FILE).read_text(encoding="utf-8"), FILE)


def parse(text: str, where: str) -> tuple[KnownIssue, ...]:
    """Read known issues from TOML. `where` names the text in messages. Raise `Invalid` if the text is not valid."""
    try:
        found = msgspec.convert(tomllib.loads(text), dict[str, list[KnownIssue]])
    except (tomllib.TOMLDecodeError, msgspec.ValidationError) as error:
        raise Invalid(f"{where}: {error}") from None
    if unknown := sorted(found.keys() - {"known"}):
        raise Invalid(f"{where}: unknown table {unknown[0]!r}; each known issue is a [[known]]")
    names: set[str] = set()
    for entry in found.get("known", []):
        if entry.name in names:
            raise Invalid(f"{where}: {entry.name!r} is defined twice")
        names.add(entry.name)
        _check(entry, where)
    return tuple(found.get("known", []))


def _check(entry: KnownIssue, where: str) -> None:
    if not entry.issue and not entry.page.startswith("https://"):
        raise Invalid(f"{where}: {entry.name!r} may be a new bug: give it an issue, or a page that documents it")
    if entry.skeleton is None and entry.frame is None and entry.ops is None:
        raise Invalid(f"{where}: {entry.name!r} would match too much: give it a skeleton, a frame or ops")
    for pattern in (entry.skeleton, entry.frame):
        try:
            re.compile(pattern or "")
        except re.error as error:
            raise Invalid(f"{where}: {entry.name!r}: {pattern!r} is not a regular expression: {error}") from None


def match(signature: Signature, among: Iterable[KnownIssue] | None = None) -> KnownIssue | None:
    """Return the first known issue that a final signature matches; `among` replaces those of the project."""
    return next((entry for entry in (known_issues() if among is None else among) if entry.matches(signature)), None)


def possible_match(
    signature: Signature, ops: Collection[str], among: Iterable[KnownIssue] | None = None
) -> KnownIssue | None:
    """Return the first known issue that a failure may match when its case, with operators `ops`, is reduced."""
    return next((entry for entry in (known_issues() if among is None else among) if entry.may_be(signature, ops)), None)


def count_matches(counted: Mapping[str, int], findings: Iterable[Signature]) -> dict[KnownIssue, int]:
    """Return how often each known issue occurred.

    `counted` has the occurrences in tests by name. Findings count too if they were saved before the issue was known.
    """
    saved = [entry for signature in findings if (entry := match(signature))]
    return {entry: counted.get(entry.name, 0) + saved.count(entry) for entry in known_issues()}
