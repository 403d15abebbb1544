"""Reading at positions: indexing syntax with its corner cases, gather and similar operators, embeddings, masks."""

from __future__ import annotations

import pytest
from conformance.torch.index import index
from eager import in_torch, inferred, run_case, types_of

from generators.builder import Builder, Limits
from generators.choice import NumpySource
from generators.domain import Bounds
from generators.graph import Attr, Case, Form, Node, Role
from generators.random_graph import with_values
from generators.torch.ops import TABLE
from generators.torch.ops.indexing import INDEX
from generators.torch.source import render


def drawn(name: str, count: int) -> list[tuple[Builder, Node]]:
    found = []
    for number in range(count):
        builder = Builder(NumpySource(2, number), Limits(max_numel=512))
        if builder.grow(TABLE[name]):
            found.append((builder, builder.nodes[-1]))
    return found


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


# --- drawn calls


@pytest.mark.slow
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
