"""TVM's Relax: import by either frontend, compile for a target, run twice on the virtual machine."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import tvm
from tvm import relax
from tvm.relax.frontend.onnx import from_onnx
from tvm.relax.frontend.torch import from_exported_program

from fuzzer.lanes.base import Bench, Step
from generators.graph import Array, Case
from oracles.lane import Importer, LaneSpec
from oracles.outcome import Ran, Stage


class RelaxLane:
    def supports(self, case: Case, spec: LaneSpec) -> str | None:
        return "no C compiler on PATH" if spec.target == "c" and host_compiler() is None else None

    def run(self, bench: Bench, spec: LaneSpec, step: Step) -> Ran:
        module, inputs = _import(bench, spec, step)
        config = {} if spec.asserts else {"tirx.disable_assert": True}
        target = tvm.target.Target(_target(spec))
        with tvm.transform.PassContext(opt_level=spec.opt_level, config=config):
            step(Stage.TRANSFORM)
            for name in spec.passes:
                module = getattr(relax.transform, name)()(module)
            if spec.pipeline:
                with target:
                    module = relax.get_pipeline(spec.pipeline)(module)
            step(Stage.COMPILE)
            executable = tvm.compile(module, target=target)
        step(Stage.LOAD)
        if spec.target == "c":
            executable = _through_host_compiler(executable)
        machine = relax.VirtualMachine(executable, tvm.cpu())
        step(Stage.RUN)
        first, second = (_outputs(machine["main"](*map(_tensor, inputs))) for _ in range(2))
        return Ran(first, second)


def _import(bench: Bench, spec: LaneSpec, step: Step) -> tuple[Any, list[Array]]:
    """A module of the lane's own, and the inputs in the order of its main."""
    if spec.importer is Importer.EXPORT:
        program = bench.exported
        step(Stage.IMPORT)
        return from_exported_program(program, run_ep_decomposition=False), list(bench.inputs.values())
    model = bench.onnx_model
    weights = {item.name for item in model.graph.initializer}
    names = [item.name for item in model.graph.input if item.name not in weights]
    step(Stage.IMPORT)
    return from_onnx(model), [bench.inputs[name] for name in names]


def _target(spec: LaneSpec) -> dict[str, object]:
    target: dict[str, object] = {"kind": spec.target}
    if spec.llvm_opt is not None:
        target["opt-level"] = spec.llvm_opt
    return target


def host_compiler() -> str | None:
    """The C compiler. Left to itself TVM takes g++, for which C takes twice as long (measured: 240 against 120 ms)."""
    return shutil.which("gcc") or shutil.which("cc")


def _through_host_compiler(executable: Any) -> Any:
    """Export, compile with the host's C compiler, load. A new path each time: a loaded library is never replaced."""
    path = Path(tempfile.mkdtemp()) / "model.so"
    executable.export_library(str(path), cc=host_compiler(), options=["-O1"])
    return tvm.runtime.load_module(str(path))


def _tensor(array: Array) -> Any:
    return tvm.runtime.tensor(np.array(array))


def _outputs(result: Any) -> tuple[Array, ...]:
    return (result.numpy(),) if hasattr(result, "numpy") else tuple(item.numpy() for item in result)
