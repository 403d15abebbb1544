"""How the worker of a GPU is prepared before its first job. Imported in workers only."""

from __future__ import annotations

import importlib
import logging
import platform
import warnings
from collections.abc import Callable

from fuzzer.lanes.base.lane import Lane
from fuzzer.lanes.torch.decompositions import remember_decompositions
from oracles.lane import LaneSpec


def open_device() -> tuple[dict[str, str], Callable[[LaneSpec], Lane]]:
    """Load the compilers; return their versions and settings, and `runner_of`. This does not use CUDA yet."""
    import torch

    from fuzzer.lanes.runners import runner_of

    torch.set_num_threads(1)
    warnings.filterwarnings("ignore")
    logging.disable(logging.WARNING)
    remember_decompositions()
    names = ("torch", "tvm", "numpy")
    versions = {name: str(importlib.import_module(name).__version__) for name in names}
    return {"python": platform.python_version(), **versions, "float32 matmul": full_float32()}, runner_of


def full_float32() -> str:
    """Keep PyTorch from computing float32 in TF32; return the settings as PyTorch reports them.

    TF32 has 10 bits of fraction instead of 23. Compared with such a result, every correct lane would be wrong."""
    import torch

    torch.backends.cuda.matmul.allow_tf32 = False
    torch.backends.cudnn.allow_tf32 = False
    torch.set_float32_matmul_precision("highest")
    tf32 = "on" if torch.backends.cuda.matmul.allow_tf32 or torch.backends.cudnn.allow_tf32 else "off"
    return f"{torch.get_float32_matmul_precision()}, TF32 {tf32}"
