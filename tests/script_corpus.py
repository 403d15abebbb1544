"""Scripts of every kind of evidence on every lane, of cases that differ in what a script needs. `make docs` writes
their digests, so that their text changes only on purpose.

    PYTHONPATH=.:tests:tests/generators python tests/script_corpus.py FOLDER

writes all scripts, which `diff -r` compares with those of another version.
"""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from unittest.mock import patch

import numpy as np
from graphs_by_hand import case_of, numbered
from records import record

from fuzzer.findings.record import FindingRecord
from fuzzer.lanes import EVERY_LANE, TVM_LANES, readers_of
from fuzzer.report import repro, repro_target
from generators.graph import Case, DType, Graph, Input, Symbol, TensorType
from generators.graph import Node as Call
from generators.graph import Value as Name
from generators.onnx.model import Attribute, Node, OnnxModel, Tensor, Value
from generators.table import TABLE
from generators.values import seeded
from oracles.finding import Evidence, Excess, Kind, Mismatch, Quantity, SideEffect, WorstElement
from oracles.lane import Engine, Importer, LaneSpec, Params, Pipeline, returns_gradients
from oracles.memory_access import Access, MemoryAccess, Side
from oracles.outcome import FAILURES, Cause, Died, IllFormed, Mutant, MutantFate, Raised, Stage, TimedOut

EVERY = 17
"""The digests take one script of `EVERY`, which shares no factor with the number of cases."""

LLVM = TVM_LANES[0]
MORE = tuple(
    replace(LLVM, name=name, **fields)
    for name, fields in (
        ("more-fold", {"passes": ("FoldConstant",), "target": "llvm-O0", "opt_level": 3, "asserts": False}),
        ("more-disabled", {"disabled": ("FuseOps", "FuseTIR"), "params": Params.REBOUND, "opt_level": 0}),
        ("more-dynamo", {"importer": Importer.ONNX_DYNAMO, "opset": 18, "params": Params.BUNDLED}),
        ("more-fx", {"importer": Importer.FX, "params": Params.LIFTED_SHARED, "pipeline": Pipeline.CPU}),
    )
)
READERS = tuple(
    reader
    for importer in (Importer.EXPORT, Importer.EXPORT_RAW, Importer.ONNX_DYNAMO)
    for reader in readers_of(replace(LLVM, importer=importer))
)
OF_TORCH = [lane for lane in (*EVERY_LANE, *MORE, *READERS) if lane.dialect == "torch"]
LANES = sorted({lane.name: lane for lane in OF_TORCH}.values(), key=lambda lane: lane.name)
WORST = WorstElement((0, 1), 1.0, 2.0, 1e-3, 1e-4)
INFINITE = WorstElement((0, 1), 1.0, 2.0, 0.0, 0.0, truth=float("inf"))
EDITS = '[[1, {"type": "None"}], [2, {"a": true}], [3, {"b": 1, "c": [4]}]]'
LINEAR = case_of(
    {"x0": "float32[2,3]", "w0": "float32[4,3]", "w1": "float32[4]"},
    [("v0", "linear", "x0 w0 w1"), ("v1", "relu", "v0")],
    "v1",
)
BFLOAT16 = case_of(
    {"x0": "float32[3,2] transposed", "x1": "bfloat16[2,2] strided"},
    [("v0", "to", "x0", {"dtype": "bfloat16"}), ("v1", "neg", "x1")],
    "v0 v1",
)
NORM = case_of(
    {
        "x0": "float32[2,3]",
        "b0": "float32[3]",
        "b1": "float32[3]",
        "b2": "int64[2]",
        "w0": "float32[3]",
        "w1": "float32[3]",
    },
    [("v0", "neg:method", "x0"), ("v1", "add:inplace", "v0 w0"), ("v2", "batch_norm:module", "v1 b0 b1 w0 w1")],
    "v2 b2",
)
ARRAY = np.array([[0.5, -1.5]], np.float32)
FILE = OnnxModel(
    9,
    {"": 20, "some.where": 1},
    (Value("x0", "FLOAT", (2, "n")),),
    (Value("y", "FLOAT", (2, 3)),),
    (
        Node("Constant", (), ("c",), (Attribute("value", tensor=Tensor("FLOAT", (1, 2), ARRAY.tobytes())),)),
        Node("Custom", ("x0", "w"), ("d",), (Attribute("s", ("a", "b")), Attribute("f", 0.1)), domain="some.where"),
        Node("Add", ("d", "c"), ("y",)),
    ),
    {"w": Tensor("FLOAT", (1, 2), ARRAY.tobytes())},
)
PLAIN_FILE = OnnxModel(9, {"": 20}, FILE.inputs, FILE.outputs, (Node("Relu", ("x0",), ("y",)),), {})


