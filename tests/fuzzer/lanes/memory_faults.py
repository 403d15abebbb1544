"""Relax programs with one mistake each in their use of memory.

As a program: runs them, and prints as JSON, by name: what each does, the outputs of both runs, the changed inputs,
and the sizes of the guarded storages."""

from __future__ import annotations

import json
from typing import Any, ClassVar

import numpy as np
import tvm
from tvm import relax

from fuzzer.lanes.base.step import Quiet
from fuzzer.lanes.relax import allocation, guarded_run
from fuzzer.lanes.relax.guard_zones import Constants
from fuzzer.lanes.relax.guarded_run import run_twice

_MODULE = """
@I.ir_module
class Module:
    @T.prim_func(private=True, s_tir=True)
    def copy(a: T.Buffer((T.int64(8),), "{dtype}"), b: T.Buffer((T.int64(8),), "{dtype}")):
        T.func_attr({{"tirx.noalias": True}})
        for i in range(T.int64({steps})):
            with T.sblock("copy"):
                v = T.axis.spatial(T.int64({steps}), i)
                b[v + T.int64({write})] = a[v + T.int64({read})]

    @R.function
    def main(x: R.Tensor((8,), "{dtype}")) -> R.Tuple(R.Tensor((8,), "{dtype}")):
        cls = Module
        with R.dataflow():
            y = R.call_tir(cls.copy, ({first},), out_ty=R.Tensor((8,), dtype="{dtype}"))
            z = R.call_tir(cls.copy, (y,), out_ty=R.Tensor((8,), dtype="{dtype}"))
            out = ({last},)
            R.output(out)
        return out
"""

MOST_BYTES = allocation.MOST_BYTES

PROGRAMS: dict[str, dict[str, object]] = {
    "right": {},
    "reads before": {"read": -3},
    "reads after": {"read": 8, "steps": 1},
    "reads far": {"read": 60},
    "writes before": {"write": -2},
    "writes after": {"write": 5},
    "writes an intermediate": {"write": 1, "last": "z"},
    "leaves a hole": {"steps": 7, "write": 1},
    "leaves a hole in memory of TVM": {"steps": 7, "write": 1, "most_bytes": 31},
    "reads before a constant": {"first": "R.const(NUMBERS)", "read": -1},
    **{f"reads before {dtype}": {"read": -1, "dtype": dtype} for dtype in ("bfloat16", "int8", "bool", "float64")},
}
"""By name: how the module differs from one that copies x once, and how large a storage may be to be guarded."""


def module(**options: Any) -> Any:
    values = {"dtype": "float32", "steps": 8, "read": 0, "write": 0, "first": "x", "last": "y", **options}
    numbers = tvm.runtime.tensor(np.arange(8, dtype="float32"))
    return tvm.script.from_source(_MODULE.format(**values), extra_vars={"NUMBERS": numbers, **_names()})


def compiled(options: dict[str, Any], constants: Constants) -> Any:
    with constants.guarded():
        mod = module(**options)
    return relax.VirtualMachine(relax.build(mod, "llvm"), tvm.cpu())["main"]


def _names() -> dict[str, Any]:
    from tvm.script import ir, tirx
    from tvm.script import relax as relax_script

    return {"I": ir, "T": tirx, "R": relax_script}


class Noted(Quiet):
    """Keeps what is noted."""

    def __init__(self) -> None:
        self.facts: dict[str, Any] = {}

    def note(self, **facts: object) -> None:
        self.facts.update(facts)


class Counted(allocation.Allocator):
    """Keeps the sizes of the storages that it gives."""

    sizes: ClassVar[list[int]] = []

    def storage(self, size: int) -> Any:
        self.sizes.append(size)
        return super().storage(size)


def main() -> None:
    results = {}
    guarded_run.Allocator = Counted
    for name, options in PROGRAMS.items():
        constants, step = Constants(), Noted()
        Counted.sizes.clear()
        allocation.MOST_BYTES = int(str(options.get("most_bytes", MOST_BYTES)))
        function = compiled(options, constants)
        values = np.arange(8).astype(tvm.runtime.tensor(np.zeros(1)).numpy().dtype)
        inputs = {"x0": values.astype(_numpy(str(options.get("dtype", "float32"))))}
        ran = run_twice(lambda function=function: function, inputs, step, constants.zones)
        does = [access.does for access in step.facts["accesses"]]
        outputs = [each.astype(float).tolist() for each in (*ran.outputs, *(ran.again or ()))]
        results[name] = {
            "does": does,
            "outputs": outputs,
            "modified": step.facts["modified"],
            "guarded": [*Counted.sizes],
        }
    print(json.dumps(results))


def _numpy(dtype: str) -> Any:
    from generators.types import DType

    return DType(dtype).numpy


if __name__ == "__main__":
    main()
