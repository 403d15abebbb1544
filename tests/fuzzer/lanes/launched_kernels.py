"""Kernels made by hand, each with one property, as TVM compiles them and difftvm launches them.

    python launched_kernels.py TARGET

Prints as JSON, for each program, the results of two runs, what it does outside of its tensors, and the exception with
which it ended.
"""

from __future__ import annotations

import json
import sys
from typing import Any

import numpy as np
import tvm
from tvm import relax
from tvm.script import ir as I
from tvm.script import relax as R
from tvm.script import tirx as T

from fuzzer.lanes.base.step import Quiet
from fuzzer.lanes.launched.kernels import Kernels
from fuzzer.lanes.relax.guarded_run import run_twice
from oracles.targets import target_named

NUMBERS = np.arange(8, dtype=np.float32)


def module(body: str) -> Any:
    """A module whose main calls one kernel, of 8 numbers, and of a table with 2 numbers that it looks up."""
    source = f"""
@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def kernel(a: T.Buffer((8,), "float32"), b: T.Buffer((8,), "float32")):
        T.func_attr({{"tirx.noalias": True, "tirx.is_scheduled": True}})
{body}
    @R.function
    def main(x: R.Tensor((8,), "float32")) -> R.Tensor((8,), "float32"):
        with R.dataflow():
            y = R.call_tir(Module.kernel, (x,), out_ty=R.Tensor((8,), "float32"))
            R.output(y)
        return y
"""
    return tvm.script.from_source(source, {"I": I, "R": R, "T": T})


def threads(store: str, count: int = 8) -> str:
    return f"""
        for i in T.thread_binding({count}, thread="threadIdx.x"):
            with T.sblock("b"):
                v = T.axis.spatial({count}, i)
                {store}
"""


PROGRAMS = {
    "right": threads("b[v] = a[v] + T.float32(1)"),
    "reads after": threads("b[v] = a[v + 2]"),
    "writes after": threads("b[v + 1] = a[v]"),
    "leaves a hole": threads("b[v] = a[v]", 7),
    "too many threads": threads("b[v % 8] = a[v % 8]", 2048),
}


class Recorded(Quiet):
    def __init__(self) -> None:
        self.facts: dict[str, Any] = {}

    def note(self, **facts: object) -> None:
        self.facts.update(facts)


def run(target: str, body: str) -> dict[str, Any]:
    row, step, kernels = target_named(target), Recorded(), Kernels()
    compiled_for = tvm.target.Target(dict(row.config))
    options = {"tirx.disable_assert": True}
    try:
        with tvm.transform.PassContext(config=options, instruments=kernels.instruments()), compiled_for:
            executable = relax.build(module(body), compiled_for)
        kernels.load(executable, row)
        with kernels.raising():
            ran = run_twice(lambda: relax.VirtualMachine(executable, tvm.cpu())["main"], {"x": NUMBERS}, step)
    except Exception as error:
        return {"raised": f"{type(error).__name__}: {error}"}
    assert ran.again is not None
    accesses = [each.does for each in step.facts["accesses"]]
    return {"first": ran.outputs[0].tolist(), "again": ran.again[0].tolist(), "does": accesses}


if __name__ == "__main__":
    print(json.dumps({name: run(sys.argv[1], body) for name, body in PROGRAMS.items()}))
