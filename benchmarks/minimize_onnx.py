"""Measure `fuzz minimize model.onnx`: nodes before and after, tests, CPU seconds and wall seconds.

    python benchmarks/minimize_onnx.py [--nodes 100 1000 5000] [--failures import compile planted] [--jobs 2]

A model has blocks of 17 nodes, as a transformer has them, each with weights of its own. More nodes, at 7/10 of the
model, fail in TVM. `FAILURES` has these nodes: two real failures of TVM 0.27.0.post1, and one that a preloaded file
makes (`changes_of_tvm/table.py`). The exit code is 1 where a model gives no finding.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from changes_of_tvm.table import WORSE
from onnx import helper, numpy_helper

from fuzzer.campaign.store.store import Store
from fuzzer.isolate.fleet import Fleet
from fuzzer.isolate.reports import SanitizerReport, ScriptRun
from fuzzer.lanes.model_lanes import LaneChoice
from fuzzer.minimize import minimize
from fuzzer.minimize.minimize import Minimized
from fuzzer.toolchains.registry import finder
from generators.graph import Case
from oracles.lane import LaneSpec
from oracles.outcome import Result

OPSET = 13
ROWS, WIDTH = 8, 16
PLACE = 0.7


Step = tuple[str, Mapping[str, Any], tuple[Any, ...]]
"""A node: its operator, its attributes, and the tensors that it reads beside the result before it."""


@dataclass(frozen=True, slots=True)
class Failure:
    """Nodes, one after the other, of which some fail in a lane. `change` is the change of TVM that makes them fail; ""
    for a real failure."""

    steps: tuple[Step, ...]
    lane: str = "relax-onnx-model-llvm"
    change: str = ""


TO_FLOAT: Step = ("Cast", {"to": onnx.TensorProto.FLOAT}, ())
FAILURES = {
    # from_onnx multiplies float16 by constants of float32
    "import": Failure((("Cast", {"to": onnx.TensorProto.FLOAT16}, ()), ("Selu", {}, ()), TO_FLOAT)),
    # the code generator for C has no fabs
    "compile": Failure((("Cast", {"to": onnx.TensorProto.INT32}, ()), TO_FLOAT), "relax-onnx-model-c"),
    "planted": Failure((("Elu", {"alpha": 2.0}, ()),), change="onnx-elu-ignores-alpha"),
}


class Model:
    """A file under construction. `value` is the result of the last node."""

    def __init__(self) -> None:
        self.nodes: list[onnx.NodeProto] = []
        self.tensors: list[onnx.TensorProto] = []
        self.value = "x"

    def tensor(self, array: Any) -> str:
        self.tensors.append(numpy_helper.from_array(np.asarray(array), f"t{len(self.tensors)}"))
        return self.tensors[-1].name

    def then(self, op: str, *inputs: str, **attributes: Any) -> str:
        """Add a node that reads these values, or the last result where none is given."""
        result = f"n{len(self.nodes)}"
        self.nodes.append(helper.make_node(op, inputs or (self.value,), [result], **attributes))
        self.value = result
        return result

    def block(self, number: int) -> None:
        """Seventeen nodes: a product with weights, a function, a softmax, and the sum of both, normalised."""
        start = self.value
        weights = np.random.default_rng(number).standard_normal((WIDTH, WIDTH)).astype(np.float32)
        self.then("MatMul", start, self.tensor(weights / 4))
        self.then("Add", self.value, self.tensor(np.zeros(WIDTH, np.float32)))
        mixed = self.then(("Relu", "Tanh", "Sigmoid", "Neg")[number % 4])
        self.then("Reshape", mixed, self.tensor(np.array([1, ROWS, 4, -1], np.int64)))
        self.then("Transpose", perm=[0, 2, 1, 3])
        self.then("Softmax", axis=-1)
        self.then("Transpose", perm=[0, 2, 1, 3])
        self.then("Reshape", self.value, self.tensor(np.array([1, ROWS, WIDTH], np.int64)))
        self.then("Mul", self.value, mixed)
        total = self.then("Add", self.value, start)
        centred = self.then("Sub", total, self.then("ReduceMean", total, axes=[-1]))
        self.then("Mul", centred, centred)
        self.then("ReduceMean", axes=[-1])
        self.then("Add", self.value, self.tensor(np.float32(0.1)))
        self.then("Div", centred, self.then("Sqrt"))

    def save(self, path: Path) -> None:
        value = helper.make_tensor_value_info("x", onnx.TensorProto.FLOAT, [1, ROWS, WIDTH])
        result = helper.make_empty_tensor_value_info(self.value)
        graph = helper.make_graph(self.nodes, "blocks", [value], [result], self.tensors)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=8)
        onnx.save(onnx.shape_inference.infer_shapes(model), path)


def write(path: Path, nodes: int, failure: Failure) -> None:
    model = Model()
    number, failed = 0, False
    while len(model.nodes) < nodes - 16:
        model.block(number)
        number += 1
        if not failed and len(model.nodes) >= PLACE * nodes:
            failed, start = True, model.value
            for op, attributes, tensors in failure.steps:
                model.then(op, model.value, *map(model.tensor, tensors), **attributes)
            model.then("Add", model.value, start)
    model.save(path)


class Counting:
    """A fleet that counts its runs."""

    def __init__(self, fleet: Fleet) -> None:
        self._fleet, self.runs = fleet, 0

    @property
    def versions(self) -> dict[str, str]:
        return self._fleet.versions

    @property
    def cpu_seconds(self) -> float:
        return self._fleet.cpu_seconds

    def run(self, case: Case, lanes: Sequence[LaneSpec]) -> Result:
        self.runs += 1
        return self._fleet.run(case, lanes)

    def run_fresh(self, case: Case, lanes: Sequence[LaneSpec]) -> Result:
        self.runs += 1
        return self._fleet.run_fresh(case, lanes)

    def run_script(self, source: str, lane: LaneSpec) -> ScriptRun:
        return self._fleet.run_script(source, lane)

    def examine(self, case: Case, lane: LaneSpec) -> tuple[SanitizerReport, ...]:
        return self._fleet.examine(case, lane)


def measured(path: Path, failure: Failure, folder: Path, jobs: int) -> tuple[tuple[Minimized, ...], str]:
    preload = None
    if failure.change:
        preload = folder / f"{failure.change}.py"
        preload.write_text(next(change.source for change in WORSE if change.name == failure.change))
    began, own = time.monotonic(), time.process_time()
    request = minimize.read(path, LaneChoice(failure.lane))
    before = len(request.case.graph.nodes)
    with (
        Store(folder / path.stem, None) as store,
        Fleet(Path(tempfile.mkdtemp(prefix="difftvm-")), finder(preload)) as fleet,
    ):
        print(f"TVM {fleet.versions['tvm']}", file=sys.stderr)  # starts the compilers
        started = fleet.cpu_seconds
        counting = Counting(fleet)
        done = minimize.run(counting, store, request, jobs).minimized
        cpu = fleet.cpu_seconds - started + time.process_time() - own
    seconds = time.monotonic() - began
    return done, f"{before:6} nodes  {counting.runs:4} tests  {cpu:7.1f} CPU s  {seconds:7.1f} s"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nodes", type=int, nargs="+", default=[100, 1000, 5000])
    parser.add_argument("--failures", nargs="+", choices=FAILURES, default=list(FAILURES))
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--out", type=Path, help="keeps the models and the findings")
    options = parser.parse_args()
    folder = options.out or Path(tempfile.mkdtemp(prefix="difftvm-models-"))
    folder.mkdir(parents=True, exist_ok=True)
    missed = 0
    for name in options.failures:
        for nodes in options.nodes:
            path = folder / f"{name}-{nodes}.onnx"
            write(path, nodes, FAILURES[name])
            done, costs = measured(path, FAILURES[name], folder, options.jobs)
            for each in done:
                left = f"{each.after.operators} nodes: {', '.join(each.ops[:4])}"
                print(f"{name:8} {costs}  -> {left}  ({each.kind}, {each.again} runs fail)", flush=True)
            missed += not any(each.folder for each in done)
            if not done:
                print(f"{name:8} {costs}  -> no failure", flush=True)
    sys.exit(bool(missed))


if __name__ == "__main__":
    main()
