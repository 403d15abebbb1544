"""Matrix products and contractions."""

from __future__ import annotations

from conformance import Table
from generators.graph import Attrs

ONES: Attrs = {"beta": 1, "alpha": 1}


def dims(left: tuple[int, ...], right: tuple[int, ...]) -> Attrs:
    return {"dims_self": left, "dims_other": right}


def equation(text: str) -> Attrs:
    return {"equation": text}


REFUSED: Table = [
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
]

STRICTER: Table = [
    # integers cut a float off
    ("addmm", "int64[4] int64[2,3] int64[3,4]", {"beta": 0.5, "alpha": 1}, "beta=0.5 is no integer"),
    # PyTorch gives float32[]
    ("addmv", "float32[] float32[2,0] float32[0]", ONES, "float32[] is not expanded to float32[2]"),
    # PyTorch gives float32[1]
    ("addmv", "float32[1] float32[0,3] float32[3]", ONES, "float32[1] is not expanded to float32[0]"),
    # an inverse is ill conditioned
    ("matrix_power", "float32[1,1]", {"n": -1}, "the power must not be negative"),
    # PyTorch gives int64
    ("einsum", "int32[2,3] int32[4]", equation("ij,k->k"), "is not defined for int32"),
    # no documented bias
    ("linear", "float32[2,3] float32[4,3] float32[2,4]", {}, "the bias must be [4], [1] or []"),
]

RESULTS: Table = [
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
]
