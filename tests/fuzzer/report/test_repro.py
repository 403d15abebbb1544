import ast
import base64
import sys
import zlib
from dataclasses import replace
from pathlib import Path
from typing import Any

import graphs_by_hand
import ml_dtypes
import numpy as np
import pytest
import torch
from graphs_by_hand import Call, filled
from records import record
from warm_python import WarmPython

from fuzzer.lanes import EVERY_TVM_LANE, ONNXRUNTIME, TVM_LANES, readers_of
from fuzzer.lanes.base.arrays import from_torch
from fuzzer.lanes.base.prepared_case import PreparedCase
from fuzzer.lanes.torch.prepared import model_of, tensors_of
from fuzzer.report import python_source, repro, repro_values
from generators.builder import Builder
from generators.check import check
from generators.choice import NumpySource
from generators.graph import (
    Array,
    Attrs,
    Case,
    DType,
    Graph,
    Input,
    Layout,
    Node,
    Symbol,
    TensorType,
    Value,
    holds_floats,
)
from generators.random_graph import with_values
from generators.table import TABLE
from generators.values import seeded
from oracles.finding import Evidence, Kind, Mismatch, WorstElement
from oracles.lane import Importer, LaneSpec, Pipeline
from oracles.memory_access import Access, MemoryAccess, Side
from oracles.outcome import Cause, Died, Frame, Raised, Stage, TimedOut

LLVM, ONNX, C = TVM_LANES
OTHER = replace(
    LLVM, name="other", passes=("FoldConstant",), pipeline=Pipeline.ZERO, target="llvm-O0", opt_level=3, asserts=False
)
EXPORTED = tuple(
    reader
    for importer in (Importer.EXPORT, Importer.EXPORT_RAW)
    for reader in readers_of(replace(LLVM, importer=importer))
)
WORST = WorstElement((0, 1), 1.0, 2.0, 1e-6, 1e-8)
BFLOAT16 = DType.BFLOAT16.numpy


def one_op(op: str, attrs: Attrs, *shape: int, dtype: DType = DType.FLOAT32) -> Case:
    builder = Builder(NumpySource(0))
    builder.emit(TABLE[op], (builder.fresh_input(TensorType(dtype, shape)),), attrs)
    return with_values(builder, "test")


EVIDENCE = [
    (Kind.REJECTED, Raised(Stage.IMPORT, "tvm.error.InternalError", "no", (Frame("a.py", 1, "f"),))),
    (Kind.DIED, Died(Stage.RUN, Cause.SIGNAL, 11, "")),
    (Kind.OUT_OF_MEMORY, Died(Stage.RUN, Cause.MEMORY, 9, "")),
    (Kind.TIMED_OUT, TimedOut(Stage.COMPILE, 60.0)),
    (Kind.WRONG_ARITY, Mismatch(0, "1 outputs", "2 outputs")),
    (Kind.WRONG_SHAPE, Mismatch(0, "[1]", "[2]")),
    (Kind.WRONG_DTYPE, Mismatch(0, "int64", "float32")),
    (Kind.WRONG_VALUE, Mismatch(0, "1.0", "2.0", WORST)),
    (Kind.WRONG_VALUE, Mismatch(0, "1", "2", WorstElement((), 1.0, 2.0, 0.0, 0.0))),
    (Kind.SECOND_RUN_DIFFERS, Mismatch(0, "the first", "1 of 2 elements differ")),
    *(
        (Kind.OUT_OF_BOUNDS_READ, MemoryAccess(Access.READ, tensor, Side.BEFORE, 3, "float32"))
        for tensor in ("input x0", "a constant", "output 0")
    ),
    (Kind.OUT_OF_BOUNDS_WRITE, MemoryAccess(Access.WRITE, "output 0", Side.AFTER, 500, "bfloat16")),
    (Kind.UNINITIALISED_READ, MemoryAccess(Access.READ, "an intermediate tensor", Side.INSIDE, 0, "bool")),
]


