"""How far TVM's operators are off on the devices that run kernels on the processor, in units in the last place.

    python benchmarks/device_rounding.py [--count 100000] [--targets llvm,opencl,webgpu] [--json]

TVM compiles a model of one operator on float32 for each target. It runs on random numbers, and its results are compared
with PyTorch's in float64. Prints for each operator and target the largest error in units in the last place of the right
result (numbers below the smallest normal one have its unit), the largest absolute error, and how much of what the
language permits (`fuzzer/lanes/envelope/devices.py`, and one unit for the last rounding) this is. A target without its
driver is left out. Exits with 1 where an error is larger than the language permits.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
import tvm
from tvm import relax

from fuzzer.lanes.base.step import Quiet
from fuzzer.lanes.envelope.devices import ACCURACIES, Call
from fuzzer.lanes.launched.kernels import Kernels
from fuzzer.lanes.relax.guarded_run import run_twice
from fuzzer.system.devices import KINDS
from generators.graph import Array
from oracles.targets import Runs, target_named

EPS, TINY = 2.0**-23, 2.0**-126


@dataclass(frozen=True, slots=True)
class Measured:
    """An operator of TVM, the same function of PyTorch, and the ranges of its operands."""

    name: str
    make: Callable[..., Any]
    right: Callable[..., torch.Tensor]
    ranges: tuple[tuple[float, float], ...]


def _one(name: str, low: float, high: float) -> Measured:
    return Measured(name, getattr(relax.op, name), getattr(torch, name), ((low, high),))


op = relax.op
OPERATORS = (
    *(_one(name, -80.0, 80.0) for name in ("exp", "sinh", "cosh", "tanh", "sigmoid", "erf")),
    *(_one(name, -3.141, 3.141) for name in ("sin", "cos", "tan")),
    Measured("sin", op.sin, torch.sin, ((-1000.0, 1000.0),)),
    *(_one(name, 1e-6, 1e6) for name in ("log", "sqrt", "rsqrt")),
    Measured("log", op.log, torch.log, ((0.5, 2.0),)),
    *(_one(name, -100.0, 100.0) for name in ("atan", "asinh")),
    *(_one(name, -0.999, 0.999) for name in ("asin", "acos", "atanh")),
    _one("acosh", 1.0, 100.0),
    Measured("divide", op.divide, torch.div, ((-1e6, 1e6), (-1e6, 1e6))),
    Measured("power", op.power, torch.pow, ((1e-3, 1e3), (-8.0, 8.0))),
    Measured("atan2", op.atan2, torch.atan2, ((-100.0, 100.0), (-100.0, 100.0))),
    Measured("gelu", op.nn.gelu, torch.nn.functional.gelu, ((-1000.0, 1000.0),)),
    Measured("softmax", op.nn.softmax, lambda x: torch.softmax(x, 0), ((-20.0, 20.0),)),
    Measured(
        "ewise_fma",
        lambda a, b, c: op.add(op.multiply(a, b), c),  # fused to one kernel
        lambda a, b, c: a * b + c,
        ((-2000.0, 2000.0),) * 3,
    ),
)


def operands(row: Measured, count: int) -> list[Array]:
    """Half of the numbers are spread evenly, half of them by their logarithm."""
    source = np.random.default_rng(1)
    made = []
    for low, high in row.ranges:
        even = source.uniform(low, high, count)
        small = (
            np.exp(source.uniform(np.log(1e-6), 0.0, count)) * np.where(even < 0, abs(low), abs(high)) * np.sign(even)
        )
        mixed = np.where(source.random(count) < 0.5, even, np.clip(small, low, high))
        made.append(mixed.astype(np.float32))
    return made


def computed(row: Measured, target: str, arrays: list[Array]) -> Array:
    """What TVM computes for a target."""
    described = target_named(target)
    variables = [
        relax.Var(f"x{place}", relax.TensorType(list(each.shape), "float32")) for place, each in enumerate(arrays)
    ]
    compiled_for = tvm.target.Target(dict(described.config))
    builder = relax.BlockBuilder()
    with builder.function("main", variables):
        with builder.dataflow():
            made = builder.emit_output(row.make(*variables))
        builder.emit_func_output(made)
    with compiled_for:
        module = relax.get_pipeline("zero")(builder.get())
    kernels = Kernels()
    by_kernels = described.runs is Runs.BY_KERNELS
    instruments = kernels.instruments() if by_kernels else []
    with tvm.transform.PassContext(config={"tirx.disable_assert": True}, instruments=instruments):
        executable = relax.build(module, compiled_for)
    if by_kernels:
        kernels.load(executable, described)
    names = {f"x{place}": array for place, array in enumerate(arrays)}
    return run_twice(lambda: relax.VirtualMachine(executable, tvm.cpu())["main"], names, Quiet()).outputs[0]


def errors(row: Measured, target: str, count: int) -> dict[str, Any]:
    """The largest errors of an operator on a target, and the largest share of what the language permits."""
    arrays = operands(row, count)
    args = [torch.from_numpy(each.astype(np.float64)) for each in arrays]
    right = row.right(*args)
    off = (torch.from_numpy(computed(row, target, arrays).astype(np.float64)) - right).abs()
    off = torch.where(torch.isfinite(right.to(torch.float32)), off.nan_to_num(torch.inf), 0.0)
    unit = EPS * 2.0 ** torch.floor(torch.log2(right.abs().clamp(min=TINY)))
    found: dict[str, Any] = {"units": float((off / unit).max()), "absolute": float(off.max())}
    if accuracy := ACCURACIES.get(target):
        permitted = accuracy.reach(row.name, Call(args, right, {}, EPS), is_function=True) + unit
        permitted = torch.where(right.abs() < TINY, permitted + TINY, permitted)
        found["share"] = float((off / permitted).max())
    return found


def in_a_child(row: Measured, target: str, count: int) -> dict[str, Any]:
    """The same, in a process of its own: each opens its driver after it was forked."""
    reads, writes = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            answer = errors(row, target, count)
        except BaseException as error:
            lines = [type(error).__name__, *filter(None, map(str.strip, str(error).splitlines()))]
            answer = {"failed": next((line for line in lines if "error: " in line), lines[-1])[:100]}
        os.write(writes, json.dumps(answer).encode())
        os._exit(0)
    os.close(writes)
    with os.fdopen(reads) as pipe:
        answer = json.loads(pipe.read() or '{"failed": "its process ended"}')
    os.waitpid(child, 0)
    return dict(answer)


def available(targets: list[str]) -> Iterator[str]:
    for target in targets:
        kind = KINDS.get(target_named(target).device)
        if kind is None or kind.find():
            yield target
        else:
            print(f"{target} is left out: there is no {kind.words}: {kind.lacks()}", file=sys.stderr)


def described(row: Measured, target: str, found: dict[str, Any]) -> str:
    name = f"{row.name} of {' and '.join(f'{low:g} to {high:g}' for low, high in dict.fromkeys(row.ranges))}"
    if "failed" in found:
        return f"{name:45} {target:7} {found['failed']}"
    share = f", {100 * found['share']:.0f} % of what is permitted" if "share" in found else ""
    return f"{name:45} {target:7} {found['units']:10.1f} units, {found['absolute']:.1e}{share}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=100_000)
    parser.add_argument("--targets", default="llvm,opencl,webgpu")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    targets = list(available(options.targets.split(",")))
    found = [(row, target, in_a_child(row, target, options.count)) for row in OPERATORS for target in targets]
    if options.json:
        print(json.dumps([[row.name, target, answer] for row, target, answer in found]))
    else:
        print("\n".join(described(*each) for each in found))
    return 1 if any(answer.get("share", 0.0) > 1.0 for _, _, answer in found) else 0


if __name__ == "__main__":
    sys.exit(main())
