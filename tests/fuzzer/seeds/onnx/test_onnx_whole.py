"""Nodes without a row in a case of a whole file: the rendered file has the nodes of the given one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from fuzzer.lanes.onnx.given import given_file
from fuzzer.lanes.onnx.held_ends import with_held_ends
from fuzzer.lanes.onnx.proto import to_proto
from fuzzer.lanes.onnx.witnesses import by_interpreter, by_onnxruntime, file_of
from fuzzer.seeds.onnx import whole_model
from fuzzer.seeds.onnx.whole_graph import NotHeld
from fuzzer.seeds.onnx.whole_model import WholeModel
from generators import case_file
from generators.graph import DRAWN, Array, Case, DType, Invalid, TensorType
from generators.onnx.schema import newest_known_opset
from generators.onnx.small_types import SMALL_TYPES, SmallType
from generators.onnx.source import inputs_of_file

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("readers_here")]

node = helper.make_node
FLOAT, INT64, BOOL = TensorProto.FLOAT, TensorProto.INT64, TensorProto.BOOL
X = np.array([[0.5, -1.0, 0.0, 2.0], [0.0, 3.0, -4.0, 0.0]], np.float32)


def graph_of(
    nodes: Sequence[onnx.NodeProto], inputs: Mapping[str, tuple[int, Sequence[Any]]], outputs: str, **tensors: Any
) -> onnx.GraphProto:
    return helper.make_graph(
        nodes,
        "g",
        [helper.make_tensor_value_info(name, element, sizes) for name, (element, sizes) in inputs.items()],
        [helper.make_empty_tensor_value_info(name) for name in outputs.split()],
        [numpy_helper.from_array(np.asarray(array), name) for name, array in tensors.items()],
    )


def saved(path: Path, graph: onnx.GraphProto, opset: int = 17, **domains: int) -> Path:
    opsets = [helper.make_opsetid("", opset), *(helper.make_opsetid(*each) for each in domains.items())]
    onnx.save(helper.make_model(graph, opset_imports=opsets, ir_version=8), path)
    return path


def nodes_of(case: Case) -> list[tuple[str, int, int, dict[str, Any]]]:
    """The operators of the rendered file with the numbers of their inputs and outputs and their plain attributes."""
    return [shape_of(each) for each in to_proto(file_of(case).model).graph.node if each.op_type != "Constant"]


def shape_of(each: onnx.NodeProto) -> tuple[str, int, int, dict[str, Any]]:
    plain = {a.name: helper.get_attribute_value(a) for a in each.attribute if not a.HasField("g")}
    return each.op_type, len(each.input), len(each.output), plain


def results(case: Case) -> list[Array]:
    file = file_of(case)
    return list(by_onnxruntime(to_proto(file.model), file.inputs))


def read(path: Path, **inputs: Array) -> WholeModel:
    """The case of a file. It has the nodes of the file, can be saved, and gives the results of the file."""
    model = whole_model.read(path, inputs)
    file = onnx.load(path)
    expected = [shape_of(each) for each in file.graph.node if each.op_type != "Constant"]
    assert nodes_of(model.case) == expected
    assert case_file.decode(*case_file.encode(model.case)).graph == model.case.graph
    found = results(model.case)
    assert [f"{each.dtype}{list(each.shape)}" for each in found] == [
        f"{type.dtype}{list(type.sizes)}" for type in model.case.graph.output_types
    ]
    if set(inputs) == {item.name for item in file.graph.input}:
        for mine, right in zip(found, by_onnxruntime(file, inputs), strict=True):
            np.testing.assert_array_equal(mine, right)
    return model


def test_a_view_keeps_the_nodes_that_compute_its_shape(tmp_path: Path) -> None:
    """As exporters write `x.view(b, t, 2, -1).transpose(1, 2)`."""
    nodes = [
        node("Shape", ["x"], ["all"]),
        *(node("Gather", ["all", at], [size]) for at, size in (("zero", "b"), ("one", "t"))),
        *(node("Unsqueeze", [size, "axis"], [f"{size}_1"]) for size in "bt"),
        node("Concat", ["b_1", "t_1", "heads", "rest"], ["to"], axis=0),
        node("Reshape", ["x", "to"], ["y"]),
        node("Transpose", ["y"], ["z"], perm=[0, 2, 1, 3]),
    ]
    tensors = {"zero": np.int64(0), "one": np.int64(1), "axis": np.array([0])}
    graph = graph_of(nodes, {"x": (FLOAT, ["N", "T", 8])}, "z", **tensors, heads=np.array([2]), rest=np.array([-1]))
    model = read(saved(tmp_path / "net.onnx", graph), x=np.arange(32, dtype=np.float32).reshape(2, 2, 8))
    assert model.line == "net: 7 of 8 nodes have a row; as they are in the file: Reshape (1 time)"
    assert [str(type) for type in model.case.graph.output_types] == ["float32[2,2,2,4]"]


@pytest.mark.parametrize(
    ("nodes", "types"),
    [
        ([node("NonZero", ["x"], ["y"])], ["int64[2,5]"]),
        ([node("NonZero", ["x"], ["a"]), node("Cast", ["a"], ["y"], to=FLOAT)], ["float32[2,5]"]),
        ([node("Unique", ["x"], ["y", "", "z"], sorted=1)], ["float32[6]", "int64[8]"]),
        ([node("Compress", ["x", "keep"], ["y"], axis=1)], ["float32[2,2]"]),
    ],
)
def test_sizes_that_depend_on_data_are_those_of_the_run(
    nodes: list[onnx.NodeProto], types: list[str], tmp_path: Path
) -> None:
    graph = graph_of(nodes, {"x": (FLOAT, [2, 4])}, " ".join(sorted({*nodes[-1].output} - {""})), keep=KEPT)
    model = read(saved(tmp_path / "net.onnx", graph), x=X)
    assert [str(type) for type in model.case.graph.output_types] == types


KEPT = np.array([True, False, True])


def test_drawn_inputs_decide_about_sizes_too(tmp_path: Path) -> None:
    """The types are those of a run on the numbers that the case has."""
    graph = graph_of([node("Relu", ["x"], ["r"]), node("NonZero", ["r"], ["y"])], {"x": (FLOAT, [4, 5])}, "y")
    case = read(saved(tmp_path / "net.onnx", graph)).case
    (x,) = case.inputs.values()
    assert [str(type) for type in case.graph.output_types] == [f"int64[2,{np.count_nonzero(x > 0)}]"]


def test_boxes_are_suppressed(tmp_path: Path) -> None:
    boxes = np.array([[[0, 0, 1, 1], [0, 0.1, 1, 1.1], [0, 10, 1, 11]]], np.float32)
    scores = np.array([[[0.9, 0.75, 0.6]]], np.float32)
    nodes = [node("NonMaxSuppression", ["boxes", "scores", "most", "overlap"], ["y"])]
    inputs = {"boxes": (FLOAT, [1, 3, 4]), "scores": (FLOAT, [1, 1, 3]), "most": (INT64, [1]), "overlap": (FLOAT, [1])}
    path = saved(tmp_path / "net.onnx", graph_of(nodes, inputs, "y"))
    model = read(path, boxes=boxes, scores=scores, most=np.array([3]), overlap=np.array([0.5], np.float32))
    assert [str(type) for type in model.case.graph.output_types] == ["int64[2,3]"]


def test_weights_in_bodies_are_drawn_and_read_from_around(tmp_path: Path) -> None:
    """The If stays, also where its condition is known; a number, and what both branches read, stay as they are."""
    weights = np.full((2, 4), 7, np.float32)
    scaled = [node("Add", ["x", "w"], ["t"]), node("Mul", ["t", "two"], ["u"])]
    branches = [
        graph_of(scaled, {}, "u", w=weights, two=np.float32(2)),
        graph_of([node("Neg", ["x"], ["u"])], {}, "u"),
    ]
    taken = node("If", ["yes"], ["y"], then_branch=branches[0], else_branch=branches[1])
    path = saved(tmp_path / "net.onnx", graph_of([taken], {"x": (FLOAT, [2, 4])}, "y", yes=np.array(True)))
    model = whole_model.read(path, {"x": X})
    case = model.case
    assert (case.graph.ops, [str(type) for type in case.graph.output_types]) == (("If",), ["float32[2,4]"])
    drawn = [array for array in case.owned.values() if array.shape == (2, 4)]
    assert len(drawn) == 1
    assert not np.array_equal(drawn[0], weights)
    np.testing.assert_array_equal(results(case)[0], (X + drawn[0]) * 2)


def test_a_loop_runs_as_often_as_its_numbers_say(tmp_path: Path) -> None:
    typed = helper.make_tensor_value_info
    body = helper.make_graph(
        [node("Add", ["last", "step"], ["next"]), node("Identity", ["on"], ["again"])],
        "body",
        [typed("i", INT64, []), typed("on", BOOL, []), typed("last", FLOAT, [4])],
        [typed("again", BOOL, []), typed("next", FLOAT, [4]), typed("next", FLOAT, [4])],
    )
    nodes = [node("Relu", ["x"], ["step"]), node("Loop", ["times", "", "x"], ["end", "all"], body=body)]
    graph = graph_of(nodes, {"x": (FLOAT, [4]), "times": (INT64, [])}, "end all")
    model = read(saved(tmp_path / "net.onnx", graph), x=X[0], times=np.array(3))
    assert [str(type) for type in model.case.graph.output_types] == ["float32[4]", "float32[3,4]"]


def test_a_row_that_draws_smaller_sizes_refuses_no_file(tmp_path: Path) -> None:
    nodes = [node("ConvTranspose", ["x", "w"], ["y"])]
    weights = np.zeros((1, 2, 11, 11), np.float32)
    graph = graph_of(nodes, {"x": (FLOAT, [1, 1, 12, 12])}, "y", w=weights)
    assert [str(t) for t in read(saved(tmp_path / "net.onnx", graph)).case.graph.output_types] == ["float32[1,2,22,22]"]


def test_operators_of_other_domains_stay(tmp_path: Path) -> None:
    nodes = [
        node("Scaler", ["x"], ["a"], domain="ai.onnx.ml", scale=[2.0], offset=[0.5]),
        node("Gelu", ["a"], ["y"], domain="com.microsoft"),
    ]
    domains = {"ai.onnx.ml": 3, "com.microsoft": 1}
    path = saved(tmp_path / "net.onnx", graph_of(nodes, {"x": (FLOAT, [2, 4])}, "y"), **domains)
    model = read(path, x=X)
    assert file_of(model.case).model.opsets == {"": 17, **domains}


def test_a_model_returns_what_its_file_returns(tmp_path: Path) -> None:
    """In its order, also an input, and twice the same; and nothing else, though no node reads a value."""
    nodes = [node("Relu", ["x"], ["a"]), node("Neg", ["x"], ["unread"]), node("Neg", ["a"], ["b"])]
    graph = read_graph = graph_of(nodes, {"x": (FLOAT, [2, 4])}, "b x a")
    case = whole_model.read(saved(tmp_path / "net.onnx", read_graph), {"x": X}).case
    assert case.graph.ops == ("Relu", "Neg", "Neg")
    for mine, right in zip(results(case), (-np.maximum(X, 0), X, np.maximum(X, 0)), strict=True):
        np.testing.assert_array_equal(mine, right)
    assert len(graph.output) == 3


@pytest.mark.parametrize(
    ("nodes", "why"),
    [
        (
            [node("Relu", ["x"], ["a"]), node("Unheard", ["a"], ["y"], domain="own")],
            "own.Unheard: the domain 'own' has no documented operators",
        ),
        (
            [node("SequenceConstruct", ["x", "x"], ["y"], "build")],
            "no case holds a sequence: SequenceConstruct (node `build`) makes the value 'y' of this type",
        ),
        (
            [node("StringConcat", ["s", "s"], ["y"])],
            "no case holds strings: StringConcat reads the value 's' of this type",
        ),
        (
            [node("Selu", ["x"], ["y"], alpha=float("inf"))],
            "Selu contains numbers that are not finite, which no case can hold",
        ),
    ],
)
def test_what_a_case_cannot_hold_is_refused(nodes: list[onnx.NodeProto], why: str, tmp_path: Path) -> None:
    graph = graph_of(nodes, {"x": (FLOAT, [2, 4])}, "y", one=np.int64(1))
    if "s" in nodes[0].input:
        graph.input.append(helper.make_tensor_value_info("s", TensorProto.STRING, [1]))
    path = saved(tmp_path / "net.onnx", graph, own=1)
    with pytest.raises(NotHeld) as refused:
        whole_model.read(path)
    assert str(refused.value) == f"{path}: {why}"


def test_nodes_with_a_sequence_between_them_are_one_call(tmp_path: Path) -> None:
    """So are those on a way from one of them to another: Neg, and no other node."""
    nodes = [
        node("Relu", ["x"], ["a"]),
        node("SequenceConstruct", ["a", "x"], ["s"]),
        node("SequenceAt", ["s", "one"], ["first"]),
        node("Neg", ["first"], ["n"]),
        node("SequenceInsert", ["s", "n"], ["longer"]),
        node("ConcatFromSequence", ["longer"], ["joined"], axis=0),
        node("Tanh", ["joined"], ["y"]),
    ]
    path = saved(tmp_path / "net.onnx", graph_of(nodes, {"x": (FLOAT, [2, 4])}, "y first", one=np.int64(1)))
    case = read(path, x=X).case
    assert case.graph.ops == ("Relu", "SequenceConstruct", "Tanh")
    assert [str(value.type) for value in case.graph.nodes[1].results] == ["float32[2,4]", "float32[6,4]"]


def elements_of(model: onnx.ModelProto) -> set[int]:
    """The element types of the values of a file, by their numbers."""
    graph = onnx.shape_inference.infer_shapes(model).graph
    values = (*graph.input, *graph.value_info, *graph.output)
    return {*(item.type.tensor_type.elem_type for item in values), *(item.data_type for item in graph.initializer)}


@pytest.mark.parametrize("small", SMALL_TYPES.values(), ids=list(SMALL_TYPES))
@pytest.mark.parametrize("place", ["input", "initializer", "to", "output"])
def test_a_value_of_a_small_type_is_held_in_a_wider_dtype(small: SmallType, place: str, tmp_path: Path) -> None:
    """The file of the case has the small type, and a Cast on both sides of it where the case has the wider one."""
    numbers = np.ones((2, 4), np.float32).astype(small.numpy)
    nodes = [node("Cast", ["x"], ["q"], to=small.number), node("Cast", ["q"], ["y"], to=FLOAT)]
    graph = graph_of(nodes, {"x": (FLOAT, [2, 4])}, "q" if place == "output" else "y")
    if place in ("input", "initializer"):
        del graph.node[0]
    if place == "input":
        graph.input.append(helper.make_tensor_value_info("q", small.number, [2, 4]))
    if place == "initializer":
        graph.initializer.append(numpy_helper.from_array(numbers, "q"))
    if place == "output":
        del graph.node[1]
    path = saved(tmp_path / "net.onnx", graph, opset=newest_known_opset())
    case = whole_model.read(path, {"q": numbers} if place == "input" else {"x": np.abs(X) + 1}).case
    assert set(case.graph.ops) == {"Cast"}
    assert case.given is not None
    assert list(case.given.small.values()) == [small.name]
    ((own, _),) = case.given.small.items()
    assert case.graph.types[own] == TensorType(small.held, (2, 4))
    given, form = given_file(case, open_sizes=False), file_of(case)
    assert small.number in elements_of(given)
    (found,) = by_interpreter(*with_held_ends(given, inputs_of_file(case)))
    (right,) = by_interpreter(to_proto(form.model), form.inputs)
    np.testing.assert_array_equal(found, right)
    if place in ("input", "initializer"):
        np.testing.assert_array_equal(found, np.ones((2, 4), np.float32))


@pytest.mark.parametrize("place", ["input", "initializer"])
def test_a_model_that_takes_strings_says_which_node_reads_them(place: str, tmp_path: Path) -> None:
    graph = graph_of([node("Cast", ["q"], ["y"], "numbers", to=FLOAT)], {}, "y")
    if place == "input":
        graph.input.append(helper.make_tensor_value_info("q", TensorProto.STRING, [1]))
    else:
        graph.initializer.append(helper.make_tensor("q", TensorProto.STRING, [1], [b"2.5"]))
    path = saved(tmp_path / "net.onnx", graph)
    with pytest.raises(NotHeld) as refused:
        whole_model.read(path)
    assert (
        str(refused.value) == f"{path}: no case holds strings: Cast (node `numbers`) reads the value 'q' of this type"
    )


def test_strings_between_nodes_are_inside_of_a_call(tmp_path: Path) -> None:
    nodes = [node("Cast", ["x"], ["s"], to=TensorProto.STRING), node("Cast", ["s"], ["y"], to=FLOAT)]
    path = saved(tmp_path / "net.onnx", graph_of(nodes, {"x": (FLOAT, [2, 4])}, "y"))
    assert read(path, x=X).case.graph.ops == ("Cast",)


def test_inputs_that_onnxruntime_refuses_give_no_case(tmp_path: Path) -> None:
    nodes = [node("Reshape", ["x", "to"], ["y"])]
    path = saved(tmp_path / "net.onnx", graph_of(nodes, {"x": (FLOAT, [2, 4]), "to": (INT64, [2])}, "y"))
    with pytest.raises(
        Invalid, match=r"onnxruntime does not run it with these inputs: .*Reshape.*; 'x' was drawn: give"
    ):
        whole_model.read(path, {"to": np.array([3, 7])})
    assert read(path, x=X, to=np.array([4, 2])).case.graph.ops == ("Reshape",)


@pytest.mark.parametrize("dtype", ["uint16", "uint32", "uint64"])
def test_unsigned_integers_are_dtypes_of_cases_that_nothing_draws(dtype: str, tmp_path: Path) -> None:
    element = getattr(TensorProto, dtype.upper())
    nodes = [node("Concat", ["x", "x"], ["a"], axis=0), node("Cast", ["a"], ["y"], to=FLOAT)]
    path = saved(tmp_path / "net.onnx", graph_of(nodes, {"x": (element, [3])}, "a y"))
    model = read(path, x=np.array([0, 1, np.iinfo(dtype).max], dtype))
    assert [str(type) for type in model.case.graph.output_types] == [f"{dtype}[6]", "float32[6]"]
    (drawn,) = whole_model.read(path).case.inputs.values()
    assert drawn.dtype == dtype
    assert DType(dtype) not in DRAWN


def test_an_opset_that_onnx_does_not_have_is_refused(tmp_path: Path) -> None:
    path = saved(tmp_path / "net.onnx", graph_of([node("Relu", ["x"], ["y"])], {"x": (FLOAT, [2])}, "y"), 29)
    with pytest.raises(Invalid, match="opset 29 is not within 1 to 28"):
        whole_model.read(path)


@pytest.mark.parametrize("opset", [6, 27, 28])
def test_an_opset_that_onnxruntime_does_not_run_is_read(opset: int, tmp_path: Path) -> None:
    nodes = [node("Relu", ["x"], ["z"]), node("NonZero" if opset > 8 else "Neg", ["z"], ["y"])]
    path = saved(tmp_path / "net.onnx", graph_of(nodes, {"x": (FLOAT, [3])}, "y"), opset)
    case = whole_model.read(path, {"x": np.array([1, -1, 2], np.float32)}).case
    assert case.graph.opset == opset
    assert [str(type) for type in case.graph.output_types] == ["int64[1,2]" if opset > 8 else "float32[3]"]


def test_a_file_of_constants_alone_is_a_case_without_nodes(tmp_path: Path) -> None:
    value = numpy_helper.from_array(np.ones(2, np.float32))
    path = saved(tmp_path / "net.onnx", graph_of([node("Constant", [], ["y"], value=value)], {}, "y"))
    case = whole_model.read(path).case
    assert case.graph.nodes == ()
    assert case.graph.outputs == tuple(case.owned)


def test_a_result_of_a_branch_stays_in_it(tmp_path: Path) -> None:
    """onnxruntime takes no value from around a branch as its result."""
    branches = {
        name: graph_of([node("Constant", [], [f"{name}_y"], value=numpy_helper.from_array(array))], {}, f"{name}_y")
        for name, array in (("then_branch", np.ones(2, np.float32)), ("else_branch", np.zeros(2, np.float32)))
    }
    path = saved(tmp_path / "net.onnx", graph_of([node("If", ["x"], ["y"], **branches)], {"x": (BOOL, [])}, "y"), 17)
    case = whole_model.read(path).case
    assert list(case.tensors) == ["x0"]
    assert case.given is not None
    assert onnx.load_from_string(case.given.model) == onnx.load(path)


IMAGE = np.arange(16, dtype=np.float32).reshape(1, 1, 4, 4)
SCALES = np.array([1, 1, 0.5, 2], np.float32)
HALF = [node("Resize", ["x", "", "scales"], ["y"], mode="linear", antialias=1)]


@pytest.mark.parametrize(
    ("opset", "nodes", "tensors"),
    [
        (18, HALF, {"scales": SCALES}),
        (18, [node("Constant", [], ["scales"], value=numpy_helper.from_array(SCALES)), *HALF], {}),
        (18, [node("Concat", ["a", "b"], ["scales"], axis=0), *HALF], {"a": SCALES[:2], "b": SCALES[2:]}),
        (
            11,
            [node("Resize", ["x", "roi", "one"], ["y"], coordinate_transformation_mode="tf_crop_and_resize")],
            {"roi": np.array([0, 0, 0.25, 0, 1, 1, 0.75, 1], np.float32), "one": np.ones(4, np.float32)},
        ),
        (10, [node("Resize", ["x", "scales"], ["y"], mode="linear")], {"scales": SCALES}),
        (9, [node("Upsample", ["x", "up"], ["y"], mode="linear")], {"up": np.array([1, 1, 3, 2], np.float32)}),
    ],
    ids=["initializer", "constant", "computed", "roi", "old", "upsample"],
)
def test_scales_keep_their_numbers(
    opset: int, nodes: list[onnx.NodeProto], tensors: dict[str, Array], tmp_path: Path
) -> None:
    """Weights are drawn, but other scales would make another model: lanes run the file with those that it has."""
    path = saved(tmp_path / "a.onnx", graph_of(nodes, {"x": (FLOAT, IMAGE.shape)}, "y", **tensors), opset)
    case = whole_model.read(path, {"x": IMAGE}).case
    (right,) = by_onnxruntime(onnx.load(path), {"x": IMAGE})
    (found,) = by_onnxruntime(given_file(case, open_sizes=False), {"x": IMAGE})
    np.testing.assert_array_equal(found, right)
    np.testing.assert_array_equal(results(case)[0], right)


SPARSE = helper.make_sparse_tensor(
    numpy_helper.from_array(np.ones(1, np.float32), "w"), numpy_helper.from_array(np.zeros(1, np.int64), "places"), [2]
)


@pytest.mark.parametrize(
    ("graph", "why"),
    [
        (
            "net (optional(float[2]) x) => (float[2] y) { y = OptionalGetElement(x) }",
            "no case holds an optional value: OptionalGetElement reads the value 'x' of this type",
        ),
        ("net (float[] x) => (float[] y) { y = Relu(x) }", "the file does not say the shape of 'x', as ONNX requires"),
        ("net (float[2] x) => (float[2] y) { y = Add(x, w) }", "its tensor 'w' is sparse, which is not supported"),
    ],
    ids=["optional", "no-shape", "sparse"],
)
def test_what_an_input_or_a_weight_is_is_named(graph: str, why: str, tmp_path: Path) -> None:
    parsed = onnx.parser.parse_graph(graph)
    if "w)" in graph:
        parsed.sparse_initializer.append(SPARSE)
    path = saved(tmp_path / "net.onnx", parsed)
    with pytest.raises(Invalid) as refused:
        whole_model.read(path)
    assert str(refused.value) == f"{path}: {why}"
