"""What TVM's maintainers have said that concerns findings: what they leave unspecified, and related issues.

`upstream.toml` is the reviewed list. A finding matches a row if all conditions of the row hold:

    [[unspecified]]                        such a finding is kept apart, and never filed
    name = "nan-through-comparisons"       short and unique
    why = "one sentence"
    [[related]]                            a report says that the finding is perhaps this
    what = "what it is about"
    state = "open issue"                   or "open pull request", "merged"

    number = 19847                         an issue or pull request of apache/tvm
    read_on = 2026-11-22                   when a person last read it there
    kinds, ops, culprits, passes           lists: the finding has one of them. An operator of ONNX has no version here
    calls                                  operators of Relax: the imported module calls one, and a pass is blamed
    skeletons                              regular expressions: one matches the message
    expects_nan = true                     the right result is NaN
"""

from __future__ import annotations

import datetime
import math
import re
import tomllib
from collections.abc import Collection, Iterable
from functools import cache
from importlib.resources import files

import msgspec

from fuzzer.findings.finding_doc import FindingDoc
from fuzzer.signature.blame import Place
from generators.graph import Invalid
from oracles.finding import Component, Kind, Mismatch

FILE = "upstream.toml"


class Row(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """What both tables have."""

    number: int
    read_on: datetime.date
    kinds: tuple[Kind, ...] = ()
    ops: tuple[str, ...] = ()
    culprits: tuple[str, ...] = ()
    passes: tuple[str, ...] = ()
    calls: tuple[str, ...] = ()
    skeletons: tuple[str, ...] = ()
    expects_nan: bool = False

    def matches(self, doc: FindingDoc) -> bool:
        return (
            doc.component is Component.TVM
            and _any(self.kinds, (doc.kind,))
            and _any(self.ops, doc.ops)
            and _any(self.passes, doc.lane.passes)
            and (not self.calls or (_any(self.calls, doc.blame.origin.calls) and doc.blame.place is Place.PASS))
            and (not self.culprits or any(culprit in doc.blame.culprit for culprit in self.culprits))
            and (not self.skeletons or any(re.search(each, doc.identity.skeleton) for each in self.skeletons))
            and (not self.expects_nan or _expects_nan(doc))
        )


class Unspecified(Row, frozen=True):
    name: str
    why: str


class Related(Row, frozen=True):
    what: str
    state: str

    def __str__(self) -> str:
        return f"apache/tvm #{self.number} ({self.what}; {self.state}, read on {self.read_on})"


class Upstream(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    unspecified: tuple[Unspecified, ...] = ()
    related: tuple[Related, ...] = ()


def _any(wanted: Collection[object], found: Collection[object]) -> bool:
    return not wanted or not set(wanted).isdisjoint(found)


def _expects_nan(doc: FindingDoc) -> bool:
    mismatch = doc.evidence.mismatch
    return isinstance(mismatch, Mismatch) and mismatch.worst is not None and math.isnan(mismatch.worst.expected)


@cache
def rows() -> Upstream:
    """Return the rows that are part of the project."""
    return parse(files("fuzzer.findings").joinpath(FILE).read_text(encoding="utf-8"), FILE)


def parse(text: str, where: str) -> Upstream:
    """Read rows from TOML. `where` names the text in messages. Raise `Invalid` if the text is not valid."""
    try:
        found = msgspec.convert(tomllib.loads(text), Upstream)
    except (tomllib.TOMLDecodeError, msgspec.ValidationError) as error:
        raise Invalid(f"{where}: {error}") from None
    for row in (*found.unspecified, *found.related):
        if not (row.ops or row.culprits or row.passes or row.calls or row.skeletons):
            missing = "ops, culprits, passes, calls or skeletons"
            raise Invalid(f"{where}: #{row.number} would match too much: give it {missing}")
    return found


def unspecified(doc: FindingDoc, among: Iterable[Unspecified] | None = None) -> Unspecified | None:
    """Return the row by which TVM leaves unspecified what the finding is about."""
    return next((row for row in (rows().unspecified if among is None else among) if row.matches(doc)), None)


def related(doc: FindingDoc) -> list[Related]:
    """Return the issues and pull requests that are perhaps about this finding."""
    return [row for row in rows().related if row.matches(doc)]
