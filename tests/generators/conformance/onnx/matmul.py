"""Products of matrices."""

from __future__ import annotations

from conformance import Table

REFUSED: Table = [
    ("Gemm-13", "float32[2,3] float32[2,4]", {}, "the inner sizes of"),
    ("Gemm-13", "float32[2,3] float32[3,4] float32[3]", {}, "do not broadcast"),
    ("Gemm-13", "float32[2,3] float32[3,4] float32[5,2,4]", {}, "does not broadcast"),
    ("Gemm-13", "float32[2,0] float32[0,4] float32[4]", {"beta": 0.5}, "no products of"),
    ("Gemm-7", "int32[2,3] int32[3,4] int32[4]", {}, "A cannot be int32"),
    ("MatMul-13", "float32[2,3] float32[2,3]", {}, "does not fit"),
    ("MatMul-13", "float32[] float32[2,3]", {}, "takes ranks above 0"),
    ("MatMul-13", "float32[5,0,1,3] float32[5,1,3,4]", {}, "an empty product of"),
    ("MatMul-13", "float32[2,0] float32[5,0,4]", {}, "are sums of nothing"),
    ("MatMulInteger-10", "uint8[2,3] int8[3,4] uint8[2]", {}, "is no zero point of uint8[2,3]"),
    ("MatMulInteger-10", "uint8[2,3] int8[5,3,4] uint8[] int8[4]", {}, "is no zero point of int8[5,3,4]"),
    ("MatMulInteger16-1", "int16[0] int16[0,3]", {}, "are sums of nothing"),
    ("Einsum-12", "float32[2,3] float32[1,4]", {"equation": "ij,jk->ik"}, "j has sizes 1, 3"),
    ("Einsum-12", "float32[2,3] float32[3]", {"equation": "...i,...i->...i"}, "different numbers of dimensions"),
    ("Einsum-12", "float32[2,3]", {"equation": "...i->i"}, "has no ellipsis"),
    ("Einsum-12", "float32[0]", {"equation": "i->"}, "an operand is empty"),
]

RESULTS: Table = [
    ("Gemm-7", "float32[2,3] float32[3,4] float32[]", {}, "float32[2,4]"),
    ("Gemm-13", "float32[3,2] float32[4,3] float32[2,1]", {"transA": 1, "transB": 1}, "float32[2,4]"),
    ("Gemm-13", "float32[0,2] float32[2,3]", {}, "float32[0,3]"),
    ("MatMul-13", "float16[5,1,2,3] float16[4,3,6]", {}, "float16[5,4,2,6]"),
    ("MatMul-1", "float32[3] float32[3]", {}, "float32[]"),
    ("MatMul-9", "int32[2,3] int32[3]", {}, "int32[2]"),
    ("MatMulInteger-10", "uint8[2,3] int8[3,4] uint8[] int8[4]", {}, "int32[2,4]"),
    ("MatMulInteger-10", "uint8[2,3] int8[5,3,4] int8[5,1,4]", {"inputs": (True, True, False, True)}, "int32[5,2,4]"),
    ("MatMulInteger16-1", "int16[2,3] int16[3]", {}, "int32[2]"),
    ("Einsum-12", "float32[2,3] float32[3,4]", {"equation": "ij,jk"}, "float32[2,4]"),
    ("Einsum-12", "int64[7,2,2]", {"equation": "...ii->...i"}, "int64[7,2]"),
]
