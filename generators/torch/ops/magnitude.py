"""Norms of vectors and matrices, and the distances between all rows of a matrix."""

from __future__ import annotations

from generators.choice import ChoiceSource
from generators.graph import FLOATS, Attr, Attrs, DType, Form, TensorType
from generators.op import (
    BOOL,
    INTS,
    NUMBER,
    OPTIONAL_DTYPE,
    AttrKind,
    Op,
    Spelling,
    Types,
    dtype_of,
    ints_of,
    number_text,
    require,
)
from generators.torch.ops.axes import DIMS, draw_dims, left, reduced, require_elements, terms
from generators.torch.ops.operands import one
from generators.torch.ops.rules import SINGLE_AND_DOUBLE, axes_of, promote, require_dtype

# --- orders

_ENDS = ("inf", "-inf")


def _order(value: Attr) -> float:
    """Return the order as a number. Case files store infinities as text."""
    assert isinstance(value, int | float | str)
    return float(value)


def _order_text(value: Attr) -> str:
    return number_text(_order(value)) if value in _ENDS else repr(value)


def _orders(*names: str) -> AttrKind:
    return AttrKind(f"a finite number, {', '.join(names)}", lambda v: v in names or NUMBER.accepts(v), _order_text)


ORDER = _orders(*_ENDS)
ORDER_OR_FRO = _orders("fro", *_ENDS)
_MATRIX_ORDERS: tuple[int | str, ...] = (1, -1, "fro", *_ENDS)
MATRIX_ORDER = AttrKind(
    f"one of {_MATRIX_ORDERS}", lambda v: v in _MATRIX_ORDERS and not isinstance(v, bool), _order_text
)


def _draw_order(source: ChoiceSource, types: Types) -> int | float | str:
    """Norms of order below 1 may be too large for float16."""
    drawn: tuple[int | float | str, ...] = (2, 2.0, 1, 1.0, 3, 0, *_ENDS, -1, 1.5)
    return source.choice(drawn if types[0].dtype is DType.FLOAT16 else (*drawn, 0.5))


# --- norms


def _widened(x: TensorType, attrs: Attrs) -> DType:
    """A norm may be computed in a dtype that holds all numbers of the operand's dtype."""
    if attrs["dtype"] is None:
        return x.dtype
    dtype = dtype_of(attrs)
    require(dtype.is_float, f"there is no norm in {dtype}")
    require(promote([x, x.with_dtype(dtype)]) is dtype, f"norms of {x.dtype} are not taken in {dtype}")
    return dtype


def _draw_wider(source: ChoiceSource, x: TensorType) -> str | None:
    fitting = [dtype for dtype in FLOATS if promote([x, x.with_dtype(dtype)]) is dtype]
    return None if source.chance(60) else source.choice(fitting).value


def _norm_of(types: Types, attrs: Attrs, order: float) -> TensorType:
    require_dtype(types, *FLOATS)
    (x,) = types
    axes = reduced(x, attrs["dim"])
    if order < 0 or order == float("inf"):
        require_elements(x, axes)
    return TensorType(_widened(x, attrs), left(x, axes, attrs["keepdim"]))


def _vector_norm(types: Types, attrs: Attrs) -> TensorType:
    return _norm_of(types, attrs, _order(attrs["ord"]))


def _norm(types: Types, attrs: Attrs) -> TensorType:
    p, dim = attrs["p"], attrs["dim"]
    require(p != "fro" or not isinstance(dim, tuple) or len(dim) <= 2, "the Frobenius norm takes at most two dims")
    return _norm_of(types, attrs, 2.0 if p == "fro" else _order(p))


def _matrix_norm(types: Types, attrs: Attrs) -> TensorType:
    """Orders 1 and -1 choose the column with the largest or smallest sum, infinite orders choose the row."""
    require_dtype(types, *FLOATS)
    (x,), dims = types, ints_of(attrs, "dim")
    require(x.rank >= 2 and len(dims) == 2, f"takes two dims of a rank of 2 or more, not {dims} of {x}")
    rows, columns = axes_of(dims, x.rank)
    if attrs["ord"] in (-1, "-inf"):
        require_elements(x, [columns if attrs["ord"] == -1 else rows])
    return TensorType(_widened(x, attrs), left(x, (rows, columns), attrs["keepdim"]))


