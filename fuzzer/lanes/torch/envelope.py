"""One node as PyTorch computes it in float64: what the truth and the envelope of a case of PyTorch are made of."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from types import CodeType
from typing import Any

import torch

from fuzzer.lanes.envelope import measure
from fuzzer.lanes.envelope.program import Kernels, Program, Tensors
from fuzzer.lanes.torch.one_pass import ONE_PASS
from fuzzer.lanes.torch.own_precision import Compute, InDoubleOrOwn
from fuzzer.lanes.torch.skipped_padding import WITHOUT_ZEROS
from generators.graph import Array, Case, Form, Graph, Node
from generators.op import Types
from generators.torch.ops.sample import NAME as TORCH_CALL
from generators.torch.source import constructor, statements


@contextmanager
def double_precision() -> Iterator[None]:
    """Inside the context, the floats that PyTorch makes of integers and Python numbers are float64, not float32."""
    before = torch.get_default_dtype()
    torch.set_default_dtype(torch.float64)
    try:
        yield
    finally:
        torch.set_default_dtype(before)


class TorchKernel:
    """The source of one node, compiled once."""

    def __init__(self, node: Node, graph: Graph, types: Types) -> None:
        self._node = node
        self._compute: Compute = _Compiled(node, types, float64=True)
        if node.op == TORCH_CALL:
            self._compute = InDoubleOrOwn(node, types, self._compute, _Compiled(node, types, float64=False))
        self.has_variance = node.op in ONE_PASS
        self.may_be_in_half = False

    def __call__(self, args: Sequence[torch.Tensor]) -> Tensors:
        if self._node.form is Form.INPLACE:  # the caller still needs the operand
            args = [args[0].clone(), *args[1:]]
        return self._compute(args)

    def in_one_pass(self, args: Sequence[torch.Tensor], direction: int) -> Tensors:
        return ONE_PASS[self._node.op](args, self._node.attrs, direction)

    def in_half(self, args: Sequence[torch.Tensor]) -> Tensors:
        raise NotImplementedError("the result of PyTorch shows in which precision it computes")

    def without_zeros(self, args: Sequence[torch.Tensor]) -> Tensors:
        return WITHOUT_ZEROS[self._node.op](args, self._node.attrs)


TORCH = Kernels(TorchKernel, double_precision, has_layouts=True)


def envelope(case: Case) -> list[Array]:
    """The envelope of each output of a case of PyTorch (float64), and then which elements are ill-conditioned."""
    return measure.envelope(Program(case, TORCH))


class _Compiled:
    """The statements that compute a node's results, compiled once."""

    def __init__(self, node: Node, types: Types, *, float64: bool) -> None:
        self._results = [value.name for value in node.results]
        self._code, self._names = _compiled(node, types, float64=float64)

    def __call__(self, args: Sequence[torch.Tensor]) -> Tensors:
        scope: dict[str, Any] = {"torch": torch, "F": torch.nn.functional, **dict(zip(self._names, args, strict=True))}
        exec(self._code, scope)
        return tuple([scope[name] for name in self._results])


def _compiled(node: Node, types: Types, *, float64: bool) -> tuple[CodeType, tuple[str, ...]]:
    """Compile the statements that compute the node's results. Return the code and the names of its operands."""
    names = tuple(f"a{i}" for i in range(len(types)))
    given = [
        f"torch.nn.Parameter({name})" if type.dtype.is_float else name for name, type in zip(names, types, strict=True)
    ]
    lines = constructor(node, tuple(given), types, "layer", float64=float64)
    if lines:
        lines.append("layer.eval()")
    return compile("\n".join([*lines, *statements(node, names, "layer", float64=float64)]), "<node>", "exec"), names
