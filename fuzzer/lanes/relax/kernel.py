"""One node of a case of Relax by the definition of its operator: what the references of a case are made of. TVM has no
part in it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import SimpleNamespace
from typing import Any

import torch

from fuzzer.lanes.envelope.program import Kernels, Tensors
from fuzzer.lanes.evaluated.operators import value_of
from fuzzer.lanes.relax.one_pass import ONE_PASS
from generators.graph import FLOATS, DType, Graph, Node, TensorType
from generators.op import Types
from generators.relax.row import Given, KernelForm, RelaxForm
from generators.table import TABLE

IN_HALF = ("relax.nn.attention", "relax.nn.attention_bias", "relax.nn.rms_norm")
"""Operators with numbers on the way that leave the range of float16 where the result does not."""

KERNELS: Mapping[str, Callable[..., torch.Tensor]] = {
    "double": lambda a: a * 2,
    "difference": lambda a, b: a - b,
    "turn": lambda a: a.T,
    "row_sum": lambda a: a.sum(1),
}
"""What the kernels of `generators.relax.kernels` compute."""

_WITHOUT_HALF = ("relax.nn.avg_pool3d",)
"""Operators for which PyTorch has no kernel in half precision: float32 takes its place."""

_LAYOUTS = {"data_layout": "out_layout", "layout": "out_layout"}


class RelaxKernel:
    """The definition of one node, in float64."""

    def __init__(self, node: Node, graph: Graph, types: Types) -> None:
        self._node, self._types = node, types
        self.has_variance = node.op in ONE_PASS
        self.may_be_in_half = node.op in IN_HALF and any(type.dtype is DType.FLOAT16 for type in types)

    def __call__(self, args: Sequence[torch.Tensor]) -> Tensors:
        return results(self._node, args, in_double=True)

    def in_one_pass(self, args: Sequence[torch.Tensor], direction: int) -> Tensors:
        return (ONE_PASS[self._node.op](args, self._node.attrs, direction),)

    def in_half(self, args: Sequence[torch.Tensor]) -> Tensors:
        own = [arg.to(getattr(torch, type.dtype)) for arg, type in zip(args, self._types, strict=True)]
        made = results(self._node, own, in_double=False)
        return tuple([each.double() if each.is_floating_point() else each for each in made])

    def without_zeros(self, args: Sequence[torch.Tensor]) -> Tensors:
        raise NotImplementedError("nothing says that the operator may leave out products with zeros")


def results(node: Node, args: Sequence[torch.Tensor], *, in_double: bool) -> Tensors:
    """The results of a node of a graph without symbols. In double precision, floats are float64 in operands and
    results; otherwise all are of the dtypes of the case. A definition that gives another shape is wrong."""
    form = TABLE[node.op].source
    if isinstance(form, KernelForm):
        made: Any = KERNELS[form.name](*args)
    else:
        assert isinstance(form, RelaxForm)
        if node.op in _WITHOUT_HALF:
            args = [arg.float() if arg.dtype is torch.float16 else arg for arg in args]
        made = value_of(form.schema.name, _attributes(form, node, in_double=in_double), _arguments(form, node, args))
    several = made if isinstance(made, tuple | list) else (made,)
    return tuple([_typed(each, value.type, in_double) for each, value in zip(several, node.results, strict=True)])


def _typed(made: torch.Tensor, type: TensorType, in_double: bool) -> torch.Tensor:
    dtype = DType.FLOAT64 if in_double and type.dtype.is_float else type.dtype
    found = torch.as_tensor(made).to(getattr(torch, dtype))
    assert tuple(found.shape) == type.sizes, f"{list(found.shape)} for {type}"
    return found


def _attributes(form: RelaxForm, node: Node, *, in_double: bool) -> SimpleNamespace:
    """The attributes of the call, as TVM's objects of attributes have them."""
    attrs = {**form.schema.defaults, **node.attrs}
    for layout, other in _LAYOUTS.items():
        if layout in attrs and attrs.get(other) is None:
            attrs[other] = attrs[layout]
    if in_double:
        attrs |= {key: DType.FLOAT64.value for key in ("dtype", "out_dtype") if attrs.get(key) in FLOATS}
    return SimpleNamespace(**attrs)


def _arguments(form: RelaxForm, node: Node, args: Sequence[torch.Tensor]) -> list[Any]:
    """The arguments of the operator, in its order."""
    tensors = iter(_grouped(form.given, args))
    names = [name for name, _ in form.schema.arguments]
    more = [name for name in form.arguments if name not in names]
    found = [node.attrs[name] if name in form.arguments else next(tensors, None) for name in [*names, *more]]
    while found and found[-1] is None:  # an argument that is left out
        found.pop()
    return found


def _grouped(given: Given, args: Sequence[torch.Tensor]) -> Sequence[Any]:
    match given:
        case Given.EACH:
            return args
        case Given.TUPLE:
            return [tuple(args)]
        case Given.REST:
            return [args[0], tuple(args[1:])]
        case Given.MIDDLE:
            return [args[0], tuple(args[1:-1]), args[-1]]
        case Given.SHAPE:
            return [tuple(args[0].shape)]


RELAX = Kernels(RelaxKernel)
