"""What Relax lanes share: import of a file, compile, load, run. Each step says itself, and notes what it saw."""

from __future__ import annotations

import os
import shutil
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import tvm
from tvm import relax
from tvm.relax.frontend.onnx import from_onnx

from fuzzer.lanes import memory
from fuzzer.lanes.base import Step
from fuzzer.lanes.relax_check import Checker
from fuzzer.lanes.relax_passes import OURS, pass_named
from generators.graph import Array
from oracles.lane import LaneSpec
from oracles.outcome import Ran, Stage


def from_onnx_file(model: Any, step: Step) -> tuple[Any, list[str]]:
    """A module, and the names of the inputs in the order of its main."""
    weights = {item.name for item in model.graph.initializer}
    names = [item.name for item in model.graph.input if item.name not in weights]
    step(Stage.IMPORT)
    return from_onnx(model), names


def built(module: Any, spec: LaneSpec, step: Step, checker: Checker | None) -> Any:
    """The module's passes, its compilation, and a virtual machine that holds it."""
    began = _cpu()
    target = tvm.target.Target(target_of(spec))
    try:
        with context(spec, checker):
            module = transformed(module, spec, step, checker, target)
            step(Stage.COMPILE)
            executable = tvm.compile(module, target=target)
        step(Stage.LOAD)
        if spec.as_library or spec.target == "c":
            executable = _through_library(executable, spec, step)
        return relax.VirtualMachine(executable, tvm.cpu())
    finally:
        step.note(compile_seconds=round(_cpu() - began, 4))
        if checker:
            checker.tell()


def context(spec: LaneSpec, checker: Checker | None) -> Any:
    config = {} if spec.asserts else {"tirx.disable_assert": True}
    watching = checker.instruments() if checker else []
    return tvm.transform.PassContext(opt_level=spec.opt_level, config=config, instruments=watching)


def transformed(module: Any, spec: LaneSpec, step: Step, checker: Checker | None, target: Any) -> Any:
    """The passes that the lane names, then its pipeline, which is part of the compilation: what it shares with the one
    that always comes last fails there in other lanes."""
    step(Stage.TRANSFORM)
    for name in spec.passes:
        module = pass_named(name)(module)
        if checker and name in OURS:  # of the others the instrument knows
            checker.look(module, name)
    if spec.pipeline:
        step(Stage.COMPILE)
        with target:
            module = relax.get_pipeline(spec.pipeline)(module)
    step.note(constant_bytes=constant_bytes(module))
    return module


def target_of(spec: LaneSpec) -> dict[str, object]:
    target: dict[str, object] = {"kind": spec.target}
    if spec.llvm_opt is not None:
        target["opt-level"] = spec.llvm_opt
    return target


def host_compiler() -> str | None:
    """The C compiler. Left to itself TVM takes g++, for which C takes twice as long (measured: 240 against 120 ms)."""
    return shutil.which("gcc") or shutil.which("cc")


def _through_library(executable: Any, spec: LaneSpec, step: Step) -> Any:
    """Write a shared library and load it. A new path each time: a loaded library is never replaced."""
    path = Path(tempfile.mkdtemp()) / "model.so"
    options = {"options": ["-O1"]} if spec.target == "c" else {}
    executable.export_library(str(path), cc=host_compiler(), **options)
    step.note(built_bytes=path.stat().st_size)
    return tvm.runtime.load_module(str(path))


def constant_bytes(module: Any) -> int:
    """Of the tensors that stand in the module's Relax functions, each counted once."""
    sizes: dict[int, int] = {}

    def look(expr: Any) -> None:
        data = getattr(expr, "value", None)
        if isinstance(data, tvm.runtime.Tensor):
            sizes[data.data_ptr()] = _nbytes(data)

    for function in module.functions.values():
        if isinstance(function, relax.Function):
            relax.analysis.post_order_visit(function, look)
    return sum(sizes.values())


def run_twice(function: Any, inputs: Mapping[str, Array], step: Step) -> Ran:
    """Its results, on new tensors each time; what it does to them is noted the first time."""
    step(Stage.RUN)
    tensors = {name: tensor(array) for name, array in inputs.items()}
    outputs = flat(function(*tensors.values()))
    spans = {name: _span(each) for name, each in tensors.items()}
    changed = memory.modified(inputs, {name: each.numpy() for name, each in tensors.items()})
    step.note(modified=changed, aliases=memory.shared([_span(each) for each in outputs], spans))
    first = tuple(each.numpy() for each in outputs)
    again = tuple(each.numpy() for each in flat(function(*map(tensor, inputs.values()))))
    return Ran(first, again)


def tensor(array: Array) -> Any:
    return tvm.runtime.tensor(np.array(array))


def flat(result: Any) -> Sequence[Any]:
    """What main gave: a tensor, or a tuple of them."""
    return (result,) if hasattr(result, "numpy") else tuple(result)


def _span(data: Any) -> memory.Span:
    first = int(data.data_ptr())
    return first, first + _nbytes(data)


def _nbytes(data: Any) -> int:
    item = (int(tvm.DataType(data.dtype).bits) + 7) // 8
    return item * int(np.prod(data.shape, dtype=object))


def _cpu() -> float:
    """CPU seconds of this process and of those it waited for."""
    times = os.times()
    return time.process_time() + times.children_user + times.children_system
