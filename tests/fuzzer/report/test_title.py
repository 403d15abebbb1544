"""Titles: what is wrong, in words that people who work on TVM use."""

from __future__ import annotations

import math
import re
from dataclasses import replace
from pathlib import Path

import pytest
from fakes import ONNXRUNTIME, TVM, TVM_C, TVM_ONNX
from graphs_by_hand import Call, case_of
from records import record

from fuzzer.findings.record import read
from fuzzer.report import circumstances, issue
from fuzzer.report import title as titles
from fuzzer.signature.blame import FOLLOWS_FROM_TYPE, NO_BLAME, Blame, Origin, Place
from oracles.finding import Component, Evidence, Excess, Kind, Mismatch, Quantity, SideEffect, WorstElement
from oracles.lane import Importer, LaneSpec, Pipeline
from oracles.memory_access import Access, MemoryAccess, Side
from oracles.outcome import Cause, Died, Frame, IllFormed, Mutant, MutantFate, Raised, Stage, TimedOut

CRASHES = Path(__file__).parents[3] / "crashes"
SHIPPED = sorted((CRASHES / "SHIPPED").read_text().split())
CONV = case_of(
    {"x0": "float32[1,1,4,4]", "w0": "float32[1,1,1,1]"}, [("v0", "conv2d", "x0 w0"), ("v1", "relu", "v0")], "v1"
)
FAILED = Raised(Stage.COMPILE, "tvm.error.InternalError", "Check failed: a == b (1 vs. 2) : they differ")
REFUSED = Raised(Stage.LOAD, "RuntimeError", "Compilation error:\na.c:1:2: error: ‘half’ undeclared")
NVCC = "Compilation error, nvcc on .cu:\na.cu(1): warning #177-D: unused"
IN_PASS = Blame(Place.PASS, "relu", "FuseOps")
MADE = Origin((), (), "_conv2d", "conv2d.default", "float32[1, 2]", "bfloat16[1, 2]")
MISTYPED = Blame(Place.FRONTEND, "conv2d", "_conv2d", f"`conv2d.default` becomes: {FOLLOWS_FROM_TYPE}", origin=MADE)
IN_A_CALL_AFTER = Raised(Stage.IMPORT, "TypeError", "they differ")
FX = replace(TVM, importer=Importer.FX)
CUDA = replace(TVM, target="cuda")


def title_of(
    kind: Kind, evidence: Evidence, lane: LaneSpec = TVM, blame: Blame = NO_BLAME, stage: Stage | None = None
) -> str:
    return titles.title(record(CONV, kind, lane, evidence, blame=blame))


def made(blame: Blame, type: str, right: str) -> Blame:
    return replace(blame, origin=replace(blame.origin, made=type, right=right))


OPS = "`F.conv2d` + `torch.relu`"
BUG = "[Bug][Relax]"


