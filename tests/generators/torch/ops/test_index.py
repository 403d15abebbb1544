"""Reading at positions: indexing syntax with its corner cases, gather and similar operators, embeddings, masks."""

from __future__ import annotations

import pytest
from eager import in_torch, inferred, run_case, types_of

from generators.builder import Builder, Limits
from generators.choice import NumpySource
from generators.domain import Bounds
from generators.graph import Attr, Attrs, Case, Form, Invalid, Node, Role
from generators.random_graph import with_values
from generators.torch.ops import TABLE
from generators.torch.ops.indexing import INDEX
from generators.torch.source import render

REFUSALS = (RuntimeError, IndexError, ValueError, AssertionError)
BAG: Attrs = {"padding_idx": None, "norm_type": 2.0, "scale_grad_by_freq": False, "sparse": False, "mode": "mean"}
ROW: Attrs = {key: value for key, value in BAG.items() if key != "mode"}


def drawn(name: str, count: int) -> list[tuple[Builder, Node]]:
    found = []
    for index in range(count):
        builder = Builder(NumpySource(2, index), Limits(max_numel=512))
        if builder.grow(TABLE[name]):
            found.append((builder, builder.nodes[-1]))
    return found


def index(text: str) -> Attrs:
    return {"index": tuple(text.split(" ; ")) if text else ()}


# --- the grammar


@pytest.mark.parametrize(
    "item", ["0", "-2", ":", "1:", ":-1", "::3", "-9:99:2", "None", "...", "{1}", "[0]", "[0, -1, 2]"]
)
def test_items_of_an_index(item: str) -> None:
    assert INDEX.accepts((item,))


@pytest.mark.parametrize(
    "item",
    [
        *("", " ", "x0", "1, 2", "::0", "::-1", ":::", "1:2:3:4", "01", "1_0", "9999999999", "\u0661", "0\n", "True"),
        *("{0}", "{10}", "{1", "{1}[0]", "[]", "[1,2]", "[x]", "()", "__import__('os')", "0]; import os; x[0"),
    ],
)
def test_other_texts_are_no_items(item: str) -> None:
    assert not INDEX.accepts((item,))


@pytest.mark.parametrize("value", ["0", 0, None, (0,), (None,), ("0", 1)])
def test_an_index_is_a_list_of_texts(value: Attr) -> None:
    assert not INDEX.accepts(value)


def test_source_texts() -> None:
    row = TABLE["getitem"]
    assert row.render(("v1", "x0"), index(":-1 ; None ; ... ; {1} ; [0, -1]")) == "v1[:-1, None, ..., x0, [0, -1]]"
    assert row.render(("v1",), index("")) == "v1[()]"


# --- shapes


@pytest.mark.parametrize(
    ("types", "text", "shape"),
    [
        ("float32[2,3,4,5]", "", "2,3,4,5"),
        ("float32[2,3,4,5]", "... ; -1", "2,3,4"),
        ("float32[2,3,4,5]", "None ; 1 ; ... ; None ; ::2", "1,3,4,1,3"),
        ("float32[2,3,4,5]", "-9:9 ; 2:1 ; 1:-1:2 ; -2:", "2,0,1,2"),
        ("float32[]", "None ; ... ; None", "1,1"),
        ("float32[0,3]", ": ; 1", "0"),
        ("float32[2,3,4,5] int64[2]", ": ; {1}", "2,2,4,5"),
        ("float32[2,3,4,5] int64[2] int32[3,1]", "{1} ; {2}", "3,2,4,5"),
        ("float32[2,3,4,5] int64[2] int64[3,1]", ": ; {1} ; {2}", "2,3,2,5"),
        ("float32[2,3,4,5] int64[2] int64[3,1]", "{1} ; : ; {2}", "3,2,3,5"),
        ("float32[2,3,4,5] int64[2] int64[3,1]", ": ; {1} ; ... ; {2}", "3,2,2,4"),
        ("float32[2,3,4,5] int64[2] int64[3,1]", ": ; {1} ; None ; {2}", "3,2,2,1,5"),
        (
            "float32[2,3,4,5] int64[2] int64[3,1]",
            ": ; {1} ; 0 ; {2}",
            "2,3,2",
        ),  # PyTorch applies the 0 first, unlike numpy
        ("float32[2,3,4,5] int64[2] int64[3,1]", "0 ; {1} ; : ; {2}", "3,2,4"),
        ("float32[2,3,4,5] int64[2]", "None ; {1} ; None", "1,2,1,3,4,5"),
        ("float32[2,3,4,5] int64[]", ": ; {1}", "2,4,5"),
        ("float32[2,3,4,5] int64[2] int64[]", "{1} ; : ; {2}", "2,3,5"),
        ("float32[2,3,4,5] int64[2]", "{1} ; : ; {1}", "2,3,5"),
        ("float32[2,3,4,5]", "[0, -1, 0] ; : ; 1", "3,3,5"),
        ("float32[2,3,4,5]", "[0, 1] ; [2, -3]", "2,4,5"),
        ("float32[2,3,4,5] int64[6]", "[1] ; : ; {1}", "6,3,5"),
        ("float32[2,3,4,5] int64[0,2]", ": ; {1}", "2,0,2,4,5"),
        ("float32[0,3] int64[0]", "{1}", "0,3"),
        ("float32[0,3] int64[2]", ": ; {1}", "0,2"),
        ("float32[2,0] int64[2,1] int64[0]", "{1} ; {2}", "2,0"),
    ],
)
def test_shapes_of_indexed_tensors(types: str, text: str, shape: str) -> None:
    expected = f"float32[{shape}]"
    assert inferred("getitem", types_of(types), index(text)) == expected
    assert in_torch("getitem", types_of(types), index(text)) == expected


