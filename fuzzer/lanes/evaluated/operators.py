"""Evaluate Relax operators with PyTorch, independently of TVM's compiler.

Blame uses this where a program is wrong however it is compiled, to decide whether the imported module is already wrong.
`Unknown` is raised for an operator that is missing here, or that is used in an unsupported form. TVM has a converter to
PyTorch functions (relax_to_pyfunc_converter), but some of its mappings are approximate or ignore attributes.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional

from fuzzer.lanes.evaluated.common import (
    Function,
    Outside,
    Unknown,
    axes_of,
    dtype_of,
    floats,
    ints,
    of_one_dtype,
    plain,
    require,
)
from fuzzer.lanes.evaluated.further import FURTHER
from fuzzer.lanes.evaluated.sums import SUMS


def value_of(name: str, attrs: Any, args: Sequence[Any]) -> Any:
    """Evaluate the operator `relax.<name>` to a tensor or a tuple of tensors. Raise `Unknown`."""
    function = OPERATORS.get(name)
    if function is None:
        raise Unknown(f"relax.{name}")
    return function(attrs, *args)


# -- one operand, two operands


def _clip(attrs: Any, x: Tensor, low: Any, high: Any) -> Tensor:
    return x.clamp(low, high)


def _floor_divide(x: Tensor | float, y: Tensor) -> Tensor:
    """As topi defines it: for floats, PyTorch's own function may give one less. The dividend may be a number."""
    return torch.div(x, y).floor() if y.is_floating_point() else torch.floor_divide(torch.as_tensor(x), y)


def _rounded(x: Tensor) -> Tensor:
    return x.round() if x.is_floating_point() else x


def _gelu(x: Tensor) -> Tensor:
    """By its formula, half precision in float32. PyTorch 2.13 gives NaN for infinity where it computes many elements at
    once."""
    wide = x.float() if x.dtype in (torch.float16, torch.bfloat16) else x
    return (wide * (0.5 + 0.5 * torch.erf(wide * math.sqrt(0.5)))).to(x.dtype)


UNARY = {
    **{
        name: floats(getattr(torch, name))
        for name in (
            *(
                "exp",
                "log",
                "sqrt",
                "rsqrt",
                "sin",
                "cos",
                "tan",
                "tanh",
                "sigmoid",
                "acos",
                "asin",
                "atan",
                "cosh",
                "sinh",
            ),
            *("acosh", "asinh", "atanh", "erf", "floor", "ceil", "trunc"),
        )
    },
    **{name: plain(getattr(torch, name)) for name in ("abs", "square", "sign", "logical_not", "bitwise_not")},
    **{name: plain(getattr(torch, name)) for name in ("isfinite", "isinf", "isnan")},
    "negative": plain(torch.neg),
    "round": plain(_rounded),
    "nn.relu": plain(torch.relu),
    "nn.relu6": plain(functional.relu6),
    "nn.silu": floats(functional.silu),
    "nn.selu": floats(functional.selu),
    "nn.gelu": floats(_gelu),
    "nn.gelu_tanh": floats(lambda x: functional.gelu(x, approximate="tanh")),
}

TO_BOOLEANS = {
    **{name: plain(getattr(torch, name)) for name in ("greater", "greater_equal", "less", "less_equal")},
    "equal": plain(torch.eq),
    "not_equal": plain(torch.ne),
    **{f"logical_{name}": plain(getattr(torch, f"logical_{name}")) for name in ("and", "or", "xor")},
}

OF_ONE_DTYPE = {
    **{name: plain(getattr(torch, name)) for name in ("add", "subtract", "multiply", "maximum", "minimum", "atan2")},
    **{f"bitwise_{name}": plain(getattr(torch, f"bitwise_{name}")) for name in ("and", "or", "xor")},
    "divide": floats(torch.div),
    "floor_divide": plain(_floor_divide),
    "floor_mod": plain(torch.remainder),
    "mod": plain(torch.fmod),
    "power": floats(torch.pow),
    "left_shift": plain(torch.bitwise_left_shift),
    "right_shift": plain(torch.bitwise_right_shift),
    "log_add_exp": floats(torch.logaddexp),
}

BINARY = {**TO_BOOLEANS, **{name: of_one_dtype(function) for name, function in OF_ONE_DTYPE.items()}}

# -- reductions


def _reduction(function: Callable[[Tensor, list[int], bool], Tensor]) -> Function:
    def call(attrs: Any, x: Tensor) -> Tensor:
        return function(x, axes_of(attrs.axis, x), bool(attrs.keepdims))

    return call