@pytest.mark.parametrize(
    ("title", "expected"),
    [
        (title_of(Kind.WRONG_VALUE, Mismatch(0, "1", "2")), f"{BUG} {OPS} gives wrong values"),
        (
            title_of(Kind.WRONG_VALUE, Mismatch(0, "1", "2"), blame=IN_PASS),
            f"{BUG} {OPS} after `FuseOps` gives wrong values",
        ),
        (
            title_of(Kind.WRONG_VALUE, Mismatch(0, "1", "2"), TVM_C, Blame(Place.CODEGEN)),
            f"[Bug][Codegen][C] {OPS} gives wrong values (target c)",
        ),
        (
            title_of(Kind.WRONG_VALUE, Mismatch(0, "1", "2"), CUDA, Blame(Place.CODEGEN)),
            f"[Bug][Codegen][CUDA] {OPS} gives wrong values (target cuda)",
        ),
        (
            title_of(Kind.WRONG_VALUE, Mismatch(0, "1", "2"), TVM_ONNX, Blame(Place.FRONTEND, "", "Conv")),
            f"[Bug][Relax][Frontend][ONNX] {OPS} gives wrong values",
        ),
        (
            title_of(Kind.WRONG_VALUE, Mismatch(0, "1", "2"), blame=Blame(Place.RUNTIME)),
            f"[Bug][Relax][VM] {OPS} gives wrong values",
        ),
        (
            title_of(Kind.WRONG_VALUE, Mismatch(0, "1", "2"), blame=Blame(Place.PASS, "", "tirx.Simplify")),
            f"[Bug][TIR] {OPS} after `tirx.Simplify` gives wrong values",
        ),
        (
            title_of(Kind.WRONG_DTYPE, Mismatch(0, "float32", "int64"), replace(TVM, pipeline=Pipeline.ZERO)),
            f"{BUG} {OPS} gives int64 instead of float32 (pipeline zero)",
        ),
        (
            title_of(Kind.WRONG_VALUE, Mismatch(0, "1", "2", WorstElement((0,), math.nan, 0.5, 0.0, 0.0))),
            f"{BUG} {OPS} gives 0.5 instead of NaN",
        ),
        (
            title_of(Kind.WRONG_VALUE, Mismatch(0, "1", "2", WorstElement((0,), 1.0, -math.inf, 0.0, 0.0))),
            f"{BUG} {OPS} gives -inf instead of 1",
        ),
        (title_of(Kind.WRONG_SHAPE, Mismatch(0, "[]", "[1]")), f"{BUG} {OPS} gives shape [1] instead of []"),
        (
            title_of(Kind.SECOND_RUN_DIFFERS, Mismatch(0, "1", "2"), replace(TVM, passes=("ConvertLayout-packed",))),
            f"{BUG} {OPS} gives different results each time (ConvertLayout)",
        ),
        (
            title_of(Kind.INTERNAL_ERROR, IN_A_CALL_AFTER, blame=MISTYPED),
            "[Bug][Relax][Frontend][Torch] `F.conv2d` is imported as float32 instead of bfloat16",
        ),
        (
            title_of(Kind.REJECTED, IN_A_CALL_AFTER, blame=made(MISTYPED, "float32[2]", "float32[1, 2]")),
            "[Bug][Relax][Frontend][Torch] `F.conv2d` is imported as shape [2] instead of [1, 2]",
        ),
        (
            title_of(Kind.REJECTED, IN_A_CALL_AFTER, blame=made(MISTYPED, "a tuple of 5", "float32[1, 2]")),
            "[Bug][Relax][Frontend][Torch] `F.conv2d` is imported as a tuple of 5 instead of a tensor",
        ),
        (
            title_of(Kind.REJECTED, FAILED, blame=MISTYPED, stage=Stage.COMPILE),
            "[Bug][Relax][Frontend][Torch] `F.conv2d` is imported as float32 instead of bfloat16",
        ),
        (title_of(Kind.INTERNAL_ERROR, FAILED), f"{BUG} Compiling {OPS} fails: they differ"),
        (
            title_of(Kind.INTERNAL_ERROR, REFUSED, TVM_C, Blame(Place.CODEGEN)),
            f"[Bug][Codegen][C] The C compiler refuses the code of {OPS}",
        ),
        (
            title_of(Kind.INTERNAL_ERROR, replace(REFUSED, message=NVCC), CUDA, Blame(Place.CODEGEN)),
            f"[Bug][Codegen][CUDA] `nvcc` refuses the code of {OPS}",
        ),
        (title_of(Kind.INTERNAL_ERROR, FAILED, blame=IN_PASS), f"{BUG} `FuseOps` on {OPS} fails: they differ"),
        (
            title_of(Kind.REJECTED, Raised(Stage.IMPORT, "KeyError", "'main'"), FX),
            f"[Bug][Relax][Frontend][Torch] `from_fx` on {OPS}: KeyError: 'main'",
        ),
        (
            title_of(Kind.REJECTED, Raised(Stage.TRANSFORM, "E", ""), replace(TVM, passes=("ConvertLayout-packed",))),
            f"{BUG} `ConvertLayout` on {OPS} fails with `E`",
        ),
        (
            title_of(Kind.DIED, Died(Stage.RUN, Cause.SIGNAL, 11)),
            f"{BUG} Running compiled {OPS} ends the process (SIGSEGV)",
        ),
        (title_of(Kind.OUT_OF_MEMORY, Died(Stage.COMPILE, Cause.MEMORY, 9)), f"{BUG} Compiling {OPS} takes all memory"),
        (title_of(Kind.TIMED_OUT, TimedOut(Stage.COMPILE, 60.0)), f"{BUG} Compiling {OPS} does not come to an end"),
        (
            title_of(Kind.ILL_FORMED, IllFormed("import", "E", "no")),
            f"[Bug][Relax][Frontend][Torch] Importing {OPS}: no",
        ),
        (
            title_of(Kind.ILL_FORMED, IllFormed("FuseOps", "E", "no")),
            f"{BUG} `FuseOps` on {OPS} gives an ill-formed module: no",
        ),
        (
            title_of(Kind.ILL_FORMED, IllFormed("FuseOps", "E", "no", Kind.REJECTED)),
            f"{BUG} `FuseOps` on {OPS} gives an ill-formed module: no",
        ),
        (
            title_of(Kind.ILL_FORMED, IllFormed("FuseOps", "E", "no", Kind.WRONG_SHAPE)),
            f"{BUG} `FuseOps` on {OPS}: the module gives wrong results",
        ),
        (
            title_of(Kind.CHECKER_GAP, Mutant("an argument less", MutantFate.DIED)),
            f"{BUG} `relax.analysis.well_formed` accepts an ill-formed module (an argument less)",
        ),
        (
            title_of(Kind.ALIASED_OUTPUT, SideEffect((), ((0, "x0"),))),
            f"{BUG} A compiled model returns a tensor that shares memory with its input",
        ),
        (title_of(Kind.MODIFIED_INPUT, SideEffect(("x0",))), f"{BUG} Compiled {OPS} overwrites its input"),
        (
            title_of(Kind.BLOAT, Excess(Quantity.LIBRARY, 14_700_000, 1_470_000.0, "the parameters")),
            f"{BUG} Compiling {OPS} gives 14.7 MB of library",
        ),
        (title_of(Kind.SLOW, Excess(Quantity.TIME, 20.0, 1.0, "x")), f"{BUG} Compiling {OPS} takes too long"),
    ],
)
def test_titles(title: str, expected: str) -> None:
    assert title == expected