@pytest.mark.parametrize("lane", [LLVM, ONNX, C, ONNXRUNTIME, *EXPORTED, OTHER], ids=str)
@pytest.mark.parametrize(("kind", "evidence"), EVIDENCE, ids=[kind for kind, _ in EVIDENCE])
@pytest.mark.exhaustive
def test_every_kind_of_finding_on_every_lane_gives_a_whole_script(
    kind: Kind, evidence: Evidence, lane: LaneSpec
) -> None:
    script = repro.script(record(one_op("sin", {}, 2, 3), kind, lane, evidence))
    tree = ast.parse(script)
    imported = {a.asname or a.name.split(".")[0] for n in ast.walk(tree) if isinstance(n, ast.Import) for a in n.names}
    imported |= {a.name for n in ast.walk(tree) if isinstance(n, ast.ImportFrom) for a in n.names}
    used = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    assert imported <= used, f"not used: {imported - used}"
    assert not {"fuzzer", "generators", "oracles"} & imported
    assert "\n\n\n\n" not in script
    assert len(script.splitlines()) <= (105 if isinstance(evidence, MemoryAccess) else 80)


@pytest.mark.tvm
@pytest.mark.parametrize(("lane", "status"), list(zip(EXPORTED, (1, 0), strict=True)), ids=str)
def test_a_wrong_decomposition_shows_without_tvm(warm: WarmPython, lane: LaneSpec, status: int, tmp_path: Path) -> None:
    """As of PyTorch 2.13 that of block_diag promotes another way; the program as it is exported does not."""
    case = case_of({"x0": "float16[3]", "x1": "float32[]"}, [("v0", "block_diag", "x0 x1")], "v0")
    script = repro.script(record(case, Kind.WRONG_DTYPE, lane, Mismatch(0, "float16", "float32")))
    done = warm.run(script, tmp_path)
    assert done.returncode == status, done.output


LANES = {lane.name: lane for lane in EVERY_TVM_LANE}


@pytest.mark.tvm
@pytest.mark.parametrize(
    ("lane", "tensor", "calls"),
    [
        ("relax-export-llvm", "input x0", [("v0", "select", "x0", {"dim": 0, "index": -1})]),
        (
            "relax-export-compiled",
            "an intermediate tensor",
            [("v1", "neg", "x0"), ("v0", "select", "v1", {"dim": 0, "index": -1})],
        ),
        (
            "relax-export-inputs",
            "a constant",
            [("v1", "select", "w0", {"dim": 0, "index": -1}), ("v0", "mul", "v1 x0")],
        ),
    ],
)
def test_a_read_out_of_bounds_shows(
    warm: WarmPython, tensor: str, calls: list[Call], lane: str, tmp_path: Path
) -> None:
    """TVM 0.27 does not wrap the negative index of select."""
    inputs = {name: "float32[3]" for name in ("x0", "w0") if any(name in call[2] for call in calls)}
    case = case_of(inputs, calls, "v0")
    access = MemoryAccess(Access.READ, tensor, Side.BEFORE, 1, "float32")
    done = warm.run(repro.script(record(case, Kind.OUT_OF_BOUNDS_READ, LANES[lane], access)), tmp_path)
    assert done.returncode == 1, done.output


@pytest.mark.tvm
@pytest.mark.parametrize(
    ("tensor", "steps", "status"),
    [
        ("an intermediate tensor", "", 0),
        ("an intermediate tensor", "write=1", 1),
        ("output 0", "write=-1", 1),
    ],
)
def test_a_write_out_of_bounds_shows(warm: WarmPython, tensor: str, steps: str, status: int, tmp_path: Path) -> None:
    case = case_of({"x0": "float32[8]"}, [("v0", "neg", "x0")], "v0")
    access = MemoryAccess(Access.WRITE, tensor, Side.AFTER, 1, "float32")
    script = repro.script(record(case, Kind.OUT_OF_BOUNDS_WRITE, LLVM, access))
    before, line, after = script.partition("    mod = from_exported_program(torch.export.export(model, inputs))\n")
    assert line
    faults = str(Path(__file__).parents[1] / "lanes")
    faulty = [f"sys.path.insert(0, {faults!r})", "import memory_faults", f"mod = memory_faults.module({steps})\n"]
    done = warm.run(before + "\n".join(f"    {line}" for line in faulty) + after, tmp_path)
    assert done.returncode == status, done.output


