"""What an error says about the GPU that it was seen on."""

from __future__ import annotations

import re
from enum import StrEnum
from typing import assert_never

from oracles.outcome import Built, Died, Outcome, Raised, Ran, Skipped, TimedOut, Unsupported


class GpuDamage(StrEnum):
    """What an outcome says about the GPU that it was seen on."""

    NONE = "none"
    WORKER = "worker"  # an error of CUDA: the process that had it is of no more use
    DEVICE = "device"  # the hardware itself: no process will fare better on it


_BROKEN_DEVICE = (
    r"CUDA_ERROR_(ECC|NVLINK)_UNCORRECTABLE|cudaError(ECC|Nvlink)Uncorrectable",  # 214, 220
    r"uncorrectable (ECC|NVLink) error",
    r"fallen off the bus|GPU is lost|GPU requires reset|\bXid\b",  # as the driver and nvidia-smi say it
)
_CUDA_ERROR = (
    r"\bCUDA_ERROR_[A-Z]|\bcudaError[A-Z]|\bCU(BLAS|DNN|SPARSE|SOLVER|FFT|RAND)_STATUS_(?!SUCCESS)[A-Z]",
    r"\bCUDA( Runtime|Launch)? ?[Ee]rror\b|(^|: )CUDA: |\bCUDA out of memory\b",  # TVM's words, and PyTorch's
    # cudaGetErrorString of those that leave the process «in an inconsistent state» (CUDA driver API, CUresult)
    r"an illegal memory access was encountered|device-side assert triggered",  # 700, 710
    r"the launch timed out and was terminated|hardware stack error",  # 702, 714
    r"an illegal instruction was encountered|misaligned address",  # 715, 716
    r"operation not supported on global/shared address space|invalid program counter",  # 717, 718
    r"unspecified launch failure|tensor memory not completely freed",  # 719, 721
    r"Invalid access of peer GPU memory over nvlink or a hardware error",  # 226
)
_HARM = tuple(
    (re.compile("|".join(texts), re.M), harm)
    for texts, harm in ((_BROKEN_DEVICE, GpuDamage.DEVICE), (_CUDA_ERROR, GpuDamage.WORKER))
)


def gpu_damage_of(outcome: Outcome) -> GpuDamage:
    """Some errors of CUDA (running out of memory, say) leave a process whole, most do not; a worker is cheaper than the
    question."""
    match outcome:
        case Raised(type=name, message=message):
            text = f"{name}: {message}"
        case Died(log=text) | Skipped(reason=text) | Unsupported(reason=text):
            pass
        case Ran() | Built() | TimedOut():
            return GpuDamage.NONE
        case _:
            assert_never(outcome)
    return next((harm for pattern, harm in _HARM if pattern.search(text)), GpuDamage.NONE)
