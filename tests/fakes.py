"""Outcomes made by hand, for oracles to judge: references, correct results, and results with one mistake each."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from generators.graph import Array, Case, DType, Graph, Input, Node, TensorType, Value, holds_floats
from oracles.finding import Kind
from oracles.lane import Engine, Importer, LaneSpec
from oracles.outcome import Cause, Died, Frame, Outcome, Outcomes, Raised, Ran, Skipped, Stage, TimedOut, Unsupported
from oracles.reference import Expected
from oracles.tolerance import tolerance

TORCH = LaneSpec("torch", Engine.TORCH, variant="eager")
TORCH_F64 = LaneSpec("torch-f64", Engine.TORCH, variant="f64")
TORCH_ENVELOPE = LaneSpec("torch-envelope", Engine.TORCH, variant="envelope")
ONNXRUNTIME = LaneSpec("onnxruntime", Engine.ONNXRUNTIME, Importer.ONNX)
ONNX_REFERENCE = LaneSpec("onnx-reference", Engine.ONNX_REFERENCE, Importer.ONNX, "interpreter")
EXPORTED = LaneSpec("torch-export", Engine.TORCH, Importer.EXPORT, "exported")
ONNX = LaneSpec("onnx", Engine.ONNX, variant="eager")
ONNX_WITNESS = LaneSpec("onnx-witness", Engine.ONNX, variant="witness")
ONNX_F64 = LaneSpec("onnx-f64", Engine.ONNX, variant="f64")
ONNX_ENVELOPE = LaneSpec("onnx-envelope", Engine.ONNX, variant="envelope")
TVM_MODEL = LaneSpec("relax-onnx-model-llvm", Engine.TVM, Importer.ONNX_MODEL)
TVM = LaneSpec("relax-export-llvm", Engine.TVM, Importer.EXPORT)
TVM_C = LaneSpec("relax-export-c", Engine.TVM, Importer.EXPORT, target="c")
TVM_ONNX = LaneSpec("relax-onnx-llvm", Engine.TVM, Importer.ONNX)

_TYPE = TensorType.parse("float32[2]")
CASE = Case(
    Graph((Input(Value("x0", _TYPE)),), (Node("relu", ("x0",), {}, (Value("v0", _TYPE),)),), ("v0",)),
    {"x0": np.zeros(2, np.float32)},
)
"""A case that tests pass to oracles that judge outcomes only."""


def as_named(lane: LaneSpec) -> LaneSpec:
    """The lane as it is in a finding: triage traces it, and ends it after a stage."""
    return replace(lane, tracing=None, until=None)


# --- references


def expect(eager: Any, truth: Any = None, envelope: Any = 0.0, ill: Any = False, dtype: str = "float32") -> Expected:
    """One expected output. The truth is by default PyTorch's value. `envelope` and `ill` are broadcast to its shape."""
    array = np.array(eager, DType(dtype).numpy)
    right = array if truth is None else np.array(truth)
    wide = right.astype(np.float64) if holds_floats(array) else right
    return Expected(
        array,
        wide,
        np.broadcast_to(np.float64(envelope), array.shape).copy(),
        np.broadcast_to(np.bool_(ill), array.shape).copy(),
    )


def references(*right: Expected) -> dict[LaneSpec, Outcome]:
    """The outcomes of the three torch lanes that are the reference."""
    return {
        TORCH: Ran(tuple(r.eager for r in right)),
        TORCH_F64: Ran(tuple(r.truth for r in right)),
        TORCH_ENVELOPE: Ran((*(r.envelope for r in right), *(r.ill for r in right))),
    }


def references_of_onnx(*right: Expected) -> dict[LaneSpec, Outcome]:
    """The outcomes of the four lanes that are the reference of a case of ONNX. The witness is within the tolerance."""
    eager, truth, envelope = references(*right).values()
    return {ONNX: eager, ONNX_WITNESS: correct(right), ONNX_F64: truth, ONNX_ENVELOPE: envelope}


def with_lanes(right: tuple[Expected, ...], lanes: Outcomes) -> Outcomes:
    return {**references(*right), **lanes}


TWO_OUTPUTS = (
    expect([[1.0, -2.0], [0.5, 3.0]], envelope=0.01),
    expect([7, -3], dtype="int64"),
)
FLOATS = (
    expect([1.0, -1000.0, 0.0, 1e-20], truth=[1.001, -1000.5, 0.0, 1e-20], envelope=[0.001, 1.0, 0.5, 1e-21]),
    expect([1.0, -2.0], envelope=0.25, dtype="float64"),
    expect(2.5, envelope=0.125),
    # with envelopes as wide as these, 1 % of a tolerance is more than the error of rounding to half precision
    expect([1.0, -2.0, 0.0], truth=[1.001, -2.0, 0.0], envelope=0.25, dtype="float16"),
    expect([[1.0, -2.0]], envelope=16.0, dtype="bfloat16"),
)
EXACT = (
    expect([1 << 62, -1], dtype="int64"),
    *(expect([-7, 100], dtype=dtype) for dtype in ("int32", "int16", "int8")),
    expect([0, 255], dtype="uint8"),
    expect([True, False], dtype="bool"),
)
ALL_DTYPES = (*FLOATS, *EXACT, expect(np.zeros((0, 3)), envelope=0.5))
"""Outputs of each dtype of difftvm, among them a 0-d and an empty one."""

# --- correct results


