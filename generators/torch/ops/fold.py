"""The parts of convolutions: the blocks of an image as columns (im2col), and an image as the sum of its blocks."""

from __future__ import annotations

from collections.abc import Sequence

from generators.choice import ChoiceSource
from generators.graph import FLOATS, Attr, Attrs, DType, Form, TensorType
from generators.op import Arithmetic, AttrKind, Layer, Op, Types, require
from generators.shared.sizes import product
from generators.torch.ops.operands import one
from generators.torch.ops.rules import require_dtype
from generators.torch.ops.windows import EACH, each, either, steps, window

KINDS = (*FLOATS, DType.BOOL)
_BLOCKS: dict[str, AttrKind] = {"kernel_size": EACH, "dilation": EACH, "padding": EACH, "stride": EACH}
_DEFAULTS: Attrs = {"dilation": 1, "padding": 0, "stride": 1}


def _blocks(sizes: Sequence[int], attrs: Attrs) -> tuple[int, int]:
    """The number of elements of a block, and the number of blocks, for an image of these sizes."""
    kernel, dilation, padding, stride = (each(attrs, key, 2, single=False) for key in _BLOCKS)
    return product(kernel), product(list(map(window, sizes, kernel, stride, padding, dilation)))


def _written(source: ChoiceSource, **numbers: list[int]) -> dict[str, Attr]:
    return {key: either(source, values, single=False) for key, values in numbers.items()}


def _unfolded(types: Types, attrs: Attrs) -> TensorType:
    (x,) = types
    require_dtype(types, *KINDS)
    require(x.rank in (3, 4) and min(x.sizes[-3:]) > 0, f"takes images (N, C, H, W) or (C, H, W), not {x}")
    elements, count = _blocks(x.sizes[-2:], attrs)
    return x.with_shape(*x.sizes[:-3], x.sizes[-3] * elements, count)


def _unfold_attrs(source: ChoiceSource, types: Types) -> Attrs | None:
    sizes = types[0].sizes[-2:]
    if not min(sizes):
        return None
    padding = [source.choice((0, 0, 1, 2)) for _ in sizes]
    room = [int(size) + 2 * p for size, p in zip(sizes, padding, strict=True)]
    kernel = [source.integer(1, min(most, 4)) for most in room]
    dilation = steps(source, 2, [(most - 1) // max(k - 1, 1) or 1 for most, k in zip(room, kernel, strict=True)])
    return _written(source, kernel_size=kernel, dilation=dilation, padding=padding, stride=steps(source, 2))


def _folded(types: Types, attrs: Attrs) -> TensorType:
    (x,) = types
    require_dtype(types, *KINDS)
    require(x.rank in (2, 3) and min(x.sizes[-2:]) > 0, f"takes columns (N, C * kernel, L) or (C * kernel, L), not {x}")
    sizes = each(attrs, "output_size", 2, single=False)
    require(min(sizes) > 0, "output_size must be positive")
    elements, count = _blocks(sizes, attrs)
    require(x.sizes[-2] % elements == 0, f"{x.sizes[-2]} channels are no blocks of {elements}")
    require(x.sizes[-1] == count, f"{x} has not the {count} blocks of the image")
    return x.with_shape(*x.sizes[:-2], x.sizes[-2] // elements, *sizes)


def _fold_attrs(source: ChoiceSource, types: Types) -> Attrs | None:
    """An image with as many blocks as there are columns, in rows of any length that divides this number."""
    channels, count = map(int, types[0].sizes[-2:])
    if not channels or not count:
        return None
    height = source.choice([k for k in range(1, 5) if channels % k == 0])
    width = source.choice([k for k in range(1, 5) if channels % (height * k) == 0])
    down = source.choice([n for n in range(1, count + 1) if count % n == 0])
    kernel, grid = [height, width], [down, count // down]
    dilation, stride = steps(source, 2), steps(source, 2)
    least = [(n - 1) * s + d * (k - 1) + 1 for n, s, d, k in zip(grid, stride, dilation, kernel, strict=True)]
    padding = [min(source.choice((0, 0, 1, 2)), (size - 1) // 2) for size in least]
    size = [n - 2 * p + source.integer(0, s - 1) for n, p, s in zip(least, padding, stride, strict=True)]
    written = _written(source, kernel_size=kernel, dilation=dilation, padding=padding, stride=stride)
    return {"output_size": either(source, size, single=False), **written}


OPS = (
    Op(
        "im2col",
        one(KINDS, ranks=(3, 4)),
        _unfolded,
        "F.unfold({0}, {kernel_size}{more})",
        _unfold_attrs,
        _BLOCKS,
        _DEFAULTS,
        forms={Form.MODULE: Layer("torch.nn.Unfold({kernel_size}{more})")},
    ),
    Op(
        "col2im",
        one(KINDS, ranks=(2, 3)),
        _folded,
        "F.fold({0}, {output_size}, {kernel_size}{more})",
        _fold_attrs,
        {"output_size": EACH, **_BLOCKS},
        _DEFAULTS,
        terms=lambda types, attrs: product(each(attrs, "kernel_size", 2)),
        forms={Form.MODULE: Layer("torch.nn.Fold({output_size}, {kernel_size}{more})")},
        arithmetic=Arithmetic.SUM_IN_HALF,
    ),
)
