"""The part of `repro.py` that tells whether the bug is there: exits 1 if it is, 0 if not, 2 if that cannot be told."""

from __future__ import annotations

from typing import assert_never

from fuzzer.report import repro_lane
from oracles.finding import Excess, Finding, Kind, Mismatch, SideEffect, Worst
from oracles.lane import Engine
from oracles.outcome import Died, IllFormed, Mutant, Raised, TimedOut


def text(finding: Finding) -> str:
    """From what the lane gave to the exit status."""
    match finding.evidence:
        case Raised(type=name):
            return _VERDICT_RAISED.format(short=name.rpartition(".")[2])
        case Died():
            return _VERDICT_DIED
        case TimedOut(seconds=seconds):
            return _VERDICT_TIMED_OUT.format(seconds=max(10, int(seconds)))
        case Mismatch(output=output) if finding.kind is Kind.NONDETERMINISTIC:
            return _VERDICT_PROCESSES.format(output=output)
        case Mismatch(output=output, worst=worst):
            compare = comparison(finding, worst).replace("{output}", str(output))
            plain = "expected = run_plain()\n" if repro_lane.beside(finding) else ""
            return _VERDICT_COMPARED.format(output=output, compare=compare, plain=plain)
        case IllFormed():
            return _VERDICT_ILL_FORMED
        case Mutant():
            return _VERDICT_MUTANT
        case SideEffect() | Excess() if finding.lane.engine is not Engine.TVM:
            return _VERDICT_NONE
        case SideEffect(modified=modified, aliases=aliases):
            outputs = sorted({output for output, _ in aliases})
            return _VERDICT_SIDE_EFFECT.format(changed=bool(modified), shared=outputs)
        case Excess(quantity=quantity, allowed=allowed):
            return _VERDICT_EXCESS.format(quantity=quantity.value, allowed=allowed)
        case _:
            assert_never(finding.evidence)


def comparison(finding: Finding, worst: Worst | None) -> str:
    """The lines that set `wrong`, from `want` and `got`."""
    match finding.kind:
        case Kind.WRONG_ARITY:
            return "wrong = len(result) != len(expected)"
        case Kind.WRONG_SHAPE:
            return "wrong = got.shape != want.shape"
        case Kind.WRONG_DTYPE:
            return "wrong = got.dtype != want.dtype"
        case Kind.UNSTABLE:
            return (
                "# memory that nobody wrote: it may hold the right numbers by chance, hence several runs\n"
                "wrong = any(not np.allclose(run_lane()[{output}], want, 1e-3, 1e-3, equal_nan=True) for _ in range(8))"
            )
        case _ if worst is not None and worst.tolerance > 0:
            at = f"[{', '.join(map(str, worst.index))}]" if worst.index else "[()]"
            return (
                "# the tolerance is measured: how far perturbed evaluations of the model stray at this element\n"
                f"wrong = not abs(float(got{at}) - float(want{at})) <= {worst.tolerance!r}"
            )
        case _ if worst is not None and worst.truth is not None:  # infinite, or no number: the others may be rounded
            at = f"[{', '.join(map(str, worst.index))}]" if worst.index else "[()]"
            return f"wrong = not np.array_equal(got{at}, want{at}, equal_nan=True)"
        case _:
            return "wrong = not np.array_equal(got, want, equal_nan=True)"


_VERDICT_RAISED = """
try:
    run_lane()
except Exception as error:
    print("expected: a result, as PyTorch gives:", expected)
    print(f"actual: {{type(error).__name__}}: {{error}}")
    sys.exit(1 if type(error).__name__ == "{short}" else 2)
print("the bug is gone: the lane gives a result")
"""
_VERDICT_ILL_FORMED = """
try:
    run_lane()
except Exception as error:
    print(f"the lane itself ends with {type(error).__name__}: {error}")
print("expected: TVM's checker is content with what TVM makes")
print("actual:", *broken or ["it is"])
sys.exit(1 if broken else 0)
"""
_VERDICT_MUTANT = """
mod = broken_module()
print("expected: the checker refuses a module that contradicts itself")
try:
    relax.analysis.well_formed(mod)
except Exception as error:
    print(f"actual: it does, {type(error).__name__}: {error}")
    sys.exit(0)
print("actual: it lets it pass; build and run it in a process of its own:")
if sys.argv[1:] == ["run"]:
    print(*run_lane())
    sys.exit(0)
print(subprocess.run([sys.executable, __file__, "run"], capture_output=True, text=True).stderr[-2000:])
sys.exit(1)
"""
_VERDICT_SIDE_EFFECT = """
changed, shared = run_lane()
print("expected: inputs stay as they are, and no output is a piece of one (PyTorch's are not)")
print("actual: inputs changed:", changed, "outputs that share memory with an input:", shared)
wrong = ({changed} and changed) or set(shared) & set({shared})
sys.exit(1 if wrong else 0)
"""
_VERDICT_EXCESS = """
measured = run_lane()
print("expected: at most {allowed:,.6g} {quantity}")
print(f"actual: {{measured:,.6g}}")
sys.exit(1 if measured > {allowed!r} else 0)
"""
_VERDICT_PROCESSES = """
if sys.argv[1:] == ["run"]:
    sys.stdout.buffer.write(run_lane()[{output}].tobytes())
    sys.exit(0)
command = [sys.executable, __file__, "run"]
runs = {{subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout for _ in range(5)}}
print("expected: one result in all processes; actual:", len(runs))
sys.exit(1 if len(runs) > 1 else 0)
"""
_VERDICT_NONE = """
run_lane()
print("this script cannot tell; `fuzz --replay` can")
sys.exit(2)
"""
_VERDICT_DIED = """
if sys.argv[1:] == ["run"]:
    run_lane()
    sys.exit(0)
status = subprocess.run([sys.executable, __file__, "run"]).returncode
print("expected: a result, as PyTorch gives:", expected)
print("actual: the process", f"died of signal {-status}" if status < 0 else f"ended with status {status}")
sys.exit(1 if status < 0 else 2 if status else 0)
"""
_VERDICT_TIMED_OUT = """
if sys.argv[1:] == ["run"]:
    run_lane()
    sys.exit(0)
try:
    status = subprocess.run([sys.executable, __file__, "run"], timeout={seconds}).returncode
except subprocess.TimeoutExpired:
    print("actual: no result within {seconds} s; expected:", expected)
    sys.exit(1)
sys.exit(2 if status else 0)
"""
_VERDICT_COMPARED = """
result = run_lane()
{plain}want, got = (outputs[min({output}, len(outputs) - 1)] for outputs in (expected, result))
{compare}
print("expected:", want.dtype, want.shape, want, sep="\\n")
print("actual:", got.dtype, got.shape, got, sep="\\n")
print("the bug is there" if wrong else "the bug is gone")
sys.exit(1 if wrong else 0)
"""