def _pdist(types: Types, attrs: Attrs) -> TensorType:
    """Stricter than PyTorch, which accepts half precision if there are no distances."""
    require_dtype(types, *SINGLE_AND_DOUBLE)
    require(_order(attrs["p"]) >= 0, "takes a p of at least 0")
    (x,) = types
    require(x.rank == 2, f"takes rank 2, not {x}")
    rows = x.sizes[0]
    return x.with_shape(rows * (rows - 1) // 2)


def _draw_norm(source: ChoiceSource, types: Types) -> dict[str, Attr]:
    return {"dim": draw_dims(source, types), "keepdim": source.chance(40), "dtype": _draw_wider(source, types[0])}


def _vector_norm_attrs(source: ChoiceSource, types: Types) -> Attrs:
    return {"ord": _draw_order(source, types), **_draw_norm(source, types)}


def _norm_attrs(source: ChoiceSource, types: Types) -> Attrs:
    return {"p": "fro" if source.chance(30) else _draw_order(source, types), **_draw_norm(source, types)}


def _matrix_norm_attrs(source: ChoiceSource, types: Types) -> Attrs:
    rank = types[0].rank
    rows, columns = (axis - rank if source.chance(50) else axis for axis in source.some(range(rank), 2, 2))
    dim = (-2, -1) if source.chance(40) else (rows, columns)
    return {**_draw_norm(source, types), "ord": source.choice(_MATRIX_ORDERS), "dim": dim}


def _pdist_attrs(source: ChoiceSource, types: Types) -> Attrs:
    orders: tuple[float | str, ...] = (2.0, 2.0, 2.0, 1.0, 3.0, 0.5, 0.0, "inf")
    return {"p": source.choice(orders)}


_NORM = {"keepdim": BOOL, "dtype": OPTIONAL_DTYPE}
_DEFAULTS: Attrs = {"dim": None, "keepdim": False, "dtype": None}

OPS = (
    Op(
        "norm",
        one(FLOATS),
        _norm,
        "torch.norm({0}{more})",
        _norm_attrs,
        {"p": ORDER_OR_FRO, "dim": DIMS, **_NORM},
        {**_DEFAULTS, "p": "fro"},
        terms=terms,
        forms={Form.METHOD: "{0}.norm({p}, {dim}, {keepdim}, dtype={dtype})"},
        plainer="mean",
    ),
    Op(
        "linalg_vector_norm",
        one(FLOATS),
        _vector_norm,
        "torch.linalg.vector_norm({0}{more})",
        _vector_norm_attrs,
        {"ord": ORDER, "dim": DIMS, **_NORM},
        {**_DEFAULTS, "ord": 2},
        terms=terms,
        forms={
            Form.FUNCTION: Spelling(
                "torch.linalg.norm({0}, ord={ord}, dim={dim}{more})",
                lambda types, attrs: isinstance(attrs["dim"], int),
            )
        },
        plainer="mean",
    ),
    Op(
        "linalg_matrix_norm",
        one(FLOATS, ranks=(2, 5)),
        _matrix_norm,
        "torch.linalg.matrix_norm({0}{more})",
        _matrix_norm_attrs,
        {"ord": MATRIX_ORDER, "dim": INTS, **_NORM},
        {**_DEFAULTS, "ord": "fro", "dim": (-2, -1)},
        terms=terms,
        forms={Form.FUNCTION: "torch.linalg.norm({0}, ord={ord}, dim={dim}{more})"},
        plainer="mean",
    ),
    Op(
        "pdist",
        one(SINGLE_AND_DOUBLE, ranks=(2, 2)),
        _pdist,
        "F.pdist({0}{more})",
        _pdist_attrs,
        {"p": ORDER},
        {"p": 2.0},
        terms=lambda types, attrs: max(2, types[0].sizes[-1]),
        forms={Form.FUNCTION: "torch.pdist({0}{more})"},
    ),
)