def _one_by_one(function: Callable[..., Tensor]) -> Callable[[Tensor, list[int], bool], Tensor]:
    """Adapt a reduction that PyTorch computes over one axis at a time."""

    def call(x: Tensor, axes: list[int], keep: bool) -> Tensor:
        for axis in sorted((axis % max(x.dim(), 1) for axis in axes), reverse=True):
            x = function(x, axis, keep)
        return x

    return call


def _sum(x: Tensor, axes: list[int], keep: bool) -> Tensor:
    return x.sum(axes, keepdim=keep, dtype=x.dtype) if axes else x


def _index(function: Function) -> Function:
    def call(attrs: Any, x: Tensor) -> Tensor:
        axis = None if attrs.axis is None else int(attrs.axis)
        require(axis is not None or not attrs.keepdims, "the index among all elements, dimensions kept")
        found: Tensor = function(x, axis, bool(attrs.keepdims)) if axis is not None else function(x)
        return found

    return call


def _scan(function: Function, neutral: int) -> Function:
    def call(attrs: Any, x: Tensor) -> Tensor:
        dtype = dtype_of(attrs.dtype) if str(attrs.dtype) not in ("", "None", "void") else x.dtype
        x, axis = (x.flatten(), 0) if attrs.axis is None else (x, int(attrs.axis))
        found: Tensor = function(x, axis, dtype=dtype)
        return _exclusive(found, axis, neutral) if attrs.exclusive else found

    return call


def _exclusive(found: Tensor, axis: int, neutral: int) -> Tensor:
    """The scan of what comes before each element: the first has the neutral number."""
    first = torch.full_like(found.narrow(axis, 0, 1), neutral)
    return torch.cat((first, found.narrow(axis, 0, found.shape[axis] - 1)), axis)


REDUCTIONS = {
    "sum": _reduction(_sum),
    "mean": _reduction(lambda x, axes, keep: x.mean(axes, keepdim=keep) if axes else x),
    "max": _reduction(lambda x, axes, keep: x.amax(axes, keepdim=keep) if axes else x),
    "min": _reduction(lambda x, axes, keep: x.amin(axes, keepdim=keep) if axes else x),
    "prod": _reduction(_one_by_one(lambda x, axis, keep: x.prod(axis, keepdim=keep, dtype=x.dtype))),
    "variance": _reduction(lambda x, axes, keep: x.var(axes, correction=0, keepdim=keep) if axes else x - x),
    "std": _reduction(lambda x, axes, keep: x.std(axes, correction=0, keepdim=keep) if axes else x - x),
    "argmax": _index(torch.argmax),
    "argmin": _index(torch.argmin),
    "cumsum": _scan(torch.cumsum, 0),
    "cumprod": _scan(torch.cumprod, 1),
}

# -- shapes


def _reshape(attrs: Any, x: Tensor, shape: Sequence[int]) -> Tensor:
    return x.reshape(tuple(shape))


def _permute(attrs: Any, x: Tensor) -> Tensor:
    return x.permute(ints(attrs.axes) if attrs.axes is not None else list(reversed(range(x.dim()))))


def _expand_dims(attrs: Any, x: Tensor) -> Tensor:
    axes = ints(attrs.axis)
    rank = x.dim() + len(axes)
    for axis in sorted(axis % rank for axis in axes):
        x = x.unsqueeze(axis)
    return x


def _squeeze(attrs: Any, x: Tensor) -> Tensor:
    return x.squeeze() if attrs.axis is None else x.squeeze(tuple(ints(attrs.axis)))


def _concat(attrs: Any, parts: Sequence[Tensor]) -> Tensor:
    require(attrs.axis is not None, "concat of all elements")
    return torch.cat(tuple(parts), int(attrs.axis))


