"""What differs between the releases of TVM in which Relax lanes run: 0.25.0.post1, 0.26.0 and 0.27.0.post1.

Lanes are written for the newest; what another release calls or writes otherwise, it is asked for here.
"""

from __future__ import annotations

from typing import Any

from torch.utils.dlpack import from_dlpack


def address(tensor: Any) -> int:
    """Of a TVM tensor's first byte. Up to 0.25 tensors do not tell it, but share their memory with PyTorch."""
    if hasattr(tensor, "data_ptr"):
        return int(tensor.data_ptr())
    return int(from_dlpack(tensor).data_ptr())