@pytest.mark.parametrize(
    ("op", "types", "attrs", "expected"),
    [
        ("gather", "int8[3,4] int32[7,2]", {"dim": 0}, "int8[7,2]"),
        ("gather", "int8[3,4] int64[0,9]", {"dim": 0}, "int8[0,9]"),
        ("gather", "bool[2] int64[]", {"dim": -1}, "bool[]"),
        ("take", "float16[2,3] int64[2,1,2]", {}, "float16[2,1,2]"),
        ("take_along_dim", "float32[3,1] int64[7,5]", {"dim": 0}, "float32[7,5]"),
        ("take_along_dim", "float32[3] int32[5]", {"dim": None}, "float32[5]"),
        ("take_along_dim", "float32[3] int64[]", {"dim": None}, "float32[1]"),
        ("index_select", "float32[2,3] int32[]", {"dim": -1}, "float32[2,1]"),
        ("index_select", "float32[2,3] int64[0]", {"dim": 0}, "float32[0,3]"),
        ("embedding", "int32[2,3] bfloat16[4,5]", ROW, "bfloat16[2,3,5]"),
        ("embedding", "int64[] int64[4,0]", {**ROW, "padding_idx": -4}, "int64[0]"),
        ("embedding_bag", "int64[2,3] float16[4,5]", BAG, "float16[2,5]"),
        ("embedding_bag", "int64[0,3] float32[4,5]", {**BAG, "mode": "max"}, "float32[0,5]"),
        ("embedding_bag", "int64[2,3] float32[4,5] float32[2,3]", {**BAG, "mode": "sum"}, "float32[2,5]"),
        ("masked_fill", "uint8[3] bool[2,1]", {"value": 1.5}, "uint8[2,3]"),
        ("masked_fill_tensor", "int64[2,3] bool[3] float32[]", {}, "int64[2,3]"),
        ("masked_select_sum", "int8[3] bool[2,1]", {}, "int64[]"),
        ("getitem_mask_sum", "bool[2,3,4] bool[2,3]", {}, "int64[4]"),
        ("getitem_mask_sum", "float32[] bool[]", {}, "float32[]"),
        ("nonzero_sum", "float32[]", {}, "int64[0]"),
        ("argwhere_sum", "bool[2,3,4]", {}, "int64[3]"),
        ("nonzero_axis_sum", "float32[]", {"axis": -1}, "int64[]"),
        ("where_axis_sum", "bfloat16[2,0]", {"axis": 1}, "int64[]"),
    ],
)
def test_corners(op: str, types: str, attrs: Attrs, expected: str) -> None:
    assert inferred(op, types_of(types), attrs) == expected
    assert in_torch(op, types_of(types), attrs) == expected


