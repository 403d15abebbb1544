from __future__ import annotations

import json
import re
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from generators.builder import Limits
from generators.case_file import JSON_NAME, TENSORS_NAME, decode, digest, encode, read
from generators.check import check
from generators.choice import NumpySource
from generators.domain import ANY, POSITIVE
from generators.graph import (
    Array,
    Attr,
    Attrs,
    Case,
    DType,
    Form,
    Graph,
    Input,
    Invalid,
    Layout,
    Node,
    Profile,
    Role,
    Symbol,
    TensorType,
    Value,
)
from generators.table import TABLE
from generators.torch.random_graph import generate
from generators.torch.strategies import cases


def value(name: str, type: str) -> Value:
    return Value(name, TensorType.parse(type))


INPUTS = (
    Input(value("x0", "bool[]")),
    Input(value("w0", "float32[2,n]"), Role.PARAM, POSITIVE),
    Input(value("x1", "int64[]")),
)
NODES = (
    Node("where", ("x0", "w0", "x1"), {}, (value("v0", "float32[2,n]"),)),
    Node("split", ("v0",), {"dim": -1, "sizes": (1, 2)}, (value("v1", "float32[2,1]"), value("v2", "float32[2,2]"))),
)
TENSORS: dict[str, Array] = {
    "x0": np.array(True),
    "w0": np.array([[1.0, 2.0, 0.5], [4.0, 5.0, 6.0]], np.float32),
    "x1": np.array(-3),
}
GRAPH = Graph(INPUTS, NODES, ("v2", "v1"), symbols=(Symbol("n", 3, 4),))
CASE = Case(GRAPH, TENSORS, {"n": 3}, origin="seed 1 test 17")
TEXT, ARRAYS = encode(CASE)


def assert_equal(actual: Case, expected: Case) -> None:
    assert replace(actual, tensors={}) == replace(expected, tensors={})
    assert set(actual.tensors) == set(expected.tensors)
    for name, array in expected.tensors.items():
        assert (actual.tensors[name].dtype, actual.tensors[name].shape) == (array.dtype, array.shape)
        assert actual.tensors[name].tobytes() == array.tobytes()


def refusal(text: bytes, tensors: bytes) -> str:
    with pytest.raises(Invalid) as error:
        decode(text, tensors, "crashes/x")
    message = str(error.value)
    assert "\n" not in message
    return message


def changed(**fields: object) -> bytes:
    return json.dumps({**json.loads(TEXT), **fields}).encode()


def test_a_long_list_in_an_attribute_is_refused() -> None:
    nodes = json.loads(TEXT)["nodes"]
    nodes[0]["attrs"] = {"shape": [1] * 10_001}
    assert (
        refusal(changed(nodes=nodes), ARRAYS)
        == "crashes/x/case.json: 10,001 elements of an attribute are more than 10,000"
    )


# --- round trip


@pytest.mark.slow
@given(cases(profile=None, symbolic=None))
@settings(max_examples=100)
def test_round_trip(case: Case) -> None:
    files = encode(case)
    again = decode(*files)
    assert_equal(again, case)
    assert encode(again) == files
    assert digest(again) == digest(case)


DIVIDING_AND_MULTIPLYING = (
    *("max_pool1d", "avg_pool2d", "slice", "getitem", "unfold", "conv1d", "interpolate_nearest", "over_size"),
    *("repeat", "tile", "cat", "reshape_merge", "repeat_interleave", "stack", "kron"),
)
"""Operators which, one after the other, give sizes such as 3*((n-1)//2)+9."""


@pytest.mark.slow
def test_every_symbolic_case_that_is_drawn_is_read_back() -> None:
    ops = [TABLE[name] for name in DIVIDING_AND_MULTIPLYING]
    texts = []
    for seed in range(600):
        case = generate(NumpySource(24, seed), Limits(max_nodes=6, max_numel=256), ops, symbolic=True)
        texts.append(encode(case)[0].decode())
        assert_equal(decode(*encode(case)), case)
    assert sum(re.search(r"\*\(+[^\"]*//", text) is not None for text in texts) > 10


def test_round_trip_of_0d_bool_symbols_roles_and_two_results() -> None:
    assert_equal(decode(TEXT, ARRAYS), CASE)


