"""Which judge catches which mistake in a GPU schedule: schedules of dlight, each with one mistake.

    python benchmarks/planted_schedules.py [--judges loops,opencl,webgpu] [--json]

loops   the kernel before it was scheduled, and after as plain loops (`fuzzer/lanes/relax/schedules.py`)
opencl  PoCL: the result of TVM's text, its second run, and its accesses outside of tensors
webgpu  lavapipe, in the same way

The product, the sum and the ReLU round nothing on the whole numbers that they get: not a bit may differ.

The schedules without a mistake are judged too. A mistake of a text cannot show in loops. Prints a line for each kernel
and for each mistake. Exits with 1 where a right schedule is not right for a judge.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import tvm
from tvm import relax, te, topi
from tvm.s_tir import dlight

from fuzzer.lanes.base.step import Quiet
from fuzzer.lanes.evaluated.interpreter import near
from fuzzer.lanes.launched import kernels as launched
from fuzzer.lanes.launched.devices import device_named
from fuzzer.lanes.relax.exact import is_exact, stays_exact
from fuzzer.lanes.relax.guarded_run import run_twice
from fuzzer.lanes.relax.schedules import NotComparable, compared
from generators.graph import Array
from oracles.targets import target_named

JUDGES = ("loops", "opencl", "webgpu")
MADE_FOR = "opencl"
"""The target that the schedules are made for. Its kernels fit webgpu too."""


@dataclass(frozen=True, slots=True)
class Mistake:
    """One place of a scheduled kernel is changed. `in_text`: of the text that TVM writes for OpenCL."""

    name: str
    kernel: str
    pattern: str
    text: str
    in_text: bool = False


BARRIER = r"barrier\(CLK_LOCAL_MEM_FENCE\);"

MISTAKES = (
    Mistake("a bound that is one too small", "relu", r"< 3075", "< 3074"),
    Mistake("a bound that is too large", "relu", r"< 3075", "< 3077"),
    Mistake("an index with a wrong size", "relu", r"% 1025", "% 1024"),
    Mistake("a block too few", "relu", r'\d+, thread="blockIdx.x"', '2, thread="blockIdx.x"'),
    Mistake("a reduction without its last step", "sum", r"T\.grid\(2, 1\)", "T.grid(1, 1)"),
    Mistake("a bound of a reduction that is too large", "sum", r"< 129\)", "< 130)"),
    Mistake("a thread of a reduction too few", "sum", r"ax0 in T\.thread_binding\(128", "ax0 in T.thread_binding(127"),
    Mistake("a reduction that begins with 1", "sum", r"a_red\[v0\] = T\.float32\(0", "a_red[v0] = T.float32(1"),
    Mistake("a wrong stride between steps", "sum", r"(\+ a\[v0, vax1_fused_0 \*) 128", r"\1 127"),
    Mistake("a wrong axis bound to threads", "sum", r"(\[\w+, v0\] \+ a\[v0, vax1_fused_0) \*.*", r"\1]"),
    Mistake("a tile too few", "matmul", r"ax3_0 in range\(\d+\)", "ax3_0 in range(1)"),
    Mistake("a padding that begins too early", "matmul", r"v2 < 100", "v2 < 99"),
    Mistake("a wrong place in shared memory", "matmul", r"(fused_3\)) % \d+", r"\1 % 4"),
    Mistake("a wrong width of vectors", "matmul", r"_init in T\.vectorized\(\d\)", "_init in T.vectorized(1)"),
    Mistake("an element that is not written", "softmax", r"(ax1_0 \* \d+ \+ ax1_1) < 130", r"\1 < 129"),
    Mistake("a sum without its last element", "softmax", r"(?s)(expsum\"\):.*?) < 130\)", r"\1 < 129)"),
    Mistake("a missing barrier", "matmul", BARRIER, "", True),
    Mistake("no barrier in a reduction", "sum", BARRIER, "", True),
    Mistake("shared memory that is too small", "matmul", r"(__local float \w+)\[\d+\]", r"\1[4]", True),
    Mistake("threads that write to one place", "relu", r"(compute_ptr)\[.*?\] =", r"\1[0] =", True),
)


def kernel(shapes: list[tuple[int, ...]], compute: Callable[..., Any]) -> Any:
    tensors = [te.placeholder(shape, name=name) for shape, name in zip(shapes, "abc", strict=False)]
    return te.create_prim_func([*tensors, compute(*tensors)])


def kernels() -> dict[str, Any]:
    return {
        "matmul": kernel([(37, 100), (100, 65)], topi.matmul),
        "sum": kernel([(192, 129)], lambda a: topi.sum(a, axis=1)),
        "softmax": kernel([(7, 130)], topi.nn.softmax),
        "relu": kernel([(3, 1025)], topi.nn.relu),
    }


def scheduled(before: Any) -> Any:
    rules = (dlight.gpu.Matmul(), dlight.gpu.Reduction(), dlight.gpu.GeneralReduction(), dlight.gpu.Fallback())
    with tvm.target.Target(MADE_FOR):
        return dlight.ApplyDefaultSchedule(*rules)(tvm.IRModule({"main": before}))["main"]


def changed(source: str, mistake: Mistake) -> str:
    found, count = re.subn(mistake.pattern, mistake.text, source, count=0 if mistake.in_text else 1)
    assert count, f"{mistake.name}: {mistake.pattern} is not in\n{source}"
    return found


def arrays(before: Any) -> list[Array]:
    shapes = [[int(size) for size in param.shape] for param in before.params[:-1]]
    step = 1 if is_exact(before) else 8
    return [(np.arange(np.prod(shape)) * 7919 % 23 + 1).reshape(shape).astype(np.float32) / step for shape in shapes]


class Recorded(Quiet):
    def __init__(self) -> None:
        self.accesses: tuple[Any, ...] = ()

    def note(self, **facts: Any) -> None:
        self.accesses = facts.get("accesses", self.accesses)


def on_device(target: str, before: Any, after: Any, edit: Callable[[str], str]) -> str:
    """Say what is wrong with a scheduled kernel on a device; "" where nothing is."""
    inputs = arrays(before)
    right = tvm.runtime.tensor(np.zeros([int(size) for size in before.params[-1].shape], np.float32))
    alone = tvm.IRModule({"main": before.with_attr("global_symbol", "main")})
    tvm.tirx.build(alone, target="llvm")["main"](*(tvm.runtime.tensor(array) for array in inputs), right)
    row, step, taken = target_named(target), Recorded(), launched.Kernels()
    try:
        with tvm.transform.PassContext(config={"tirx.disable_assert": True}, instruments=taken.instruments()):
            executable = relax.build(calling(before, after), tvm.target.Target(dict(row.config)))
        device = device_named(row.device)
        compile_text = device.compiled
        object.__setattr__(device, "compiled", lambda text: compile_text(edit(text)))
        try:
            taken.load(executable, row)
        finally:
            object.__setattr__(device, "compiled", compile_text)
        names = {f"x{place}": array for place, array in enumerate(inputs)}
        with taken.raising():
            ran = run_twice(lambda: relax.VirtualMachine(executable, tvm.cpu())["main"], names, step)
    except Exception as error:
        return f"{type(error).__name__}: {error}".splitlines()[0]
    if step.accesses:
        return str(step.accesses[0].does)
    assert ran.again is not None
    if not np.array_equal(ran.outputs[0], ran.again[0], equal_nan=True):
        return "the second run differs"
    same = np.array_equal if is_exact(before) and stays_exact(before, [right.numpy()]) else near
    return "" if same(ran.outputs[0], right.numpy()) else "another result"


def calling(before: Any, after: Any) -> Any:
    """A module whose main calls the scheduled kernel."""
    builder = relax.BlockBuilder()
    types = [relax.TensorType([int(size) for size in param.shape], str(param.dtype)) for param in before.params]
    variables = [relax.Var(f"x{place}", type) for place, type in enumerate(types[:-1])]
    function = builder.add_func(after.with_attr("global_symbol", "kernel"), "kernel")
    with builder.function("main", variables):
        builder.emit_func_output(builder.emit(relax.call_tir(function, variables, types[-1])))
    return builder.get()


def judged(judge: str, before: Any, after: Any, edit: Callable[[str], str] = str) -> str:
    """What a judge says, in a process of its own: a mistake may end it."""
    reads, writes = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            answer = compared("kernel", before, after) if judge == "loops" else on_device(judge, before, after, edit)
        except NotComparable:
            answer = ""  # a mistake that is not looked at is not caught
        except BaseException as error:
            answer = f"{type(error).__name__}: {error}".splitlines()[0]
        os.write(writes, answer.encode())
        os._exit(0)
    os.close(writes)
    with os.fdopen(reads) as pipe:
        answer = pipe.read()
    _, status = os.waitpid(child, 0)
    return answer if status == 0 else f"its process ended with status {status}"


def results(judges: list[str]) -> dict[str, dict[str, str]]:
    """By kernel or mistake and by judge, what is wrong."""
    befores = kernels()
    afters = {name: scheduled(before) for name, before in befores.items()}
    found = {name: {judge: judged(judge, befores[name], after) for judge in judges} for name, after in afters.items()}
    for mistake in MISTAKES:
        before, after = befores[mistake.kernel], afters[mistake.kernel]
        edit: Callable[[str], str] = str
        if mistake.in_text:
            edit = lambda text, mistake=mistake: changed(text, mistake)
        else:
            after = tvm.script.from_source(changed(after.script(show_meta=True), mistake))
        able = [judge for judge in judges if judge == "opencl" or not mistake.in_text]
        found[mistake.name] = {judge: judged(judge, before, after, edit) for judge in able}
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--judges", default=",".join(JUDGES))
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    found = results(options.judges.split(","))
    if options.json:
        print(json.dumps(found))
        return 0
    right = {name: found.pop(name) for name in kernels()}
    for name, answers in {**right, **found}.items():
        print(f"{name}: " + "; ".join(f"{judge}: {what or 'right'}" for judge, what in answers.items()))
    caught = sum(any(answers.values()) for answers in found.values())
    print(f"{caught} of {len(found)} mistakes are caught")
    return 1 if any(what for answers in right.values() for what in answers.values()) else 0


if __name__ == "__main__":
    sys.exit(main())
