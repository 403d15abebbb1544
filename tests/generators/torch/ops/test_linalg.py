"""Matrix products and contractions: refused calls, corner cases, drawn calls, and equal results in every form."""

from __future__ import annotations

import pytest
import torch
from eager import in_torch, inferred, types_of
from form_comparison import compare_forms

from generators.builder import Builder, Limits
from generators.choice import NumpySource
from generators.graph import Attrs, DType, Form, Invalid, Node
from generators.torch.ops import TABLE, linalg
from generators.torch.ops.einsum import PATTERNS
from generators.torch.source import render

REFUSALS = (RuntimeError, IndexError, ValueError, TypeError)
ONES: Attrs = {"beta": 1, "alpha": 1}


pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")


def dims(left: tuple[int, ...], right: tuple[int, ...]) -> Attrs:
    return {"dims_self": left, "dims_other": right}


def equation(text: str) -> Attrs:
    return {"equation": text}


BOTH_REFUSE = [
    ("linear", "float32[2,3] float32[4,2]", {}, "does not fit the weight"),
    ("linear", "float32[2,3] float64[4,3]", {}, "must share one dtype"),
    ("linear", "float32[2,3] float32[4,3] float32[3]", {}, "the bias must be [4]"),
    ("linear", "float32[2,3] float32[3] float32[]", {}, "a weight of rank 1 goes without a bias"),
    ("linear", "float32[2,3] float32[2,4,3]", {}, "the weight must have rank 1 or 2"),
    ("linear", "bool[2,3] bool[4,3]", {}, "is not defined for bool"),
    ("matmul", "float32[2,3] float32[2,3]", {}, "does not fit"),
    ("matmul", "float32[] float32[2]", {}, "ranks above 0"),
    ("matmul", "float32[2] int64[2]", {}, "must share one dtype"),
    ("matmul", "int64[2] int32[2]", {}, "must share one dtype"),
    ("matmul", "float32[2,1,3] float32[3,3,1]", {}, "do not broadcast"),
    ("mm", "float32[1,2,3] float32[3,2]", {}, "rank 2 and 2"),
    ("bmm", "float32[2,3,4] float32[3,4,5]", {}, "does not fit"),
    ("bmm", "float32[2,3] float32[3,2]", {}, "rank 3"),
    ("bmm", "float32[1,2,3] float32[2,3,2]", {}, "does not fit"),
    ("mv", "float32[2,3] float32[2]", {}, "does not fit"),
    ("dot", "float32[3] float32[1]", {}, "does not fit"),
    ("addmm", "float32[2] float32[2,3] float32[3,4]", ONES, "do not broadcast"),
    ("addmm", "float64[4] float32[2,3] float32[3,4]", ONES, "must share one dtype"),
    ("addmm", "int8[4] int8[2,3] int8[3,4]", {"beta": 1, "alpha": 300}, "out of the range of int8"),
    ("addmv", "float32[1,4] float32[4,3] float32[3]", ONES, "does not expand"),
    ("addbmm", "float32[5,2,4] float32[5,2,3] float32[5,3,4]", ONES, "does not expand"),
    ("addr", "int64[2,3] int64[2] int64[3]", {"beta": 0.5, "alpha": 1}, "is no integer"),
    ("addr", "float32[2,3] float32[2] float32[3]", {"beta": False, "alpha": 1}, "is for bool only"),
    ("chain_matmul", "float32[3] float32[3,2]", {}, "operand 0 must have rank 2"),
    ("linalg_multi_dot", "float32[2,3] float32[3] float32[3,2]", {}, "operand 1 must have rank 2"),
    ("linalg_multi_dot", "float32[2,3] float64[3,2]", {}, "must share one dtype"),
    ("matrix_power", "float32[2,3]", {"n": 2}, "square matrices"),
    ("matrix_power", "bool[2,2]", {"n": 2}, "no product is defined for bool"),
    ("trace", "float32[2,2,2]", {}, "takes a matrix"),
    ("inner", "float32[2,3] float32[2]", {}, "the last sizes"),
    ("inner", "float32[2,3] float64[3]", {}, "must share one dtype"),
    ("outer", "float32[2,1] float32[3]", {}, "two vectors"),
    ("cross", "float32[2,2] float32[2,2]", {"dim": None}, "no dimension of size 3"),
    ("cross", "float32[3,2] float32[1,2]", {"dim": 0}, "must have size 3"),
    ("linalg_cross", "float32[2,3] float32[3]", {"dim": -1}, "different ranks"),
    ("linalg_cross", "float32[3] int64[3]", {"dim": 0}, "must share one dtype"),
    ("linalg_vecdot", "float32[3] float32[1]", {"dim": -1}, "does not broadcast vectors"),
    ("linalg_vecdot", "int64[3] int64[3]", {"dim": -1}, "is not defined for int64"),
    ("tensordot", "float32[2] float32[2]", {"dims": 2}, "no 2 dimensions"),
    ("tensordot", "float32[2] float32[2]", {"dims": -1}, "no -1 dimensions"),
    ("tensordot", "float32[2,3] float32[2]", {"dims": 1}, "do not match"),
    ("tensordot_dims", "float32[2,2] float32[2,2]", dims((0, -2), (0, 1)), "repeat an axis"),
    ("tensordot_dims", "float32[2,2] float32[2,2]", dims((0, 1), (0,)), "as many dimensions"),
    ("tensordot_dims", "float32[] float32[]", dims((0,), (0,)), "has no dimensions"),
    ("einsum", "float32[2,3]", equation("ij->ijk"), "a letter that no operand has"),
    ("einsum", "float32[2,3]", equation("ij->ii"), "a letter twice"),
    ("einsum", "float32[2,3,4]", equation("ij->i"), "does not stand for 3 dimensions"),
    ("einsum", "float32[3]", equation("...ij->i"), "more than 1 dimensions"),
    ("einsum", "float32[2,1]", equation("ii->i"), "two sizes"),
    ("einsum", "float32[2,3]", equation("i.j->i"), "stray dot"),
    ("einsum", "float32[2,3]", equation("ij,jk->ik"), "for 2 operands, not 1"),
    ("einsum", "float32[2,3] float32[4,5]", equation("ij,jk->ik"), "sizes 3 and 4"),
    ("einsum", "float32[2,3] float64[3,4]", equation("ij,jk->ik"), "must share one dtype"),
    ("einsum", "bool[2,3] bool[3,4]", equation("ij,jk->ik"), "is not defined for bool"),
    ("einsum", "int32[2,3] int32[2,4]", equation("ij,ik->j"), "is not defined for int32"),
]  # fmt: skip

