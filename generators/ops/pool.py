"""Max and average pooling over 1 to 3 dimensions, batched and unbatched."""

from __future__ import annotations

from collections.abc import Callable

from generators.choice import ChoiceSource
from generators.graph import FLOATS, Attrs, TensorType
from generators.ops.base import BOOL, INTS, Op, Types, ints_of, require
from generators.ops.operands import one, product
from generators.ops.rules import require_dtype, window


def _pool(nd: int, dilated: bool) -> Callable[[Types, Attrs], TensorType]:
    def infer(types: Types, attrs: Attrs) -> TensorType:
        require_dtype(types, *FLOATS)
        (x,) = types
        require(x.rank in (nd + 1, nd + 2), f"pooling over {nd} dimensions takes rank {nd + 1} or {nd + 2}, not {x}")
        keys = ("kernel_size", "stride", "padding", *(("dilation",) if dilated else ()))
        kernel, stride, padding, *rest = (ints_of(attrs, key) for key in keys)
        dilation = rest[0] if rest else (1,) * nd
        require(all(len(v) == nd for v in (kernel, stride, padding, dilation)), f"window attributes take {nd} numbers")
        require(all(2 * p <= k for p, k in zip(padding, kernel, strict=True)), "padding is at most half the kernel")
        ceil = [bool(attrs["ceil_mode"])] * nd
        spatial = tuple(map(window, x.sizes[-nd:], kernel, stride, padding, dilation, ceil))
        require(min(spatial) > 0, f"pooling leaves nothing of {x}")
        return x.with_shape(*x.sizes[:-nd], *spatial)

    return infer


def _attrs(nd: int, dilated: bool) -> Callable[[ChoiceSource, Types], Attrs]:
    def attrs(source: ChoiceSource, types: Types) -> Attrs:
        kernel = tuple(source.integer(1, min(size, 4)) for size in types[0].sizes[-nd:])
        drawn: dict[str, tuple[int, ...] | bool] = {
            "kernel_size": kernel,
            "stride": tuple(source.integer(1, 3) for _ in range(nd)),
            "padding": tuple(source.integer(0, k // 2) for k in kernel),
            "ceil_mode": source.chance(40),
        }
        if dilated:
            sizes = zip(kernel, types[0].sizes[-nd:], strict=True)
            drawn["dilation"] = tuple(2 if 2 * (k - 1) < size and source.chance(30) else 1 for k, size in sizes)
        else:
            drawn["count_include_pad"] = source.chance(50)
        return drawn

    return attrs


_WINDOW = {"kernel_size": INTS, "stride": INTS, "padding": INTS, "ceil_mode": BOOL}
_CALL = "{0}, {kernel_size}, stride={stride}, padding={padding}, ceil_mode={ceil_mode}"


def _terms(types: Types, attrs: Attrs) -> int:
    return product(ints_of(attrs, "kernel_size"))


def _max_row(nd: int) -> Op:
    return Op(
        f"max_pool{nd}d",
        one(FLOATS, ranks=(nd + 1, nd + 2)),
        _pool(nd, dilated=True),
        f"F.max_pool{nd}d({_CALL}, dilation={{dilation}})",
        _attrs(nd, dilated=True),
        {**_WINDOW, "dilation": INTS},
    )


def _avg_row(nd: int) -> Op:
    return Op(
        f"avg_pool{nd}d",
        one(FLOATS, ranks=(nd + 1, nd + 2)),
        _pool(nd, dilated=False),
        f"F.avg_pool{nd}d({_CALL}, count_include_pad={{count_include_pad}})",
        _attrs(nd, dilated=False),
        {**_WINDOW, "count_include_pad": BOOL},
        terms=_terms,
    )


OPS = (*map(_max_row, (1, 2, 3)), *map(_avg_row, (1, 2, 3)))