def open_sizes() -> Case:
    x, y = (Name(name, TensorType.parse("float32[n,2]")) for name in ("x0", "x1"))
    z, v = Name("x2", TensorType.parse("float32[2*n+1,2]")), Name("v0", TensorType.parse("float32[n,2]"))
    node = Call("add", ("x0", "x1"), TABLE["add"].defaults, (v,))
    graph = Graph((Input(x), Input(y), Input(z)), (node,), ("v0", "x2"), symbols=(Symbol("n", 1, 7),))
    bound = graph.bind({"n": 3})
    tensors = {item.value.name: numbered(item.value.type, 1) for item in bound.inputs}
    return Case(graph, tensors, {"n": 3}, ({"n": 2},))


SEEDED = case_of({"x0": "float32[3,4]"}, [("v0", "sin", "x0")], "v0")
SEEDED = replace(SEEDED, tensors={"x0": seeded((3, 4), DType.FLOAT32)})
CASES = {"linear": LINEAR, "seeded": SEEDED, "bfloat16": BFLOAT16, "norm": NORM}
EVIDENCE: list[tuple[Kind, Evidence]] = [
    *((Kind.REJECTED, Raised(stage, "tvm.error.InternalError", "no 'x' is \"y\" of 3")) for stage in Stage),
    (Kind.INTERNAL_ERROR, Raised(Stage.LOAD, "fuzzer.lanes.written.Refused", "Compilation error: no")),
    (Kind.INTERNAL_ERROR, Raised(Stage.RUN, "fuzzer.lanes.sanitized.SanitizerReport", "==1==ERROR: no")),
    *((Kind.DIED, Died(stage, Cause.SIGNAL, 11)) for stage in Stage),
    (Kind.OUT_OF_MEMORY, Died(Stage.RUN, Cause.MEMORY, 9)),
    (Kind.TIMED_OUT, TimedOut(Stage.COMPILE, 60.0)),
    (Kind.WRONG_ARITY, Mismatch(0, "1 outputs", "2 outputs")),
    (Kind.WRONG_SHAPE, Mismatch(0, "[1]", "[2]")),
    (Kind.WRONG_DTYPE, Mismatch(1, "int64", "float32")),
    (Kind.WRONG_VALUE, Mismatch(0, "1.0", "2.0", WORST)),
    (Kind.WRONG_VALUE, Mismatch(0, "1", "2", WorstElement((), 1.0, 2.0, 0.0, 0.0))),
    (Kind.WRONG_VALUE, Mismatch(0, "1", "2", INFINITE)),
    (Kind.WRONG_VALUE, Mismatch(0, "1", "2", against=LLVM.name)),
    (Kind.WRONG_SHAPE, Mismatch(0, "[1]", "[2]", against=LLVM.name)),
    (Kind.WRONG_ARITY, Mismatch(0, "1", "2", against="relay-torch-O2")),
    (Kind.SECOND_RUN_DIFFERS, Mismatch(0, "the first", "1 of 2 elements differ")),
    (Kind.NONDETERMINISTIC, Mismatch(0, "1", "2", against="another process")),
    (Kind.ILL_FORMED, IllFormed("import", "tvm.error.InternalError", "no")),
    (Kind.ILL_FORMED, IllFormed("FuseOps", "tvm.error.InternalError", "no")),
    (Kind.ILL_FORMED, IllFormed("ScriptRoundTrip", "tvm.error.InternalError", "no")),
    (Kind.CHECKER_GAP, Mutant("an argument less", MutantFate.RAISED, "no", True, EDITS)),
    (Kind.CHECKER_GAP, Mutant("an argument less", MutantFate.RAISED, "no", False, EDITS)),
    (Kind.MODIFIED_INPUT, SideEffect(("x0",))),
    (Kind.ALIASED_OUTPUT, SideEffect(("x0",), ((0, "x0"), (1, "x0")))),
    *(
        (Kind.OUT_OF_BOUNDS_READ, MemoryAccess(Access.READ, tensor, Side.BEFORE, 3, "float32"))
        for tensor in ("input x0", "a constant", "output 0")
    ),
    (Kind.OUT_OF_BOUNDS_WRITE, MemoryAccess(Access.WRITE, "output 0", Side.AFTER, 500, "bfloat16")),
    (Kind.UNINITIALISED_READ, MemoryAccess(Access.READ, "an intermediate tensor", Side.INSIDE, 0, "bool")),
    *((Kind.BLOAT, Excess(quantity, 3.0, 2.0, "the parameters")) for quantity in Quantity),
]