def test_round_trip_of_bfloat16_forms_layouts_profiles_and_bindings() -> None:
    x = Input(value("x0", "bfloat16[n,2]"), layout=Layout.TRANSPOSED)
    relu = Node("relu", ("x0",), {}, (value("v0", "bfloat16[n,2]"),), Form.METHOD)
    case = Case(
        Graph((x,), (relu,), ("v0", "v0", "x0"), symbols=(Symbol("n", 1, 3),)),
        {"x0": np.array([[1.5, -2.0], [0.0, 3.0], [np.nan, np.inf]], DType.BFLOAT16.numpy)},
        {"n": 3},
        ({"n": 1}, {"n": 2}),
        Profile.SPECIAL,
    )
    assert_equal(decode(*encode(case)), case)


@pytest.mark.parametrize("other", [True, 1, 1.0, -0.0, 0.1, 1e300, 5e-324, 2**63 - 1, -(2**63)])
def test_numbers_in_attributes_keep_their_type(other: Attr) -> None:
    """PyTorch treats True, 1 and 1.0 differently."""
    x = Input(value("x0", "float64[2]"))
    add = Node("add_scalar", ("x0",), {"other": other}, (value("v0", "float64[2]"),))
    case = Case(Graph((x,), (add,), ("v0",)), {"x0": np.zeros(2)})
    (again,) = decode(*encode(case)).graph.nodes
    assert repr(again.attrs["other"]) == repr(other)


def test_lists_strings_and_none_in_attributes_are_read_back() -> None:
    x = Input(value("x0", "float32[2,3]"))
    nodes = (
        Node("sum", ("x0",), {"dim": None, "keepdim": True, "dtype": "float16"}, (value("v0", "float16[1,1]"),)),
        Node("getitem", ("x0",), {"index": ("None", "[0, -1]", "...")}, (value("v1", "float32[1,2,3]"),)),
        Node("sum", ("x0",), {"dim": (), "keepdim": False, "dtype": None}, (value("v2", "float32[]"),)),
    )
    case = Case(Graph((x,), nodes, ("v0", "v1", "v2")), {"x0": np.zeros((2, 3), np.float32)})
    assert_equal(decode(*encode(case)), case)


def test_defaults_are_not_written() -> None:
    x = Input(value("x0", "float32[]"))
    relu = Node("relu", ("x0",), {}, (value("v0", "float32[]"),))
    text, _ = encode(Case(Graph((x,), (relu,), ("v0",)), {"x0": np.zeros((), np.float32)}))
    assert json.loads(text) == {
        "format": 2,
        "dialect": "torch",
        "inputs": [{"name": "x0", "type": "float32[]", "role": "input"}],
        "nodes": [{"op": "relu", "args": ["x0"], "attrs": {}, "results": {"v0": "float32[]"}}],
        "outputs": ["v0"],
    }


def test_special_floats_keep_their_bits() -> None:
    bits = np.array([[0x7FC01234, 0xFFC00000, 0x80000000], [0x7F800000, 0xFF800000, 0x00000001]], np.uint32)
    inputs = tuple(replace(item, domain=ANY) for item in GRAPH.inputs)
    odd = replace(CASE, graph=replace(GRAPH, inputs=inputs), tensors={**TENSORS, "w0": bits.view(np.float32)})
    assert_equal(decode(*encode(odd)), odd)


def test_the_memory_layout_of_an_array_does_not_change_the_files() -> None:
    strided = np.asfortranarray(TENSORS["w0"])[:, ::-1][:, ::-1]
    assert not strided.flags.c_contiguous
    assert encode(replace(CASE, tensors={**TENSORS, "w0": strided})) == (TEXT, ARRAYS)


def test_the_order_of_mappings_does_not_change_the_files() -> None:
    split = NODES[1]
    turned = replace(split, attrs=dict(reversed(list(split.attrs.items()))))
    case = replace(CASE, graph=replace(GRAPH, nodes=(NODES[0], turned)), tensors=dict(reversed(TENSORS.items())))
    assert encode(case) == (TEXT, ARRAYS)


def test_read_finds_both_files(tmp_path: Path) -> None:
    (tmp_path / JSON_NAME).write_bytes(TEXT)
    (tmp_path / TENSORS_NAME).write_bytes(ARRAYS)
    assert_equal(read(tmp_path), CASE)


# --- digest


def test_digest_ignores_the_origin() -> None:
    assert digest(replace(CASE, origin="elsewhere")) == digest(CASE)


def test_digest_depends_on_values() -> None:
    assert digest(replace(CASE, tensors={**TENSORS, "x1": np.array(3)})) != digest(CASE)


