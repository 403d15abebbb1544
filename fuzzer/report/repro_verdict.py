"""Values for the part of `repro.py` that compares results and chooses the exit code."""

from __future__ import annotations

from dataclasses import dataclass
from typing import assert_never

from fuzzer.report import repro_guards, repro_lane
from fuzzer.report.script_source import NOTHING, Source, joined, literal_of, quoted, short_number, source
from fuzzer.signature import stable_excerpt
from generators.dialect import dialect_named
from generators.graph import Case, DType
from oracles.finding import Excess, Finding, Kind, Mismatch, SideEffect, WorstElement
from oracles.lane import Engine, returns_gradients
from oracles.memory_access import MemoryAccess
from oracles.outcome import Died, IllFormed, Mutant, Raised, TimedOut

TOLERANCE = {DType.FLOAT64: 1e-7, DType.FLOAT32: 1e-5, DType.FLOAT16: 1e-2, DType.BFLOAT16: 5e-2}
"""By the least precise dtype of the case: the tolerances that TVM's own tests use for operators."""

_OTHER_WORDS = ("Refused", "SanitizerReport", "WrongSchedule")
"""Exceptions whose message is the whole output of a compiler or a sanitizer. Scripts compare their type only."""


_AS_IN_A_SCRIPT = {"NotATensor": ("AttributeError", "has no attribute 'numpy'")}
"""Exceptions of lanes about a result of TVM, and what a script that uses the result ends with."""


_ERRORS = (Kind.INTERNAL_ERROR, Kind.REJECTED)
_NOT_BY_TVM = source(" and isinstance(error, (ImportError, MemoryError, OSError))")
"""Errors such as a missing compiler, where the bug is an error."""


@dataclass(frozen=True, slots=True)
class VerdictPart:
    """The name of a template in `fuzzer/templates/repro/verdict/`, and its values: expressions and texts.

    `who` computes `expected`; "" where the script does not compute it. `unrelated`: which errors are not the bug; "":
    all."""

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
    unrelated: Source = NOTHING

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
            return _compared(finding, mismatch, case)
        case IllFormed(follows=follows) if repro_lane.shows_what_follows(finding):
            beyond, expected = _beyond_tolerance(case), source("expected")
            unrelated = _NOT_BY_TVM if follows in _ERRORS else NOTHING
            return VerdictPart(
                "ill_formed_and_wrong.py.j2", who, expected=expected, comparison=beyond, unrelated=unrelated
            )
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


def _compared(finding: Finding, mismatch: Mismatch, case: Case) -> VerdictPart:
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
                comparison=comparison(finding, mismatch, case),
                attribute=_ATTRIBUTES.get(Kind.WRONG_DTYPE if mismatch.also else finding.kind, NOTHING),
            )


_ATTRIBUTES = {Kind.WRONG_SHAPE: source(".shape"), Kind.WRONG_DTYPE: source(".dtype")}


def comparison(finding: Finding, mismatch: Mismatch, case: Case) -> Source:
    """The lines that set `wrong`, from `want` and `got`. Where a shape or a dtype is wrong, all three must be right
    before the bug is gone: what made the one wrong may make the values wrong, too."""
    integers = _gives_integers(finding, mismatch.output, case)
    if finding.kind is Kind.WRONG_VALUE and not (mismatch.also and integers):
        compared = _wrong_values(mismatch.worst)
        return source("{}\nwrong = wrong or got.dtype != want.dtype", compared) if mismatch.also else compared
    values = source("not np.array_equal(got, want)") if integers else _beyond_tolerance(case)
    return source("wrong = got.shape != want.shape or got.dtype != want.dtype\nwrong = wrong or {}", values)


def _gives_integers(finding: Finding, output: int, case: Case) -> bool:
    types = () if returns_gradients(finding.lane) else case.bound.output_types
    return output < len(types) and not types[output].dtype.is_float


def _beyond_tolerance(case: Case) -> Source:
    """Whether values of the same shape differ by more than TVM's own tests allow."""
    allowed = short_number(least_precise(case), 6)
    return source(
        'not np.allclose(got.astype("float64"), want.astype("float64"), {}, {}, equal_nan=True)', allowed, allowed
    )


def least_precise(case: Case) -> float:
    """The tolerance of TVM's own tests for the least precise dtype of the case."""
    dtypes = {value.type.dtype for value in case.graph.values()}
    return max((TOLERANCE[dtype] for dtype in dtypes if dtype in TOLERANCE), default=1e-7)


def _wrong_values(worst: WorstElement | None) -> Source:
    """The lines that set `wrong` by the values alone."""
    match worst:
        case WorstElement() if worst.tolerance > 0:
            at = _at(worst)
            return source(
                "# the tolerance is measured: how far perturbed evaluations of the model stray at this element\n"
                "wrong = not abs(float(got{}) - float(want{})) <= {}",
                at,
                at,
                short_number(worst.tolerance, 4),
            )
        case WorstElement() if worst.truth is not None:  # infinity or NaN: other elements may be rounded
            return source("wrong = not np.array_equal(got{}, want{}, equal_nan=True)", _at(worst), _at(worst))
        case _:
            return source("wrong = not np.array_equal(got, want, equal_nan=True)")


def _at(worst: WorstElement) -> Source:
    return source("[{}]", joined(", ", map(literal_of, worst.index))) if worst.index else source("[()]")