def test_a_long_message_is_left_out_and_not_cut() -> None:
    title = title_of(Kind.REJECTED, Raised(Stage.COMPILE, "E", "word " * 100))
    assert title == f"{BUG} Compiling {OPS} fails with `E`"


OF_THE_HOUSE = (
    "lane",
    "envelope",
    "oracle",
    "sibling",
    "witness",
    "verdict",
    "sighting",
    "toolchain",
    "-NHWC",
    "form of",
)
"""Words that only difftvm uses. A maintainer of TVM reads a title alone."""


@pytest.mark.parametrize("slug", SHIPPED)
def test_the_title_of_a_shipped_finding_is_a_whole_sentence_for_a_maintainer(slug: str) -> None:
    title = issue.title(read(CRASHES / slug))
    assert len(title) <= 90
    assert not title.endswith(("...", "\u2026"))
    assert "..." not in title
    assert not [word for word in OF_THE_HOUSE if word in title]
    assert not re.search(r"fails( (with|in) .*)?$|a model", title), "it says what has failed, and of which operator"


def test_shipped_findings_of_different_causes_have_different_titles() -> None:
    assert len({issue.title(read(CRASHES / slug)) for slug in SHIPPED}) == len(SHIPPED)


DTYPES = Raised(
    Stage.IMPORT,
    "TypeError",
    "Binary operators must have the same datatype for both operands.  However, R.maximum(x1, lv) uses datatype "
    'T.float32 on the LHS (Type of R.Tensor((), dtype="float32")), and datatype T.int64 on the RHS (Type of '
    'R.Tensor((), dtype="int64")).',
)
SIX = case_of({"x0": "float32[2]"}, [(f"v{n}", "relu", f"v{n - 1}" if n else "x0") for n in range(6)], "v5")


def of_six(kind: Kind, evidence: Evidence, lane: LaneSpec = TVM) -> str:
    return titles.title(record(SIX, kind, lane, evidence))


def wrong(actual: float) -> Mismatch:
    return Mismatch(0, "2", str(actual), WorstElement((0,), 2.0, actual, 0.0, 0.0))


TORCH = "[Bug][Relax][Frontend][Torch]"
IMPURE = "Function 0x562c is annotated as pure but contains an impure call: R.call_packed(x)."


