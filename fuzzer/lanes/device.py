"""What a device's worker does before its first job. Imported in workers only."""

from __future__ import annotations

import importlib
import logging
import platform
import warnings
from collections.abc import Callable

from fuzzer.lanes.base.bench import Lane
from fuzzer.lanes.torch.decompositions import remember_decompositions
from oracles.lane import LaneSpec


def open_device() -> tuple[dict[str, str], Callable[[LaneSpec], Lane]]:
    """The versions and settings of what was loaded, and what runs a lane. CUDA itself is not touched yet."""
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
    """Keep PyTorch from computing float32 in TF32, whose numbers have 10 bits behind the point instead of 23: against
    such a result every honest lane is wrong. States what is set, as PyTorch gives it back."""
    import torch

    torch.backends.cuda.matmul.allow_tf32 = False
    torch.backends.cudnn.allow_tf32 = False
    torch.set_float32_matmul_precision("highest")
    tf32 = "on" if torch.backends.cuda.matmul.allow_tf32 or torch.backends.cudnn.allow_tf32 else "off"
    return f"{torch.get_float32_matmul_precision()}, TF32 {tf32}"
