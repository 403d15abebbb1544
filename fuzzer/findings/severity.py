"""How severe a bug is, computed from a saved finding, with the reasons.

The score is the severity of the kind, times a factor for each fact that makes the bug matter less or more. The numbers
are a judgement: a silent wrong result of a common operator in float32 and the default pipeline is critical, and a
refusal of an operator that no model uses is low.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cache
from importlib.resources import files

from fuzzer.findings.finding_doc import FindingDoc
from fuzzer.signature.blame import ReleaseVerdict
from fuzzer.triage.scope.statement import Condition, Relation, Statement
from fuzzer.triage.scope.table_conditions import special_numbers
from generators.dialect import dialect_named
from generators.types import DType, TensorType
from oracles.finding import Component, Kind
from oracles.lane import converts
from oracles.siblings import additions


class Level(StrEnum):
    CRITICAL = "critical"
    HIGH = "high"
    MEDIUM = "medium"
    LOW = "low"


LEAST_SCORE = {Level.CRITICAL: 65.0, Level.HIGH: 42.0, Level.MEDIUM: 22.0, Level.LOW: 0.0}
"""The smallest score of each level."""


@dataclass(frozen=True, slots=True)
class Severity:
    """`score` is from 0 to about 120. `reasons` are phrases, the most important first."""

    score: float
    reasons: tuple[str, ...]

    @property
    def level(self) -> Level:
        return next(level for level, least in LEAST_SCORE.items() if self.score >= least)


@dataclass(frozen=True, slots=True)
class Factor:
    """One fact about a bug, and what it multiplies the score by. `is_special`: the bug needs infinities or NaN."""

    reason: str
    by: float
    is_special: bool = False


KINDS: dict[Kind, tuple[float, str]] = {
    Kind.OUT_OF_BOUNDS_WRITE: (100.0, "it writes memory that is not its own"),
    Kind.OUT_OF_BOUNDS_READ: (95.0, "it reads memory that is not its own"),
    Kind.UNINITIALISED_READ: (90.0, "it uses memory that nothing has written"),
    Kind.WRONG_VALUE: (90.0, "the result is silently wrong"),
    Kind.SECOND_RUN_DIFFERS: (85.0, "the result changes from run to run"),
    Kind.NONDETERMINISTIC: (85.0, "the result depends on the process"),
    Kind.MODIFIED_INPUT: (80.0, "it overwrites its input"),
    Kind.WRONG_SHAPE: (75.0, "the result has a wrong shape"),
    Kind.WRONG_ARITY: (75.0, "it has a wrong number of results"),
    Kind.DIED: (75.0, "it ends the process"),
    Kind.WRONG_DTYPE: (70.0, "the result has a wrong dtype"),
    Kind.TIMED_OUT: (60.0, "it does not end"),
    Kind.OUT_OF_MEMORY: (60.0, "it needs too much memory"),
    Kind.INTERNAL_ERROR: (50.0, "the compiler fails on a valid model"),
    Kind.ALIASED_OUTPUT: (20.0, "the result shares memory with the input"),
    Kind.ILL_FORMED: (35.0, "the module is ill-formed"),
    Kind.REJECTED: (35.0, "a valid model is refused"),
    Kind.BLOAT: (30.0, "it is larger than needed"),
    Kind.SLOW: (30.0, "it compiles more slowly than needed"),
    Kind.CHECKER_GAP: (25.0, "the checker accepts a broken module"),
}

WRONG_IN_BOTH = (KINDS[Kind.WRONG_VALUE][0], "the result has a wrong shape and wrong values")

COMMON, KNOWN, RARE = 0.10, 0.02, 0.0
"""An operator is common if more than this part of the model files call it."""


def severity_of(doc: FindingDoc, types: Sequence[str]) -> Severity:
    """`types` are the types of the case's inputs, such as "float32[2,3]"."""
    score, first = _of_kind(doc)
    factors = [
        *_of_lane(doc),
        *_of_operands(doc, types),
        *_of_difference(doc),
        *_of_operators(doc),
        *_of_scope(doc),
        *_of_releases(doc),
    ]
    if doc.ops and ABOUT_SPECIAL.issuperset(doc.ops):
        factors = [each for each in factors if not each.is_special]
    for factor in factors:
        score *= factor.by
    telling = sorted((each for each in factors if each.reason), key=lambda each: abs(1 - each.by), reverse=True)
    reasons = dict.fromkeys((first, *(each.reason for each in telling)))  # two conditions have one reason
    return Severity(round(score, 1), tuple(reasons))


