"""Values for the part of `repro.py` that compares results and chooses the exit code."""

from __future__ import annotations

from dataclasses import dataclass
from typing import assert_never

from fuzzer.report import repro_guards, repro_lane
from fuzzer.report.python_source import quoted
from fuzzer.signature import stable_excerpt
from oracles.finding import Excess, Finding, Kind, Mismatch, SideEffect, WorstElement
from oracles.lane import Engine
from oracles.memory_access import MemoryAccess
from oracles.outcome import Died, IllFormed, Mutant, Raised, TimedOut

_OTHER_WORDS = ("Refused", "SanitizerReport")
"""Exceptions whose message is the whole output of a compiler or a sanitizer. Scripts compare their type only."""


_AS_IN_A_SCRIPT = {"NotATensor": ("AttributeError", "has no attribute 'numpy'")}
"""Exceptions of lanes about a result of TVM, and what a script that uses the result ends with."""


@dataclass(frozen=True, slots=True)
class VerdictPart:
    """The name of a template in `fuzzer/templates/repro/verdict/`, and its values: expressions and texts.

    `who` computes `expected`; "" where the script does not compute it."""

    template: str
    who: str = ""
    name: str = ""
    words: str = ""
    seconds: int = 0
    output: int = 0
    expected: str = ""
    comparison: str = ""
    attribute: str = ""
    runs: str = ""
    wrong: str = ""
    allowed: str = ""

    @property
    def reads_expected(self) -> bool:
        """Whether the script compares `expected` with something."""
        compared = self.template in ("unstable.py.j2", "test.py.j2")
        return compared or self.expected == "expected"


def verdict(finding: Finding, *, built: bool) -> VerdictPart:
    """`built`: the script builds an ONNX file, and onnxruntime computes the expected values, if any."""
    of_onnx = finding.lane.dialect == "onnx"
    who = "" if of_onnx else "onnxruntime" if built else "PyTorch"
    match finding.evidence:
        case Raised(type=name, message=message):
            short = name.rpartition(".")[2]
            says = stable_excerpt(message) if short not in _OTHER_WORDS else ""
            short, says = _AS_IN_A_SCRIPT.get(short, (short, says))
            return VerdictPart("raised.py.j2", who, name=quoted(short), words=quoted(says) if says else "")
        case Died():
            return VerdictPart("died.py.j2", who)
        case TimedOut(seconds=seconds):
            return VerdictPart("timed_out.py.j2", who, seconds=max(10, int(seconds)))
        case Mismatch() as mismatch:
            return _compared(finding, mismatch)
        case IllFormed():
            return VerdictPart("ill_formed.py.j2")
        case Mutant():
            return VerdictPart("mutant.py.j2")
        case SideEffect() | Excess() | MemoryAccess() if finding.lane.engine is not Engine.TVM:
            return VerdictPart("nothing.py.j2")
        case SideEffect(modified=modified, aliases=aliases):
            shared = sorted({output for output, _ in aliases})
            wrong = [*(["changed"] if modified else []), *([f"set(shared) & set({shared})"] if shared else [])]
            return VerdictPart(
                "side_effect.py.j2", "onnxruntime" if of_onnx else "PyTorch", wrong=" or ".join(wrong) or "False"
            )
        case MemoryAccess():
            reads = "" if repro_guards.parts(finding).write else "expected"  # what is written is not compared
            runs = f"{repro_lane.RUN_TVM}()" if repro_lane.runs_guarded(finding) else ""
            return VerdictPart("memory_access.py.j2", expected=reads, runs=runs)
        case Excess(quantity=quantity, allowed=allowed):
            return VerdictPart("excess.py.j2", words=f"{allowed:,.6g} {quantity.value}", allowed=repr(allowed))
        case _:
            assert_never(finding.evidence)


def _compared(finding: Finding, mismatch: Mismatch) -> VerdictPart:
    expected = f"{repro_lane.RUN_PLAIN}()" if repro_lane.compares_two_lanes(finding) else "expected"
    match finding.kind:
        case Kind.NONDETERMINISTIC:
            return VerdictPart("processes.py.j2", output=mismatch.output)
        case Kind.UNSTABLE:
            often = repro_lane.runs_repeatedly(finding)
            one, loop = ("run", "_ in range(3) for run in run_tvm()") if often else ("run_tvm()", "_ in range(8)")
            runs = f"[{one}[{mismatch.output}] for {loop}]"
            return VerdictPart("unstable.py.j2", runs=runs, output=mismatch.output)
        case Kind.WRONG_ARITY:
            return VerdictPart("arity.py.j2", expected=expected)
        case _:
            return VerdictPart(
                "values.py.j2",
                expected=expected,
                output=mismatch.output,
                comparison=comparison(finding, mismatch.worst),
                attribute={Kind.WRONG_SHAPE: ".shape", Kind.WRONG_DTYPE: ".dtype"}.get(finding.kind, ""),
            )


def comparison(finding: Finding, worst: WorstElement | None) -> str:
    """The lines that set `wrong`, from `want` and `got`."""
    match finding.kind:
        case Kind.WRONG_SHAPE:
            return "wrong = got.shape != want.shape"
        case Kind.WRONG_DTYPE:
            return "wrong = got.dtype != want.dtype"
        case _ if worst is not None and worst.tolerance > 0:
            at = _at(worst)
            return (
                "# the tolerance is measured: how far perturbed evaluations of the model stray at this element\n"
                f"wrong = not abs(float(got{at}) - float(want{at})) <= {worst.tolerance:.4g}"
            )
        case _ if worst is not None and worst.truth is not None:  # infinity or NaN: other elements may be rounded
            return f"wrong = not np.array_equal(got{_at(worst)}, want{_at(worst)}, equal_nan=True)"
        case _:
            return "wrong = not np.array_equal(got, want, equal_nan=True)"


def _at(worst: WorstElement) -> str:
    return f"[{', '.join(map(str, worst.index))}]" if worst.index else "[()]"
