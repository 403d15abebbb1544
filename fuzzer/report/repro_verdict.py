"""The part of `repro.py` that tells whether the bug is there: exits 1 if it is, 0 if not, 2 if that cannot be told."""

from __future__ import annotations

from typing import assert_never

from fuzzer.onnx_model import OnnxModel
from fuzzer.report import repro_lane
from fuzzer.report.python_source import quoted
from fuzzer.triage.signature import telling
from oracles.finding import Component, Excess, Finding, Kind, Mismatch, SideEffect, Worst
from oracles.lane import Engine
from oracles.outcome import Died, IllFormed, Mutant, Raised, TimedOut


def text(finding: Finding, file: OnnxModel | None = None) -> str:
    """From what the lane gave to the exit status."""
    match finding.evidence:
        case Raised(type=name, message=message):
            short = name.rpartition(".")[2]
            says = telling(message) if short not in _OTHER_WORDS else ""
            told = f"same and {quoted(says)} in str(error)" if says else "same"
            return _fill(_RAISED, finding, file).replace("@SHORT@", quoted(short)).replace("@SAME@", told)
        case Died():
            return _fill(_DIED, finding, file)
        case TimedOut(seconds=seconds):
            return _fill(_TIMED_OUT, finding, file).replace("@SECONDS@", str(max(10, int(seconds))))
        case Mismatch(output=output) if finding.kind is Kind.NONDETERMINISTIC:
            return _PROCESSES.replace("@OUTPUT@", str(output))
        case Mismatch(output=output, worst=worst):
            return _compared(finding, output, worst)
        case IllFormed():
            return _ILL_FORMED
        case Mutant():
            return _MUTANT
        case SideEffect() | Excess() if finding.lane.engine is not Engine.TVM:
            return _NONE
        case SideEffect(modified=modified, aliases=aliases):
            shared = sorted({output for output, _ in aliases})
            wrong = " or ".join(
                [*(["changed"] if modified else []), *([f"set(shared) & set({shared})"] if shared else [])]
            )
            return _SIDE_EFFECT.replace("@WRONG@", wrong or "False")
        case Excess(quantity=quantity, allowed=allowed):
            words = f"{allowed:,.6g} {quantity.value}"
            return _EXCESS.replace("@WORDS@", words).replace("@ALLOWED@", repr(allowed))
        case _:
            assert_never(finding.evidence)


_OTHER_WORDS = ("Refused", "SanitizerReport")
"""What these say is a compiler's or a sanitizer's whole output, of which signatures keep a part."""


def _fill(template: str, finding: Finding, file: OnnxModel | None) -> str:
    who = "onnxruntime" if file else "PyTorch"
    what = "TVM" if finding.component is Component.TVM else "it"
    return template.replace("@WHO@", who).replace("@WHAT@", what)


def _compared(finding: Finding, output: int, worst: Worst | None) -> str:
    expected = f"{repro_lane.RUN_PLAIN}()" if repro_lane.beside(finding) else "expected"
    if finding.kind is Kind.UNSTABLE:
        often = repro_lane.runs_often(finding)
        runs = "[run for _ in range(3) for run in run_tvm()]" if often else "[run_tvm() for _ in range(8)]"
        return _UNSTABLE.replace("@RUNS@", runs).replace("@OUTPUT@", str(output))
    if finding.kind is Kind.WRONG_ARITY:
        return _ARITY.replace("@EXPECTED@", expected)
    shown = {Kind.WRONG_SHAPE: ".shape", Kind.WRONG_DTYPE: ".dtype"}.get(finding.kind, "")
    compare = comparison(finding, worst).replace("@OUTPUT@", str(output))
    text = _SHOWN if shown else _VALUES
    for name, word in (("@EXPECTED@", expected), ("@OUTPUT@", str(output)), ("@SHOWN@", shown), ("@COMPARE@", compare)):
        text = text.replace(name, word)
    return text


def comparison(finding: Finding, worst: Worst | None) -> str:
    """The lines that set `wrong`, from `want` and `got`."""
    match finding.kind:
        case Kind.WRONG_SHAPE:
            return "wrong = got.shape != want.shape"
        case Kind.WRONG_DTYPE:
            return "wrong = got.dtype != want.dtype"
        case _ if worst is not None and worst.tolerance > 0:
            at = f"[{', '.join(map(str, worst.index))}]" if worst.index else "[()]"
            return (
                "# the tolerance is measured: how far perturbed evaluations of the model stray at this element\n"
                f"wrong = not abs(float(got{at}) - float(want{at})) <= {worst.tolerance:.4g}"
            )
        case _ if worst is not None and worst.truth is not None:  # infinite, or no number: the others may be rounded
            at = f"[{', '.join(map(str, worst.index))}]" if worst.index else "[()]"
            return f"wrong = not np.array_equal(got{at}, want{at}, equal_nan=True)"
        case _:
            return "wrong = not np.array_equal(got, want, equal_nan=True)"


