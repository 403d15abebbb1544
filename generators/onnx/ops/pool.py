"""Pooling over 1 to 3 dimensions or whole images, and the inverse of max pooling."""

from __future__ import annotations

from collections.abc import Sequence

from generators.builder import Builder
from generators.choice import ChoiceSource
from generators.domain import distinct
from generators.graph import Attr, Attrs, DType, Form, Role, TensorType, Value
from generators.onnx.call import Call
from generators.onnx.operator import Constant, Operator
from generators.onnx.ops.operands import one, tensor
from generators.onnx.ops.windows import AUTO_PAD, draw_padding, draw_steps, each, images, padding, slid
from generators.onnx.schema import Schema
from generators.op import SIZES, Arithmetic, require
from generators.shared.sizes import product

# --- windows


def _kernel(call: Call, nd: int) -> tuple[int, ...]:
    kernel = call.integers("kernel_shape") or ()
    require(len(kernel) == nd and min(kernel) > 0, f"kernel_shape takes {nd} positive numbers, not {list(kernel)}")
    return kernel


def _pooled(call: Call) -> TensorType:
    """The result type. onnxruntime 1.31 takes no pads as large as the kernel, and no SAME where windows lie apart.
    Before opset 22 the shape inference of onnx 1.23 counts windows that start in the padding at the end, which
    onnxruntime drops. ceil_mode does not go with SAME. Each window contains an element."""
    x = images(call)
    nd = x.rank - 2
    kernel, sides = _kernel(call, nd), padding(call, nd)
    require(all(max(pair) < k for pair, k in zip(sides, kernel, strict=True)), "pads are smaller than the kernel")
    ceil = call.has("ceil_mode") and call.integer("ceil_mode") == 1
    sizes = slid(call, x.sizes[2:], kernel, ceil)
    strides, dilations = each(call, "strides", nd, 1), each(call, "dilations", nd, 1)
    if call.text("auto_pad").startswith("SAME"):
        require(not ceil, "SAME and ceil_mode exclude each other")
        numbers = zip(x.sizes[2:], kernel, strides, sizes, strict=True)
        require(all((out - 1) * s + k >= size for size, k, s, out in numbers), "SAME: windows lie apart")
    else:
        for axis, ((before, _), count) in enumerate(zip(sides, sizes, strict=True)):
            size, within = int(x.sizes[2 + axis]), [dilations[axis] * place for place in range(kernel[axis])]
            starts = [strides[axis] * place - before for place in range(int(count))]
            if ceil and call.schema.since < 22:
                span = size + sum(sides[axis]) - within[-1] - 1
                require(len(starts) > -(-span // strides[axis]), "a window starts in the padding at the end")
            full = all(any(0 <= start + place < size for place in within) for start in starts)
            require(full, f"a window over {x} contains no element")
    return x.with_shape(*x.sizes[:2], *sizes)


def _windows(source: ChoiceSource, call: Call) -> dict[str, Attr]:
    """Kernels up to 5, sometimes of the whole image. A dilated window that would need too much padding is dense."""
    sizes = call.first.sizes[2:]
    nd, whole = len(sizes), source.chance(10)
    kernel = [int(size) if whole else source.choice((1, 2, 2, 3, 3, 4, 5)) for size in sizes]
    strides = draw_steps(source, nd, 65)
    dilations = draw_steps(source, nd, 25) if call.has("dilations") else None
    apart = [
        d if d * (k - 1) + 1 <= size + k - 1 else 1
        for d, k, size in zip(dilations or (1,) * nd, kernel, sizes, strict=True)
    ]
    extents = [d * (k - 1) + 1 for d, k in zip(apart, kernel, strict=True)]
    padded = draw_padding(source, sizes, extents, [k - 1 for k in kernel])
    if str(padded["auto_pad"]).startswith("SAME"):  # onnxruntime 1.31 pads no dilated windows
        apart = [1] * nd
        strides = None if strides is None else [min(s, k) for s, k in zip(strides, kernel, strict=True)]
    drawn: dict[str, Attr] = {"kernel_shape": tuple(kernel), "strides": None if strides is None else tuple(strides)}
    drawn["dilations"] = None if dilations is None else tuple(apart)
    same = str(padded["auto_pad"]).startswith("SAME")
    return {**drawn, "ceil_mode": 0 if same else source.choice((0, 0, 1)), **padded}


def _max_windows(source: ChoiceSource, call: Call) -> Attrs:
    return {**_windows(source, call), "storage_order": source.choice((0, 0, 1))}


def _average_windows(source: ChoiceSource, call: Call) -> Attrs:
    return {**_windows(source, call), "count_include_pad": source.choice((0, 1))}


def _lp_windows(source: ChoiceSource, call: Call) -> Attrs:
    return {**_windows(source, call), **_power(source, call)}


def _power(source: ChoiceSource, call: Call) -> Attrs:
    return {"p": source.choice((1, 2, 2, 3))}


def _max_pooled(call: Call) -> tuple[TensorType, ...]:
    found = _pooled(call)
    return (found, found.with_dtype(DType.INT64)) if len(call.schema.outputs) > 1 else (found,)


def _in_window(call: Call) -> int:
    return product(_kernel(call, call.first.rank - 2))


# --- whole images


def _global(call: Call) -> TensorType:
    x = images(call)
    return x.with_shape(*x.sizes[:2], *(1,) * (x.rank - 2))


def _in_image(call: Call) -> int:
    return max(1, product(call.first.sizes[2:]))


# --- the inverse of max pooling


def _unpool_operands(b: Builder, schema: Schema) -> tuple[Value, ...]:
    """Distinct indices of a tensor that is twice as large in each dimension after the first two."""
    x = tensor(b, schema, "X", (3, 5))
    count = x.type.numel
    most = max(0, count * 2 ** (x.type.rank - 2) - 1)
    flat = b.fresh_input(TensorType(DType.INT64, (count,)), Role.INPUT, distinct(0, int(most), 0))
    reshape = b.dialect.operator_at("Reshape", b.opset)
    shape: Attrs = {**reshape.defaults, "shape": tuple(int(size) for size in x.type.sizes)}
    return x, b.emit(reshape, (flat,), shape)[0]


def _unpooled(call: Call) -> TensorType:
    """Types cannot show that the indices are inside the result. So it is at least twice as large in each dimension."""
    x = images(call)
    nd = x.rank - 2
    require(call["I"].sizes == x.sizes, f"the indices have another shape: {call['I']}")
    kernel, strides, sides = _kernel(call, nd), each(call, "strides", nd, 1), padding(call, nd)
    require(min(strides) > 0, "strides are positive")
    numbers = zip(x.sizes[2:], kernel, strides, sides, strict=True)
    plain = (*x.sizes[:2], *((size - 1) * s + k - sum(pads) for size, k, s, pads in numbers))
    given = call.integers("output_shape") or plain
    require(len(given) == x.rank, f"output_shape takes {x.rank} sizes")
    # onnxruntime takes the indices for those of a result of output_shape, and the interpreter of `plain`
    require(given == plain, f"output_shape {list(given)} is not {list(plain)}")
    enough = all(a >= 2 * size for a, size in zip(plain[2:], x.sizes[2:], strict=True))
    require(enough, "the result may be too small for the indices")
    return x.with_shape(*plain)


def _unpool_attributes(source: ChoiceSource, call: Call) -> Attrs:
    sizes: Sequence[int] = call["X"].sizes[2:]
    kernel = [source.choice((2, 2, 3, 4)) for _ in sizes]
    strides = [source.choice((2, 2, 3)) for _ in sizes]
    numbers = zip(sizes, kernel, strides, strict=True)
    spare = [int((size - 1) * s + k - 2 * size) for size, k, s in numbers]
    before = [source.integer(0, min(1, more)) for more in spare]
    after = [source.integer(0, min(1, more - one)) for more, one in zip(spare, before, strict=True)]
    pads = (*before, *after)
    drawn: dict[str, Attr] = {"kernel_shape": tuple(kernel), "strides": tuple(strides)}
    if any(pads) or source.chance(30):
        drawn["pads"] = pads
    if source.chance(35):
        plain = [2 * int(size) + more - a - b for size, more, a, b in zip(sizes, spare, before, after, strict=True)]
        drawn["output_shape"] = (*map(int, call["X"].sizes[:2]), *plain)
    return drawn


_AUTO_PAD = {"auto_pad": AUTO_PAD}

OPERATORS: tuple[Operator, ...] = (
    Operator("MaxPool", one((3, 5)), _max_pooled, _max_windows, kinds=_AUTO_PAD),
    Operator(
        "AveragePool",
        one((3, 5)),
        _pooled,
        _average_windows,
        kinds=_AUTO_PAD,
        terms=_in_window,
        arithmetic=Arithmetic.SUM_IN_ANY,
    ),
    Operator(
        "LpPool",
        one((3, 5)),
        _pooled,
        _lp_windows,
        kinds=_AUTO_PAD,
        terms=_in_window,
        arithmetic=Arithmetic.FUNCTION_IN_ANY,
        plainer="AveragePool",
    ),
    Operator("GlobalMaxPool", one((3, 5)), _global),
    Operator(
        "GlobalAveragePool",
        one((3, 5)),
        _global,
        terms=_in_image,
        arithmetic=Arithmetic.SUM_IN_ANY,
        plainer="GlobalMaxPool",
    ),
    Operator(
        "GlobalLpPool",
        one((3, 5)),
        _global,
        _power,
        terms=_in_image,
        arithmetic=Arithmetic.FUNCTION_IN_ANY,
        plainer="GlobalAveragePool",
    ),
    Operator(
        "MaxUnpool",
        _unpool_operands,
        _unpooled,
        _unpool_attributes,
        constants={"output_shape": Constant(SIZES)},
        unwritten=(Form.EMPTY,),  # onnxruntime 1.31 counts the empty name as an input
    ),
)
