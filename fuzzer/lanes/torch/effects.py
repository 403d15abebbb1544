"""Which inputs eager PyTorch changes, and which outputs share memory with inputs. TVM may do the same and no more."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import torch


def modified(names: Iterable[str], before: Sequence[torch.Tensor], after: Sequence[torch.Tensor]) -> tuple[str, ...]:
    """Return the names of the inputs whose numbers changed. NaN equals NaN."""
    return tuple(
        name
        for name, old, new in zip(names, before, after, strict=True)
        if not bool(((old == new) | ((old != old) & (new != new))).all())
    )


def aliases(
    names: Iterable[str], inputs: Sequence[torch.Tensor], outputs: Sequence[torch.Tensor]
) -> tuple[tuple[int, str], ...]:
    """Return the outputs, by position, that share memory with an input, and the names of these inputs."""
    owners = {_memory(tensor): name for name, tensor in zip(names, inputs, strict=True) if tensor.numel()}
    return tuple(
        (position, owners[_memory(output)])
        for position, output in enumerate(outputs)
        if output.numel() and _memory(output) in owners
    )


def _memory(tensor: torch.Tensor) -> int:
    return tensor.untyped_storage().data_ptr()
