"""An ONNX file, read in a child: its nodes in PyTorch's words, and bad files end with one line."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from fuzzer.isolate.validity import Validity
from fuzzer.seeds import bounds
from fuzzer.seeds.bounded_child import Limits
from fuzzer.seeds.extract import extract
from fuzzer.seeds.onnx import file as onnx_file
from fuzzer.seeds.onnx import graph as onnx_graph
from fuzzer.seeds.onnx import whole_model
from fuzzer.seeds.onnx.reader.reader import answer
from fuzzer.seeds.resolved import Resolved
from fuzzer.seeds.torch.from_onnx import file as onnx_as_torch
from fuzzer.seeds.torch.from_onnx.file import program_of
from fuzzer.seeds.torch.program import Program
from fuzzer.seeds.torch.resolve import resolve
from fuzzer.system.environment import MachineLacks
from generators.graph import Invalid, Role, TensorType
from generators.onnx.model import Attribute, Node, Tensor

pytestmark = pytest.mark.slow


def save(path: Path, nodes: Sequence[Any], inputs: dict[str, str], outputs: str, opset: int = 18, **owned: Any) -> Path:
    """Types as `float32[2,n]`."""

    def value(name: str, text: str) -> Any:
        dtype, _, shape = text.removesuffix("]").partition("[")
        dims = [int(size) if size.isdigit() else size for size in shape.split(",")] if shape else []
        return helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(np.dtype(dtype)), dims)

    weights = [numpy_helper.from_array(np.asarray(array), name) for name, array in owned.items()]
    results = [helper.make_empty_tensor_value_info(name) for name in outputs.split()]
    graph = helper.make_graph(nodes, "g", [value(name, text) for name, text in inputs.items()], results, weights)
    opsets = [helper.make_opsetid("", opset), helper.make_opsetid("com.microsoft", 1)]
    onnx.save(helper.make_model(graph, opset_imports=opsets, ir_version=9), path)
    return path


node = helper.make_node


def read(path: Path) -> Program:
    """The file as calls of PyTorch. It is read in this process instead of a child."""
    return program_of(onnx_graph.decode(msgspec.json.encode(answer(path)), str(path)), path)


def node_lines(resolved: Resolved) -> list[str]:
    made = []
    for each in resolved.nodes:
        attrs = " ".join(f"{key}={value}" for key, value in each.attrs.items())
        made.append(f"{each.op} {attrs} -> {', '.join(str(value.type) for value in each.results)}")
    return made


def test_an_image_network(tmp_path: Path) -> None:
    """Padding on both sides alike is the convolution's; else it is a call of its own. Weights stay in the file."""
    nodes = [
        node("Conv", ["x", "w"], ["a"], kernel_shape=[3, 3], pads=[1, 1, 1, 1], strides=[2, 2]),
        node("BatchNormalization", ["a", "s", "s", "s", "s"], ["b"], epsilon=1e-5, momentum=0.9),
        node("Relu", ["b"], ["c"]),
        node("Conv", ["c", "w"], ["d"], pads=[0, 0, 1, 1]),
        node("GlobalAveragePool", ["d"], ["e"]),
        node("Flatten", ["e"], ["f"]),
        node("Gemm", ["f", "m"], ["g"], transB=1),
    ]
    zeros = np.zeros
    path = save(
        tmp_path / "net.onnx",
        nodes,
        {"x": "float32[n,4,8,8]"},
        "g",
        w=zeros((4, 4, 3, 3), np.float32),
        s=zeros(4, np.float32),
        m=zeros((5, 4), np.float32),
    )
    program = read(path)
    assert node_lines(resolve(program)) == [
        "conv2d stride=(2, 2) dilation=1 groups=1 padding=(1, 1) -> float32[2,4,4,4]",
        "batch_norm momentum=0.1 eps=1e-05 -> float32[2,4,4,4]",
        "relu  -> float32[2,4,4,4]",
        "pad_constant pad=(0, 1, 0, 1) value=0.0 -> float32[2,4,5,5]",
        "conv2d stride=1 dilation=1 groups=1 padding=0 -> float32[2,4,3,3]",
        "adaptive_avg_pool2d output_size=(1, 1) -> float32[2,4,1,1]",
        "flatten start_dim=1 end_dim=-1 -> float32[2,4]",
        "linear  -> float32[2,5]",
    ]
    assert program.roles == {"w": Role.PARAM, "s": Role.PARAM, "m": Role.PARAM}
    assert not program.constants