@pytest.mark.tvm
@pytest.mark.parametrize(("statement", "status"), [("os.kill(os.getpid(), 11)", 1), ("raise ValueError", 125)])
def test_a_write_that_damages_the_process_shows(warm: WarmPython, statement: str, status: int, tmp_path: Path) -> None:
    access = MemoryAccess(Access.WRITE, "output 0", Side.AFTER, 1, "float32")
    script = repro.script(record(one_op("sin", {}, 2, 3), Kind.OUT_OF_BOUNDS_WRITE, LLVM, access))
    assert script.count("    return [") == 1
    done = warm.run(script.replace("    return [", f"    import os; {statement}\n    return ["), tmp_path)
    assert done.returncode == status, done.output


# --- the model and its inputs, as the lanes have them


def quarters(item: Input) -> Array:
    """Counted in quarters from one."""
    return np.array(1 + filled(item).astype(np.float64) / 4, item.value.type.dtype.numpy)


def case_of(inputs: dict[str, str], calls: list[Call], outputs: str) -> Case:
    return graphs_by_hand.case_of(inputs, calls, outputs, quarters)


def wrong_value(case: Case, lane: LaneSpec = LLVM) -> str:
    return repro.script(record(case, Kind.WRONG_VALUE, lane, Mismatch(0, "1.0", "2.0", WORST)))


def before_the_lane(script: str) -> dict[str, Any]:
    """What the script defines before it calls the lane; TVM is not loaded."""
    head = script.partition("def run_tvm")[0]
    scope: dict[str, Any] = {}
    with torch.no_grad():
        exec("\n".join(line for line in head.splitlines() if "tvm" not in line), scope)
    torch.set_grad_enabled(True)
    return scope


def lines(script: str, start: str, end: str) -> list[str]:
    found = script.splitlines()
    first = found.index(start)
    return found[first + 1 : found.index(end, first)]


def assert_the_same_inputs_and_results(case: Case, script: str) -> None:
    scope = before_the_lane(script)
    prepared = PreparedCase(case, lambda stage: None)
    given = tensors_of(prepared)
    for made, right in zip(scope["inputs"], given, strict=True):
        assert (made.dtype, made.shape, made.stride()) == (right.dtype, right.shape, right.stride())
        assert torch.equal(made, right)
    with torch.no_grad():
        outputs = model_of(prepared)(*given)
    for got, want in zip(scope["expected"], map(from_torch, outputs), strict=True):
        assert (got.dtype, got.shape, got.tobytes()) == (want.dtype, want.shape, want.tobytes())


ROWS = "[[1.0, 1.25, 1.5], [1.75, 2.0, 2.25]]"


@pytest.mark.parametrize(
    ("layout", "text"),
    [
        (Layout.CONTIGUOUS, f"torch.tensor({ROWS})"),
        (Layout.TRANSPOSED, f"torch.tensor({ROWS}).permute(1, 0).contiguous().permute(1, 0)"),
        (Layout.STRIDED, f"torch.tensor({ROWS}).repeat_interleave(2, -1)[..., ::2]"),
        (Layout.EXPANDED, "torch.tensor([[1.0, 1.25, 1.5]]).expand(2, 3)"),
    ],
)
def test_inputs_lie_in_memory_as_they_did(layout: Layout, text: str) -> None:
    case = case_of({"x0": f"float32[2,3] {layout}"}, [("v0", "sin", "x0")], "v0")
    script = wrong_value(case)
    assert f"\ninputs = ({text},)\n" in script
    assert_the_same_inputs_and_results(case, script)