@pytest.mark.parametrize("attrs", [{"dim": 1, "sizes": (1, 2)}, {"dim": -1, "sizes": (2, 1)}])
def test_digest_depends_on_attributes(attrs: Attrs) -> None:
    nodes = (NODES[0], replace(NODES[1], attrs=attrs))
    assert digest(replace(CASE, graph=replace(CASE.graph, nodes=nodes))) != digest(CASE)


def test_digest_depends_on_everything_else() -> None:
    method = (replace(NODES[0], form=Form.METHOD), NODES[1])
    others = (
        replace(CASE, graph=replace(CASE.graph, nodes=method)),
        replace(CASE, graph=replace(CASE.graph, symbols=(Symbol("n", 3, 5),))),
        replace(CASE, also=({"n": 3},)),
        replace(CASE, profile=Profile.EDGE),
        replace(CASE, graph=replace(CASE.graph, inputs=(replace(INPUTS[0], layout=Layout.STRIDED), *INPUTS[1:]))),
        replace(CASE, graph=replace(CASE.graph, outputs=("v1", "v2"))),
        replace(CASE, graph=replace(CASE.graph, inputs=tuple(replace(i, domain=ANY) for i in INPUTS))),
        replace(CASE, sizes={"n": 4}),
    )
    assert len({digest(case) for case in (CASE, *others)}) == 1 + len(others)


# --- invalid files


def test_json_truncated_at_any_byte_is_refused() -> None:
    whole = TEXT.rstrip()
    for cut in range(len(whole)):
        assert refusal(whole[:cut], ARRAYS).startswith(f"crashes/x/{JSON_NAME}: ")


def test_tensors_truncated_at_any_byte_are_refused() -> None:
    for cut in range(len(ARRAYS)):
        assert refusal(TEXT, ARRAYS[:cut]).startswith(f"crashes/x/{TENSORS_NAME}: ")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (b"{}", "Object missing required field `format`"),
        (b"[]", "Expected `object`, got `array`"),
        (b"null", "Expected `object`, got `null`"),
        (changed(format=1), "format 1 is not known; this version reads 2"),
        (changed(format="2"), "Expected `int`, got `str` - at `$.format`"),
        (changed(hook="import os"), "Object contains unknown field `hook`"),
        (changed(dialect="jax"), "dialect 'jax' is not known; this version reads 'torch', 'onnx', 'relax'"),
        (changed(dialect="onnx"), "nodes[0]: 'where' is no operator of onnx; `fuzz ops` lists them"),
        (changed(opset=13), "opset: only graphs of ONNX have one"),
        (changed(sizes={}), "sizes: expected ['n'], found []"),
        (changed(outputs=["v9"]), "outputs[0]: no value is called 'v9'"),
        (changed(profile="odd"), "Invalid enum value 'odd' - at `$.profile`"),
        (changed(sizes={"n": 3.5}), "Expected `int`, got `float` - at `$.sizes[...]`"),
        (changed(sizes={"n": 5}), "sizes.n: 5 is not within 3 to 4"),
        (changed(also=[{"n": 4}]), "also[0].n: 4 is larger than the tensors' 3"),
        (changed(also=[3]), "Expected `object`, got `int` - at `$.also[0]`"),
        (changed(symbols={}), "symbols: n is not declared"),
        (changed(symbols={"n": {"low": 3}}), "Object missing required field `high` - at `$.symbols[...]`"),
        (changed(symbols={"n": {"low": 4, "high": 3}}), "symbols: 'n' from 4 to 3 is no dimension"),
    ],
)
def test_invalid_json_is_refused(text: bytes, message: str) -> None:
    assert refusal(text, ARRAYS) == f"crashes/x/{JSON_NAME}: {message}"


@pytest.mark.parametrize(
    ("key", "item", "message"),
    [
        (
            "attrs",
            {"dim": {"a": 1}, "sizes": [1, 2]},
            "nodes[1] (split): attribute dim is neither a number, nor a string, nor a list of these",
        ),
        ("attrs", {"dim": 0.5, "sizes": [1, 2]}, "nodes[1] (split): dim must be an integer, not 0.5"),
        ("results", {"v1": "complex64[2]"}, "nodes[1] (split): 'complex64[2]' is no tensor type, such as "),
        ("form", "odd", "Invalid enum value 'odd' - at `$.nodes[1].form`"),
        ("form", "inplace", "nodes[1] (split): has no inplace form for these operands and attributes"),
        ("args", "v0", "Expected `array`, got `str` - at `$.nodes[1].args`"),
        ("op", "a\nb", "nodes[1] (a b): 'a\\nb' is not in the operator table"),
        ("hook", 1, "Object contains unknown field `hook` - at `$.nodes[1]`"),
    ],
)
def test_the_message_names_an_invalid_node(key: str, item: object, message: str) -> None:
    nodes = json.loads(TEXT)["nodes"]
    nodes[1][key] = item
    assert refusal(changed(nodes=nodes), ARRAYS).startswith(f"crashes/x/{JSON_NAME}: {message}")


