"""Tensors of given numbers, triangles, sorting and binning."""

from __future__ import annotations

from generators.builder import Builder
from generators.choice import ChoiceSource
from generators.domain import distinct
from generators.graph import Attrs, DType, TensorType, Value
from generators.op import (
    BOOL,
    INT,
    NUMBER,
    POSITIVE,
    SIZES,
    Types,
    dtype_of,
    int_of,
    one_of,
    one_term,
    optional,
    require,
)
from generators.relax.ops.axes import some_axis
from generators.relax.ops.operands import ALL, FLOATS, INDICES, NUMERIC, axis_in, none, one, with_size
from generators.relax.row import Given, row

DTYPES = one_of(*ALL)

# --- of no tensor


def _filled(types: Types, attrs: Attrs) -> TensorType:
    return TensorType(dtype_of(attrs), tuple(_sizes(attrs)))


def _sizes(attrs: Attrs) -> tuple[int, ...]:
    shape = attrs["shape"]
    assert isinstance(shape, tuple)
    require(all(isinstance(size, int) and size > 0 for size in shape), f"takes positive sizes, not {shape}")
    return tuple(size for size in shape if isinstance(size, int))


def _draw_filled(source: ChoiceSource, types: Types) -> Attrs:
    shape = tuple(source.choice((1, 2, 3, 4, 5)) for _ in range(source.integer(0, 3)))
    return {"shape": shape, "dtype": source.choice((DType.FLOAT32, DType.FLOAT32, *ALL)).value}


