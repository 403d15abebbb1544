"""Tensors of another layout, by a map of their indices."""

from __future__ import annotations

import re
from dataclasses import dataclass

from generators.choice import ChoiceSource
from generators.graph import Attr, Attrs, DType, TensorType
from generators.op import NUMBER, AttrKind, Types, optional, require
from generators.relax.ops.operands import ALL, one
from generators.relax.row import row

_INDEX = r"i\d(?: (?://|%) [1-9]\d{0,3})?"
_MAP = re.compile(rf"lambda (i\d(?:, i\d)*): \(({_INDEX}(?:, {_INDEX})*),\)")
INDEX_MAP = AttrKind("a map of indices", lambda v: isinstance(v, str) and _MAP.fullmatch(v) is not None)


@dataclass(frozen=True, slots=True)
class IndexMap:
    """Each axis of the result is an axis of the operand, the number of a block of it, or the place in a block.

    rank   of the operand
    axes   for each axis of the result: the axis of the operand, `//`, `%` or "", and the size of a block
    """

    rank: int
    axes: tuple[tuple[int, str, int], ...]

    @staticmethod
    def parse(text: str) -> IndexMap:
        """Read `lambda i0, i1: (i1, i0 // 2, i0 % 2,)`."""
        found = _MAP.fullmatch(text)
        require(found is not None, f"{text!r} is no map of indices")
        assert found is not None
        names = found[1].split(", ")
        require(names == [f"i{axis}" for axis in range(len(names))], f"{text!r} names no axes in order")
        parts = [part.split() for part in found[2].split(", ")]
        axes = tuple((int(p[0][1:]), p[1] if p[1:] else "", int(p[2]) if p[1:] else 1) for p in parts)
        return IndexMap(len(names), axes)

    def __str__(self) -> str:
        names = ", ".join(f"i{axis}" for axis in range(self.rank))
        parts = (f"i{axis} {how} {block}" if how else f"i{axis}" for axis, how, block in self.axes)
        return f"lambda {names}: ({', '.join(parts)},)"

    @property
    def blocks(self) -> dict[int, int]:
        """The size of a block of each axis that is cut into blocks. Raise `Invalid` unless each axis of the operand is
        there once: as it is, or as the number of a block and the place in it."""
        found: dict[int, int] = {}
        for axis in range(self.rank):
            own = sorted((how, block) for at, how, block in self.axes if at == axis)
            cut = len(own) == 2 and [how for how, _ in own] == ["%", "//"] and own[0][1] == own[1][1]
            require(own == [("", 1)] or cut, f"axis {axis} is not there once")
            found |= {axis: own[0][1]} if cut else {}
        require(all(axis < self.rank for axis, _, _ in self.axes), "an axis that is not there")
        return found


def _laid_out(types: Types, attrs: Attrs) -> TensorType:
    (x,), made, fill = types, IndexMap.parse(str(attrs["index_map"])), attrs["pad_value"]
    blocks = made.blocks
    require(made.rank == x.rank, f"a map of rank {made.rank} for {x}")
    is_padded = any(x.sizes[axis] % block for axis, block in blocks.items())
    require(not is_padded or fill is not None, "nothing says what the padding is")
    require(fill is None or x.dtype is not DType.BOOL, "numbers pad no booleans")
    require(fill is None or x.dtype.is_float or (isinstance(fill, int) and 0 <= fill <= 127), f"{fill} in {x}")
    sizes = []
    for axis, how, block in made.axes:
        blocks_of_axis = (x.sizes[axis] + block - 1) // block
        sizes.append(x.sizes[axis] if not how else block if how == "%" else blocks_of_axis)
    return x.with_shape(*sizes)


def _draw_map(source: ChoiceSource, types: Types) -> Attrs:
    x = types[0]
    cut = source.some(range(x.rank), 0, min(x.rank, 2))
    axes: list[tuple[int, str, int]] = []
    for axis in range(x.rank):
        block = source.choice((2, 2, 3, 4))
        axes += [(axis, "//", block), (axis, "%", block)] if axis in cut else [(axis, "", 1)]
    found = IndexMap(x.rank, tuple(source.shuffled(axes) if source.chance(70) else axes))
    is_padded = any(int(x.sizes[axis]) % block for axis, block in found.blocks.items())
    fill: Attr = None
    if x.dtype is not DType.BOOL and (is_padded or source.chance(20)):
        fill = source.choice((0.0, 1.5)) if x.dtype.is_float else source.choice((0, 3))
    return {"index_map": str(found), "pad_value": fill}


OPS = (
    row(
        "layout_transform",
        one(ALL, (1, 4)),
        _laid_out,
        _draw_map,
        {"index_map": INDEX_MAP, "pad_value": optional(NUMBER)},
        texts={"index_map": str},
    ),
)
