"""Values for the part of `repro.py` that compares results and chooses the exit code."""

from __future__ import annotations

from dataclasses import dataclass
from typing import assert_never

from fuzzer.report import repro_guards, repro_lane
from fuzzer.report.script_source import NOTHING, Source, joined, literal_of, quoted, short_number, source
from fuzzer.signature import stable_excerpt
from generators.dialect import dialect_named
from generators.graph import Case
from oracles.finding import Excess, Finding, Kind, Mismatch, SideEffect, WorstElement
from oracles.lane import Engine
from oracles.memory_access import MemoryAccess
from oracles.outcome import Died, IllFormed, Mutant, Raised, TimedOut

_OTHER_WORDS = ("Refused", "SanitizerReport", "WrongSchedule")
"""Exceptions whose message is the whole output of a compiler or a sanitizer. Scripts compare their type only."""


_AS_IN_A_SCRIPT = {"NotATensor": ("AttributeError", "has no attribute 'numpy'")}
"""Exceptions of lanes about a result of TVM, and what a script that uses the result ends with."""


@dataclass(frozen=True, slots=True)
class VerdictPart:
    """The name of a template in `fuzzer/templates/repro/verdict/`, and its values: expressions and texts.

    `who` computes `expected`; "" where the script does not compute it."""

    template: str
    who: Source = NOTHING
    name: Source = NOTHING
    words: Source = NOTHING
    seconds: int = 0
    output: int = 0
    expected: Source = NOTHING
    comparison: Source = NOTHING
    attribute: Source = NOTHING
    runs: Source = NOTHING
    wrong: Source = NOTHING
    allowed: Source = NOTHING

    @property
    def reads_expected(self) -> bool:
        """Whether the script compares `expected` with something."""
        compared = self.template in ("unstable.py.j2", "test.py.j2")
        return compared or self.expected == "expected"


def verdict(finding: Finding, case: Case, *, built: bool) -> VerdictPart:
    """`built`: the script builds an ONNX file, and onnxruntime computes the expected values, if any. The script of a
    module of Relax computes none: it has those that the finding is about."""
    pytorch, onnxruntime = source("PyTorch"), source("onnxruntime")
    dialect = dialect_named(finding.lane.dialect)
    of_file, of_module = dialect.is_file, dialect.module is not None
    who = NOTHING if of_file or of_module else onnxruntime if built else pytorch
    match finding.evidence:
        case Raised(type=name, message=message):
            short = name.rpartition(".")[2]
            says = stable_excerpt(message) if short not in _OTHER_WORDS else ""
            short, says = _AS_IN_A_SCRIPT.get(short, (short, says))
            return VerdictPart("raised.py.j2", who, name=quoted(short), words=quoted(says) if says else NOTHING)
        case Died():
            return VerdictPart("died.py.j2", who)
        case TimedOut(seconds=seconds):
            return VerdictPart("timed_out.py.j2", who, seconds=max(10, int(seconds)))
        case Mismatch() as mismatch if of_module and _is_known(finding):
            return _known(finding, mismatch, case)
        case Mismatch() as mismatch:
            return _compared(finding, mismatch)
        case IllFormed():
            return VerdictPart("ill_formed.py.j2")
        case Mutant():
            return VerdictPart("mutant.py.j2")
        case SideEffect() | Excess() | MemoryAccess() if finding.lane.engine is not Engine.TVM:
            return VerdictPart("nothing.py.j2")
        case SideEffect(modified=modified, aliases=aliases):
            shared = literal_of(sorted({output for output, _ in aliases}))
            wrong = [source("changed")] if modified else []
            wrong += [source("set(shared) & set({})", shared)] if aliases else []
            judge = onnxruntime if of_file else source("the definition") if of_module else pytorch
            return VerdictPart("side_effect.py.j2", judge, wrong=joined(" or ", wrong) or source("False"))
        case MemoryAccess():
            written = repro_guards.parts(finding).write  # what is written is not compared
            reads = NOTHING if written else source("expected")
            runs = source("{}()", repro_lane.RUN_TVM) if repro_lane.runs_guarded(finding) else NOTHING
            return VerdictPart("memory_access.py.j2", expected=reads, runs=runs)
        case Excess(quantity=quantity, allowed=allowed):
            words = quoted(f"expected: at most {allowed:,.6g} {quantity.value}")
            return VerdictPart("excess.py.j2", words=words, allowed=literal_of(allowed))
        case _:
            assert_never(finding.evidence)