@pytest.mark.parametrize("layout", Layout)
@pytest.mark.parametrize("type", ["bfloat16[2,3,2]", "float16[1,3]", "bool[4,1]", "int8[0,3]", "uint8[3,0,2]"])
def test_inputs_of_any_dtype_and_layout(layout: Layout, type: str) -> None:
    case = case_of({"x0": f"{type} {layout}"}, [("v0", "flip", "x0", {"dims": (-1,)})], "v0")
    assert_the_same_inputs_and_results(case, wrong_value(case))


LAYERS = case_of(
    {
        "x0": "float32[2,3]",
        "b0": "float32[3]",
        "b1": "float32[3]",
        "b2": "int64[2]",
        "w0": "float32[3]",
        "w1": "float32[3]",
        "w2": "int32[3]",
    },
    [
        ("v0", "neg:method", "x0"),
        ("v1", "add:inplace", "v0 w0"),
        ("v2", "batch_norm:module", "v1 b0 b1 w0 w1"),
        ("v3", "mul:operator", "v2 w2"),
    ],
    "v3 b2",
)


def test_buffers_parameters_layers_and_forms() -> None:
    """w0 is shared, so it is the model's own; b0, b1 and w1 belong to the layer alone."""
    script = wrong_value(LAYERS)
    assert lines(script, "class Model(torch.nn.Module):", "torch.set_grad_enabled(False)") == [
        "    def __init__(self, b0, b1, b2, w0, w1, w2):",
        "        super().__init__()",
        '        self.register_buffer("b2", b2)',
        "        self.w0 = torch.nn.Parameter(w0)",
        '        self.register_buffer("w2", w2)',
        "        self.m2 = torch.nn.BatchNorm1d(3, affine=True, track_running_stats=True)",
        "        self.m2.running_mean = b0",
        "        self.m2.running_var = b1",
        "        self.m2.weight = self.w0",
        "        self.m2.bias = torch.nn.Parameter(w1)",
        "",
        "    def forward(self, x0):",
        "        v0 = x0.neg()  # float32[2,3]",
        "        v1 = v0",
        "        v1 += self.w0  # float32[2,3]",
        "        v2 = self.m2(v1)  # float32[2,3]",
        "        v3 = v2 * self.w2  # float32[2,3]",
        "        return v3, self.b2",
        "",
        "",
    ]
    assert lines(script, "model = Model(", ").eval()") == [
        "    b0=torch.tensor([1.0, 1.25, 1.5]),",
        "    b1=torch.tensor([1.0, 1.25, 1.5]),",
        "    b2=torch.ones(2, dtype=torch.int64),",
        "    w0=torch.tensor([1.0, 1.25, 1.5]),",
        "    w1=torch.tensor([1.0, 1.25, 1.5]),",
        "    w2=torch.ones(3, dtype=torch.int32),",
    ]
    assert_the_same_inputs_and_results(LAYERS, script)


AS_NUMPY = [
    "    if tensor.dtype == torch.bfloat16:",
    "        return tensor.contiguous().view(torch.int16).numpy().view(ml_dtypes.bfloat16)",
    "    return tensor.numpy()",
    "",
    "",
]
TO_BFLOAT16 = case_of(
    {"x0": "float32[3,2] transposed"}, [("v0", "to", "x0", {"dtype": "bfloat16"}), ("v1", "neg", "x0")], "v0 v1"
)
FROM_BFLOAT16 = case_of({"x0": "bfloat16[3,2]"}, [("v0", "to", "x0", {"dtype": "float32"})], "v0")


