"""From a Relay module to a function of arrays: passes, build, load. Each stage is recorded before it begins."""

from __future__ import annotations

import os
import shutil
import tempfile
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, assert_never

import ml_dtypes
import numpy as np
import tvm
from tvm import relay
from tvm.contrib.graph_executor import GraphModule
from tvm.runtime.vm import VirtualMachine

from fuzzer.lanes.base.step import Step
from fuzzer.lanes.relay.importing import Imported
from generators.graph import Array
from oracles.lane import Execution, LaneSpec
from oracles.outcome import Stage
from oracles.targets import target_named
from oracles.transforms import transform_named

os.environ["TOPHUB_LOCATION"] = "NONE"
"""Otherwise each build downloads tuned schedules."""

Function = Callable[[Mapping[str, Array]], tuple[Array, ...]]


def built(model: Imported, spec: LaneSpec, step: Step) -> Function:
    began = _cpu()
    options = {} if spec.asserts else {"tir.disable_assert": True}
    target = tvm.target.Target(dict(target_named(spec.target).config))
    try:
        with tvm.transform.PassContext(spec.opt_level, disabled_pass=list(spec.disabled), config=options), target:
            step(Stage.TRANSFORM)
            module = model.module
            for name in spec.passes:
                module = eval(transform_named(name).source, {"tvm": tvm, "relay": relay, "mod": module})
            step(Stage.COMPILE)
            match spec.executor:
                case Execution.GRAPH:
                    factory = relay.build(module, target=target, params=model.weights)
                case Execution.VM:
                    factory = relay.vm.compile(module, target=target, params=model.weights)
                case Execution.BYTECODE | Execution.COMPILED:
                    raise ValueError(f"no executor of Relay's: {spec.executor}")
                case _:
                    assert_never(spec.executor)
        step(Stage.LOAD)
        if spec.executor is Execution.VM:
            return _on_virtual_machine(factory)
        return _on_graph_executor(tvm.runtime.load_module(_library(factory, step)) if spec.as_library else factory)
    finally:
        step.note(compile_seconds=round(_cpu() - began, 4))


def _library(factory: Any, step: Step) -> str:
    """Write a shared library that contains the weights, in a new folder; return its path."""
    path = Path(tempfile.mkdtemp()) / "model.so"
    factory.export_library(str(path), cc=shutil.which("gcc") or shutil.which("cc"))
    step.note(built_bytes=path.stat().st_size)
    return str(path)


def _on_graph_executor(factory: Any) -> Function:
    executor = GraphModule(factory["default"](tvm.cpu()))
    taken = executor.get_input_info()[0]  # the build removes inputs that the results do not depend on

    def run(inputs: Mapping[str, Array]) -> tuple[Array, ...]:
        for name, array in inputs.items():
            if name in taken:
                executor.set_input(name, _tensor(array))
        executor.run()
        return tuple(_array(executor.get_output(index)) for index in range(executor.get_num_outputs()))

    return run


def _on_virtual_machine(executable: Any) -> Function:
    machine = VirtualMachine(executable, tvm.cpu())

    def run(inputs: Mapping[str, Array]) -> tuple[Array, ...]:
        result = machine.run(*map(_tensor, inputs.values()))
        return tuple(map(_array, [result] if hasattr(result, "numpy") else result))

    return run


def _tensor(array: Array) -> Any:
    return tvm.nd.array(np.array(array))


def _array(tensor: Any) -> Array:
    """Copy a tensor to an array. For bfloat16, this TVM returns the bits as integers."""
    array: Array = tensor.numpy()
    return array.view(ml_dtypes.bfloat16) if tensor.dtype == "bfloat16" else array


def _cpu() -> float:
    """Return the CPU seconds of this process and of its finished subprocesses."""
    times = os.times()
    return time.process_time() + times.children_user + times.children_system
