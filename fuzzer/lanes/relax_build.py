"""What Relax lanes share: passes, compile, load, run. Each step says itself, and notes what it saw."""

from __future__ import annotations

import os
import shutil
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import tvm
from tvm import relax

from fuzzer.lanes import memory, releases
from fuzzer.lanes.base import Step
from fuzzer.lanes.relax_check import Checker
from fuzzer.lanes.relax_params import before_passes, options
from generators.graph import Array
from oracles.lane import LaneSpec, Pipeline
from oracles.outcome import Ran, Stage
from oracles.targets import NAMED as TARGETS
from oracles.targets import Runs, Target
from oracles.transforms import NAMED as TRANSFORMS
from oracles.transforms import ROUND_TRIPS


def built(module: Any, spec: LaneSpec, step: Step, checker: Checker | None, params: Sequence[Any] = ()) -> Any:
    """The module's passes, its compilation, and a virtual machine that holds it; None where nothing here runs it.

    `params` are those that main takes after the model's inputs."""
    began = _cpu()
    row = TARGETS[spec.target]
    target = tvm.target.Target(dict(row.config))
    try:
        with context(spec, checker), target:
            step(Stage.TRANSFORM)
            module = before_passes(module, spec.params, params)
            module = transformed(module, spec, step, checker, target)
            step(Stage.COMPILE)
            executable = compiled(module, spec, step, target)
        if row.runs is Runs.NOWHERE:
            return None
        step(Stage.LOAD)
        if spec.as_library or row.compilers:
            executable = _through_library(executable, row, step)
        return relax.VirtualMachine(executable, tvm.cpu())
    finally:
        step.note(compile_seconds=round(_cpu() - began, 4))
        if checker:
            checker.tell()


def context(spec: LaneSpec, checker: Checker | None) -> Any:
    switched_on = [*spec.options, *([] if spec.asserts else ["tirx.disable_assert"])]
    return tvm.transform.PassContext(
        opt_level=spec.opt_level,
        config={**dict.fromkeys(switched_on, True), **options(spec.params)},
        disabled_pass=list(spec.disabled),
        instruments=checker.instruments() if checker else [],
    )


def transformed(module: Any, spec: LaneSpec, step: Step, checker: Checker | None, target: Any) -> Any:
    """The module after the passes that the lane names."""
    for name in spec.passes:
        module = apply(name, module, target)
        if checker and name in ROUND_TRIPS:  # of the others the instrument knows
            checker.look(module, name)
    step.note(constant_bytes=constant_bytes(module))
    return module


def apply(name: str, module: Any, target: Any) -> Any:
    """A row of the table of transforms: its source is what reports show."""
    return eval(TRANSFORMS[name].source, {"tvm": tvm, "relax": relax, "target": target, "mod": module})


def compiled(module: Any, spec: LaneSpec, step: Step, target: Any) -> Any:
    """The executable. Called in the target's scope."""
    whole = "default"
    match spec.pipeline:
        case Pipeline.DEFAULT:
            pass
        case Pipeline.ZERO:
            module = relax.get_pipeline("zero")(module)
            step.note(constant_bytes=constant_bytes(module))
        case Pipeline.CPU:
            whole = relax.backend.cpu_generic.get_default_pipeline(target)
    return relax.build(module, target, relax_pipeline=whole, exec_mode=spec.executor.value)


def compiler_of(row: Target) -> str | None:
    """The compiler for what the target writes, where one is installed."""
    return next((path for name in row.compilers if (path := shutil.which(name))), None)


def _through_library(executable: Any, row: Target, step: Step) -> Any:
    """Write a shared library and load it. A new path each time: a loaded library is never replaced."""
    path = Path(tempfile.mkdtemp()) / "model.so"
    if row.compilers:
        executable.export_library(str(path), cc=compiler_of(row), options=list(row.flags))
    else:
        executable.export_library(str(path), cc=shutil.which("gcc") or shutil.which("cc"))
    step.note(built_bytes=path.stat().st_size)
    return tvm.runtime.load_module(str(path))


def constant_bytes(module: Any) -> int:
    """Of the tensors that stand in the module's Relax functions, each counted once."""
    sizes: dict[int, int] = {}

    def look(expr: Any) -> None:
        data = getattr(expr, "value", None)
        if isinstance(data, tvm.runtime.Tensor):
            sizes[releases.address(data)] = _nbytes(data)

    for function in module.functions.values():
        if isinstance(function, relax.Function):
            relax.analysis.post_order_visit(function, look)
    return sum(sizes.values())


def run_twice(make: Callable[[], Callable[..., Any]], inputs: Mapping[str, Array], step: Step) -> Ran:
    """The results of what `make` gives, on new tensors each time; what it does to them is noted the first time."""
    step(Stage.RUN)
    function = make()
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
    first = releases.address(data)
    return first, first + _nbytes(data)


def _nbytes(data: Any) -> int:
    item = (int(tvm.DataType(data.dtype).bits) + 7) // 8
    return item * int(np.prod(data.shape, dtype=object))


def _cpu() -> float:
    """CPU seconds of this process and of those it waited for."""
    times = os.times()
    return time.process_time() + times.children_user + times.children_system