def fits(lane: LaneSpec, evidence: Evidence) -> bool:
    """What a lane can note: torch.compile gives outputs and errors alone, and one lane makes mutants."""
    if isinstance(evidence, Mutant):
        return lane.variant == "mutants"
    if lane.engine is not Engine.TVM:
        return isinstance(evidence, (*FAILURES, Mismatch))
    if isinstance(evidence, FAILURES) and evidence.stage is Stage.TRANSFORM and not lane.passes:
        return False
    return lane.importer is not Importer.DYNAMO or isinstance(evidence, (*FAILURES, Mismatch, IllFormed))


def records(lane: LaneSpec) -> Iterator[tuple[str, FindingRecord]]:
    cases = {"open": open_sizes()} if lane.symbolic else CASES
    if returns_gradients(lane):
        cases = {"linear": LINEAR, "norm": NORM}
    for number, (kind, evidence) in enumerate(EVIDENCE):
        if not fits(lane, evidence):
            continue
        for name, case in cases.items():
            stage = evidence.stage if isinstance(evidence, FAILURES) else Stage.RUN
            yield f"{number:02} {kind} {name}", record(case, kind, lane, evidence, stage=stage)
        if lane.importer.row.reads.is_exported_file and lane.engine is Engine.TVM:
            for name, file in (("file", FILE), ("plain-file", PLAIN_FILE)):
                yield f"{number:02} {kind} {name}", record(LINEAR, kind, lane, evidence, onnx=file, stage=Stage.RUN)
    doc = record(LINEAR, Kind.WRONG_VALUE, lane, EVIDENCE[-1][1]).doc if fits(lane, EVIDENCE[-1][1]) else None
    if doc is not None:
        doc.versions = {**doc.versions, "preload": "wrong_relu.py (sha256 1234)"}
        yield "preload", FindingRecord(doc, LINEAR)


def scripts(every: int = 1) -> Iterator[tuple[str, str, str]]:
    """(lane, name, script); of each lane one in `every`, not the same ones for all lanes. A checker is named that
    perhaps is not installed: scripts do not depend on the machine that writes them."""
    with patch.object(repro_target, "checker_of", return_value=None):
        for number, lane in enumerate(LANES):
            for name, made in list(records(lane))[number % every :: every]:
                yield lane.name, name, repro.script(made)


def digests() -> dict[str, str]:
    """One for each lane, over one script in `EVERY`."""
    found: dict[str, hashlib._Hash] = {}
    for lane, name, script in scripts(EVERY):
        code = script.partition('"""\n\n')[2]  # without title and signature, which have tests of their own
        found.setdefault(lane, hashlib.sha256()).update(f"{name}\n{code}".encode())
    return {lane: digest.hexdigest()[:16] for lane, digest in found.items()}


if __name__ == "__main__":
    for lane, name, script in scripts():
        path = Path(sys.argv[1], lane, f"{name}.py")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(script)
