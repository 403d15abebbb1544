"""Other shapes of the same numbers."""

from __future__ import annotations

from generators.choice import ChoiceSource
from generators.graph import Attrs, TensorType
from generators.onnx.call import Call
from generators.onnx.operator import Constant, Operator
from generators.onnx.ops.operands import one
from generators.op import SIZES, require


def _product(sizes: tuple[int, ...]) -> int:
    out = 1
    for size in sizes:
        out *= size
    return out


def _reshape(call: Call) -> TensorType:
    """A size of 0 stands for the operand's size at that place, unless allowzero is 1; -1 for what is left."""
    x, wanted = call.first, call.integers("shape") or ()
    copies = not (call.has("allowzero") and call.integer("allowzero"))
    require(wanted.count(-1) <= 1 and min(wanted, default=0) >= -1, f"{list(wanted)} is no shape")
    require(copies or not (0 in wanted and -1 in wanted), "with allowzero, 0 and -1 exclude each other")
    sizes: list[int] = []
    for place, size in enumerate(wanted):
        require(not (copies and size == 0) or place < x.rank, f"0 at place {place} of {list(wanted)} copies no size")
        sizes.append(x.sizes[place] if copies and size == 0 else size)
    known = _product(tuple(size for size in sizes if size != -1))
    if -1 in sizes:
        require(known > 0 and x.numel % known == 0, f"{x} does not fit {list(wanted)}")
        sizes[sizes.index(-1)] = x.numel // known
    require(_product(tuple(sizes)) == x.numel, f"{x} does not fit {list(wanted)}")
    return x.with_shape(*sizes)


def _reshape_attributes(source: ChoiceSource, call: Call) -> Attrs:
    sizes = list(call.first.sizes)
    for _ in range(source.integer(0, 2)):  # merge two neighbours, or split one
        if len(sizes) > 1 and source.chance(60):
            place = source.integer(0, len(sizes) - 2)
            sizes[place : place + 2] = [sizes[place] * sizes[place + 1]]
        else:
            sizes.insert(source.integer(0, len(sizes)), 1)
    if sizes and 0 not in sizes and source.chance(40):
        sizes[source.integer(0, len(sizes) - 1)] = -1
    if source.chance(20):
        sizes = [
            0 if place < call.first.rank and size == call.first.sizes[place] else size
            for place, size in enumerate(sizes)
        ]
    return {"shape": tuple(sizes), "allowzero": source.choice((0, 0, 1)) if 0 not in sizes else 0}


OPERATORS: tuple[Operator, ...] = (
    Operator("Reshape", one(), _reshape, _reshape_attributes, {"shape": Constant(SIZES)}, moves=True),
)
