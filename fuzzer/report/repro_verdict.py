"""Values for the part of `repro.py` that compares results and chooses the exit code."""

from __future__ import annotations

from dataclasses import dataclass
from typing import assert_never

from fuzzer.report import repro_judge, repro_lane
from fuzzer.report.repro_judge import NO_RESULTS, Judge
from fuzzer.report.script_source import NOTHING, Source, joined, literal_of, quoted, source
from fuzzer.signature import stable_excerpt
from generators.dialect import dialect_named
from generators.graph import Case
from oracles.finding import Excess, Finding, Kind, Mismatch, SideEffect
from oracles.lane import Engine
from oracles.memory_access import MemoryAccess
from oracles.outcome import Died, IllFormed, Mutant, Raised, TimedOut

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

    `judge` says how results are judged once there are some. `who` computes `expected` before the failure shows; ""
    where the script does not. `unrelated`: which errors are not the bug; "": all."""

    template: str
    judge: Judge = NO_RESULTS
    who: Source = NOTHING
    name: Source = NOTHING
    words: Source = NOTHING
    seconds: int = 0
    output: int = 0
    runs: Source = NOTHING
    wrong: Source = NOTHING
    allowed: Source = NOTHING
    unrelated: Source = NOTHING
    comparison: Source = NOTHING

    @property
    def reads_expected(self) -> bool:
        """Whether the script needs `expected` before the failure shows."""
        early = self.judge.expected == "expected" and not self.judge.late
        return self.template == "test.py.j2" or early


def verdict(finding: Finding, case: Case, *, built: bool) -> VerdictPart:
    """`built`: the script builds an ONNX file, and another reader computes the expected values, if any. The script of a
    module of Relax computes none: it has the number that the finding is about."""
    judge = repro_judge.judge(finding, case, _reference(finding, case, built=built))
    dialect = dialect_named(finding.lane.dialect)
    who = NOTHING if dialect.is_file or dialect.module is not None else judge.whose
    match finding.evidence:
        case Raised(type=name, message=message):
            short = name.rpartition(".")[2]
            says = stable_excerpt(message) if short not in _OTHER_WORDS else ""
            short, says = _AS_IN_A_SCRIPT.get(short, (short, says))
            return VerdictPart("raised.py.j2", judge, who, name=quoted(short), words=quoted(says) if says else NOTHING)
        case Died():
            return VerdictPart("died.py.j2", judge, who)
        case TimedOut(seconds=seconds):
            return VerdictPart("timed_out.py.j2", judge, who, seconds=max(10, int(seconds)))
        case Mismatch() | SideEffect() | MemoryAccess() if judge == NO_RESULTS:
            return VerdictPart("nothing.py.j2")
        case Mismatch() as mismatch:
            return _compared(finding, mismatch, judge)
        case IllFormed(follows=follows):
            return VerdictPart("ill_formed.py.j2", judge, unrelated=_NOT_BY_TVM if follows in _ERRORS else NOTHING)
        case Mutant():
            return VerdictPart("mutant.py.j2")
        case SideEffect() | Excess() | MemoryAccess() if finding.lane.engine is not Engine.TVM:
            return VerdictPart("nothing.py.j2")
        case SideEffect() as effect:
            return _side_effect(effect, judge)
        case MemoryAccess():
            runs = source("{}()", repro_lane.RUN_TVM) if repro_lane.runs_guarded(finding) else NOTHING
            return VerdictPart("memory_access.py.j2", judge, runs=runs)
        case Excess(quantity=quantity, allowed=allowed):
            words = quoted(f"expected: at most {allowed:,.6g} {quantity.value}")
            return VerdictPart("excess.py.j2", words=words, allowed=literal_of(allowed))
        case _:
            assert_never(finding.evidence)


def _reference(finding: Finding, case: Case, *, built: bool) -> Source:
    """Who computes the expected results."""
    if not built:
        return source("PyTorch")
    evaluated = repro_judge.is_evaluated(finding, case)
    return source("onnx.reference") if evaluated else source("onnxruntime")


def _side_effect(effect: SideEffect, judge: Judge) -> VerdictPart:
    shared = literal_of(sorted({output for output, _ in effect.aliases}))
    wrong = [source("changed")] if effect.modified else []
    wrong += [source("set(shared) & set({})", shared)] if effect.aliases else []
    both = joined(" or ", wrong) or source("False")
    words = [source("inputs change")] if effect.modified else []
    words += [source("outputs share memory with inputs")] if effect.aliases else []
    return VerdictPart("side_effect.py.j2", judge, judge.whose, words=joined(", ", words), wrong=both)


def _compared(finding: Finding, mismatch: Mismatch, judge: Judge) -> VerdictPart:
    match finding.kind:
        case Kind.NONDETERMINISTIC:
            return VerdictPart("processes.py.j2", judge, output=mismatch.output)
        case Kind.SECOND_RUN_DIFFERS:
            once, often = (
                source("[run_tvm() for _ in range(8)]"),
                source("[run for _ in range(3) for run in run_tvm()]"),
            )
            return VerdictPart("unstable.py.j2", judge, runs=often if repro_lane.runs_repeatedly(finding) else once)
        case _:
            return VerdictPart("values.py.j2", judge)