def _range(types: Types, attrs: Attrs) -> TensorType:
    start, end, step = (int_of(attrs, key) for key in ("start", "end", "step"))
    require(step != 0, "a step of 0")
    count = -(-(end - start) // step)
    require(0 < count <= 4096, f"the range has {count} numbers")
    return TensorType(dtype_of(attrs), (count,))


def _draw_range(source: ChoiceSource, types: Types) -> Attrs:
    start, step, count = source.integer(-4, 8), source.choice((1, 1, 2, 3, -1, -2)), source.integer(1, 12)
    end = start + step * count - (source.integer(0, abs(step) - 1) if step > 0 else 0)
    dtype = source.choice((DType.INT64, DType.INT32, DType.FLOAT32))
    return {"start": start, "end": end, "step": step, "dtype": dtype.value}


_RANGE = {"start": INT, "end": INT, "step": INT, "dtype": one_of("int64", "int32", "float32")}


def _unit(types: Types, attrs: Attrs) -> TensorType:
    return TensorType(dtype_of(attrs), (int_of(attrs, "n"), int_of(attrs, "m")))


def _draw_unit(source: ChoiceSource, types: Types) -> Attrs:
    dtype = source.choice((DType.FLOAT32, DType.FLOAT32, *NUMERIC))
    return {"n": source.integer(1, 6), "m": source.integer(1, 6), "k": source.integer(-3, 3), "dtype": dtype.value}


def _window(types: Types, attrs: Attrs) -> TensorType:
    return TensorType(dtype_of(attrs), (int_of(attrs, "window_size"),))


def _draw_window(source: ChoiceSource, types: Types) -> Attrs:
    alpha = source.choice((0.54, 0.5))
    return {
        "window_size": source.integer(1, 12),
        "periodic": source.chance(50),
        "alpha": alpha,
        "beta": source.choice((1 - alpha, 0.25)),
        "dtype": source.choice((DType.FLOAT32, DType.FLOAT64)).value,
    }


_WINDOW = {
    "window_size": POSITIVE,
    "periodic": BOOL,
    "alpha": NUMBER,
    "beta": NUMBER,
    "dtype": one_of(DType.FLOAT32, DType.FLOAT64),
}

# --- of the shape of a tensor


def _sizes_of(types: Types, attrs: Attrs) -> TensorType:
    require(types[0].rank > 0, "a number has no sizes")
    return TensorType(DType.INT64, (types[0].rank,))


def _size_of(types: Types, attrs: Attrs) -> TensorType:
    return TensorType(DType.INT64, ())


def _like(types: Types, attrs: Attrs) -> TensorType:
    return types[0] if attrs["dtype"] is None else types[0].with_dtype(dtype_of(attrs))


def _draw_like(source: ChoiceSource, types: Types) -> Attrs:
    return {"dtype": None if source.chance(60) else source.choice(ALL).value}


def _full_like(types: Types, attrs: Attrs) -> TensorType:
    x, value = types
    require(value.rank == 0 and value.dtype == x.dtype, f"{value} is no number for {x}")
    return x


def _number_for(b: Builder) -> tuple[Value, ...]:
    x = b.tensor(ALL)
    return x, b.param(x.type.dtype)


def _full(types: Types, attrs: Attrs) -> TensorType:
    require(types[0].rank == 0, f"{types[0]} is no number")
    return TensorType(types[0].dtype, _sizes(attrs))


def _draw_full(source: ChoiceSource, types: Types) -> Attrs:
    return {"shape": tuple(source.choice((1, 2, 3, 4, 5)) for _ in range(source.integer(0, 3)))}


def _number(b: Builder) -> tuple[Value, ...]:
    return (b.param(b.dtype(ALL)),)


def _unit_like(types: Types, attrs: Attrs) -> TensorType:
    require(types[0].rank == 2, f"takes matrices, not {types[0]}")
    return _like(types, attrs)


def _draw_unit_like(source: ChoiceSource, types: Types) -> Attrs:
    return {"k": source.integer(-3, 3), "dtype": None if source.chance(60) else source.choice(NUMERIC).value}


# --- triangles


def _triangle(types: Types, attrs: Attrs) -> TensorType:
    require(types[0].rank > 1, f"takes matrices, not {types[0]}")
    return types[0]


def _draw_diagonal(source: ChoiceSource, types: Types) -> Attrs:
    return {"k": source.integer(-3, 3)}


# --- order


def _axis_there(types: Types, attrs: Attrs) -> TensorType:
    axis_in(int_of(attrs, "axis"), types[0].rank)
    return types[0]


def _ordered(types: Types, attrs: Attrs) -> TensorType:
    return _axis_there(types, attrs).with_dtype(dtype_of(attrs))


def _draw_sorted(source: ChoiceSource, types: Types) -> Attrs:
    return {"axis": some_axis(source, types[0].rank), "descending": source.chance(50)}


def _draw_ordered(source: ChoiceSource, types: Types) -> Attrs:
    return {**_draw_sorted(source, types), "dtype": source.choice(INDICES).value}


def _largest(types: Types, attrs: Attrs) -> TensorType | tuple[TensorType, ...]:
    x, axis, count = types[0], axis_in(int_of(attrs, "axis"), types[0].rank), int_of(attrs, "k")
    require(count <= x.sizes[axis], f"{x} has not {count} elements along {axis}")
    values = with_size(x, axis, count)
    places = values.with_dtype(dtype_of(attrs))
    found: dict[str, TensorType | tuple[TensorType, ...]]
    found = {"both": (values, places), "values": values, "indices": places}
    return found[str(attrs["ret_type"])]


def _draw_largest(source: ChoiceSource, types: Types) -> Attrs:
    x = types[0]
    axis = some_axis(source, x.rank)
    return {
        "k": source.integer(1, min(6, int(x.sizes[axis]))),
        "axis": axis,
        "ret_type": source.choice(("both", "values", "indices")),
        "largest": source.chance(50),
        "dtype": source.choice(INDICES).value,
    }


_LARGEST = {
    "k": POSITIVE,
    "axis": INT,
    "ret_type": one_of("both", "values", "indices"),
    "largest": BOOL,
    "dtype": one_of(*INDICES),
}

_ORDERED = (*FLOATS, *INDICES)


def _bins(b: Builder) -> tuple[Value, ...]:
    """Boundaries that ascend: R.bucketize takes them so."""
    x = b.tensor((DType.FLOAT32, DType.INT64, DType.INT32))
    count = b.source.integer(1, 6)
    flat = (
        b.fresh_input(TensorType(x.type.dtype, (count,)), domain=distinct(-6, 6, 0))
        if not x.type.dtype.is_float
        else b.fresh_input(TensorType(x.type.dtype, (count,)))
    )
    sort = b.dialect.operator_at("relax.sort", 0)
    return x, b.emit(sort, (flat,), {"axis": 0, "descending": False})[0]


def _binned(types: Types, attrs: Attrs) -> TensorType:
    x, edges = types
    require(edges.rank == 1 and edges.dtype == x.dtype, f"{edges} are no boundaries for {x}")
    return x.with_dtype(DType.INT32 if attrs["out_int32"] is True else DType.INT64)


def _draw_binned(source: ChoiceSource, types: Types) -> Attrs:
    return {"out_int32": source.chance(50), "right": source.chance(50)}


_DTYPED = {"dtype": optional(DTYPES)}

OPS = (
    *(
        row(name, none, _filled, _draw_filled, {"shape": SIZES, "dtype": DTYPES}, arity=0, arguments=("shape",))
        for name in ("zeros", "ones")
    ),
    row("full", _number, _full, _draw_full, {"shape": SIZES}, arguments=("shape",)),
    row("arange", none, _range, _draw_range, _RANGE, arity=0, arguments=("start", "end", "step")),
    row(
        "eye",
        none,
        _unit,
        _draw_unit,
        {"n": POSITIVE, "m": POSITIVE, "k": INT, "dtype": one_of(*NUMERIC)},
        arity=0,
        arguments=("n", "m", "k"),
    ),
    row(
        "hamming_window",
        none,
        _window,
        _draw_window,
        _WINDOW,
        arity=0,
        arguments=("window_size", "periodic", "alpha", "beta"),
        terms=one_term,
        scale=8.0,  # the angle, whose rounding the cosine passes on, is up to 2 pi
    ),
    row("shape_to_tensor", one(ALL, (1, 5)), _sizes_of, given=Given.SHAPE),
    row("size", one(), _size_of),
    *(row(name, one(), _like, _draw_like, _DTYPED) for name in ("zeros_like", "ones_like")),
    row(
        "eye_like",
        one(NUMERIC, (2, 2)),
        _unit_like,
        _draw_unit_like,
        {"k": INT, "dtype": optional(one_of(*NUMERIC))},
        arguments=("k",),
    ),
    row("full_like", _number_for, _full_like, arity=2),
    *(
        row(name, one(ALL, (2, 4)), _triangle, _draw_diagonal, {"k": INT}, arguments=("k",))
        for name in ("tril", "triu")
    ),
    row("sort", one(_ORDERED, (1, 4)), _axis_there, _draw_sorted, {"axis": INT, "descending": BOOL}),
    row(
        "argsort",
        one(_ORDERED, (1, 4)),
        _ordered,
        _draw_ordered,
        {"axis": INT, "descending": BOOL, "dtype": one_of(*INDICES)},
    ),
    row("topk", one(_ORDERED, (1, 4)), _largest, _draw_largest, _LARGEST),
    row("bucketize", _bins, _binned, _draw_binned, {"out_int32": BOOL, "right": BOOL}, arity=2),
)