_RAISED = """
try:
    run_tvm()
except Exception as error:
    print("expected: no error; @WHO@ gives", *expected)
    print(f"actual: {type(error).__name__}: {error}")
    same = type(error).__name__ == @SHORT@
    sys.exit(1 if @SAME@ else 2)
print("the bug is gone: there is no error")
"""
_ILL_FORMED = """
try:
    run_tvm()
except Exception as error:
    print(f"it ends with {type(error).__name__}: {error}")
print("expected: relax.analysis.well_formed accepts what TVM makes")
print("actual:", *broken or ["it does"])
sys.exit(1 if broken else 0)
"""
_MUTANT = """
mod = broken_module()
print("expected: relax.analysis.well_formed refuses a module that contradicts itself")
try:
    relax.analysis.well_formed(mod)
except Exception as error:
    print(f"actual: it does, {type(error).__name__}: {error}")
    sys.exit(0)
print("actual: it accepts it; build and run it in a process of its own:")
if sys.argv[1:] == ["run"]:
    print(*run_tvm())
    sys.exit(0)
print(subprocess.run([sys.executable, __file__, "run"], capture_output=True, text=True).stderr[-2000:])
sys.exit(1)
"""
_SIDE_EFFECT = """
changed, shared = run_tvm()
print("expected: inputs stay as they are, and no output is a piece of one (PyTorch's are not)")
print("actual: inputs changed:", changed, "outputs that share memory with an input:", shared)
sys.exit(1 if @WRONG@ else 0)
"""
_EXCESS = """
measured = run_tvm()
print("expected: at most @WORDS@")
print(f"actual: {measured:,.6g}")
sys.exit(1 if measured > @ALLOWED@ else 0)
"""
_PROCESSES = """
if sys.argv[1:] == ["run"]:
    sys.stdout.buffer.write(run_tvm()[@OUTPUT@].tobytes())
    sys.exit(0)
command = [sys.executable, __file__, "run"]
runs = {subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout for _ in range(5)}
print("expected: one result in all processes; actual:", len(runs))
sys.exit(1 if len(runs) > 1 else 0)
"""
_NONE = """
run_tvm()
print("this script cannot tell; `fuzz --replay` can")
sys.exit(2)
"""
_DIED = """
if sys.argv[1:] == ["run"]:
    run_tvm()
    sys.exit(0)
status = subprocess.run([sys.executable, __file__, "run"]).returncode
print("expected: a result; @WHO@ gives", *expected)
print("actual: the process", f"died of signal {-status}" if status < 0 else f"ended with status {status}")
sys.exit(1 if status < 0 else 2 if status else 0)
"""
_TIMED_OUT = """
if sys.argv[1:] == ["run"]:
    run_tvm()
    sys.exit(0)
try:
    status = subprocess.run([sys.executable, __file__, "run"], timeout=@SECONDS@).returncode
except subprocess.TimeoutExpired:
    print("actual: no result within @SECONDS@ s; expected, as @WHO@ gives:", *expected)
    sys.exit(1)
sys.exit(2 if status else 0)
"""
_ARITY = """
want, got = @EXPECTED@, run_tvm()
print("expected:", len(want), "outputs")
print("actual:", len(got))
sys.exit(1 if len(got) != len(want) else 0)
"""
_UNSTABLE = """
want = expected[@OUTPUT@]
runs = @RUNS@  # one may be right by chance
wrong = [run[@OUTPUT@] for run in runs if not np.allclose(run[@OUTPUT@], want, 1e-3, 1e-3, equal_nan=True)]
print("expected, in each run:", want, sep="\\n")
print(f"actual, in {len(wrong)} of {len(runs)} runs:", *wrong[:3], sep="\\n")
print("the bug is there" if wrong else "the bug is gone")
sys.exit(1 if wrong else 0)
"""
_SHOWN = """
want, got = @EXPECTED@[@OUTPUT@], run_tvm()[@OUTPUT@]
wrong = got@SHOWN@ != want@SHOWN@
print("expected:", want@SHOWN@)
print("actual:", got@SHOWN@)
print("the bug is there" if wrong else "the bug is gone")
sys.exit(1 if wrong else 0)
"""
_VALUES = """
want, got = @EXPECTED@[@OUTPUT@], run_tvm()[@OUTPUT@]
@COMPARE@
print("expected:", want, sep="\\n")
print("actual:", got, sep="\\n")
print("the bug is there" if wrong else "the bug is gone")
sys.exit(1 if wrong else 0)
"""
