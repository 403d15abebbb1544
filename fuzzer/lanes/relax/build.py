"""What Relax lanes share: passes, compile, load, run. Each step says itself, and notes what it saw."""

from __future__ import annotations

import os
import random
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import tvm
from tvm import relax

from fuzzer.lanes.base import memory
from fuzzer.lanes.base.availability import compiler_of, linker
from fuzzer.lanes.base.bench import Step
from fuzzer.lanes.relax import compile_only, releases
from fuzzer.lanes.relax.behaviour import Onlooker
from fuzzer.lanes.relax.check import Checker
from fuzzer.lanes.relax.params import before_passes, options
from fuzzer.lanes.relax.trace import Tracer
from generators.graph import Array
from oracles.lane import LaneSpec, Pipeline
from oracles.outcome import Ran, Stage
from oracles.targets import TARGETS_BY_NAME, Runs, Target
from oracles.transforms import ROUND_TRIPS, TRANSFORMS_BY_NAME


def built(
    module: Any,
    spec: LaneSpec,
    step: Step,
    checker: Checker | None,
    params: Sequence[Any] = (),
    tracer: Tracer | None = None,
    onlooker: Onlooker | None = None,
) -> Any:
    """The module's passes, its compilation, and a virtual machine that holds it; None where nothing here runs it, the
    path of a library that runs in a process of its own.

    `params` are those that main takes after the model's inputs."""
    began = _cpu()
    row = TARGETS_BY_NAME[spec.target]
    device = device_of(row)
    target = target_of(row)
    try:
        with context(spec, tracer, checker, onlooker), target:
            step(Stage.TRANSFORM)
            module = before_passes(module, spec.params, params)
            module = transformed(module, spec, step, checker, target)
            step(Stage.COMPILE)
            executable = compiled(module, spec, step, target)
        step(Stage.LOAD)
        if device is None:
            compile_only.look(executable, row)
            return None
        if spec.as_library or row.compilers:
            library = _library(executable, row, step)
            if row.runs is Runs.SANITIZED:
                return library
            executable = tvm.runtime.load_module(str(library))
        return relax.VirtualMachine(executable, device)
    finally:
        step.note(compile_seconds=round(_cpu() - began, 4))
        if checker:
            checker.tell()


def device_of(row: Target) -> Any:
    """Where the target's code runs; None where nothing here runs it."""
    match row.runs:
        case Runs.HERE | Runs.SANITIZED:
            return tvm.cpu()
        case Runs.ON_A_DEVICE:
            return tvm.device(str(row.config["kind"]), 0) if _in_a_worker() else None
        case Runs.NOWHERE:
            return None


def _in_a_worker() -> bool:
    """Whether this process is a device's own, which alone touches it: only there is that module imported."""
    return "fuzzer.lanes.device" in sys.modules


def target_of(row: Target) -> Any:
    """On a device, for the architecture that it has, and by a compiler that rounds as IEEE 754 says: left to itself TVM
    asks for NVRTC, which needs another package, and for --use_fast_math."""
    if row.runs is not Runs.ON_A_DEVICE or not _in_a_worker():
        return tvm.target.Target(dict(row.config))
    os.environ.update(TVM_CUDA_COMPILE_MODE="nvcc", TVM_CUDA_NVCC_NO_FAST_MATH="1")
    return tvm.target.Target({key: value for key, value in row.config.items() if key != "arch"})


def generator_lacks(row: Target) -> str | None:
    """Why this TVM writes nothing for the target; None where it does."""
    kind = row.config["kind"]
    known = tvm.get_global_func(f"target.build.{kind}", allow_missing=True) is not None
    return None if known else f"this TVM has no code generator for {kind}"


def context(spec: LaneSpec, *watching: Checker | Tracer | Onlooker | None) -> Any:
    switched_on = [*spec.options, *([] if spec.asserts else ["tirx.disable_assert"])]
    return tvm.transform.PassContext(
        opt_level=spec.opt_level,
        config={**dict.fromkeys(switched_on, True), **options(spec.params)},
        disabled_pass=list(spec.disabled),
        instruments=[each for some in watching if some for each in some.instruments()],
    )


def transformed(module: Any, spec: LaneSpec, step: Step, checker: Checker | None, target: Any) -> Any:
    """The module after the passes that the lane names."""
    for name in spec.passes:
        step(Stage.COMPILE if TRANSFORMS_BY_NAME[name].lowers else Stage.TRANSFORM)
        module = apply(name, module, target)
        if checker and name in ROUND_TRIPS:  # of the others the instrument knows
            checker.look(module, name)
    step.note(constant_bytes=constant_bytes(module))
    return module


def apply(name: str, module: Any, target: Any) -> Any:
    """A row of the table of transforms: its source is what reports show. Tracebacks name it: a pass may say nothing."""
    row, scope = (
        TRANSFORMS_BY_NAME[name],
        {"tvm": tvm, "relax": relax, "target": target, "mod": module, "random": random},
    )
    with without_tensor_intrinsics():
        exec(row.helper, scope)
        return eval(compile(row.source, f"<{name}>", "eval"), scope)


@contextmanager
def without_tensor_intrinsics() -> Iterator[None]:
    """MetaSchedule loads those of tensor cores, which takes 40 s of CPU (measured); no schedule for a CPU has any."""
    name = "tvm.s_tir.tensor_intrin"
    if name in sys.modules:
        yield
        return
    sys.modules[name] = ModuleType(name)
    try:
        yield
    finally:
        del sys.modules[name]


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


def _library(executable: Any, row: Target, step: Step) -> Path:
    """Write a shared library. A new path each time: a loaded library is never replaced."""
    path = Path(tempfile.mkdtemp()) / "model.so"
    if row.compilers:
        executable.export_library(str(path), cc=compiler_of(row), options=list(row.flags))
    else:
        executable.export_library(str(path), cc=linker())
    step.note(built_bytes=path.stat().st_size)
    return path


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


def run_twice(
    make: Callable[[], Callable[..., Any]], inputs: Mapping[str, Array], step: Step, device: Any = None
) -> Ran:
    """The results of what `make` gives, on new tensors each time; what it does to them is noted the first time."""
    step(Stage.RUN)
    function = make()
    tensors = {name: tensor(array, device) for name, array in inputs.items()}
    outputs = flat(function(*tensors.values()))
    spans = {name: _span(each) for name, each in tensors.items()}
    changed = memory.modified(inputs, {name: each.numpy() for name, each in tensors.items()})
    step.note(modified=changed, aliases=memory.shared([_span(each) for each in outputs], spans))
    first = tuple(each.numpy() for each in outputs)
    again = tuple(each.numpy() for each in flat(function(*(tensor(array, device) for array in inputs.values()))))
    return Ran(first, again)


def tensor(array: Array, device: Any = None) -> Any:
    return tvm.runtime.tensor(np.array(array), device)


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