@pytest.mark.parametrize(
    ("op", "types", "attrs", "message"),
    [
        ("getitem", "float32[2,3]", index("0 ; 0 ; 0"), "too many indices"),
        ("getitem", "float32[]", index(":"), "too many indices"),
        ("getitem", "float32[2,3]", index("2"), "index 2 is out of range for size 2"),
        ("getitem", "float32[2,3]", index("[0, -3]"), "[0, -3] is out of range for size 2"),
        ("getitem", "float32[2,3] int16[2]", index("{1}"), "reading by mask"),
        ("getitem", "float32[2,2] int64[2] int64[3]", index("{1} ; {2}"), "do not broadcast"),
        ("getitem", "float32[2,3] int64[2]", index("{1} ; [0, 1, 2]"), "do not broadcast"),
        ("getitem", "float32[0,3] int64[2]", index("{1}"), "a dimension of size 0 has no positions"),
        ("gather", "float32[2,3] int64[2,4]", {"dim": 0}, "is larger than"),
        ("gather", "float32[2,3] int64[2]", {"dim": 0}, "has not the rank"),
        ("gather", "float32[2,3] int16[2,3]", {"dim": 0}, "is not defined for int16"),
        ("take", "float32[2,3] int32[2]", {}, "is not defined for int32"),
        ("take", "float32[0] int64[1]", {}, "nothing to take from"),
        ("take_along_dim", "float32[2,3] int32[2,3]", {"dim": 0}, "is not defined for int32"),
        ("take_along_dim", "float32[] int64[]", {"dim": 0}, "has not the rank"),
        ("take_along_dim", "float32[2,3] int64[2,2]", {"dim": 0}, "do not broadcast"),
        ("index_select", "float32[2,3] int64[1,1]", {"dim": 0}, "is no vector"),
        ("index_select", "float32[] int64[2]", {"dim": 0}, "one element"),
        ("index_select", "float32[0,2] int64[2]", {"dim": 0}, "a dimension of size 0"),
        ("embedding", "int64[2] float32[4]", ROW, "of rank 2"),
        ("embedding", "int64[2] float32[4,2]", {**ROW, "padding_idx": 4}, "within the 4 rows"),
        ("embedding_bag", "int64[2,3] int64[4,5]", BAG, "is not defined for int64"),
        ("embedding_bag", "int64[2,0] float32[4,5]", BAG, "takes bags of rank 2"),
        ("embedding_bag", "int64[2,3] float32[4,5]", {**BAG, "mode": "max", "sparse": True}, "neither gradient option"),
        ("embedding_bag", "int64[2,3] float32[4,5] float64[2,3]", {**BAG, "mode": "sum"}, "share one dtype"),
        ("masked_fill", "uint8[2] bool[2]", {"value": 256}, "uint8 cannot hold 256"),
        ("masked_fill", "float16[2] bool[2]", {"value": 7e4}, "too large for float16"),
        ("masked_fill", "float32[2] uint8[2]", {"value": 1}, "is not defined for uint8"),
        ("masked_fill_tensor", "float32[2] bool[2] float32[1]", {}, "must be 0-d"),
        ("masked_select_sum", "float32[2] bool[3]", {}, "do not broadcast"),
        ("getitem_mask_sum", "float32[2,3] bool[3]", {}, "does not fit"),
        ("where_axis_sum", "float32[2]", {"axis": 1}, "out of range"),
    ],
)
def test_pytorch_and_inference_refuse(op: str, types: str, attrs: Attrs, message: str) -> None:
    with pytest.raises(REFUSALS):
        in_torch(op, types_of(types), attrs)
    with pytest.raises(Invalid) as error:
        inferred(op, types_of(types), attrs)
    assert message in str(error.value)


@pytest.mark.parametrize(
    ("op", "types", "attrs"),
    [
        ("getitem", "float32[2,3]", index("... ; ...")),
        ("getitem", "float32[2,3] bool[2]", index("{1}")),
        ("take_along_dim", "float32[2,3] int64[2]", {"dim": None}),
    ],
    ids=["second ellipsis", "size depends on the mask", "flattens by view"],
)
def test_inference_refuses_what_pytorch_accepts(op: str, types: str, attrs: Attrs) -> None:
    in_torch(op, types_of(types), attrs)
    with pytest.raises(Invalid):
        inferred(op, types_of(types), attrs)


# --- drawn calls


def test_every_kind_of_item_is_drawn_in_an_index() -> None:
    calls = drawn("getitem", 400)
    indices = [str(node.attrs["index"]) for _, node in calls]
    for part in ("'None'", "'...'", "'-", "'[", "::", "{1}", "{2}", "{3}", "()"):
        assert sum(part in text for text in indices) >= 4, part
    assert sum(0 in node.results[0].type.sizes for _, node in calls) > 10
    gaps = [node for _, node in calls if "{2}" in str(node.attrs["index"]) and node.results[0].type.rank]
    assert len({node.attrs["index"] for node in gaps}) > 20


@pytest.mark.parametrize("name", ["gather", "index_select", "embedding", "take", "take_along_dim", "getitem"])
def test_indices_reach_both_ends_of_a_dimension(name: str) -> None:
    sizes = {0: False, 1: False}
    for builder, _ in drawn(name, 60):
        for item in builder.inputs:
            if item.domain.bounds is Bounds.WITHIN:
                sizes[0] |= item.domain.low == 0
                sizes[1] |= item.domain.low < 0
    assert sizes[0] == (name not in ("take", "getitem"))
    assert sizes[1] == (name in ("take", "take_along_dim", "getitem"))


@pytest.mark.parametrize("name", ["getitem", "gather", "take", "embedding", "embedding_bag", "getitem_mask_sum"])
def test_drawn_calls_run(name: str) -> None:
    for builder, _ in drawn(name, 60):
        case: Case = with_values(builder)
        found = [tuple(out.shape) for out in run_case(case)]
        assert found == [type.sizes for type in case.graph.output_types], render(case.graph)


def test_embeddings_are_drawn_as_layers() -> None:
    texts = set()
    for name in ("embedding", "embedding_bag"):
        for builder, node in drawn(name, 80):
            if node.form is Form.MODULE:
                assert builder.inputs[0].role is Role.PARAM or builder.inputs[1].role is Role.PARAM
                texts.add(render(builder.graph()).partition("self.m0 = ")[2].partition("(")[0])
    assert texts == {"torch.nn.Embedding", "torch.nn.EmbeddingBag"}