@pytest.mark.parametrize("case", [TO_BFLOAT16, FROM_BFLOAT16], ids=["outputs", "inputs"])
@pytest.mark.parametrize("lane", [LLVM, ONNX, C, OTHER], ids=str)
def test_bfloat16_passes_between_torch_numpy_and_tvm(case: Case, lane: LaneSpec) -> None:
    """Neither numpy nor torch's `numpy()` knows it."""
    script = wrong_value(case, lane)
    assert lines(script, "def as_numpy(tensor):", "torch.set_grad_enabled(False)") == AS_NUMPY
    assert "\nexpected = [as_numpy(output) for output in model(*inputs)]\n" in script
    assert "tvm.runtime.tensor(as_numpy(" in script
    assert script.count("\nimport ml_dtypes\n") == 1
    assert_the_same_inputs_and_results(case, script)


def test_other_scripts_do_without_ml_dtypes() -> None:
    there, back = ("v0", "to", "x0", {"dtype": "bfloat16"}), ("v1", "to", "v0", {"dtype": "float32"})
    inside = case_of({"x0": "float32[3]"}, [there, back], "v1")
    for case in (inside, LAYERS):
        assert "ml_dtypes" not in wrong_value(case)


def test_of_a_symbolic_case_the_largest_sizes_are_shown() -> None:
    x, v = (Value(name, TensorType.parse("float32[n,2]")) for name in ("x0", "v0"))
    graph = Graph((Input(x),), (Node("sin", ("x0",), {}, (v,)),), ("v0",), symbols=(Symbol("n", 1, 7),))
    case = Case(graph, {"x0": np.arange(6, dtype=np.float32).reshape(3, 2)}, {"n": 3}, ({"n": 1},))
    check(case)
    script = wrong_value(case)
    assert "        v0 = torch.sin(x0)  # float32[3,2]\n" in script
    assert "\ninputs = (torch.tensor([[0.0, 1.0], [2.0, 3.0], [4.0, 5.0]]),)\n" in script


@pytest.mark.parametrize("dtype", DType)
def test_nan_where_nan_belongs_is_no_bug(dtype: DType) -> None:
    case = case_of({"x0": f"{dtype}[2]"}, [("v0", "flip", "x0", {"dims": (0,)})], "v0")
    script = repro.script(record(case, Kind.WRONG_VALUE, LLVM, Mismatch(0, "1", "2")))
    scope: dict[str, Any] = {"np": np}
    exec(script[script.index("def wrong_in") : script.index("\n\n\ngot = run_tvm()")], scope)
    for number, wrong in ((1, []), (0, ["result 0 has wrong values"])):
        want, got = np.array([1, 1], dtype.numpy), np.array([1, number], dtype.numpy)
        if dtype.is_float:
            want[0] = got[0] = np.nan
        assert scope["wrong_in"]([got], [want]) == wrong


ZEROS = case_of({"x0": "float32[4,3]", "x1": "int64[2]"}, [("v0", "neg", "x0"), ("v1", "neg", "x1")], "v0 v1")
ZEROS = replace(ZEROS, tensors={name: np.zeros_like(array) for name, array in ZEROS.tensors.items()})


@pytest.mark.parametrize("kind", [Kind.SECOND_RUN_DIFFERS, Kind.NONDETERMINISTIC])
def test_results_that_change_between_runs_are_never_looked_for_in_zeros(kind: Kind) -> None:
    """Unwritten memory holds zeros often. Integers stay: they may be indices."""
    script = repro.script(record(ZEROS, kind, LLVM, Mismatch(0, "the first", "others")))
    assert "torch.tensor(range(1, 13), dtype=torch.float32).reshape(4, 3)" in script
    assert "torch.zeros(2, dtype=torch.int64)" in script
    assert "torch.zeros(4, 3)" in wrong_value(ZEROS)