def test_shapes_and_indices(tmp_path: Path) -> None:
    """What computes shapes is left out: shapes are known."""
    nodes = [
        node("Gather", ["table", "i"], ["a"]),
        node("Shape", ["a"], ["s"]),
        node("Gather", ["s", "zero"], ["first"]),
        node("Concat", ["first", "rest"], ["shape"], axis=0),
        node("Reshape", ["a", "shape"], ["b"]),
        node("Slice", ["b", "starts", "ends", "axes"], ["c"]),
        node("Transpose", ["c"], ["d"], perm=[1, 0]),
        node("ReduceMean", ["d", "axis"], ["e"], keepdims=0),
        node("Split", ["b", "parts"], ["f", "g"], axis=1),
        node("Cast", ["f"], ["h"], to=TensorProto.FLOAT16),
    ]
    whole = {"zero": [0], "rest": [-1], "starts": [1], "ends": [9], "axes": [1], "axis": [-1], "parts": [4, 8]}
    initializers: dict[str, Any] = {name: np.array(value, np.int64) for name, value in whole.items()}
    initializers["table"] = np.zeros((7, 4), np.float32)
    path = save(
        tmp_path / "m.onnx",
        nodes,
        {"i": "int64[2,3]"},
        "e g h",
        **initializers,
    )
    program = read(path)
    assert [step.title for step in program.steps] == [
        *("Gather", "Reshape", "Slice", "Transpose", "ReduceMean", "Split", "Cast")
    ]
    assert node_lines(resolve(program)) == [
        "embedding padding_idx=None norm_type=2.0 scale_grad_by_freq=False sparse=False -> float32[2,3,4]",
        "reshape shape=(2, 12) -> float32[2,12]",
        "slice dim=1 start=1 end=9 step=1 -> float32[2,8]",
        "permute dims=(1, 0) -> float32[8,2]",
        "mean dim=(-1,) keepdim=False dtype=None -> float32[8]",
        "split sizes=(4, 8) dim=1 -> float32[2,4], float32[2,8]",
        "to dtype=float16 non_blocking=False copy=False -> float16[2,4]",
    ]


def test_a_recurrent_layer_has_parameters_of_pytorchs_layout(tmp_path: Path) -> None:
    zeros = np.zeros
    path = save(
        tmp_path / "m.onnx",
        [node("LSTM", ["x", "w", "r", "b"], ["y", "h"], hidden_size=5, direction="bidirectional")],
        {"x": "float32[6,2,3]"},
        "y h",
        w=zeros((2, 20, 3), np.float32),
        r=zeros((2, 20, 5), np.float32),
        b=zeros((2, 40), np.float32),
    )
    program = read(path)
    resolved = resolve(program)
    assert not resolved.lacking
    assert [each.op for each in resolved.nodes] == ["lstm_zero_state", "reshape", "permute"]
    assert resolved.types["y"] == TensorType.parse("float32[6,2,2,5]")
    weights = [str(resolved.types[name]) for name in resolved.nodes[0].args[1:]]
    assert weights == ["float32[20,3]", "float32[20,5]", "float32[20]", "float32[20]"] * 2


