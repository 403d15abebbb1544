"""Pooling over 1 to 3 dimensions, batched and unbatched: max (with and without indices), average, adaptive, power
average, and the inverse of max pooling."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from generators.builder import Builder
from generators.choice import ChoiceSource
from generators.domain import within
from generators.graph import FLOATS, Attr, Attrs, DType, Form, TensorType, Value
from generators.op import (
    BOOL,
    INT,
    INTS,
    NUMBER,
    Arithmetic,
    AttrKind,
    DrawAttrs,
    Infer,
    Layer,
    Op,
    Operands,
    Types,
    ints_of,
    number_of,
    optional,
    require,
)
from generators.operator_class import OperatorClass
from generators.shared.sizes import product
from generators.torch.ops.guard import clamped
from generators.torch.ops.largest import Pooled, of, with_indices, without_ties
from generators.torch.ops.operands import one
from generators.torch.ops.rules import ALL, NUMERIC, SINGLE_AND_DOUBLE, floating, promote, require_dtype
from generators.torch.ops.windows import EACH, OPTIONAL_EACH, each, either, window


def _require_rank(x: TensorType, nd: int) -> None:
    require(x.rank in (nd + 1, nd + 2), f"pooling over {nd} dimensions takes rank {nd + 1} or {nd + 2}, not {x}")


def _windows(nd: int, *, inside: bool = False) -> Pooled:
    """The result type of a pooling; padding and dilation are 0 and 1 in rows that lack them. `inside`: kernels must not
    be larger than the tensor, even if it is padded."""

    def pooled(types: Types, attrs: Attrs) -> TensorType:
        (x,) = types
        _require_rank(x, nd)
        require(min(x.sizes[x.rank - nd - 1 :]) > 0, f"pooling takes no empty dimension but the batch, as {x}")
        attrs = {"padding": 0, "dilation": 1, **attrs}
        kernel, padding, dilation = (each(attrs, key, nd) for key in ("kernel_size", "padding", "dilation"))
        stride = kernel if attrs["stride"] is None else each(attrs, "stride", nd)
        for size, k, p in zip(x.sizes[-nd:], kernel, padding, strict=True):
            require(2 * p <= k, "padding is at most half the kernel")
            require(not inside or k <= size, f"window of {k} is larger than {size}")
        ceil = [bool(attrs["ceil_mode"])] * nd
        return x.with_shape(*x.sizes[:-nd], *map(window, x.sizes[-nd:], kernel, stride, padding, dilation, ceil))

    return pooled


def _draw_windows(
    source: ChoiceSource, sizes: Sequence[int], keys: Sequence[str], *, inside: bool = False
) -> dict[str, Attr] | None:
    """Kernels up to 5, sometimes of the whole dimension, reduced until they fit. Padding and dilation, where `keys` has
    them, are such that each window contains an element. None for empty dimensions."""
    if not min(sizes):
        return None
    whole, dense, ceil = source.chance(12), source.chance(50), source.chance(40)
    strides = None if source.chance(40) else [source.choice((1, 1, 2, 2, 3)) for _ in sizes]
    kernels, padding, dilation = [], [], []
    for size, stride in zip(map(int, sizes), strides or [0] * len(sizes), strict=True):
        d = source.choice([d for d in (1, 2, 3) if d <= size]) if "dilation" in keys and source.chance(25) else 1
        kernel = size if whole else source.choice((1, 2, 2, 3, 3, 4, 5))
        while True:
            behind = (stride or kernel) - 1 if ceil and not inside else 0
            least = max(0, (d * (kernel - 1) + 2 - size - behind) // 2)
            if least <= (kernel // 2 if "padding" in keys and not inside else 0):
                break
            kernel -= 1
        kernels.append(kernel)
        dilation.append(d)
        padding.append(least if dense or "padding" not in keys else source.integer(least, kernel // 2))
    drawn: dict[str, Attr] = {
        "kernel_size": either(source, kernels),
        "stride": None if strides is None else either(source, strides),
        "padding": either(source, padding) if any(padding) else 0,
        "dilation": either(source, dilation) if max(dilation) > 1 else 1,
        "ceil_mode": ceil,
    }
    return {key: drawn[key] for key in keys}


# --- max


_WINDOW: dict[str, AttrKind] = {"kernel_size": EACH, "stride": OPTIONAL_EACH, "padding": EACH, "ceil_mode": BOOL}
_DEFAULTS: dict[str, Attr] = {"stride": None, "padding": 0, "ceil_mode": False}


def _max_rows(nd: int) -> tuple[Op, Op]:
    """In one dimension, PyTorch accepts integers only in the variant with indices."""
    dtypes, windows = FLOATS if nd == 1 else NUMERIC, _windows(nd)
    schema, call = {**_WINDOW, "dilation": EACH}, f"max_pool{nd}d({{0}}, {{kernel_size}}{{more}})"

    def pooled(types: Types, attrs: Attrs) -> TensorType:
        """With channels last in memory, PyTorch counts positions in the dtype of the elements."""
        (x,), found = types, windows(types, attrs)
        short = not x.dtype.is_float and product(x.sizes[-nd:]) >= 1 << (x.dtype.bits - 1)
        require(not short, f"the positions of {x} do not fit {x.dtype}")
        return found

    row = Op(
        f"max_pool{nd}d",
        one(dtypes, ranks=(nd + 1 if nd < 3 else 5, nd + 2)),  # PyTorch accepts (C, D, H, W) in some layouts only
        of(dtypes, pooled),
        f"F.{call}",
        lambda source, types: _draw_windows(source, types[0].sizes[-nd:], tuple(schema)),
        schema,
        {**_DEFAULTS, "dilation": 1},
        forms={
            Form.FUNCTION: f"torch.{call}",
            Form.MODULE: Layer(f"torch.nn.MaxPool{nd}d({{kernel_size}}{{more}})"),
        },
    )

    def with_nonempty_windows(types: Types, attrs: Attrs) -> TensorType:
        found = pooled(types, attrs)
        along = zip(types[0].sizes[-nd:], each(attrs, "kernel_size", nd), each(attrs, "dilation", nd), strict=True)
        require(all(k == 1 or d <= size for size, k, d in along), "a window without elements has no largest one")
        return found

    indexed = with_indices(row, nd, with_nonempty_windows, NUMERIC, "{kernel_size}{more}", f"MaxPool{nd}d")
    return row, indexed.of_class(OperatorClass.GUARD)


def _unpooled(nd: int) -> Infer:
    """The type of the inverse of a max pooling. Types cannot show that the indices are inside the result. So they come
    from windows of size 2, and the result is at least twice as large in each dimension."""
    numbers = ("kernel_size", "stride", "padding")

    def infer(types: Types, attrs: Attrs) -> TensorType:
        x, places = types
        require_dtype((x,), *FLOATS)
        require_dtype((places,), DType.INT64)
        require(x.sizes == places.sizes, f"the indices have another shape: {x}, {places}")
        _require_rank(x, nd)
        require(min(x.sizes[1:]) > 0, f"unpooling takes no empty dimension but the first, as {x}")
        attrs = {**attrs, "stride": attrs["kernel_size"] if attrs["stride"] is None else attrs["stride"]}
        kernel, stride, padding = (each(attrs, key, nd, single=False) for key in numbers)
        require(min(*kernel, *stride) > 0 and min(padding) >= 0, "kernel, stride must be positive")
        plain = [(n - 1) * s + k - 2 * p for n, s, k, p in zip(x.sizes[-nd:], stride, kernel, padding, strict=True)]
        given = plain
        if attrs["output_size"] is not None:
            sizes = ints_of(attrs, "output_size")
            require(len(sizes) in (nd, nd + 2), f"output_size takes {nd} or {nd + 2} sizes, not {len(sizes)}")
            given = list(sizes[-nd:])
            apart = zip(given, plain, stride, strict=True)
            require(all(abs(g - p) < s for g, p, s in apart), f"output_size is a stride or more from {plain}")
        enough = all(g >= 2 * size for g, size in zip(given, x.sizes[-nd:], strict=True))
        require(enough, "the result may be too small for the indices")
        return x.with_shape(*x.sizes[:-nd], *given)

    return infer


def _values_and_places(nd: int, pool: Op) -> Operands:
    """Indices of windows of size 2, and their values or others."""

    def operands(b: Builder) -> tuple[Value, ...] | None:
        x = without_ties(b, nd, FLOATS, even=True)
        if x is None:
            return None
        values, places = b.emit(pool, (x,), {**pool.defaults, "kernel_size": 2})
        other = b.pick(lambda t: t == values.type, lambda: values.type) if b.source.chance(50) else values
        return other, places

    return operands


def _draw_unpooling(nd: int) -> DrawAttrs:
    def draw(source: ChoiceSource, types: Types) -> Attrs:
        places = types[1].sizes[-nd:]
        kernel = [source.choice((2, 2, 2, 3, 4)) for _ in range(nd)]
        stride = None if source.chance(50) else [source.choice((2, 2, 3)) for _ in range(nd)]
        steps = kernel if stride is None else stride
        unused = [(n - 1) * s + k - 2 * n for n, s, k in zip(places, steps, kernel, strict=True)]
        padding = [source.integer(0, min(1, extra // 2)) for extra in unused]
        sizes = [
            source.integer(max(2 * n, 2 * n + extra - 2 * p - s + 1), 2 * n + extra - 2 * p + s - 1)
            for n, extra, p, s in zip(places, unused, padding, steps, strict=True)
        ]
        return {
            "kernel_size": either(source, kernel, single=False),
            "stride": None if stride is None else either(source, stride, single=False),
            "padding": either(source, padding, single=False) if any(padding) else 0,
            "output_size": tuple(sizes) if source.chance(40) else None,
        }

    return draw


def _unpool_row(nd: int, pool: Op) -> Op:
    """The inverse of a max pooling."""
    return Op(
        f"max_unpool{nd}d",
        _values_and_places(nd, pool),
        _unpooled(nd),
        f"F.max_unpool{nd}d({{0}}, {{1}}, {{kernel_size}}{{more}})",
        _draw_unpooling(nd),
        {"kernel_size": EACH, "stride": OPTIONAL_EACH, "padding": EACH, "output_size": optional(INTS)},
        {"stride": None, "padding": 0, "output_size": None},
        arity=(2, 2),
        forms={
            Form.MODULE: Layer(
                lambda types, attrs: (
                    f"torch.nn.MaxUnpool{nd}d({attrs['kernel_size']}, {attrs['stride']}, {attrs['padding']})"
                ),
                inputs=2,
                call="{self}({0}, {1}, output_size={output_size})",
            )
        },
    )


# --- average


def _averaged(nd: int) -> tuple[DType, ...]:
    """The dtypes of averages over windows; averages of integers are truncated."""
    return (*(FLOATS if nd < 3 else SINGLE_AND_DOUBLE), DType.INT64)


def _terms(nd: int) -> Callable[[Types, Attrs], int]:
    return lambda types, attrs: product(each(attrs, "kernel_size", nd))


def _avg_row(nd: int) -> Op:
    dtypes, pooled = _averaged(nd), _windows(nd, inside=nd == 3)
    schema, defaults = {**_WINDOW, "count_include_pad": BOOL}, {**_DEFAULTS, "count_include_pad": True}
    call = f"avg_pool{nd}d({{0}}, {{kernel_size}}{{more}})"
    forms: dict[Form, str | Layer] = {Form.MODULE: Layer(f"torch.nn.AvgPool{nd}d({{kernel_size}}{{more}})")}
    if nd == 1:
        forms[Form.FUNCTION] = f"torch.{call}"
    else:
        schema["divisor_override"], defaults["divisor_override"] = optional(INT), None

    def infer(types: Types, attrs: Attrs) -> TensorType:
        require_dtype(types, *dtypes)
        require(attrs.get("divisor_override") != 0, "divisor_override must not be 0")
        return pooled(types, attrs)

    def draw(source: ChoiceSource, types: Types) -> Attrs | None:
        drawn = _draw_windows(source, types[0].sizes[-nd:], tuple(_WINDOW), inside=nd == 3)
        if drawn is not None:
            drawn["count_include_pad"] = source.chance(50)
            if nd > 1:
                drawn["divisor_override"] = source.choice((1, 2, 3, 7, -2)) if source.chance(40) else None
        return drawn

    ranks = (nd + 1, nd + 2)
    name = f"avg_pool{nd}d"
    return Op(
        name,
        one(dtypes, ranks),
        infer,
        f"F.{call}",
        draw,
        schema,
        defaults,
        terms=_terms(nd),
        forms=forms,
        arithmetic=Arithmetic.SUM,
        plainer=f"max_pool{nd}d",
    )


def _lp_row(nd: int) -> Op:
    """The p-th root of avg_pool(x ** p) * kernel. The result dtype is that of these three steps in sequence."""
    averaged, pooled = _averaged(nd), _windows(nd, inside=nd == 3)
    schema = {"norm_type": NUMBER, "kernel_size": INT if nd == 1 else EACH, "stride": OPTIONAL_EACH, "ceil_mode": BOOL}

    def infer(types: Types, attrs: Attrs) -> TensorType:
        norm = number_of(attrs, "norm_type")
        require(norm > 0, "norm_type must be positive: of others, the root of 0 is not finite")
        power = promote(types, norm)
        require(power in averaged, f"is not defined for {power}")
        each(attrs, "kernel_size", nd, single=False)
        return pooled(types, attrs).with_dtype(floating(power))

    def operands(b: Builder) -> tuple[Value, ...]:
        """Positive numbers whose powers float16 can hold."""
        if b.source.chance(30):
            type = TensorType(b.dtype(averaged), b.shape(b.source.integer(nd + 1, nd + 2)))
            return (b.fresh_input(type, domain=within(1, 4)),)
        x = b.tensor(ALL if b.source.chance(20) else averaged, (nd + 1, nd + 2))
        return (x if x.type.dtype is DType.BOOL else clamped(b, x, 0.25, 4),)

    def draw(source: ChoiceSource, types: Types) -> Attrs | None:
        drawn = _draw_windows(source, types[0].sizes[-nd:], ("kernel_size", "stride", "ceil_mode"), inside=nd == 3)
        if drawn is None:
            return None
        kernel = drawn["kernel_size"]
        if isinstance(kernel, tuple) and len(kernel) == 1:  # the number of elements by which lp_pool multiplies
            drawn["kernel_size"] = kernel[0]
        return {"norm_type": source.choice((1, 2, 2, 3, 4, 1.0, 2.0, 1.5, 2.5)), **drawn}

    def as_layer(types: Types, attrs: Attrs) -> bool:
        """The layer converts norm_type to a float."""
        return types[0].dtype.is_float or isinstance(attrs["norm_type"], float)

    call = "{norm_type}, {kernel_size}{more}"
    return Op(
        f"lp_pool{nd}d",
        operands,
        infer,
        f"F.lp_pool{nd}d({{0}}, {call})",
        draw,
        schema,
        {"stride": None, "ceil_mode": False},
        terms=_terms(nd),
        forms={Form.MODULE: Layer(f"torch.nn.LPPool{nd}d({call})", when=as_layer)},
        plainer=f"avg_pool{nd}d",
    )


# --- adaptive


def _is_output(value: Attr) -> bool:
    sizes = [size for size in value if size is not None] if isinstance(value, tuple) else [value]
    return all(isinstance(size, int) and INT.accepts(size) and size >= 0 for size in sizes)


_OUTPUT = AttrKind("a size, or one (or null: as it was) for each dimension", _is_output)


def _adaptive(nd: int, average: bool) -> Pooled:
    def pooled(types: Types, attrs: Attrs) -> TensorType:
        (x,), given = types, attrs["output_size"]
        _require_rank(x, nd)
        # PyTorch returns NaN as the average of an empty plane
        require(min(x.sizes[-nd:] if average and nd < 3 else x.sizes[1:]) > 0, f"pooling takes no empty plane, as {x}")
        listed = given if isinstance(given, tuple) else (given,) * nd
        require(len(listed) == nd, f"output_size takes {nd} numbers, not {len(listed)}")
        require(nd > 1 or None not in listed, "in one dimension, output_size is a number")
        pairs = zip(x.sizes[-nd:], listed, strict=True)
        sizes = [new if isinstance(new, int) else old for old, new in pairs]
        return x.with_shape(*x.sizes[:-nd], *sizes)

    return pooled


def _draw_output(nd: int) -> Callable[[ChoiceSource, Types], Attrs]:
    def draw(source: ChoiceSource, types: Types) -> Attrs:
        """Draw output sizes: 1, divisors of the input size and other numbers, larger ones, and sometimes 0."""

        def size(old: int) -> int | None:
            if nd > 1 and source.chance(15):
                return None
            return 0 if source.chance(2) else source.choice((1, 1, 2, 3, 4, 5, max(1, int(old) // 2), int(old) + 1))

        if source.chance(25):
            return {"output_size": 1}
        sizes = [size(old) for old in types[0].sizes[-nd:]]
        if source.chance(40) and sizes[0] is not None:
            return {"output_size": sizes[0]}
        return {"output_size": tuple(sizes)}

    return draw


def _adaptive_terms(nd: int, pooled: Pooled) -> Callable[[Types, Attrs], int]:
    def terms(types: Types, attrs: Attrs) -> int:
        sizes = zip(types[0].sizes[-nd:], pooled(types, attrs).sizes[-nd:], strict=True)
        return product([min(old, -(-old // max(1, new)) + 1) for old, new in sizes])

    return terms


def _adaptive_rows(nd: int) -> tuple[Op, Op, Op]:
    arithmetic = Arithmetic.SUM_IN_HALF if nd == 3 else Arithmetic.SUM

    def row(kind: str, layer: str) -> Op:
        pooled, call = _adaptive(nd, kind == "avg"), f"adaptive_{kind}_pool{nd}d({{0}}, {{output_size}})"
        forms: dict[Form, str | Layer] = {Form.MODULE: Layer(f"torch.nn.{layer}({{output_size}})")}
        if (nd, kind) == (1, "avg"):
            forms[Form.FUNCTION] = f"torch.{call}"
        return Op(
            f"adaptive_{kind}_pool{nd}d",
            one(FLOATS, ranks=(nd + 1, nd + 2)),
            of(FLOATS, pooled),
            f"F.{call}",
            _draw_output(nd),
            {"output_size": _OUTPUT},
            terms=_adaptive_terms(nd, pooled) if kind == "avg" else None,
            forms=forms,
            arithmetic=arithmetic if kind == "avg" else Arithmetic.FUNCTION,
            plainer=f"adaptive_avg_pool{nd}d" if kind == "max" else None,
        )

    largest = row("max", f"AdaptiveMaxPool{nd}d")
    indexed = with_indices(largest, nd, _adaptive(nd, False), FLOATS, "{output_size}", f"AdaptiveMaxPool{nd}d")
    return row("avg", f"AdaptiveAvgPool{nd}d"), largest, indexed


_MAX = {nd: _max_rows(nd) for nd in (1, 2, 3)}

OPS = (
    *(row for rows in _MAX.values() for row in rows),
    *(_unpool_row(nd, with_indices) for nd, (_, with_indices) in _MAX.items()),
    *map(_avg_row, (1, 2, 3)),
    *map(_lp_row, (1, 2, 3)),
    *(row for nd in (1, 2, 3) for row in _adaptive_rows(nd)),
)