def _of_kind(doc: FindingDoc) -> tuple[float, str]:
    """The score and the phrase of the worst that a finding shows."""
    if _has_wrong_values_too(doc):
        return WRONG_IN_BOTH
    ill_formed = doc.evidence.ill_formed
    if ill_formed is not None and ill_formed.follows and KINDS[Kind(ill_formed.follows)][0] > KINDS[doc.kind][0]:
        score, phrase = KINDS[Kind(ill_formed.follows)]
        return score, f"the module is ill-formed, and then {phrase}"
    return KINDS[doc.kind]


def _has_wrong_values_too(doc: FindingDoc) -> bool:
    """Whether values are wrong in the part that a wrong shape and the right one have in common."""
    mismatch = doc.evidence.mismatch
    return doc.kind is Kind.WRONG_SHAPE and mismatch is not None and mismatch.wrong > 0


def _of_lane(doc: FindingDoc) -> Iterator[Factor]:
    if doc.component is not Component.TVM:
        yield Factor(f"{doc.component} is at fault, not TVM", 0.3)
    if doc.flaky:
        yield Factor("it does not show each time", 0.5)
    if converts(doc.lane):
        yield Factor(f"only for the model converted to opset {doc.lane.opset}", 0.75)
    if added := additions(doc.lane):
        yield Factor(f"only with {', '.join(added)}", 0.6 if doc.lane.passes else 0.75)
    elif doc.lane.target != "llvm":
        yield Factor(f"only for the target {doc.lane.target}", 0.75)
    if not doc.lane.importer.row.usual:
        yield Factor(f"only through the importer {doc.lane.importer}", 0.8)


def _of_operands(doc: FindingDoc, types: Sequence[str]) -> Iterator[Factor]:
    """How natural the operands are: those that the bug needs, where its scope is certain, or those of the reduced
    case."""
    if doc.scope.is_certain and doc.scope.statement is not None:
        for condition in limits(doc.scope.statement):
            yield _of_condition(condition)
        return
    if special := special_numbers(doc.scope):
        yield replace(SPECIAL, reason=f"only where {special}")
    known = [TensorType.parse(text) for text in types if SYMBOLS.isdisjoint(text.partition("[")[2])]
    dtypes = {type.dtype for type in known}
    if odd := sorted(dtypes - {DType.FLOAT32, DType.INT64, DType.BOOL}):
        yield _of_dtypes(odd)
    elif known and DType.FLOAT32 not in dtypes:
        yield NO_FLOATS
    if any(not type.shape for type in known):
        yield RANK_0
    if any(0 in type.shape for type in known):
        yield EMPTY


def _of_difference(doc: FindingDoc) -> Iterator[Factor]:
    """What a user would notice of a wrong value. Where the scope is certain, it says whether special numbers matter."""
    worst = doc.evidence.mismatch.worst if doc.evidence.mismatch else None
    if doc.kind is not Kind.WRONG_VALUE or worst is None:
        return
    if not math.isfinite(worst.expected) and not doc.scope.is_certain and not special_numbers(doc.scope):
        yield SPECIAL
    if worst.expected == worst.actual == 0:
        yield Factor("only the sign of a zero differs", 0.4)
    if worst.truth is not None and abs(worst.expected - worst.actual) < _small(worst.expected):
        yield Factor("by a small difference", 0.6)


def _small(right: float) -> float:
    """Below which difference a float is hardly wrong: one percent of the number, or 0.01, but at most a tenth of it."""
    return min(0.01 * max(1.0, abs(right)), 0.1 * abs(right))


SYMBOLS = frozenset("abcdefghijklmnopqrstuvwxyz")

