"""Arrays and tensors of PyTorch: from one to the other, and in a memory layout."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from generators.graph import Array, DType, Layout

if TYPE_CHECKING:
    import torch


def to_torch(array: Array) -> torch.Tensor:
    """Copy an array to a new contiguous tensor."""
    import torch

    half = array.dtype == DType.BFLOAT16.numpy  # torch does not support numpy's extension types
    tensor = torch.from_numpy(np.array(array.view(np.int16) if half else array))
    tensor = tensor.clone(memory_format=torch.contiguous_format)  # numpy's strides of empty arrays are zero
    return tensor.view(torch.bfloat16) if half else tensor


def from_torch(tensor: torch.Tensor) -> Array:
    import torch

    tensor = tensor.detach().contiguous()
    if tensor.dtype is torch.bfloat16:
        return tensor.view(torch.int16).numpy().view(DType.BFLOAT16.numpy)
    array: Array = tensor.numpy()
    return array


def laid_out(tensor: torch.Tensor, layout: Layout) -> torch.Tensor:
    """Return a tensor with the same numbers and the strides of a `Layout`."""
    match layout:
        case Layout.CONTIGUOUS:
            return tensor
        case Layout.TRANSPOSED:
            order = tuple(reversed(range(tensor.dim())))
            return tensor.permute(order).contiguous().permute(order)
        case Layout.STRIDED:
            return tensor.repeat_interleave(2, -1)[..., ::2]
        case Layout.EXPANDED:
            return tensor[:1].expand(tensor.shape)