STRICTER = [
    ("integers cut a float off", "addmm", "int64[4] int64[2,3] int64[3,4]", {"beta": 0.5, "alpha": 1}),
    ("PyTorch gives float32[]", "addmv", "float32[] float32[2,0] float32[0]", ONES),
    ("PyTorch gives float32[1]", "addmv", "float32[1] float32[0,3] float32[3]", ONES),
    ("an inverse is ill conditioned", "matrix_power", "float32[1,1]", {"n": -1}),
    ("PyTorch gives int64", "einsum", "int32[2,3] int32[4]", equation("ij,k->k")),
    ("no documented bias", "linear", "float32[2,3] float32[4,3] float32[2,4]", {}),
]


@pytest.mark.parametrize(("op", "types", "attrs", "message"), BOTH_REFUSE)
def test_pytorch_and_inference_refuse(op: str, types: str, attrs: Attrs, message: str) -> None:
    with pytest.raises(REFUSALS):
        in_torch(op, types_of(types), attrs)
    with pytest.raises(Invalid) as error:
        inferred(op, types_of(types), attrs)
    assert message in str(error.value)


@pytest.mark.parametrize(("op", "types", "attrs"), [row[1:] for row in STRICTER], ids=[row[0] for row in STRICTER])
def test_inference_refuses_what_pytorch_accepts(op: str, types: str, attrs: Attrs) -> None:
    in_torch(op, types_of(types), attrs)
    with pytest.raises(Invalid):
        inferred(op, types_of(types), attrs)