@pytest.mark.parametrize(
    ("results", "code"),
    [
        ([[0.0, 1.0]] * 3, 0),
        ([[0.0, 1.0], [4.6e-44, 1.0], [0.0, 1.0]], 1),
        ([[0.0, 1.0], [-0.0, 1.0], [0.0, 1.0]], 1),
        ([[float("nan"), 1.0]] * 3, 1),
        ([[0.0, 1.000001]] * 3, 0),
        ([[0.0, 1.1]] * 3, 1),
    ],
)
def test_runs_are_compared_bit_by_bit(results: list[list[float]], code: int) -> None:
    """4.6e-44 is what memory of somebody else held; a result that is the same each time may be rounded."""
    script = repro.script(record(ZEROS, Kind.SECOND_RUN_DIFFERS, LLVM, Mismatch(0, "the first", "others")))
    verdict = script[script.index("def wrong_in") :]
    runs = [[np.array(numbers, np.float32)] for numbers in results]
    scope = {"np": np, "sys": sys, "expected": [np.array([0.0, 1.0], np.float32)], "run_tvm": lambda: runs}
    with pytest.raises(SystemExit) as end:
        exec(verdict, scope)
    assert end.value.code == code


# --- literals


@pytest.mark.parametrize(
    "array",
    [
        np.array([1, -2, 3, -4, 5, -6, 7, -8, 9, -10, 11, -12], np.float32).reshape(3, 4),
        np.arange(1, 301).astype(np.int16),
        seeded((50, 60), DType.FLOAT32),
        seeded((50, 60), DType.FLOAT64),
        np.arange(1, 201).astype(np.int8),
        (np.arange(1, 13) % 2).astype(bool).reshape(2, 6),
        np.zeros((2, 3), np.float32),
        np.ones((), np.float64),
        np.array([[True, False]]),
        np.array([1.5, -0.0, np.inf, -np.inf, np.nan], np.float32),
        np.array([2**63 - 1, -(2**63)], np.int64),
        np.float32(0.1) * np.arange(24, dtype=np.float32).reshape(2, 3, 4),
        np.random.default_rng(0).normal(size=(40, 50)),
        np.zeros((0, 3), np.float32),
        np.array([[1.5, -0.0], [np.nan, np.inf]], BFLOAT16),
        np.array(3e-39, BFLOAT16),
        np.random.default_rng(0).normal(size=(40, 50)).astype(BFLOAT16),
        np.array([65504, 6e-8, -0.1], np.float16),
        np.array([-128, 127], np.int8),
        np.array([0, 255], np.uint8),
        np.array([-(2**15), 2**15 - 1], np.int16),
        np.arange(6, dtype=np.float32).reshape(2, 3).T,
        np.broadcast_to(np.arange(700.0), (2, 700)),
    ],
    ids=lambda array: f"{array.dtype}{list(array.shape)}",
)
def test_literal_makes_exactly_this_array(array: Array) -> None:
    scope = {"torch": torch, "np": np, "ml_dtypes": ml_dtypes, "base64": base64, "zlib": zlib}
    for library, to_numpy in ((repro_values.TORCH, from_torch), (repro_values.NUMPY, np.asarray)):
        text = repro_values.literal(array, library)
        source = python_source.formatted(f"made = {text}\n")
        assert max(map(len, source.splitlines())) <= 120
        exec(source, scope)
        made = to_numpy(scope["made"])
        assert (made.dtype, made.shape) == (array.dtype, array.shape)
        assert np.array_equal(made, array, equal_nan=True)
        if holds_floats(array):
            assert np.array_equal(np.signbit(made), np.signbit(array))


@pytest.mark.parametrize(
    ("array", "text"),
    [
        (np.zeros((2, 3), np.float32), "torch.zeros(2, 3)"),
        (np.ones((), np.int64), "torch.ones((), dtype=torch.int64)"),
        (np.array([1, 2]), "torch.tensor([1, 2])"),
        (np.array([True]), "torch.ones(1, dtype=torch.bool)"),
        (np.array([0.1], np.float32), "torch.tensor([0.1])"),
        (np.array([0.1], np.float64), "torch.tensor([0.1], dtype=torch.float64)"),
        (np.arange(1, 10.0, dtype=np.float32), "torch.tensor(range(1, 10), dtype=torch.float32)"),
        (
            seeded((5, 6), DType.FLOAT32),
            "torch.tensor(np.random.RandomState(0).standard_normal((5, 6)), dtype=torch.float32)",
        ),
    ],
)
def test_what_follows_a_rule_is_written_as_the_rule(array: Array, text: str) -> None:
    assert repro_values.literal(array) == text