def _split(attrs: Any, x: Tensor) -> tuple[Tensor, ...]:
    how, axis = attrs.indices_or_sections, int(attrs.axis)
    if hasattr(how, "__len__"):
        return tuple(torch.tensor_split(x, ints(how), axis))
    count, size = int(how), x.shape[axis]
    length = -(-size // count)
    require(length * (count - 1) <= size, "split into parts of which the last has a negative size")
    return tuple(torch.tensor_split(x, [length * part for part in range(1, count)], axis))


def _flip(attrs: Any, x: Tensor) -> Tensor:
    return x.flip(ints(attrs.axis))


def _repeat(attrs: Any, x: Tensor) -> Tensor:
    return x.repeat_interleave(int(attrs.repeats), None if attrs.axis is None else int(attrs.axis))


def _strided_slice(attrs: Any, x: Tensor, axes: Any, begin: Any, end: Any, strides: Any = None) -> Tensor:
    """Slice as Python does: bounds beyond an end are moved to it."""
    index: list[Any] = [slice(None)] * x.dim()
    for place, axis in enumerate(axes):
        size, step = x.shape[axis], int(strides[place]) if strides is not None else 1
        require(step > 0, "a slice that goes backwards")
        index[axis] = slice(*slice(int(begin[place]), int(end[place]), step).indices(size))
    return x[tuple(index)]


def _take(attrs: Any, x: Tensor, index: Any) -> Tensor:
    index = torch.as_tensor(index)
    axis = attrs.axis
    x, axis = (x.flatten(), 0) if axis is None else (x, int(axis) % max(x.dim(), 1))
    size = x.shape[axis]
    require(bool(((index >= 0) & (index < size)).all()) or str(attrs.mode) == "fast", "an index that is not there")
    if not bool(((index >= 0) & (index < size)).all()):
        raise Outside("take asks for elements that are not there")
    found = x.index_select(axis, index.flatten().long())
    return found.reshape((*x.shape[:axis], *index.shape, *x.shape[axis + 1 :]))


def _checked_index(index: Tensor, size: int) -> Tensor:
    if not bool(((index >= -size) & (index < size)).all()):
        raise Outside("an index that is not there")
    return torch.where(index < 0, index + size, index).long()


def _gather_elements(attrs: Any, x: Tensor, index: Tensor) -> Tensor:
    axis = int(attrs.axis)
    return x.gather(axis, _checked_index(index, x.shape[axis]))


def _gather_nd(attrs: Any, x: Tensor, index: Tensor) -> Tensor:
    require(int(attrs.batch_dims) == 0, "gather_nd in batches")
    parts = [_checked_index(part, size) for part, size in zip(index.unbind(-1), x.shape, strict=False)]
    return x[tuple(parts)] if parts else x.expand(*index.shape[:-1], *x.shape)


def _scatter_elements(attrs: Any, x: Tensor, index: Tensor, updates: Tensor) -> Tensor:
    axis, how = int(attrs.axis), str(attrs.reduction)
    index = _checked_index(index, x.shape[axis])
    if how == "update":
        return x.scatter(axis, index, updates)
    names = {"add": "sum", "mul": "prod", "min": "amin", "max": "amax", "mean": "mean"}
    require(how in names, f"scatter_elements by {how}")
    return x.scatter_reduce(axis, index, updates, names[how])


def _scatter_nd(attrs: Any, x: Tensor, index: Tensor, updates: Tensor) -> Tensor:
    how = str(attrs.reduction)
    require(how in ("update", "add"), f"scatter_nd by {how}")
    require(index.shape[-1] > 0, "scatter_nd without coordinates")
    parts = [_checked_index(part, size) for part, size in zip(index.unbind(-1), x.shape, strict=False)]
    return x.index_put(tuple(parts), updates, accumulate=how == "add")


def _index_tensor(attrs: Any, x: Tensor, index: Sequence[Tensor]) -> Tensor:
    return x[tuple(_checked_index(part, size) for part, size in zip(index, x.shape, strict=False))]


def _index_put(attrs: Any, x: Tensor, index: Any, values: Tensor) -> Tensor:
    index = (index,) if isinstance(index, Tensor) else index
    parts = tuple(_checked_index(part, size) for part, size in zip(index, x.shape, strict=False))
    return x.index_put(parts, values, accumulate=bool(attrs.accumulate))


def _one_hot(attrs: Any, index: Tensor, on: Any, off: Any) -> Tensor:
    depth, axis = int(attrs.depth), int(attrs.axis)
    hot = index.unsqueeze(-1) == torch.arange(depth)
    return torch.where(hot, on, off).movedim(-1, axis)


SHAPES: dict[str, Function] = {
    "reshape": _reshape,
    "permute_dims": _permute,
    "expand_dims": _expand_dims,
    "squeeze": _squeeze,
    "concat": _concat,
    "split": _split,
    "flip": _flip,
    "repeat": _repeat,
    "strided_slice": _strided_slice,
    "take": _take,
    "gather_elements": _gather_elements,
    "gather_nd": _gather_nd,
    "scatter_elements": _scatter_elements,
    "scatter_nd": _scatter_nd,
    "index_tensor": _index_tensor,
    "index_put": _index_put,
    "one_hot": _one_hot,
    "flatten": lambda attrs, x: x.flatten() if x.dim() else x.reshape(1),
    "stack": lambda attrs, parts: torch.stack(tuple(parts), int(attrs.axis or 0)),
    "tile": lambda attrs, x: torch.tile(x, tuple(ints(attrs.repeats))),
    "broadcast_to": lambda attrs, x, shape: x.expand(tuple(shape)),
    "meshgrid": lambda attrs, parts: tuple(torch.meshgrid(*parts, indexing=str(attrs.indexing or "ij"))),
    "slice_scatter": lambda attrs, x, src, start, end, step: x.slice_scatter(
        src, int(attrs.axis), int(start), int(end), int(step)
    ),
    "shape_of": lambda attrs, x: tuple(x.shape),
    "shape_to_tensor": lambda attrs, shape: torch.tensor(shape, dtype=torch.int64),
    "tensor_to_shape": lambda attrs, x: tuple(int(size) for size in x),
    "nonzero": lambda attrs, x: x.reshape(x.shape or (1,)).nonzero().T,
}

# -- creation, selection, sorting


def _topk(attrs: Any, x: Tensor) -> Any:
    found = x.topk(int(attrs.k) if int(attrs.k) > 0 else x.shape[int(attrs.axis)], int(attrs.axis), bool(attrs.largest))
    values, index = found.values, found.indices.to(dtype_of(attrs.dtype))
    return {"both": (values, index), "values": values, "indices": index}[str(attrs.ret_type)]


def _argsort(attrs: Any, x: Tensor) -> Tensor:
    order = x.argsort(dim=int(attrs.axis), descending=bool(attrs.descending), stable=True)
    return order.to(dtype_of(attrs.dtype))


def _triangle(function: Function) -> Function:
    return lambda attrs, x, k=0: function(x, int(k))


def _full(attrs: Any, shape: Sequence[int], value: Any) -> Tensor:
    filled = torch.as_tensor(value).expand(tuple(shape))
    return filled if attrs.dtype is None else filled.to(dtype_of(attrs.dtype))


def _full_like(attrs: Any, x: Tensor, value: Any) -> Tensor:
    named = getattr(attrs, "dtype", None)
    dtype = dtype_of(named) if named is not None and str(named) not in ("", "void") else x.dtype
    return torch.as_tensor(value).to(dtype).expand(x.shape)


MADE: dict[str, Function] = {
    "full": _full,
    "full_like": _full_like,
    "zeros": lambda attrs, shape: torch.zeros(tuple(shape), dtype=dtype_of(attrs.dtype)),
    "ones": lambda attrs, shape: torch.ones(tuple(shape), dtype=dtype_of(attrs.dtype)),
    "zeros_like": lambda attrs, x: torch.zeros_like(x),
    "ones_like": lambda attrs, x: torch.ones_like(x),
    "arange": lambda attrs, start, end, step: torch.arange(start, end, step, dtype=dtype_of(attrs.dtype)),
    "eye": lambda attrs, n, m, k: torch.tril(torch.triu(torch.ones(int(n), int(m)), int(k)), int(k)).to(
        dtype_of(attrs.dtype)
    ),
    "tril": _triangle(torch.tril),
    "triu": _triangle(torch.triu),
    "astype": lambda attrs, x: x.to(dtype_of(attrs.dtype)),
    "where": lambda attrs, condition, x, y: torch.where(condition, x, y),
    "masked_fill": lambda attrs, x, mask: x.masked_fill(mask, float(attrs.value)),
    "clip": _clip,
    "sort": lambda attrs, x: x.sort(dim=int(attrs.axis), descending=bool(attrs.descending), stable=True).values,
    "argsort": _argsort,
    "topk": _topk,
    "bucketize": lambda attrs, x, edges: torch.bucketize(
        x, edges, out_int32=bool(attrs.out_int32), right=bool(attrs.right)
    ),
    "ewise_fma": lambda attrs, x, y, z: x * y + z,
}

OPERATORS: dict[str, Function] = {**UNARY, **BINARY, **REDUCTIONS, **SHAPES, **MADE, **SUMS, **FURTHER}
"""From the name in Relax, without `relax.`, to the evaluation."""
