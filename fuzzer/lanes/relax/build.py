"""The steps that Relax lanes share: run passes, compile, load. Each stage is recorded before it begins."""

from __future__ import annotations

import os
import random
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any, Protocol

import tvm
import tvm_ffi
from tvm import relax

from fuzzer.lanes.base.availability import compiler_of, linker
from fuzzer.lanes.base.step import Step
from fuzzer.lanes.launched.kernels import Kernels
from fuzzer.lanes.relax import compile_only
from fuzzer.lanes.relax.behaviour import BehaviourRecorder
from fuzzer.lanes.relax.check import Checker
from fuzzer.lanes.relax.params import before_passes, options
from fuzzer.lanes.relax.trace import Tracer
from fuzzer.lanes.relax.work import ConstantCounter, WorkCounter
from oracles.lane import LaneSpec, Pipeline
from oracles.outcome import Stage
from oracles.targets import Runs, Target, target_named
from oracles.transforms import ROUND_TRIPS, transform_named


class Watching(Protocol):
    """What looks at the passes of a lane."""

    def instruments(self) -> list[Any]:
        """Return the instruments for a PassContext."""


def built(
    module: Any,
    spec: LaneSpec,
    step: Step,
    checker: Checker | None,
    params: Sequence[Any] = (),
    tracer: Tracer | None = None,
    recorder: BehaviourRecorder | None = None,
    kernels: Kernels | None = None,
) -> Any:
    """Run the passes of a lane, compile the module and load it.

    params   the parameters that main takes after the model's inputs
    kernels  gets the kernels, where difftvm launches them

    Return a virtual machine; None where this machine cannot run the target's code; or the path of a library that has
    to run in a process of its own."""
    began = _cpu()
    row = target_named(spec.target)
    device = device_of(row)
    target = target_of(row)
    counter = WorkCounter(step)
    try:
        with context(spec, tracer, checker, recorder, counter, kernels), target:
            step(Stage.TRANSFORM)
            module = before_passes(module, spec.params, params)
            constants = ConstantCounter(step, module)
            module = transformed(module, spec, step, checker, target)
            constants.count(module)
            step(Stage.COMPILE)
            executable = compiled(module, spec, constants, target)
        step(Stage.LOAD)
        if kernels is not None:
            kernels.load(executable, row)
            return relax.VirtualMachine(executable, tvm.cpu())
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
        counter.tell()
        if checker:
            checker.tell()


def device_of(row: Target) -> Any:
    """Return the device that runs the target's code; None where no device here can."""
    match row.runs:
        case Runs.HERE | Runs.SANITIZED:
            return tvm.cpu()
        case Runs.ON_A_DEVICE:
            return tvm.device(str(row.config["kind"]), 0) if _in_a_worker() else None
        case Runs.BY_KERNELS | Runs.NOWHERE:
            return None


def _in_a_worker() -> bool:
    """Whether this process is the worker of a device. Only workers import that module, and only they may use a GPU."""
    return "fuzzer.lanes.device" in sys.modules


def target_of(row: Target) -> Any:
    """Return TVM's target. In the worker of a GPU, it is the target for the architecture of that GPU.

    By default TVM compiles for CUDA with NVRTC, which needs another package, and with --use_fast_math, which does not
    round as IEEE 754 requires. The environment variables change both."""
    if row.runs is not Runs.ON_A_DEVICE or not _in_a_worker():
        return tvm.target.Target(dict(row.config))
    os.environ.update(TVM_CUDA_COMPILE_MODE="nvcc", TVM_CUDA_NVCC_NO_FAST_MATH="1")
    return tvm.target.Target({key: value for key, value in row.config.items() if key != "arch"})


def generator_lacks(row: Target) -> str | None:
    """Return why this TVM cannot generate code for the target; None where it can."""
    kind = row.config["kind"]
    known = tvm.get_global_func(f"target.build.{kind}", allow_missing=True) is not None
    return None if known else f"this TVM has no code generator for {kind}"


def context(spec: LaneSpec, *watching: Watching | None) -> Any:
    # host code asserts that its tensors are on the target's device; kernels that difftvm launches use the processor's
    asserts = spec.asserts and target_named(spec.target).runs is not Runs.BY_KERNELS
    switched_on = [*spec.options, *([] if asserts else ["tirx.disable_assert"])]
    return tvm.transform.PassContext(
        opt_level=spec.opt_level,
        config={**dict.fromkeys(switched_on, True), **options(spec.params)},
        disabled_pass=list(spec.disabled),
        instruments=[each for some in watching if some for each in some.instruments()],
    )


def transformed(module: Any, spec: LaneSpec, step: Step, checker: Checker | None, target: Any) -> Any:
    """Run the passes that the lane names."""
    for name in spec.passes:
        step(Stage.COMPILE if transform_named(name).lowers else Stage.TRANSFORM)
        module = apply(name, module, target)
        if checker and name in ROUND_TRIPS:  # the instrument checks after all other passes
            checker.look(module, name)
    return module


def apply(name: str, module: Any, target: Any) -> Any:
    """Run a row of the table of transforms. Reports show the same source. The name of the pass is in tracebacks."""
    row, scope = (
        transform_named(name),
        {"tvm": tvm, "tvm_ffi": tvm_ffi, "relax": relax, "target": target, "mod": module, "random": random},
    )
    with without_tensor_intrinsics():
        exec(row.helper, scope)
        return eval(compile(row.source, f"<{name}>", "eval"), scope)


@contextmanager
def without_tensor_intrinsics() -> Iterator[None]:
    """Keep MetaSchedule from loading the intrinsics of tensor cores: that takes 40 s of CPU, and CPU code has none."""
    name = "tvm.s_tir.tensor_intrin"
    if name in sys.modules:
        yield
        return
    sys.modules[name] = ModuleType(name)
    try:
        yield
    finally:
        del sys.modules[name]


def compiled(module: Any, spec: LaneSpec, constants: ConstantCounter, target: Any) -> Any:
    """Compile a module to an executable. Called in the scope of the target."""
    whole = "default"
    match spec.pipeline:
        case Pipeline.DEFAULT:
            pass
        case Pipeline.ZERO:
            module = relax.get_pipeline("zero")(module)
            constants.count(module)
        case Pipeline.CPU:
            whole = relax.backend.cpu_generic.get_default_pipeline(target)
    return relax.build(module, target, relax_pipeline=whole, exec_mode=spec.executor.value)


def _library(executable: Any, row: Target, step: Step) -> Path:
    """Write a shared library to a new folder, because a loaded library must not be overwritten; return its path."""
    path = Path(tempfile.mkdtemp()) / "model.so"
    if row.compilers:
        executable.export_library(str(path), cc=compiler_of(row), options=list(row.flags))
    else:
        executable.export_library(str(path), cc=linker())
    step.note(built_bytes=path.stat().st_size)
    return path


def _cpu() -> float:
    """Return the CPU seconds of this process and of its finished subprocesses."""
    times = os.times()
    return time.process_time() + times.children_user + times.children_system