def within(right: Expected, factor: float) -> Array:
    """The truth plus `factor` tolerances at every element; the exact result for integers and booleans."""
    if not holds_floats(right.eager):
        return right.eager.copy()
    return np.asarray(right.truth + factor * tolerance(right)).astype(right.eager.dtype)


def correct(right: tuple[Expected, ...]) -> Ran:
    """A result that is 0.99 tolerances off at every element, and the same in both runs."""
    outputs = tuple(within(r, 0.99) for r in right)
    return Ran(outputs, tuple(array.copy() for array in outputs))


# --- results with one mistake, in the first output; wrong values are at its last element


def _first(right: tuple[Expected, ...], change: Callable[[Array, Expected], Array]) -> Ran:
    outputs = correct(right).outputs
    wrong = change(outputs[0].copy(), right[0])
    return Ran((wrong, *outputs[1:]), (wrong.copy(), *outputs[1:]))


def _last(value: Callable[[Expected], Any]) -> Callable[[tuple[Expected, ...]], Ran]:
    def change(array: Array, right: Expected) -> Array:
        array.flat[-1] = value(right)
        return array

    return lambda right: _first(right, change)


def missing_output(right: tuple[Expected, ...]) -> Ran:
    outputs = correct(right).outputs[:-1]
    return Ran(outputs, outputs)


def extra_output(right: tuple[Expected, ...]) -> Ran:
    outputs = (*correct(right).outputs, np.zeros(1))
    return Ran(outputs, outputs)


def wrong_dtype(right: tuple[Expected, ...]) -> Ran:
    """The right numbers in another dtype."""
    other = {"float32": DType.FLOAT64, "bfloat16": DType.FLOAT16, "int64": DType.INT32, "bool": DType.INT64}
    return _first(right, lambda array, _: array.astype(other.get(str(array.dtype), DType.FLOAT32).numpy))


def wrong_shape(right: tuple[Expected, ...]) -> Ran:
    """The right numbers in another shape, which can be broadcast with the right one."""
    return _first(right, lambda array, _: array[None])


def unstable(right: tuple[Expected, ...]) -> Ran:
    """Both runs are within tolerance; the second differs by one unit in the last place of one element."""
    run = correct(right)
    again = run.outputs[0].copy()
    again.flat[-1] = np.nextafter(again.flat[-1], again.dtype.type(0))
    return replace(run, again=(again, *run.outputs[1:]))


wrong_value = _last(lambda right: within(right, 1.01).flat[-1])
nan = _last(lambda right: np.nan)
infinity = _last(lambda right: np.inf)

WRONG_RESULTS: dict[str, tuple[Callable[[tuple[Expected, ...]], Ran], Kind]] = {
    "wrong value": (wrong_value, Kind.WRONG_VALUE),
    "NaN for a number": (nan, Kind.WRONG_VALUE),
    "infinity for a number": (infinity, Kind.WRONG_VALUE),
    "wrong dtype": (wrong_dtype, Kind.WRONG_DTYPE),
    "wrong shape": (wrong_shape, Kind.WRONG_SHAPE),
    "missing output": (missing_output, Kind.WRONG_ARITY),
    "extra output": (extra_output, Kind.WRONG_ARITY),
    "unstable": (unstable, Kind.SECOND_RUN_DIFFERS),
}
"""By mistake: a function that makes the result, and the kind of its finding.

`second_run` finds the unstable result, the comparison with PyTorch all others.
"""

# --- lanes without a result


def raised(stage: Stage, type: str = "ValueError", message: str = "no", *frames: Frame) -> Raised:
    return Raised(stage, type, message, frames)


FRONTEND = "site-packages/tvm/relax/frontend/torch/base_fx_graph_translator.py"
REFUSAL = Frame(FRONTEND, 7, "_conv2d", raises=True)
FRONTEND_BUG = Frame(FRONTEND, 8, "_conv2d")
IN_CPP = Frame("/project/src/relax/op/nn/convolution.cc", 9, "tvm::relax::InferTypeConv2d")


def rejected(stage: Stage) -> Raised:
    """The frontend's own `raise`."""
    return raised(stage, "ValueError", "no", REFUSAL)


def internal_error(stage: Stage) -> Raised:
    return raised(stage, "TypeError", "Check failed: (a == b) is false", FRONTEND_BUG, IN_CPP)


def segfault(stage: Stage) -> Died:
    return Died(stage, Cause.SIGNAL, 11)


def exited(stage: Stage) -> Died:
    return Died(stage, Cause.EXIT, 1)


def out_of_memory(stage: Stage) -> Died:
    return Died(stage, Cause.MEMORY, 9)


def hung(stage: Stage) -> TimedOut:
    return TimedOut(stage, 30.0)


FAILURES: dict[str, tuple[Callable[[Stage], Outcome], Kind]] = {
    "rejected": (rejected, Kind.REJECTED),
    "internal error": (internal_error, Kind.INTERNAL_ERROR),
    "segfault": (segfault, Kind.DIED),
    "exit": (exited, Kind.DIED),
    "out of memory": (out_of_memory, Kind.OUT_OF_MEMORY),
    "hung": (hung, Kind.TIMED_OUT),
}

NO_VERDICT: dict[str, Outcome] = {
    "unsupported": Unsupported(Stage.IMPORT, "no int4"),
    "skipped": Skipped("stopping"),
    "environment": Skipped("no space left on device", environment=True),
}