@pytest.mark.parametrize(
    ("title", "expected"),
    [
        (of_six(Kind.REJECTED, DTYPES), f"{TORCH} Importing `torch.relu` fails: operands are float32 and int64"),
        (of_six(Kind.REJECTED, DTYPES, FX), f"{TORCH} `from_fx` on `torch.relu`: operands are float32 and int64"),
        (
            of_six(Kind.ILL_FORMED, IllFormed("FuseOps", "ValueError", "Var gv is not defined.")),
            f"{BUG} `FuseOps` on `torch.relu`: a variable is not defined",
        ),
        (
            title_of(Kind.ILL_FORMED, IllFormed("import", "ValueError", IMPURE, Kind.REJECTED)),
            f"{TORCH} Importing a model: a pure function makes an impure call",
        ),
        (
            of_six(Kind.INTERNAL_ERROR, REFUSED, TVM_C),
            f"{BUG} The C compiler refuses the code of `torch.relu`: ‘half’ undeclared",
        ),
        (of_six(Kind.WRONG_VALUE, wrong(1.5)), f"{BUG} `torch.relu` gives wrong values: 1.5 instead of 2"),
        (
            of_six(Kind.WRONG_VALUE, wrong(2.00001)),
            f"{BUG} `torch.relu` gives wrong values: 2.00001 instead of 2.00000",
        ),
        (of_six(Kind.WRONG_VALUE, wrong(2.0000000001)), f"{BUG} `torch.relu` gives wrong values"),
        (
            of_six(Kind.WRONG_SHAPE, Mismatch(0, "[1, 2, 3, 4, 5, 6, 7, 8]", "[1, 2, 3, 4, 5, 6]")),
            f"{BUG} `torch.relu` gives shape [1,2,3,4,5,6] instead of [1,2,3,4,5,6,7,8]",
        ),
    ],
)
def test_a_title_says_what_the_message_says(title: str, expected: str) -> None:
    assert title == expected


CONVERTED = Blame(Place.FRONTEND, "relu", "_relu")
LEGALIZED = Blame(Place.LEGALIZATION, "relu", "relax.nn.relu")


@pytest.mark.parametrize(
    ("title", "expected"),
    [
        (
            title_of(Kind.WRONG_VALUE, Mismatch(0, "1", "2"), blame=CONVERTED),
            f"[Bug][Relax][Frontend][Torch] {OPS} gives wrong values",
        ),
        (
            title_of(Kind.WRONG_VALUE, Mismatch(0, "1", "2"), TVM_C, LEGALIZED),
            f"{BUG} {OPS} gives wrong values (target c)",
        ),
        (
            title_of(Kind.WRONG_VALUE, Mismatch(0, "1", "2", also="float32 instead of float64"), blame=CONVERTED),
            f"{TORCH} {OPS} gives wrong values, in float32",
        ),
        (
            title_of(
                Kind.OUT_OF_BOUNDS_READ, MemoryAccess(Access.READ, "input x0", Side.BEFORE, 2, "int64"), blame=CONVERTED
            ),
            f"{TORCH} Compiled {OPS} reads outside a tensor",
        ),
    ],
)
def test_a_title_without_room_leaves_out_what_the_body_says(title: str, expected: str) -> None:
    assert title == expected


def test_a_title_without_room_names_the_operator_rather_than_the_tensor() -> None:
    boxes = {"x0": "float32[1,1,4]", "x1": "float32[1,1,1]"}
    case = case_of(boxes, [("v0", "NonMaxSuppression-11", "x0 x1", {"then": "ReduceSum"})], "v0", opset=17)
    access = MemoryAccess(Access.READ, "output 0", Side.INSIDE, 0, "int64")
    title = titles.title(record(case, Kind.UNINITIALISED_READ, TVM, access))
    assert title == "[Bug][Relax] Compiled `NonMaxSuppression` uses memory that nothing has written"


DROPOUT = case_of({"x0": "float32[1]"}, [("v0 v1", "Dropout-13", "x0", {"outputs": (True, True)})], "v0 v1", opset=17)


@pytest.mark.parametrize(
    ("kind", "wrong", "title"),
    [
        (Kind.WRONG_DTYPE, Mismatch(1, "bool", "float32"), "`Dropout` gives float32 instead of bool (output `mask`)"),
        (Kind.WRONG_DTYPE, Mismatch(0, "bool", "float32"), "`Dropout` gives float32 instead of bool"),
        (
            Kind.WRONG_SHAPE,
            Mismatch(1, "[1, 2, 3, 4, 5, 6, 7]", "[1, 2, 3, 4, 5, 6]"),
            "`Dropout` gives a wrong shape (output `mask`)",
        ),
    ],
)
def test_a_title_names_the_result_that_is_wrong_rather_than_numbers(kind: Kind, wrong: Mismatch, title: str) -> None:
    found = record(DROPOUT, kind, TVM_ONNX, wrong, blame=Blame(Place.FRONTEND, "Dropout", "Dropout._impl_v12"))
    assert titles.title(found) == f"[Bug][Relax][Frontend][ONNX] {title}"
    assert ("in its output `mask`" in issue.body(found)) == (wrong.output == 1)


