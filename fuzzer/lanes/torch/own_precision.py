"""Calls of PyTorch in float64, or in their own dtypes where PyTorch has no float64 for them."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch

from fuzzer.lanes.envelope.other_sizes import OtherSizes
from generators.graph import Node
from generators.op import Types

Tensors = tuple[torch.Tensor, ...]
Compute = Callable[[Sequence[torch.Tensor]], Tensors]


class InDoubleOrOwn:
    """Computes a node in float64 where PyTorch can, and in its own dtypes where it cannot: nothing quantizes float64,
    for example. The numbers are float64 either way. The results in own dtypes are off by the rounding that the
    envelope pushes them by.

    in_double, in_own  compute the node with operands of these dtypes
    """

    def __init__(self, node: Node, types: Types, in_double: Compute, in_own: Compute) -> None:
        self._types = types
        self._results = tuple(result.type for result in node.results)
        self._in_double, self._in_own = in_double, in_own
        self._has_double: bool | None = None

    def __call__(self, args: Sequence[torch.Tensor]) -> Tensors:
        """The results. Raise `OtherSizes` where one has other sizes than the graph says."""
        if self._has_double is None:
            self._has_double, made = self._tried(args)
        else:
            made = self._in_double(args) if self._has_double else self._own(args)
        for result, type in zip(made, self._results, strict=True):
            if tuple(result.shape) != type.sizes:
                raise OtherSizes(f"{tuple(result.shape)} instead of {type}")
        return tuple(
            result.to(torch.float64) if type.dtype.is_float else result
            for result, type in zip(made, self._results, strict=True)
        )

    def _tried(self, args: Sequence[torch.Tensor]) -> tuple[bool, Tensors]:
        try:
            return True, self._in_double(args)
        except Exception:  # whatever PyTorch raises about a dtype
            return False, self._own(args)

    def _own(self, args: Sequence[torch.Tensor]) -> Tensors:
        given = [
            arg.to(getattr(torch, type.dtype)) if type.dtype.is_float else arg
            for type, arg in zip(self._types, args, strict=True)
        ]
        before = torch.get_default_dtype()
        torch.set_default_dtype(torch.float32)
        try:
            return self._in_own(given)
        finally:
            torch.set_default_dtype(before)
