"""What an error implies for the GPU on which it occurred, and for the process that used it."""

from __future__ import annotations

import re
from enum import StrEnum
from typing import assert_never

from oracles.outcome import Broken, Built, Died, Outcome, Raised, Ran, Skipped, TimedOut, Unsupported


class GpuDamage(StrEnum):
    """What is unusable after an outcome."""

    NONE = "none"
    WORKER = "worker"  # an error of CUDA: the process cannot be used any more
    DEVICE = "device"  # an error of the hardware: no process can use the device


_BROKEN_DEVICE = (
    r"CUDA_ERROR_(ECC|NVLINK)_UNCORRECTABLE|cudaError(ECC|Nvlink)Uncorrectable",  # 214, 220
    r"uncorrectable (ECC|NVLink) error",
    r"fallen off the bus|GPU is lost|GPU requires reset|\bXid\b",  # messages of the driver and of nvidia-smi
)
_CUDA_ERROR = (
    r"\bCUDA_ERROR_[A-Z]|\bcudaError[A-Z]|\bCU(BLAS|DNN|SPARSE|SOLVER|FFT|RAND)_STATUS_(?!SUCCESS)[A-Z]",
    r"\bCUDA( Runtime|Launch)? ?[Ee]rror\b|(^|: )CUDA: |\bCUDA out of memory\b",  # messages of TVM and of PyTorch
    # texts of cudaGetErrorString for errors that leave the process in an inconsistent state (CUDA driver API, CUresult)
    r"an illegal memory access was encountered|device-side assert triggered",  # 700, 710
    r"the launch timed out and was terminated|hardware stack error",  # 702, 714
    r"an illegal instruction was encountered|misaligned address",  # 715, 716
    r"operation not supported on global/shared address space|invalid program counter",  # 717, 718
    r"unspecified launch failure|tensor memory not completely freed",  # 719, 721
    r"Invalid access of peer GPU memory over nvlink or a hardware error",  # 226
)
_PATTERNS = tuple(
    (re.compile("|".join(texts), re.M), damage)
    for texts, damage in ((_BROKEN_DEVICE, GpuDamage.DEVICE), (_CUDA_ERROR, GpuDamage.WORKER))
)


def gpu_damage_of(outcome: Outcome) -> GpuDamage:
    """Return what the outcome implies for the GPU and its worker.

    Every error of CUDA costs the worker. Some, such as running out of memory, leave the process usable, but a new
    worker is cheaper than finding that out.
    """
    match outcome:
        case Raised(type=name, message=message):
            text = f"{name}: {message}"
        case Died(log=text) | Skipped(reason=text) | Unsupported(reason=text):
            pass
        case Broken(error=text):
            pass
        case Ran() | Built() | TimedOut():
            return GpuDamage.NONE
        case _:
            assert_never(outcome)
    return next((damage for pattern, damage in _PATTERNS if pattern.search(text)), GpuDamage.NONE)