def _is_known(finding: Finding) -> bool:
    """Whether the finding compares a result with what the operators' definitions give, or with the case's types."""
    varies = finding.kind in (Kind.NONDETERMINISTIC, Kind.SECOND_RUN_DIFFERS)
    return not varies and not repro_lane.compares_two_lanes(finding)


def _known(finding: Finding, mismatch: Mismatch, case: Case) -> VerdictPart:
    types = case.bound.output_types
    output, expected = literal_of(mismatch.output), quoted("expected:")
    match finding.kind:
        case Kind.WRONG_ARITY:
            wrong, found, words = source("wrong = len(got) != want"), source("len(got)"), quoted("expected outputs:")
            return _part(NOTHING, literal_of(len(types)), wrong, found, words)
        case Kind.WRONG_SHAPE:
            sizes = literal_of(types[mismatch.output].sizes)
            return _part(output, sizes, source("wrong = got.shape != want"), source("got.shape"), expected)
        case Kind.WRONG_DTYPE:
            dtype = quoted(types[mismatch.output].dtype)
            return _part(output, dtype, source("wrong = str(got.dtype) != want"), source("got.dtype"), expected)
        case _:
            assert mismatch.worst is not None, "a wrong value without an element"
            at = _at(mismatch.worst)
            words = quoted(f"expected at {list(mismatch.worst.index)}, by the definitions of the operators:")
            return _part(
                output, literal_of(mismatch.worst.expected), _beyond(mismatch.worst), source("got{}", at), words
            )


def _part(output: Source, expected: Source, comparison: Source, actual: Source, words: Source) -> VerdictPart:
    return VerdictPart(
        "known.py.j2", name=output, words=words, expected=expected, comparison=comparison, attribute=actual
    )


def _beyond(worst: WorstElement) -> Source:
    """The line that sets `wrong`, from the number `want` and the array `got`."""
    if worst.tolerance > 0:
        tolerance = short_number(worst.tolerance, 4)
        return source("wrong = not abs(float(got{}) - want) <= {}  # the tolerance is measured", _at(worst), tolerance)
    return source("wrong = not np.array_equal(got{}, want, equal_nan=True)", _at(worst))


def _compared(finding: Finding, mismatch: Mismatch) -> VerdictPart:
    two = repro_lane.compares_two_lanes(finding)
    expected = source("{}()", repro_lane.RUN_PLAIN) if two else source("expected")
    match finding.kind:
        case Kind.NONDETERMINISTIC:
            return VerdictPart("processes.py.j2", output=mismatch.output)
        case Kind.SECOND_RUN_DIFFERS:
            often = repro_lane.runs_repeatedly(finding)
            if often:
                runs = source("[run[{}] for _ in range(3) for run in run_tvm()]", mismatch.output)
            else:
                runs = source("[run_tvm()[{}] for _ in range(8)]", mismatch.output)
            return VerdictPart("unstable.py.j2", runs=runs, output=mismatch.output)
        case Kind.WRONG_ARITY:
            return VerdictPart("arity.py.j2", expected=expected)
        case _:
            return VerdictPart(
                "values.py.j2",
                expected=expected,
                output=mismatch.output,
                comparison=comparison(finding, mismatch.worst),
                attribute=_ATTRIBUTES.get(finding.kind, NOTHING),
            )


_ATTRIBUTES = {Kind.WRONG_SHAPE: source(".shape"), Kind.WRONG_DTYPE: source(".dtype")}


def comparison(finding: Finding, worst: WorstElement | None) -> Source:
    """The lines that set `wrong`, from `want` and `got`."""
    match finding.kind:
        case Kind.WRONG_SHAPE:
            return source("wrong = got.shape != want.shape")
        case Kind.WRONG_DTYPE:
            return source("wrong = got.dtype != want.dtype")
        case _ if worst is not None and worst.tolerance > 0:
            at = _at(worst)
            return source(
                "# the tolerance is measured: how far perturbed evaluations of the model stray at this element\n"
                "wrong = not abs(float(got{}) - float(want{})) <= {}",
                at,
                at,
                short_number(worst.tolerance, 4),
            )
        case _ if worst is not None and worst.truth is not None:  # infinity or NaN: other elements may be rounded
            return source("wrong = not np.array_equal(got{}, want{}, equal_nan=True)", _at(worst), _at(worst))
        case _:
            return source("wrong = not np.array_equal(got, want, equal_nan=True)")


def _at(worst: WorstElement) -> Source:
    return source("[{}]", joined(", ", map(literal_of, worst.index))) if worst.index else source("[()]")