def test_what_has_no_word_is_a_cut(tmp_path: Path) -> None:
    branches = [
        helper.make_graph([node(op, ["x"], ["t"])], op, [], [helper.make_empty_tensor_value_info("t")])
        for op in ("Relu", "Neg")
    ]
    nodes = [
        node("Relu", ["x"], ["a"]),
        node("If", ["p"], ["b"], then_branch=branches[0], else_branch=branches[1]),
        node("NonMaxSuppression", ["boxes", "scores"], ["c"]),
        node("FastGelu", ["a"], ["d"], domain="com.microsoft"),
        node("Softmax", ["a"], ["e"], axis=-1, unheard_of=1),
        node("Neg", ["a"], ["f"]),
    ]
    inputs = {"x": "float32[2]", "p": "bool[]", "boxes": "float32[1,6,4]", "scores": "float32[1,1,6]"}
    resolved = resolve(read(save(tmp_path / "m.onnx", nodes, inputs, "b c d e f")))
    assert [each.op for each in resolved.nodes] == ["relu", "neg"]
    assert dict(resolved.lacking) == {
        ("If", "contains a graph"): 1,
        ("NonMaxSuppression", "has no translation rule"): 1,
        ("com.microsoft.FastGelu", "is not an operator of ONNX"): 1,
        ("Softmax", "has unheard_of=1"): 1,
    }


def test_a_node_that_cannot_be_described_says_why(tmp_path: Path) -> None:
    body = helper.make_graph([node("Neg", ["x"], ["t"])], "b", [], [helper.make_empty_tensor_value_info("t")])
    nodes = [
        node("Loop", ["", ""], ["a"], body=body),
        node("Scan", ["x"], ["b"], bodies=[body]),
        node("Selu", ["x"], ["c"], alpha=float("nan")),
        node("Selu", ["x"], ["d"], scales=[1.0, float("inf")]),
        node("Selu", ["x"], ["e"], names=[b"\xff"]),
    ]
    resolved = resolve(read(save(tmp_path / "m.onnx", nodes, {"x": "float32[2]"}, "a b c d e")))
    assert dict(resolved.lacking) == {
        ("Loop", "contains a graph"): 1,
        ("Scan", "contains a graph"): 1,
        ("Selu", "contains numbers that are not finite"): 2,
        ("Selu", "has an attribute of a kind that is not read"): 1,
    }


# --- files that are not what they should be


def external(path: Path, location: str) -> Path:
    weight = helper.make_tensor("w", TensorProto.FLOAT, [4, 4], bytes(64), raw=True)
    onnx.external_data_helper.set_external_data(weight, location)
    weight.ClearField("raw_data")
    graph = helper.make_graph(
        [node("MatMul", ["x", "w"], ["y"])],
        "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [2, 4])],
        [helper.make_empty_tensor_value_info("y")],
        [weight],
    )
    path.write_bytes(helper.make_model(graph, ir_version=9).SerializeToString())
    return path


def test_other_files_are_never_opened(tmp_path: Path) -> None:
    """The weights' file need not even be there."""
    program: Program = read(external(tmp_path / "m.onnx", "weights.bin"))
    assert node_lines(resolve(program)) == ["matmul  -> float32[2,4]"]


@pytest.mark.parametrize("location", ["../secret", "/etc/passwd", "a/../../secret", "link"])
def test_paths_out_of_the_folder_are_refused(location: str, tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("x")
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "link").symlink_to(tmp_path / "secret")
    path = external(tmp_path / "in" / "m.onnx", location)
    with pytest.raises(Invalid, match="its tensor 'w' "):
        read(path)