@pytest.mark.parametrize(
    ("op", "types", "attrs", "result"),
    [
        ("linear", "float64[3] float64[4,3] float64[]", {}, "float64[4]"),
        ("linear", "int8[2,5,3] int8[3]", {}, "int8[2,5]"),
        ("linear", "float32[2,0] float32[4,0] float32[4]", {}, "float32[2,4]"),
        ("matmul", "uint8[3] uint8[3]", {}, "uint8[]"),
        ("matmul", "bfloat16[3] bfloat16[2,3,4]", {}, "bfloat16[2,4]"),
        ("matmul", "int64[5,1,2,3] int64[4,3,2]", {}, "int64[5,4,2,2]"),
        ("matmul", "float32[2,0] float32[0,3]", {}, "float32[2,3]"),
        ("addmm", "float32[] float32[2,3] float32[3,4]", {"beta": 0, "alpha": 2}, "float32[2,4]"),
        ("addbmm", "float16[2,1] float16[0,2,3] float16[0,3,4]", ONES, "float16[2,4]"),
        ("baddbmm", "uint8[4] uint8[5,2,3] uint8[5,3,4]", {"beta": 2, "alpha": -1}, "uint8[5,2,4]"),
        ("addmv", "float32[] float32[4,3] float32[3]", {"beta": 0.5, "alpha": -1}, "float32[4]"),
        ("addr", "float64[] float16[2] bfloat16[3]", ONES, "float64[2,3]"),
        ("addr", "bool[2,3] bool[2] bool[3]", {"beta": False, "alpha": 2}, "bool[2,3]"),
        ("chain_matmul", "int16[2,3]", {}, "int16[2,3]"),
        ("linalg_multi_dot", "float32[0] float32[0,3] float32[3]", {}, "float32[]"),
        ("matrix_power", "bool[2,0,0]", {"n": 0}, "bool[2,0,0]"),
        ("trace", "uint8[2,0]", {}, "int64[]"),
        ("inner", "int64[2,3] float32[]", {}, "float32[2,3]"),
        ("inner", "float32[2,0] float32[3,0]", {}, "float32[2,3]"),
        ("outer", "float16[2] bfloat16[3]", {}, "float32[2,3]"),
        ("kron", "bool[2] uint8[3,4,5]", {}, "uint8[3,4,10]"),
        ("kron", "float32[2,3] float64[]", {}, "float64[2,3]"),
        ("cross", "int8[3,3] int8[3,1]", {"dim": None}, "int8[3,3]"),
        ("linalg_cross", "float32[0,3] float32[1,3]", {"dim": -1}, "float32[0,3]"),
        ("linalg_vecdot", "float32[] float32[]", {"dim": 0}, "float32[]"),
        ("linalg_vecdot", "float32[4] float32[2,3,1]", {"dim": -3}, "float32[3,4]"),
        ("tensordot", "int32[2,1] int32[3,4]", {"dims": 1}, "int32[2,4]"),
        ("tensordot", "float32[] float32[]", {"dims": 0}, "float32[]"),
        ("tensordot_dims", "float32[2,3,4] float32[4,2]", dims((-1, 0), (0, 1)), "float32[3]"),
        ("einsum", "float32[2,3]", equation("ba"), "float32[3,2]"),
        ("einsum", "float32[2,3] float32[3,4]", equation("aB,BC"), "float32[4,2]"),
        ("einsum", "int8[2,2]", equation("ii"), "int64[]"),
        ("einsum", "bool[2,2]", equation("ii->i"), "bool[2]"),
        ("einsum", "float32[2,3]", equation("...i->i"), "float32[3]"),
        ("einsum", "float32[2,3,4] float32[4,5,1]", equation("...ij,jk...->...ik"), "float32[2,3,5]"),
        ("einsum", "int16[2,3] int16[3,4]", equation("ij, jk -> ki"), "int16[4,2]"),
        ("einsum", "float32[2,1] float32[3,4]", equation("ij,jk->ik"), "float32[2,4]"),
        ("einsum", "uint8[2] int8[2]", equation("i,j->ij"), "int16[2,2]"),
        ("einsum", "float32[2,3]", equation("ij->i..."), "float32[2]"),
    ],
)
def test_corners(op: str, types: str, attrs: Attrs, result: str) -> None:
    assert inferred(op, types_of(types), attrs) == in_torch(op, types_of(types), attrs) == result