DOMAINS = "expected any, positive, nonzero, within LOW HIGH, or distinct LOW HIGH along AXIS"


@pytest.mark.parametrize(
    ("key", "item", "message"),
    [
        ("role", "weight", "Invalid enum value 'weight' - at `$.inputs[1].role`"),
        ("layout", "channels_last", "Invalid enum value 'channels_last' - at `$.inputs[1].layout`"),
        ("layout", "strided", "tensors: w0 cannot be strided: only inputs of rank 2 and more can"),
        ("domain", "small", f"'small' is no domain; {DOMAINS}"),
        ("domain", "within 3 2", f"'within 3 2' is no domain; {DOMAINS}"),
        ("type", "float32[2,n+0]", "'n+0' is no dimension: write it n"),
        ("type", "float32[2,k]", "symbols: k is not declared"),
    ],
)
def test_an_invalid_input_is_refused(key: str, item: object, message: str) -> None:
    inputs = json.loads(TEXT)["inputs"]
    inputs[1][key] = item
    assert refusal(changed(inputs=inputs), ARRAYS) == f"crashes/x/{JSON_NAME}: {message}"


@pytest.mark.parametrize(
    ("tensors", "message"),
    [
        ({**TENSORS, "x9": np.array(1)}, "tensors: expected ['w0', 'x0', 'x1'], found ['w0', 'x0', 'x1', 'x9']"),
        ({**TENSORS, "x1": np.array(1.0)}, "tensors: x1 is float64[], declared as int64[]"),
        ({**TENSORS, "x1": np.array([1])}, "tensors: x1 is int64[1], declared as int64[]"),
    ],
)
def test_invalid_tensors_are_refused(tensors: dict[str, Array], message: str) -> None:
    assert refusal(TEXT, encode(replace(CASE, tensors=tensors))[1]) == f"crashes/x/{JSON_NAME}: {message}"


@pytest.mark.parametrize("dtype", ["BF16", "F8_E4M3", "X"])
def test_tensors_of_a_dtype_that_numpy_lacks_are_refused(dtype: str) -> None:
    header = json.dumps({"x0": {"dtype": dtype, "shape": [4], "data_offsets": [0, 8]}}).encode()
    blob = len(header).to_bytes(8, "little") + header + b"\0" * 8
    assert refusal(TEXT, blob).startswith(f"crashes/x/{TENSORS_NAME}: ")


@pytest.mark.parametrize("name", [JSON_NAME, TENSORS_NAME])
def test_the_message_names_a_missing_file(tmp_path: Path, name: str) -> None:
    (tmp_path / JSON_NAME).write_bytes(TEXT)
    (tmp_path / TENSORS_NAME).write_bytes(ARRAYS)
    (tmp_path / name).unlink()
    with pytest.raises(Invalid) as error:
        read(tmp_path)
    assert str(error.value) == f"{tmp_path / name}: No such file or directory"


@pytest.mark.slow
@given(st.data())
@settings(max_examples=500)
def test_changed_bytes_give_a_case_or_raise_invalid(data: st.DataObject) -> None:
    files = [bytearray(TEXT), bytearray(ARRAYS)]
    which = data.draw(st.integers(0, 1))
    for _ in range(data.draw(st.integers(1, 3))):
        files[which][data.draw(st.integers(0, len(files[which]) - 1))] = data.draw(st.integers(0, 255))
    with suppress(Invalid):
        check(decode(bytes(files[0]), bytes(files[1])))


def nested(depth: int) -> bytes:
    return TEXT.replace(b'"dim": -1', b'"dim": ' + b"[" * depth + b"]" * depth)


@pytest.mark.parametrize("depth", [700, 100_000])
def test_deeply_nested_attributes_are_refused(depth: int) -> None:
    refusal(nested(depth), ARRAYS)


def test_a_line_break_in_an_unknown_field_stays_on_one_line() -> None:
    refusal(changed(**{"a\nb": 1}), ARRAYS)
