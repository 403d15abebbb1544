"""Writing at positions: scatter and similar operators, assignment, slices and diagonals."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from conformance.torch.scatter import DIAGONAL, SLICE, index, reduce
from eager import in_torch, inferred, run_case, types_of

from fuzzer.lanes.base.arrays import to_torch
from generators.builder import Builder, Limits
from generators.choice import NumpySource
from generators.graph import Attrs, Case, Form, Node
from generators.random_graph import with_values
from generators.torch.ops import TABLE
from generators.torch.ops.indexing import subscript


def drawn(name: str, count: int) -> list[tuple[Builder, Node]]:
    calls = []
    for number in range(count):
        builder = Builder(NumpySource(2, number), Limits(max_numel=512))
        if builder.grow(TABLE[name]):
            calls.append((builder, builder.nodes[-1]))
    return calls


# --- inference: the result always has the type of the first operand


@pytest.mark.parametrize(
    ("op", "types", "attrs"),
    [
        ("scatter", "int8[2,3] int32[2,2] int8[2,4]", {"dim": 1, "reduce": None}),
        ("scatter", "bool[2,3] int64[5,2] bool[5,3]", {"dim": 0, "reduce": "add"}),
        ("scatter", "float32[2,3] int64[0,9] float32[7]", {"dim": 0, "reduce": None}),
        ("scatter_value", "int64[2,3] int64[2,2]", {"dim": 0, "value": 2.5, "reduce": "multiply"}),
        ("scatter_value", "float32[] int64[]", {"dim": -1, "value": True, "reduce": None}),
        ("scatter_add", "bool[2,3] int64[2,3] bool[2,3]", {"dim": 1}),
        ("scatter_reduce", "uint8[2,3] int64[2,3] uint8[2,3]", reduce("mean", False)),
        ("scatter_prod", "float16[2] int64[3] float16[4]", {"dim": 0, "include_self": False}),
        ("index_add", "int16[2,3] int32[4] int16[4,3]", {"dim": 0, "alpha": -2}),
        ("index_add", "float32[2] int64[] float32[1]", {"dim": 0, "alpha": 0.5}),
        ("index_copy", "bfloat16[2,3] int64[2] bfloat16[2,2]", {"dim": 1}),
        ("index_reduce", "bool[2,3] int64[2] bool[2,3]", reduce("amax")),
        ("index_prod", "float16[2] int64[2] float16[2]", {"dim": 0, "include_self": True}),
        ("index_prod", "bfloat16[2,3] int64[0] bfloat16[0,3]", {"dim": 0, "include_self": True}),
        ("index_fill", "bool[2,3] int64[]", {"dim": 1, "value": -2.5}),
        ("index_fill_tensor", "int8[] int64[3] float64[]", {"dim": 0}),
        ("put", "int64[2,3] int64[2,2] int64[4]", {"accumulate": True}),
        ("index_put", "float32[2,3] int64[2,1] int64[3] float32[]", {"accumulate": False}),
        ("setitem", "float32[2,3] float64[1,1,3]", index("1")),
        ("setitem", "float32[2,3] int8[]", index("... ; None ; ::2")),
        ("setitem", "float32[2,3] float32[1,2,1] int64[2] int32[2,1]", index("{2} ; {3}")),
        ("setitem", "float32[2,3] int64[1] bool[2,3]", index("{2}")),
        ("setitem", "float32[2,3,4] float32[1,4] bool[3]", index("0 ; {2}")),
        ("setitem", "float32[0,3] float32[3] int64[0]", index("{2}")),
        ("setitem_scalar", "uint8[2,3] bool[3]", index(": ; {1}", value=2.5)),
        ("setitem_scalar", "float16[2,3]", index("[0, 0] ; [1, -2]", value=True)),
        ("setitem_update", "float16[2,3] float32[1]", index("0", operator="*=")),
        ("setitem_update", "int8[2,3] int64[3] int64[2]", index("{2}", operator="-=")),
        ("setitem_update", "bool[2,3] bool[]", index("0 ; 0", operator="+=")),
        ("setitem_update", "int8[2,3] int64[] bool[2,3]", index("{2}", operator="-=")),
        ("masked_scatter", "float32[2,3] bool[3] float32[7]", {}),
        ("copy", "int8[2,3] float32[3]", {"non_blocking": True}),
        ("fill_diagonal", "bool[2,2,2]", {"fill_value": 0.5, "wrap": False}),
        ("fill_diagonal", "float32[7,2]", {"fill_value": 1, "wrap": True}),
        ("slice_scatter", "int8[5,2] float32[2,2]", {"dim": 0, "start": -4, "end": 9, "step": 2}),
        ("slice_scatter", "float32[5] bool[0]", {**SLICE, "start": 7}),
        ("select_scatter", "float32[5,2] int64[5]", {"dim": -1, "index": -2}),
        ("diagonal_scatter", "float32[3,4] bool[2]", {**DIAGONAL, "offset": 2}),
        ("diagonal_scatter", "float32[2,3,4] float32[3,0]", {"offset": -4, "dim1": 2, "dim2": 0}),
    ],
)
def test_both_accept(op: str, types: str, attrs: Attrs) -> None:
    operands = types_of(types)
    if op == "index_put":  # the value is last in the table, where it is easier to read
        operands = (operands[0], operands[-1], *operands[1:-1])
    assert inferred(op, operands, attrs) == str(operands[0])
    assert in_torch(op, operands, attrs, number=0) == str(operands[0])


def test_pytorch_cannot_multiply_expanded_slices_of_half_precision() -> None:
    """Inference refuses half precision, because a type does not contain the memory layout of the source."""
    x, source = torch.zeros(6, 6, dtype=torch.bfloat16), torch.zeros(1, 3, dtype=torch.bfloat16).expand(6, 3)
    with pytest.raises(RuntimeError, match="INTERNAL ASSERT FAILED"):
        torch.index_reduce(x, -1, torch.tensor([0, 1, 2]), source, "prod")


# --- source texts


@pytest.mark.parametrize(
    ("op", "attrs", "form", "text"),
    [
        ("setitem", index("0 ; {2}"), Form.PLAIN, "{out} = v0.clone()\n{out}[0, x2] = x1"),
        ("setitem", index("0 ; {2}"), Form.INPLACE, "{out} = v0\n{out}[0, x2] = x1"),
        ("setitem_scalar", index("{1}", value=0.5), Form.INPLACE, "{out} = v0\n{out}[x1] = 0.5"),
        ("setitem_update", index("...", operator="*="), Form.PLAIN, "{out} = v0.clone()\n{out}[...] *= x1"),
        ("index_put", {"accumulate": True}, Form.PLAIN, "torch.index_put(v0, (x2,), x1, accumulate=True)"),
        ("index_put", {"accumulate": False}, Form.INPLACE, "v0.index_put_((x2,), x1)"),
        ("scatter", {"dim": 1, "reduce": None}, Form.PLAIN, "torch.scatter(v0, 1, x1, x2)"),
        ("scatter_reduce", reduce("amax"), Form.METHOD, "v0.scatter_reduce(0, x1, x2, 'amax')"),
        ("scatter_prod", {"dim": 0, "include_self": True}, Form.INPLACE, 'v0.scatter_reduce_(0, x1, x2, "prod")'),
        ("index_add", {"dim": 0, "alpha": 2}, Form.INPLACE, "v0.index_add_(0, x1, x2, alpha=2)"),
        ("fill_diagonal", {"fill_value": 1, "wrap": False}, Form.INPLACE, "v0.fill_diagonal_(1)"),
        ("slice_scatter", {**SLICE, "end": 2}, Form.METHOD, "v0.slice_scatter(x1, end=2)"),
    ],
)  # fmt: skip
def test_source_texts_of_forms(op: str, attrs: Attrs, form: Form, text: str) -> None:
    assert TABLE[op].render(("v0", "x1", "x2"), attrs, form) == text


def test_wrapping_writes_to_a_contiguous_copy() -> None:
    wrapped: Attrs = {"fill_value": 1, "wrap": True}
    row = TABLE["fill_diagonal"]
    assert not row.expresses(Form.INPLACE, types_of("float32[7,2]"), wrapped)
    scope = {"v0": torch.zeros(2, 7).T}
    exec(row.render(("v0",), wrapped).replace("{out}", "out"), scope)
    assert scope["out"][:, 0].tolist() == [1, 0, 0, 1, 0, 0, 1]


# --- drawn calls


def positions(case: Case, node: Node) -> torch.Tensor:
    """Return the flat indices of the elements that a node writes, with repetitions."""
    tensors = {name: to_torch(array) for name, array in case.tensors.items()}
    shape = case.graph.types[node.args[0]].sizes
    flat = torch.arange(case.graph.types[node.args[0]].numel).reshape(shape)
    operands = [tensors[name] for name in node.args[1:]]
    attrs: dict[str, Any] = dict(node.attrs)
    match node.op:
        case "scatter":
            return flat.gather(attrs["dim"], operands[0].long())
        case "index_copy":
            return flat.index_select(attrs["dim"], operands[0])
        case "put":
            return flat.take(operands[0])
        case "index_put":
            return flat[tuple(operands[1:])]
    names = tuple(f"a{i}" for i in range(len(node.args)))
    scope = {"flat": flat, **dict(zip(names[1:], operands, strict=True))}
    written: torch.Tensor = eval(f"flat[{subscript(names, node.attrs)}]", scope)
    return written


@pytest.mark.parametrize("name", ["scatter", "index_copy", "put", "index_put", "setitem", "setitem_update"])
def test_no_element_is_written_twice(name: str) -> None:
    several = 0
    for builder, node in drawn(name, 150):
        case = with_values(builder)
        computed = any(arg in case.graph.types and arg.startswith("v") for arg in node.args)
        if computed or node.attrs.get("accumulate") or node.attrs.get("reduce"):
            continue
        written = positions(case, node).flatten()
        assert len(written.unique()) == len(written)
        several += len(written) > 1
    assert several > 20


@pytest.mark.parametrize(
    "name", ["scatter", "scatter_add", "scatter_reduce", "index_add", "put", "index_put", "setitem", "setitem_scalar"]
)
def test_drawn_calls_run(name: str) -> None:
    for builder, _ in drawn(name, 60):
        case = with_values(builder)
        assert [tuple(out.shape) for out in run_case(case)] == [type.sizes for type in case.graph.output_types]


@pytest.mark.slow
@pytest.mark.parametrize("name", ["setitem", "setitem_scalar", "setitem_update"])
def test_masks_and_tensors_are_drawn(name: str) -> None:
    masks = tensors = plain = 0
    for builder, node in drawn(name, 200):
        types = [str(builder.graph().types[arg].dtype) for arg in node.args]
        indexed = sum("{" in item for item in node.attrs["index"])
        masks += indexed == 1 and types[-1] == "bool"
        tensors += indexed > 0 and types[-1] != "bool"
        plain += indexed == 0
    assert min(masks, tensors, plain) > 20


@pytest.mark.parametrize("name", ["scatter", "put", "index_put"])
def test_operators_that_accumulate_may_write_an_element_twice(name: str) -> None:
    repeated = 0
    for builder, node in drawn(name, 300):
        case = with_values(builder)
        if all(arg in case.tensors for arg in node.args) and (node.attrs.get("accumulate") or node.attrs.get("reduce")):
            written = positions(case, node).flatten()
            repeated += len(written.unique()) < len(written)
    assert repeated > 10


def test_terms_count_the_added_elements() -> None:
    def terms(name: str, types: str, attrs: Attrs) -> int:
        row = TABLE[name]
        assert row.terms is not None
        return row.terms(types_of(types), attrs)

    assert terms("scatter_add", "float32[2,3] int64[2,5] float32[2,5]", {"dim": 1}) == 6
    assert terms("scatter_reduce", "float32[2] int64[5] float32[5]", reduce("amax")) == 1
    assert terms("scatter_reduce", "float32[] int64[5] float32[5]", reduce("mean")) == 6
    assert terms("index_add", "float32[2,3] int64[4] float32[4,3]", {"dim": 0, "alpha": 1}) == 5
    assert terms("index_put", "float32[2,3] float32[] int64[2,1] int64[3]", {"accumulate": True}) == 7
    assert TABLE["setitem"].terms is None