def test_a_tensor_within_a_node_is_no_way_out_either(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    path = external(tmp_path / "in" / "m.onnx", "weights.bin")
    weight = onnx.load(path, load_external_data=False).graph.initializer[0]

    def constant(location: str) -> Path:
        weight.external_data[0].value = location
        held = node("ConstantOfShape", ["shape"], ["c"], value=weight)
        return save(path, [held], {"shape": "int64[2]"}, "c")

    with pytest.raises(Invalid, match="its tensor 'w' is said to lie outside of its folder"):
        read(constant("../secret"))
    (path.parent / "weights.bin").write_bytes(bytes(64))
    assert list(resolve(read(constant("weights.bin"))).lacking) == [
        ("ConstantOfShape", "contains a tensor of another file")
    ]


def refused(path: Path, data: bytes) -> str:
    path.write_bytes(data)
    with pytest.raises(Invalid) as caught:
        read(path)
    assert "\n" not in str(caught.value)
    return str(caught.value).removeprefix(f"{path}: ")


def test_bad_files_end_with_one_line(tmp_path: Path) -> None:
    path = tmp_path / "m.onnx"
    good = save(path, [node("Relu", ["x"], ["y"])], {"x": "float32[2]"}, "y", w=np.zeros(4000)).read_bytes()
    assert refused(path, b"") == "has no nodes, or is no ONNX file"
    assert refused(path, b"\x80\x04not protobuf") == "is no ONNX file, or only the beginning of one"
    assert refused(path, good[:-400]) == "is no ONNX file, or only the beginning of one"
    cycle = [node("Relu", ["b"], ["a"]), node("Relu", ["a"], ["b"])]
    assert "before any node makes it" in refused(path, save(path, cycle, {"x": "float32[2]"}, "b").read_bytes())
    huge = save(path, [node("Relu", ["x"], ["y"])], {"x": f"float32[{1 << 60}]"}, "y").read_bytes()
    assert "has the sizes" in refused(path, huge)
    many = save(path, [node("Relu", ["x"], ["y"])], {"x": f"float32[{','.join('1' * 9)}]"}, "y").read_bytes()
    assert refused(path, many) == "x has rank 9, more than 8"
    model = onnx.load_from_string(good)
    model.graph.initializer[0].dims[:] = [7, 7]
    assert "its tensor 'w' is no tensor" in refused(path, model.SerializeToString())
    model.graph.initializer[0].data_type = 99
    assert "has the element type 99, which there is not" in refused(path, model.SerializeToString())


def test_the_nodes_of_a_file_are_limited(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    nodes = [node("Relu", ["x"], ["y"]), node("Relu", ["y"], ["z"])]
    path = save(tmp_path / "m.onnx", nodes, {"x": "float32[2]"}, "z")
    monkeypatch.setattr(bounds, "MAX_NODES", 1)
    with pytest.raises(Invalid, match=r"m\.onnx: 2 nodes, more than 1$"):
        read(path)


def test_the_operands_and_calls_of_a_file_are_limited(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A sum of n operands is n - 1 calls of PyTorch, so a file of some MiB could become millions of calls."""
    sums = save(tmp_path / "m.onnx", [node("Sum", ["x"] * 6, ["y"])], {"x": "float32[2]"}, "y")
    monkeypatch.setattr(bounds, "MAX_OPERANDS", 5)
    with pytest.raises(Invalid, match=r"m\.onnx: its nodes have more than 5 operands$"):
        read(sums)
    monkeypatch.setattr(bounds, "MAX_OPERANDS", 6)
    monkeypatch.setattr(onnx_as_torch, "MAX_NODES", 4)
    with pytest.raises(Invalid, match=r"m\.onnx: its nodes become more than 4 calls of PyTorch$"):
        read(sums)
    monkeypatch.setattr(onnx_as_torch, "MAX_NODES", 5)
    assert len(read(sums).steps[0].calls) == 5


def test_one_constant_of_many_numbers_is_no_shape_of_many_nodes(tmp_path: Path) -> None:
    path = save(
        tmp_path / "m.onnx", [node("Tile", ["x", "n"], ["y"])], {"x": "float32[2]"}, "y", n=np.ones(17, np.int64)
    )
    assert list(resolve(read(path)).lacking) == [("Tile", "input 1 has 17 numbers")]


@pytest.mark.parametrize("sizes", [(1 << 62,), (1 << 31, 1 << 31, 1 << 31), (0, 1 << 62), (1 << 20,) * 3])
@pytest.mark.parametrize("name", ["Relu", "Shape", "Size"])
def test_sizes_that_no_tensor_has_are_refused_in_our_words(name: str, sizes: tuple[int, ...], tmp_path: Path) -> None:
    path = save(tmp_path / "m.onnx", [node(name, ["x"], ["y"])], {"x": f"float32[{','.join(map(str, sizes))}]"}, "y")
    assert refused(path, path.read_bytes()) == f"x has the sizes {list(sizes)}, which no tensor has"


def test_a_child_reads_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = save(tmp_path / "m.onnx", [node("Relu", ["x"], ["y"])], {"x": "float32[2]"}, "y")
    assert program_of(onnx_file.read(path), path) == read(path)
    path.write_bytes(b"\x80\x04")
    with pytest.raises(Invalid, match="is no ONNX file, or only the beginning of one"):
        onnx_file.read(path)
    with monkeypatch.context() as patch:
        patch.setattr(onnx_file, "MODULE", "no.such.module")
        with pytest.raises(Invalid, match="its reader ended with status 1: "):
            onnx_file.read(path)
    monkeypatch.setattr(Limits, "wall_seconds", 0.01)
    with pytest.raises(Invalid, match="not read within"):
        onnx_file.read(path)


def test_children_ask_onnxruntime_about_it_and_run_it(tmp_path: Path) -> None:
    path = save(tmp_path / "m.onnx", [node("NonZero", ["x"], ["y"])], {"x": "float32[3]"}, "y")
    model = whole_model.read(path, {"x": np.array([0, 1, 2], np.float32)})
    assert [str(type) for type in model.case.graph.output_types] == ["int64[1,2]"]
    wrong = save(tmp_path / "wrong.onnx", [node("MatMul", ["x", "x"], ["y"])], {"x": "float32[2,3]"}, "y")
    assert "Incompatible dimensions" in onnx_file.refusal_of(wrong)


def test_a_child_that_waits_for_a_processor_reads_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = save(tmp_path / "m.onnx", [node("Relu", ["x"], ["y"])], {"x": "float32[2]"}, "y")
    program = read(path)
    monkeypatch.setattr(Limits, "wall_seconds", 0.01)
    monkeypatch.setattr("fuzzer.system.process_tree.waits", lambda pid: {pid: time.monotonic()})
    assert program_of(onnx_file.read(path), path) == program
    monkeypatch.setattr("fuzzer.system.process_clock.LEAST_SECONDS", 0.0)
    with pytest.raises(MachineLacks, match="the machine is too busy"):
        onnx_file.read(path)


def test_a_node_without_its_inputs_or_outputs_is_a_cut() -> None:
    for bare in (Node("Reshape", ("x",), ()), Node("Gemm", (), ("y",))):
        graph = onnx_graph.OnnxGraph(18, ("x",), (bare,), {"x": ("FLOAT", (2,))}, {}, ())
        (step,) = program_of(graph, Path("m.onnx")).steps
        assert "is missing" in step.why_not


@pytest.mark.parametrize(
    ("bare", "opset", "why"),
    [
        (Node("Softmax", ("x",), ("y",), (Attribute("axis", 1),)), 11, "ZeroDivisionError"),
        (Node("LayerNormalization", ("x", "x"), ("y",), (Attribute("axis", 0),)), 18, "ZeroDivisionError"),
        (Node("CumSum", ("x", "c"), ("y",)), 18, "IndexError"),
        (Node("Gather", ("x", "c"), ("y",), (Attribute("axis", 0),)), 18, "ZeroDivisionError"),
    ],
    ids=lambda each: getattr(each, "op", None),
)
def test_a_node_that_does_not_fit_its_operands_is_a_cut(bare: Node, opset: int, why: str) -> None:
    """`x` is a scalar, and `c` has no elements."""
    types: dict[str, tuple[str, tuple[int | None, ...]]] = {
        "x": ("FLOAT", ()),
        "y": ("FLOAT", ()),
        "c": ("INT64", (0,)),
    }
    graph = onnx_graph.OnnxGraph(opset, ("x",), (bare,), types, {"c": Tensor("INT64", (0,), b"")}, ("c",))
    (step,) = program_of(graph, Path("m.onnx")).steps
    assert step.why_not == f"its operands and attributes do not fit together ({why})"


def test_an_empty_tensor_with_large_sizes_is_too_large() -> None:
    types: dict[str, tuple[str, tuple[int | None, ...]]] = dict.fromkeys("xy", ("FLOAT", (0, 2**31, 2**31)))
    graph = onnx_graph.OnnxGraph(18, ("x",), (Node("Softmax", ("x",), ("y",)),), types, {}, ())
    cut = extract(resolve(program_of(graph, Path("m.onnx"))), 8, Validity())
    assert cut.cases == ()
    assert list(cut.dropped) == ["float32[0,2147483648,2147483648] stays as large as that"]


def test_what_the_readers_library_refuses_is_one_line(tmp_path: Path) -> None:
    path = save(tmp_path / "m.onnx", [node("f", ["x", "x"], ["y"], domain="own")], {"x": "float32[2]"}, "y")
    model = onnx.load(path)
    body = [node("Neg", ["i"], ["o"])]
    model.functions.append(helper.make_function("own", "f", ["i"], ["o"], body, [helper.make_opsetid("", 18)]))
    model.opset_import.append(helper.make_opsetid("own", 1))
    assert "actual parameters" in refused(path, model.SerializeToString())
    odd = save(path, [node("Relu", ["x"], ["y"])], {"x": "float32[2]"}, "y")
    model = onnx.load(odd)
    model.graph.input[0].type.tensor_type.elem_type = 49
    assert "element type 49, which there is not" in refused(path, model.SerializeToString())


def with_functions(path: Path, *bodies: list[Any]) -> bytes:
    """A file that calls the first of the functions f0, f1, ..., which have these nodes."""
    opsets = [helper.make_opsetid("", 18), helper.make_opsetid("own", 1)]
    model = onnx.load(save(path, [node("f0", ["x"], ["y"], domain="own")], {"x": "float32[2]"}, "y"))
    model.opset_import.append(opsets[1])
    for number, body in enumerate(bodies):
        model.functions.append(helper.make_function("own", f"f{number}", ["i"], ["o"], body, opsets))
    data: bytes = model.SerializeToString()
    return data


def given(path: Path) -> Any:
    """The file that cases have."""
    return onnx.load_from_string(onnx_file.read(path).given)


def test_a_given_file_has_its_functions_unless_they_have_weights(tmp_path: Path) -> None:
    path = tmp_path / "m.onnx"
    one = node("Constant", [], ["k"], value=numpy_helper.from_array(np.float32(2)))
    path.write_bytes(with_functions(path, [one, node("Mul", ["i", "k"], ["o"])]))
    assert [each.op for each in onnx_file.read(path).nodes] == ["Mul"]
    assert [each.op_type for each in given(path).graph.node] == ["f0"]
    assert [each.name for each in given(path).functions] == ["f0"]
    several = node("Constant", [], ["k"], value=numpy_helper.from_array(np.ones(2, np.float32)))
    path.write_bytes(with_functions(path, [several, node("Mul", ["i", "k"], ["o"])]))
    assert [each.op_type for each in given(path).graph.node] == ["Constant", "Mul"]
    assert not given(path).functions


def test_functions_that_would_become_too_many_nodes_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "m.onnx"

    def calls(name: str) -> list[Any]:
        return [node(name, [i], [o], domain="own") for i, o in (("i", "t"), ("t", "o"))]

    last = [node("Neg", ["i"], ["o"])]
    few = with_functions(path, calls("f1"), last)
    path.write_bytes(few)
    assert len(read(path).steps) == 2
    many = with_functions(path, *(calls(f"f{number + 1}") for number in range(30)), last)
    assert refused(path, many) == "has more than 50000 nodes when its functions are inlined"
    assert refused(path, with_functions(path, calls("f1"), calls("f0"))) == "its function 'f0' calls itself"