@pytest.mark.parametrize("op", [op.name for op in linalg.OPS if op.forms])
@pytest.mark.exhaustive
def test_every_form_gives_the_results_of_the_plain_form(op: str) -> None:
    compared, wrong = compare_forms(TABLE[op], 60)
    assert wrong == []
    assert all(compared[form] for form in TABLE[op].forms)


def drawn(op: str, count: int) -> list[Node]:
    builders = [Builder(NumpySource(4, index), Limits(max_numel=512)) for index in range(count)]
    return [builder.nodes[-1] for builder in builders if builder.grow(TABLE[op])]


def test_matmul_is_drawn_for_all_kinds_of_ranks() -> None:
    builders = [Builder(NumpySource(4, index), Limits(max_numel=512)) for index in range(300)]
    ranks = {
        tuple(min(t.rank, 3) for t in b.graph().arg_types(b.nodes[-1])) for b in builders if b.grow(TABLE["matmul"])
    }
    assert ranks == {(a, c) for a in (1, 2, 3) for c in (1, 2, 3)}


def test_equations_of_patterns_and_others_are_drawn() -> None:
    equations = {str(node.attrs["equation"]) for node in drawn("einsum", 1000)}
    assert len(equations.intersection(PATTERNS)) > 0.9 * len(PATTERNS)
    assert len(equations.difference(PATTERNS)) > 100
    assert any("..." in text for text in equations)


@pytest.mark.parametrize("name", ["addmm", "addbmm", "baddbmm", "addmv", "addr"])
def test_sums_of_products_are_drawn_in_place(name: str) -> None:
    in_place = 0
    for index in range(200):
        builder = Builder(NumpySource(5, index), Limits(max_numel=512))
        builder.grow(TABLE["add_scalar"])
        builder.grow(TABLE[name], connected=True)
        in_place += builder.nodes[-1].form is Form.INPLACE
    assert in_place


def test_the_source_of_a_linear_layer() -> None:
    for index in range(200):
        builder = Builder(NumpySource(3, index), Limits(max_numel=512))
        if builder.grow(TABLE["linear"]) and builder.nodes[-1].form is Form.MODULE and len(builder.inputs) == 3:
            break
    x, weight, _ = (item.value.type for item in builder.inputs)
    lines = [line.strip() for line in render(builder.graph()).splitlines()]
    assert f"self.m0 = torch.nn.Linear({x.sizes[-1]}, {weight.sizes[0]})" in lines
    assert "self.m0.weight = torch.nn.Parameter(w0)" in lines
    assert "self.m0.bias = torch.nn.Parameter(w1)" in lines


def test_kron_accepts_operands_of_any_memory_layout() -> None:
    x = torch.ones(6).as_strided((1, 1, 2), (5, 1, 3))
    scope = {"torch": torch, "a0": x, "a1": torch.ones(3, 1, 1).transpose(0, 2)}
    assert eval(TABLE["kron"].render(("a0", "a1"), {}), scope).shape == (1, 1, 6)


def test_einsum_is_drawn_for_every_dtype() -> None:
    dtypes = {result.type.dtype for node in drawn("einsum", 400) for result in node.results}
    assert dtypes == set(DType)