def test_packed_bfloat16_numbers_are_aligned_for_dlpack() -> None:
    """TVM takes a bfloat16 parameter by DLPack alone, which refuses memory that is not aligned."""
    array = np.arange(300, dtype=np.int16).view(ml_dtypes.bfloat16)
    assert str(repro_values.literal(array)).endswith(".reshape(300).clone()")
    assert str(repro_values.literal(array, repro_values.NUMPY)).endswith(".reshape(300)")


@pytest.mark.tvm
def test_script_of_a_real_bug_exits_1(warm: WarmPython, tmp_path: Path) -> None:
    """TVM 0.27: select with a negative index reads out of bounds."""
    case = one_op("select", {"dim": 0, "index": -1}, 4, 3)
    found = record(case, Kind.SECOND_RUN_DIFFERS, LLVM, Mismatch(0, "the first run's result", "3 of 3 elements differ"))
    done = warm.run(repro.script(found), tmp_path)
    assert done.returncode == 1, done.output
    assert "expected, in each run:" in done.output
    assert "the bug is there" in done.output


@pytest.mark.tvm
def test_script_of_no_bug_exits_0(warm: WarmPython, tmp_path: Path) -> None:
    raised = Raised(Stage.COMPILE, "tvm.error.InternalError", "Unresolved call")
    done = warm.run(repro.script(record(one_op("neg", {}, 4, 3), Kind.INTERNAL_ERROR, C, raised)), tmp_path)
    assert done.returncode == 0, done.output
    assert "gone" in done.output


@pytest.mark.tvm
def test_script_of_a_lane_with_passes_and_a_pipeline_of_its_own_runs(warm: WarmPython, tmp_path: Path) -> None:
    raised = Raised(Stage.COMPILE, "tvm.error.InternalError", "x")
    found = record(one_op("neg", {}, 4, 3), Kind.INTERNAL_ERROR, OTHER, raised)
    done = warm.run(repro.script(found), tmp_path)
    assert done.returncode == 0, done.output


@pytest.mark.tvm
@pytest.mark.parametrize("lane", [LLVM, ONNX, C], ids=str)
@pytest.mark.parametrize("case", [TO_BFLOAT16, FROM_BFLOAT16], ids=["to", "from"])
def test_scripts_with_bfloat16_run(warm: WarmPython, tmp_path: Path, case: Case, lane: LaneSpec) -> None:
    """The casts are exact there: equal, or a bug."""
    found = record(case, Kind.WRONG_VALUE, lane, Mismatch(0, "1", "2"))
    done = warm.run(repro.script(found), tmp_path)
    assert done.returncode == 0, done.output
    assert "the bug is gone" in done.output


@pytest.mark.tvm
@pytest.mark.parametrize("lane", [LLVM, ONNX], ids=str)
def test_scripts_with_layers_buffers_and_layouts_run(warm: WarmPython, tmp_path: Path, lane: LaneSpec) -> None:
    worst = WorstElement((0, 1), 1.0, 2.0, 1e-4, 1e-5)
    found = record(LAYERS, Kind.WRONG_VALUE, lane, Mismatch(0, "1", "2", worst))
    done = warm.run(repro.script(found), tmp_path)
    assert done.returncode == 0, done.output


@pytest.mark.tvm
def test_script_of_another_error_exits_125(warm: WarmPython, tmp_path: Path) -> None:
    """TVM 0.27: the C code generator has no fabs, which is an InternalError, not the KeyError that we ask about."""
    raised = Raised(Stage.COMPILE, "KeyError", "x")
    done = warm.run(repro.script(record(one_op("abs", {}, 4), Kind.REJECTED, C, raised)), tmp_path)
    assert done.returncode == 125, done.output
