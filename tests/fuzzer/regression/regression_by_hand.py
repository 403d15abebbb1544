"""Regression corpora made by hand. Tests of their parts share this."""

from __future__ import annotations

from collections.abc import Mapping

import fakes

from fuzzer.regression.candidates import Candidate
from fuzzer.regression.record import FORMAT, Corpus, Coverage, Description, Entry, KnownFailure, name_of, short
from generators.graph import Case
from oracles.finding import Component, Kind
from oracles.lane import Engine, Importer, LaneSpec

EXPORT = LaneSpec("relax-export-llvm", Engine.TVM, Importer.EXPORT, "relax", asserts=False, checked=True)
FX = LaneSpec("relax-fx-llvm", Engine.TVM, Importer.FX, "relax", asserts=False, checked=True)
LANES = {"relax-export-llvm": EXPORT, "relax-fx-llvm": FX}
FAILURE = "0123456789ab"
KNOWN = KnownFailure(Kind.WRONG_VALUE, Component.TVM, "the result is wrong", "wrong-value-add-0123456789ab")


def numbered_case(number: int) -> Case:
    """Cases that differ in one value."""
    tensors = {name: array + number for name, array in fakes.CASE.tensors.items()}
    return Case(fakes.CASE.graph, tensors, origin=f"number {number}")


def candidate(number: int, features: str, cpu_seconds: float = 1.0, size: int = 100, family: str = "") -> Candidate:
    case = numbered_case(number)
    return Candidate(case, (EXPORT,), f"test {number}", frozenset(features.split()), cpu_seconds, size, family)


def corpus_of(*entries: Entry, cases: Mapping[str, Case], failures: Mapping[str, KnownFailure] | None = None) -> Corpus:
    known = {FAILURE: KNOWN} if failures is None else dict(failures)
    lanes = {name: short(lane) for name, lane in LANES.items()}
    coverage = {"compiler": Coverage(3, 4)}
    description = Description(FORMAT, "host", {"tvm": "0.27.0"}, 1.5, coverage, lanes, known)
    return Corpus(description, list(entries), LANES, dict(cases))


def small_corpus() -> Corpus:
    """Two cases: one whose lanes are right and not supported, one with a known failure."""
    cases = {name_of(case): case for case in map(numbered_case, range(2))}
    first, second = cases
    return corpus_of(
        Entry(first, ["add"], "test 0 of me", right=["relax-export-llvm"], unsupported=["relax-fx-llvm"]),
        Entry(second, ["add"], "wrong-value-add-0123456789ab", fails={"relax-export-llvm": FAILURE}),
        cases=cases,
    )
