"""Windows that slide over the dimensions after the first two: kernels, strides, dilations and padding."""

from __future__ import annotations

from collections.abc import Sequence

from generators.choice import ChoiceSource
from generators.graph import Attr, TensorType
from generators.onnx.call import Call
from generators.op import one_of, require

AUTO_PAD = one_of("NOTSET", "SAME_UPPER", "SAME_LOWER", "VALID")


def each(call: Call, name: str, nd: int, default: int) -> tuple[int, ...]:
    """The numbers of the `nd` dimensions; `default` where the attribute is left out, or the version has none."""
    values = call.integers(name) if call.has(name) else None
    if values is None:
        return (default,) * nd
    require(len(values) == nd, f"{name} takes {nd} numbers, not {len(values)}")
    return values


def padding(call: Call, nd: int) -> list[tuple[int, int]]:
    """What is added before and after each dimension. With an auto_pad, pads are not given."""
    given = call.integers("pads")
    auto = call.text("auto_pad") if call.has("auto_pad") else "NOTSET"
    require(given is None or auto == "NOTSET", "pads and auto_pad exclude each other")
    values = given or (0,) * 2 * nd
    require(len(values) == 2 * nd and min(values) >= 0, f"pads takes {2 * nd} numbers from 0 on, not {list(values)}")
    return list(zip(values[:nd], values[nd:], strict=True))


def images(call: Call, name: str = "X") -> TensorType:
    """The operand, which has 1 to 3 dimensions after the first two; only the first may be empty."""
    x = call[name]
    require(3 <= x.rank <= 5, f"takes rank 3 to 5, not {x}")
    require(min(x.sizes[1:]) > 0, f"takes no empty dimension but the first, as {x}")
    return x


def slid(call: Call, sizes: Sequence[int], kernel: Sequence[int], ceil: bool = False) -> list[int]:
    """How often a window fits each dimension. SAME pads so that each stride has a window; onnxruntime 1.31 does not pad
    dilated windows so. With `ceil`, windows may end behind the padding, but none starts in the padding at the end."""
    nd, auto = len(sizes), call.text("auto_pad")
    numbers = zip(
        sizes, kernel, each(call, "strides", nd, 1), each(call, "dilations", nd, 1), padding(call, nd), strict=True
    )
    found = []
    for size, length, stride, dilation, (before, after) in numbers:
        require(min(length, stride, dilation) > 0, "kernels, strides and dilations are positive")
        extent = dilation * (length - 1) + 1
        if auto.startswith("SAME"):
            require(dilation == 1, "SAME takes dilations of 1")
            found.append((size + stride - 1) // stride)
            continue
        span = size + before + after - extent
        require(span >= 0, f"a window of {extent} is larger than {size}, padded by {before} and {after}")
        count = ((span + stride - 1) // stride if ceil else span // stride) + 1
        if ceil and (count - 1) * stride >= size + before:
            count -= 1
        found.append(count)
    return found


def draw_steps(source: ChoiceSource, nd: int, percent: int = 50) -> list[int] | None:
    """Strides or dilations; None: all are 1."""
    return [source.choice((1, 2, 2, 3)) for _ in range(nd)] if source.chance(percent) else None


def draw_padding(
    source: ChoiceSource, sizes: Sequence[int], extents: Sequence[int], most: Sequence[int] | None = None
) -> dict[str, Attr]:
    """An auto_pad or pads so that windows of these extents fit. `most`: the largest pads."""
    fits = all(extent <= size for extent, size in zip(extents, sizes, strict=True))
    if source.chance(25):
        return {"auto_pad": source.choice(("SAME_UPPER", "SAME_LOWER", *(("VALID",) if fits else ())))}
    if fits and source.chance(30):
        return {"auto_pad": "NOTSET", "pads": None}
    sides: list[tuple[int, int]] = []
    for place, (size, extent) in enumerate(zip(map(int, sizes), extents, strict=True)):
        least, limit = max(0, extent - size), most[place] if most else extent
        before, after = (source.choice((0, 0, 1, 1, 2)) for _ in range(2))
        if source.chance(60):
            after = before
        before = max(before, (least + 1) // 2)
        sides.append((min(before, limit), min(max(after, least - before), limit)))
    return {"auto_pad": "NOTSET", "pads": (*(side[0] for side in sides), *(side[1] for side in sides))}