def test_a_wrong_type_is_named_by_the_importer_where_the_call_is_too_long() -> None:
    calls: list[Call] = [("v0", "over_root_size", "x0", {"dim": 0}), ("v1", "isfinite", "v0")]
    case = case_of({"x0": "int64[1]"}, calls, "v1")
    origin = Origin((), (), "_binary_op", "div.Tensor", "int64[1]", "float32[1]")
    evidence = f"`div.Tensor` becomes int64: {FOLLOWS_FROM_TYPE}"
    blame = Blame(Place.FRONTEND, "over_root_size", "_binary_op of div", evidence, origin=origin)
    found = record(case, Kind.INTERNAL_ERROR, TVM, IN_A_CALL_AFTER, blame=blame)
    assert titles.title(found) == f"{TORCH} `div.Tensor` is imported as int64 instead of float32"


def test_a_title_is_printable() -> None:
    """It is sent to a tracker as it is."""
    evidence = Raised(Stage.COMPILE, "E", "\u202eevil \x00 \u200b")
    shown = title_of(Kind.INTERNAL_ERROR, evidence)
    assert shown.isprintable()
    assert "\\u202eevil" in shown


def test_an_operator_stands_in_the_title_rather_than_a_long_function() -> None:
    frame = Frame("/project/src/relax/op/op.cc", 621, "tvm::relax::Expr tvm::relax::NormalizeCallTIRInPlace(int)")
    raised = Raised(Stage.COMPILE, "ValueError", "word " * 100, (frame,))
    case = case_of({"x0": "float32[2]"}, [("v0", "relu", "x0")], "v0")
    blame = Blame(Place.PASS, "relu", "DataflowInsertInPlaceCallsOfAModel")
    title = titles.title(record(case, Kind.INTERNAL_ERROR, TVM, raised, blame=blame))
    assert title == f"{BUG} `DataflowInsertInPlaceCallsOfAModel` on `torch.relu` fails with `ValueError`"


def test_a_long_message_does_not_take_the_cause_from_the_title() -> None:
    title = title_of(Kind.REJECTED, Raised(Stage.IMPORT, "E", "word " * 100), blame=CONVERTED)
    assert title == f"[Bug][Relax][Frontend][Torch] Importing {OPS} fails in `_relu`"


@pytest.mark.parametrize(
    ("culprit", "words"), [("create_input_vars", "function `create_input_vars`"), ("_relu", "converter `_relu`")]
)
def test_what_declares_the_inputs_is_a_function_and_no_converter(culprit: str, words: str) -> None:
    blame = Blame(Place.FRONTEND, "relu", culprit)
    case = case_of({"x0": "float32[2]"}, [("v0", "relu", "x0")], "v0")
    assert circumstances.cause(record(case, Kind.REJECTED, TVM, FAILED, blame=blame)) == words


@pytest.mark.parametrize("kind", list(Kind))
def test_every_kind_has_a_title_that_has_room(kind: Kind) -> None:
    calls = [(f"v{at}", "conv2d", f"v{at - 1} w0" if at else "x0 w0") for at in range(5)]
    types = {"x0": "float32[1,1,4,4]", "w0": "float32[1,1,1,1]"}
    blame = Blame(Place.FRONTEND, "conv2d", "a_converter_with_a_name_that_is_longer_than_any_title_may_be_" * 2)
    for evidence in (
        Raised(Stage.IMPORT, "a.VeryLongNameOfAnException" * 4, "word " * 100),
        Mismatch(0, "1" * 99, "2"),
    ):
        finding = record(case_of(types, calls, "v4"), kind, TVM, evidence, blame=blame)
        assert 20 < len(titles.title(finding)) <= titles.TITLE


def test_what_others_get_wrong_is_not_tagged_relax() -> None:
    wrong = Mismatch(0, "1", "2", worst=WorstElement((0,), 1.0, 2.0, 1.0, 0.1))
    exported = record(CONV, Kind.WRONG_VALUE, TVM_ONNX, wrong, component=Component.EXPORTER)
    assert titles.title(exported).endswith("`F.conv2d` + `torch.relu` exported to ONNX gives wrong values")
    finding = record(CONV, Kind.REJECTED, TVM, Raised(Stage.EXPORT, "E", "no way"), component=Component.EXPORTER)
    assert titles.title(finding) == f"[Bug][torch export] Exporting {OPS} fails: no way"
    refused = Raised(Stage.LOAD, "a.Fail", "two inputs of a node have other types")
    finding = record(CONV, Kind.REJECTED, ONNXRUNTIME, refused, component=Component.EXPORTER)
    assert titles.title(finding) == "[Bug][torch export] Loading a model fails: two inputs of a node have other types"