HALF = {DType.FLOAT16, DType.BFLOAT16}
NO_FLOATS = Factor("for operands that are no floats", 0.8)
RANK_0 = Factor("for a tensor of rank 0", 0.7)
EMPTY = Factor("for an empty tensor", 0.6)
SPECIAL = Factor("with infinities or NaN", 0.4, is_special=True)
ABOUT_SPECIAL = frozenset(
    {"isnan", "isinf", "isfinite", "isposinf", "isneginf", "nan_to_num", "IsNaN", "IsInf"}
    | {"nansum", "nanmean", "nanmedian", "nanmedian_dim", "nanmedian_dim_values", "nanquantile", "nanquantile_tensor"}
)
"""Operators that people call because of such numbers."""


def limits(statement: Statement) -> list[Condition]:
    """Return the conditions that limit a bug. That a tensor is not empty limits nothing."""
    sizes = ("elements", "smallest size", "size")
    return [
        each
        for each in statement.conditions
        if not (each.relation is Relation.AT_LEAST and each.values == (1,) and each.property.what.startswith(sizes))
    ]


def _of_condition(condition: Condition) -> Factor:
    key, values = condition.property, condition.values
    chosen = condition.relation is Relation.IN
    match key.what:
        case "dtype" if chosen is ("float32" in values):
            return Factor("", 1.0)
        case "dtype" if chosen:
            return _of_dtypes(sorted(DType(value) for value in values if isinstance(value, str)))
        case "dtype":
            return Factor("for other dtypes than float32", 0.8)
        case "same dtype":
            return Factor("for operands of different dtypes", 0.85)
        case "infinities" | "NaN":
            needs_some = ("none" in values) is not chosen
            return SPECIAL if needs_some else Factor("", 1.0)
        case "rank" if chosen and values == (0,):
            return RANK_0
        case "elements" | "smallest size" if chosen and values == (0,):
            return EMPTY
        case _:
            return Factor("only under a condition", 0.9)


def _of_dtypes(dtypes: Sequence[DType]) -> Factor:
    return Factor(f"for {', '.join(dtypes)}", 0.9 if set(dtypes) <= HALF else 0.75)


def always_fails(doc: FindingDoc) -> bool:
    """Whether every case near the reduced one fails that has an element."""
    return doc.scope.statement is not None and doc.scope.is_certain and not limits(doc.scope.statement)


TRAINING = frozenset({"dropout_training", "native_dropout_training"})
"""Operators that only training has. TVM compiles models for inference."""


def _of_operators(doc: FindingDoc) -> Iterator[Factor]:
    used, files_read = usage()
    if not TRAINING.isdisjoint(doc.ops):
        yield Factor("only in training mode", 0.3)
    if not doc.ops or not dialect_named(doc.lane.dialect).is_counted:
        return
    rarest = min(doc.ops, key=lambda op: used.get(op, 0))
    count = used.get(rarest, 0)
    part = count / files_read
    by = 1.0 if part > COMMON else 0.9 if part > KNOWN else 0.75 if part > RARE else 0.65
    called = "it" if len(set(doc.ops)) == 1 else rarest  # the name of a row is not that of the function
    yield Factor(f"{count} of {files_read} files of published models call {called}", by)


def _of_scope(doc: FindingDoc) -> Iterator[Factor]:
    if always_fails(doc):
        yield Factor("every case that was tried fails", 1.1)


def _of_releases(doc: FindingDoc) -> Iterator[Factor]:
    verdicts = doc.releases.verdicts
    if verdicts and doc.releases.introduced == verdicts[-1][0] and verdicts[-1][1] is ReleaseVerdict.FAILS:
        yield Factor(f"new in {verdicts[-1][0]}", 1.2)


@cache
def usage() -> tuple[dict[str, int], int]:
    """Return in how many files each operator is called, by name, and how many files were read
    (`benchmarks/operator_usage.py`)."""
    text = (files("fuzzer.findings") / "operator_usage.txt").read_text()
    lines = [line.split() for line in text.splitlines()]
    total = next(int(line[1]) for line in lines if line[0] == "#" and line[2:] == ["files"])
    return {line[0]: int(line[1]) for line in lines if line[0] != "#"}, total
