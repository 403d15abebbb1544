"""Calls of small kernels that the module has, and of functions that are registered."""

from __future__ import annotations

from functools import partial

from generators.builder import Builder
from generators.graph import Attrs, DType, TensorType, Value
from generators.op import Arithmetic, Infer, Op, Operands, Terms, Types, Writing, one_term, require
from generators.relax.ops.operands import one, one_dtype
from generators.relax.packed import DPS, PURE
from generators.relax.row import FORMS, KernelForm, not_empty
from generators.relax.schema import PREFIX

_FLOATS = (DType.FLOAT32, DType.FLOAT64, DType.FLOAT16)


def _kernel(
    name: str,
    operands: Operands,
    infer: Infer,
    terms: Terms | None,
    arithmetic: Arithmetic,
    count: int = 1,
    how: str = "call_tir",
) -> Op:
    return Op(
        f"{PREFIX}{how}-{name}",
        operands,
        partial(not_empty, infer),
        KernelForm(name, how),
        arity=(count, count),
        terms=terms,
        arithmetic=arithmetic,
        forms={form: Writing(when) for form, when in FORMS.items()},
    )


def _alike(b: Builder) -> tuple[Value, ...]:
    x = b.tensor(_FLOATS, (1, 4))
    return x, b.pick(lambda t: t == x.type, lambda: x.type)


def _two(types: Types, attrs: Attrs) -> TensorType:
    one_dtype(types, *_FLOATS)
    require(types[0] == types[1] and types[0].rank > 0, "takes two tensors of one type")
    return types[0]


def _doubled(types: Types, attrs: Attrs) -> TensorType:
    require(types[0].dtype in _FLOATS and types[0].rank > 0, "takes floats")
    return types[0]


def _turned(types: Types, attrs: Attrs) -> TensorType:
    require(types[0].rank == 2, "takes matrices")
    return types[0].with_shape(*reversed(types[0].sizes))


def _rows(types: Types, attrs: Attrs) -> TensorType:
    require(types[0].rank == 2 and types[0].dtype in _FLOATS, "takes matrices of floats")
    return types[0].with_shape(types[0].sizes[0])


OPS = (
    *(
        row
        for how in ("call_tir", PURE, DPS)
        for row in (
            _kernel("double", one(_FLOATS, (1, 4)), _doubled, one_term, Arithmetic.EXACT_WHERE_HELD, how=how),
            _kernel("difference", _alike, _two, one_term, Arithmetic.EXACT_WHERE_HELD, 2, how),
        )
    ),
    _kernel("turn", one(_FLOATS, (2, 2)), _turned, None, Arithmetic.FUNCTION),
    _kernel(
        "row_sum", one(_FLOATS, (2, 2)), _rows, lambda types, attrs: max(1, types[0].sizes[1]), Arithmetic.SUM_IN_ANY
    ),
)
