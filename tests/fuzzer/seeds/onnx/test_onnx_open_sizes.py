"""Sizes that an ONNX file leaves open: they stay open in cases, or it is said why not."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from fuzzer.isolate.validity import CaseCheck, CaseVerdict, Validity
from fuzzer.lanes.onnx.proto import to_proto
from fuzzer.seeds.bounded_child import in_this_process
from fuzzer.seeds.case_of_piece import case_with
from fuzzer.seeds.cut import whole
from fuzzer.seeds.extract import Extracted, extract, read
from fuzzer.seeds.onnx import file as onnx_file
from fuzzer.seeds.onnx import graph as onnx_graph
from fuzzer.seeds.onnx import whole_model
from fuzzer.seeds.onnx.calls import in_rows_of_onnx
from fuzzer.seeds.onnx.graph import OnnxGraph, Refusal
from fuzzer.seeds.onnx.reader.reader import answer
from fuzzer.seeds.opened import names_in, opened_as_in_file
from generators.builder import Limits
from generators.check import check
from generators.choice import NumpySource
from generators.graph import Case, Invalid, Role
from generators.onnx.random_graph import generate
from generators.onnx.source import render

pytestmark = pytest.mark.slow

node = helper.make_node
SIZED = [node("Shape", ["x"], ["all"]), node("Gather", ["all", "first"], ["rows"])]
POOL = node("MaxPool", ["x"], ["y"], kernel_shape=[3], strides=[2], auto_pad="SAME_LOWER")


@pytest.fixture(autouse=True)
def without_children() -> Iterator[None]:
    """Files are read in this process."""
    with in_this_process({onnx_file.MODULE: answer, onnx_file.REFUSAL_MODULE: lambda path: Refusal("")}):
        yield


def extracted(path: Path, dialect: str = "onnx", size: int = 20, rows: int = 1) -> Extracted:
    """The pieces of a file as cases, which the references take where x has at least `rows` rows."""
    (resolved,) = read(path, (dialect,))
    return extract(resolved, size, Judge(rows))


def save(path: Path, nodes: Sequence[Any], *sizes: int | str | None, **tensors: Any) -> Path:
    """A file with the input x of these sizes, and the output y."""
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, sizes)
    weights = [numpy_helper.from_array(np.asarray(array), name) for name, array in tensors.items()]
    graph = helper.make_graph(nodes, "g", [x], [helper.make_empty_tensor_value_info("y")], weights)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)
    return path


def test_a_size_of_minus_one_is_open(tmp_path: Path) -> None:
    """As which paddle2onnx writes a size that it does not know. Other negative sizes are refused."""
    relu = node("Relu", ["x"], ["y"])
    assert onnx_file.read(save(tmp_path / "m.onnx", [relu], -1, 3)) == onnx_file.read(
        save(tmp_path / "m.onnx", [relu], None, 3)
    )
    with pytest.raises(Invalid, match=r"m\.onnx: 'x' has the size -2"):
        onnx_file.read(save(tmp_path / "m.onnx", [relu], -2, 3))


def types(case: Case) -> tuple[str, ...]:
    """The types of the inputs that are no parameters, and of the results."""
    inputs = [item.value.type for item in case.graph.inputs if item.role is Role.INPUT]
    return tuple(map(str, (*inputs, *case.graph.output_types)))


def test_a_model_keeps_the_sizes_open_that_its_file_leaves_open(tmp_path: Path) -> None:
    model = whole_model.read(save(tmp_path / "net.onnx", [POOL], "N", 3, "L"))
    assert types(model.case) == ("float32[2,3,2]", "float32[2,3,1]")
    assert model.case.given is not None
    assert model.case.given.open
    assert model.opened is not None
    assert types(model.opened.case) == ("float32[n0,3,n1]", "float32[n0,3,(n1+1)//2]")
    assert model.opened.case.sizes == {"n0": 2, "n1": 2}
    assert model.open_sizes == (
        "net: the file leaves N and L open: each lane runs it with 2 in place of them, and lanes with open sizes "
        "compile it for every N and L"
    )


def test_a_model_without_open_sizes_has_numbers(tmp_path: Path) -> None:
    model = whole_model.read(save(tmp_path / "net.onnx", [POOL], 2, 3, 4))
    assert (model.case.graph.symbols, model.opened, model.open_sizes) == ((), None, "")
    assert model.case.given is not None
    assert not model.case.given.open


def test_open_sizes_are_those_of_the_inputs_that_are_known(tmp_path: Path) -> None:
    path = save(tmp_path / "net.onnx", [POOL], "N", 3, "L")
    model = whole_model.read(path, {"x": np.zeros((5, 3, 8), np.float32)})
    assert types(model.case) == ("float32[5,3,8]", "float32[5,3,4]")


RESHAPED = [*SIZED, node("Concat", ["rows", "rest"], ["to"], axis=0), node("Reshape", ["x", "to"], ["y"])]
ADDED = node("Add", ["x", "row"], ["y"])
UNLISTED = "Reshape has no row, and its types are those of one run"
WHY = "what {} takes is computed from open sizes, and a case has numbers in its place"


@pytest.mark.parametrize(
    ("nodes", "tensors", "shown"),
    [
        (
            RESHAPED,
            {"first": np.array([0]), "rest": np.array([-1])},
            ("float32[2,2]", "float32[2,2]", f", lanes with open sizes too: {UNLISTED}"),
        ),
        (
            [ADDED],
            {"row": np.zeros(2, np.float32)},
            ("float32[n0,2]", "float32[n0,2]", ", and lanes with open sizes compile it for every N, but S cannot be"),
        ),
    ],
    ids=["without a row", "fits one number"],
)
def test_sizes_that_cannot_be_open_are_numbers(
    nodes: Sequence[Any], tensors: dict[str, Any], shown: tuple[str, ...], tmp_path: Path
) -> None:
    model = whole_model.read(save(tmp_path / "net.onnx", nodes, "N", "S", **tensors))
    *wanted, says = shown
    assert model.opened is not None
    assert types(model.opened.case) == tuple(wanted)
    assert f"each lane runs it with 2 in place of them{says}" in model.open_sizes


def test_a_branch_that_is_taken_because_of_a_size_fixes_it(tmp_path: Path) -> None:
    def branch(name: str, op: str) -> Any:
        return helper.make_graph([node(op, ["x"], [name])], name, [], [helper.make_empty_tensor_value_info(name)])

    taken = node("If", ["even"], ["y"], then_branch=branch("then", "Relu"), else_branch=branch("else", "Neg"))
    nodes = [*SIZED, node("Equal", ["rows", "two"], ["even"]), taken]
    found = extracted(save(tmp_path / "net.onnx", nodes, "N", 3, first=np.int64(0), two=np.int64(2)))
    (case,) = found.cases
    assert (case.graph.ops, types(case)) == (("Relu",), ("float32[2,3]", "float32[2,3]"))
    assert WHY.format("Relu") in found.open_sizes


def test_what_is_computed_from_sizes_that_are_numbers_may_stay(tmp_path: Path) -> None:
    nodes = [*SIZED, node("Concat", ["rest", "rows"], ["to"], axis=0), node("Reshape", ["x", "to"], ["y"])]
    path = save(tmp_path / "net.onnx", nodes, "N", 6, first=np.array([1]), rest=np.array([-1]))
    assert types(extracted(path).cases[1]) == ("float32[n0,6]", "float32[n0,6]")


@pytest.mark.parametrize(
    ("sizes", "names"),
    [
        ((None, 3), "x[0]"),
        (("N\n", 3), "x[0]"),
        (("a" * 65, 3), "x[0]"),
        (("N", "N"), "N"),
        ((3, "batch size"), "batch size"),
    ],
)
def test_a_size_without_a_name_for_people_is_called_by_its_place(
    sizes: tuple[int | str | None, ...], names: str, tmp_path: Path
) -> None:
    model = whole_model.read(save(tmp_path / "net.onnx", [node("Relu", ["x"], ["y"])], *sizes))
    assert f"the file leaves {names} open: each lane runs it with 2 in place of it" in model.open_sizes
    assert model.opened is not None
    assert len(model.opened.case.graph.symbols) == 1


def test_a_description_whose_open_sizes_do_not_fit_is_refused() -> None:
    described = OnnxGraph(17, ("x",), (), {"x": ("FLOAT", (2,))}, {}, (), open={"x": ("N", "M")})
    with pytest.raises(Invalid, match="m: its description cannot be read: 'x' has 2 open sizes"):
        onnx_graph.decode(msgspec.json.encode(described), "m")


class Judge(Validity):
    """The references take each case in which x has at least `rows` rows."""

    def __init__(self, rows: int) -> None:
        self.rows = rows

    def __call__(self, case: Case) -> CaseCheck:
        (x, *_) = case.inputs.values()
        return CaseCheck(CaseVerdict.OK if len(x) >= self.rows else CaseVerdict.INVALID, "")


def test_a_piece_gives_a_case_with_numbers_and_one_with_open_sizes(tmp_path: Path) -> None:
    """The second piece begins with a value whose size is computed from an open one."""
    nodes = [node("MaxPool", ["x"], ["p"], kernel_shape=[3], strides=[2], auto_pad="SAME_LOWER")]
    found = extracted(save(tmp_path / "net.onnx", [*nodes, node("Relu", ["p"], ["y"])], "N", 3, "L"), size=1)
    assert [types(case) for case in found.cases] == [
        ("float32[2,3,2]", "float32[2,3,1]"),
        ("float32[n0,3,n1]", "float32[n0,3,(n1+1)//2]"),
        ("float32[2,3,1]", "float32[2,3,1]"),
        ("float32[n0,3,n1]", "float32[n0,3,n1]"),
    ]
    assert (
        found.open_sizes
        == "the file leaves N and L open: 2 cases leave them open too, and the others have 2 in place of them"
    )


@pytest.mark.parametrize(("rows", "also"), [(1, ({"n0": 1},)), (2, ())])
def test_a_case_with_open_sizes_also_runs_at_smaller_ones_if_the_references_do(
    rows: int, also: tuple[dict[str, int], ...], tmp_path: Path
) -> None:
    found = extracted(save(tmp_path / "net.onnx", [node("Relu", ["x"], ["y"])], "N", 3), rows=rows)
    assert found.cases[1].also == also
    check(found.cases[1])


def test_where_no_case_can_be_open_the_reason_is_given(tmp_path: Path) -> None:
    path = save(tmp_path / "net.onnx", RESHAPED, "N", 3, first=np.array([0]), rest=np.array([-1]))
    assert extracted(path).open_sizes == (
        f"the file leaves N open: each case has 2 in place of it: {WHY.format('Reshape')}"
    )
    assert extracted(path, "torch").open_sizes == "the file leaves N open: each case has 2 in place of it"


@pytest.mark.parametrize("seed", range(40))
def test_open_sizes_of_drawn_cases_are_read_back(seed: int, tmp_path: Path) -> None:
    """At 2, so that a node may have no row: a kernel of three elements does not fit."""
    case = generate(NumpySource(5, seed), Limits(max_nodes=3), symbolic=True)
    path = tmp_path / "m.onnx"
    path.write_bytes(to_proto(render(case.graph, case.tensors).model).SerializeToString())
    resolved = in_rows_of_onnx(onnx_file.read(path), path)
    if resolved.lacking or not resolved.nodes:
        return
    piece = whole(resolved.nodes, resolved.types, resolved.roles, resolved.returned, resolved.dialect, resolved.opset)
    read_back = case_with(piece, resolved.constants, "m", "drawn")
    found = opened_as_in_file(read_back, piece, resolved, names_in(resolved))
    open_inputs = [item for item in piece.graph.inputs if any(resolved.open.get(piece.origins[item.value.name], ()))]
    assert (found is None) is not bool(open_inputs)
    if found is not None:
        assert (found.closed, found.why) == ((), "")
        check(found.case)
