"""Other layouts of a tensor in memory."""

from __future__ import annotations

import torch


def other_layout(tensor: torch.Tensor) -> torch.Tensor:
    """The same numbers in another layout: channels last for ranks 4 and 5, else with reversed dimensions in memory."""
    match tensor.dim():
        case 4:
            return tensor.contiguous(memory_format=torch.channels_last)
        case 5:
            return tensor.contiguous(memory_format=torch.channels_last_3d)
        case rank:
            order = tuple(reversed(range(rank)))
            return tensor.permute(order).contiguous().permute(order)
