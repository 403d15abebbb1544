"""Blocks of a plane that become channels, and channels that become blocks."""

from __future__ import annotations

from collections.abc import Callable

from generators.builder import Builder
from generators.choice import ChoiceSource
from generators.graph import Attrs, TensorType, Value
from generators.onnx.call import Call
from generators.onnx.operator import Operator
from generators.onnx.schema import Schema
from generators.op import POSITIVE, one_of, require

BLOCKS = (1, 2, 2, 2, 3, 4)
_MODES = one_of("DCR", "CRD")


def _depth_to_space(call: Call) -> TensorType:
    block = call.integer("blocksize")
    require(call.first.rank == 4, f"takes N x C x H x W, not {call.first}")
    n, c, h, w = call.first.sizes
    require(c % block**2 == 0, f"{c} channels are not blocks of {block} x {block}")
    return call.first.with_shape(n, c // block**2, h * block, w * block)


def _space_to_depth(call: Call) -> TensorType:
    block = call.integer("blocksize")
    require(call.first.rank == 4, f"takes N x C x H x W, not {call.first}")
    n, c, h, w = call.first.sizes
    require(h % block == w % block == 0, f"{h} x {w} is not made of blocks of {block} x {block}")
    return call.first.with_shape(n, c * block**2, h // block, w // block)


Fits = Callable[[tuple[int, ...], int], bool]


def _channels_fit(sizes: tuple[int, ...], block: int) -> bool:
    return sizes[1] % block**2 == 0


def _plane_fits(sizes: tuple[int, ...], block: int) -> bool:
    return sizes[2] % block == sizes[3] % block == 0


def _blocks(fits: Fits, grown: Callable[[int], tuple[int, ...]]) -> Callable[[Builder, Schema], tuple[Value, ...]]:
    """A tensor that has blocks of more than one element. `grown` gives the factors of the sizes of a new one."""

    def operands(b: Builder, schema: Schema) -> tuple[Value, ...]:
        def otherwise() -> TensorType:
            factors = grown(b.source.choice(BLOCKS))
            sizes = (b.source.choice((1, 1, 2, 3, 4)) * factor for factor in factors)
            batch = b.symbolic_size(8, 50)
            _, *rest = sizes
            return TensorType(b.dtype(dtypes), (batch or b.source.choice((1, 2, 3)), *rest))

        dtypes = schema.dtypes("input")

        def has_blocks(type: TensorType) -> bool:
            return type.dtype in dtypes and type.rank == 4 and any(fits(type.sizes, size) for size in (2, 3, 4))

        return (b.pick(has_blocks, otherwise),)

    return operands


def _block_attributes(fits: Fits) -> Callable[[ChoiceSource, Call], Attrs]:
    def draw(source: ChoiceSource, call: Call) -> Attrs:
        fitting = [block for block in BLOCKS if fits(call.first.sizes, block)]
        return {"blocksize": source.choice(fitting), "mode": source.choice(("DCR", "CRD"))}

    return draw


OPERATORS: tuple[Operator, ...] = (
    Operator(
        "DepthToSpace",
        _blocks(_channels_fit, lambda block: (1, block**2, 1, 1)),
        _depth_to_space,
        _block_attributes(_channels_fit),
        kinds={"blocksize": POSITIVE, "mode": _MODES},
        moves=True,
        plainer="Flatten",
    ),
    Operator(
        "SpaceToDepth",
        _blocks(_plane_fits, lambda block: (1, 1, block, block)),
        _space_to_depth,
        _block_attributes(_plane_fits),
        kinds={"blocksize": POSITIVE, "mode": _MODES},
        moves=True,
        plainer="Flatten",
    ),
)
