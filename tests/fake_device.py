"""A folder that stands in for a GPU. It fails as CUDA's documentation describes, with the messages of TVM and PyTorch.

The path of the folder is the value of CUDA_VISIBLE_DEVICES. Files in it hold the state that outlives a process:

wrong     the number of known answers that are still to come out wrong
lost      exists once the GPU has fallen off the bus
undying   the process id of a worker that no signal ends
variants  what the next lanes of TVM do, one word for each lane (known answers take none); the last word stays

After an error that CUDA calls sticky, everything in the same process fails with that error. A worker executes this
file (`Device.opener`). It loads no compiler.
"""

from __future__ import annotations

import ctypes
import gc
import os
import resource
import signal
import time
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import assert_never

import numpy as np

from fuzzer.lanes.base.lane import Lane
from fuzzer.lanes.base.prepared_case import PreparedCase
from fuzzer.lanes.base.step import Step
from fuzzer.system import confinement
from fuzzer.system.devices import Device
from generators.graph import Array, Case
from oracles.lane import LaneSpec
from oracles.outcome import Ran, Stage


@dataclass(frozen=True, slots=True)
class CudaError:
    """An error of CUDA. The driver API (CUresult) and the runtime API (cudaError_t) use the same numbers.

    text    the result of cudaGetErrorString
    sticky  the error "leaves the process in an inconsistent state and any further CUDA work will return the same
            error" (CUDA driver API)
    """

    number: int
    driver: str
    runtime: str
    text: str
    sticky: bool = True


ERRORS = {
    error.number: error
    for error in (
        CudaError(2, "CUDA_ERROR_OUT_OF_MEMORY", "cudaErrorMemoryAllocation", "out of memory", False),
        CudaError(
            214, "CUDA_ERROR_ECC_UNCORRECTABLE", "cudaErrorECCUncorrectable", "uncorrectable ECC error encountered"
        ),
        CudaError(
            220,
            "CUDA_ERROR_NVLINK_UNCORRECTABLE",
            "cudaErrorNvlinkUncorrectable",
            "uncorrectable NVLink error detected during the execution",
        ),
        CudaError(
            226,
            "CUDA_ERROR_CONTAINED",
            "cudaErrorContained",
            "Invalid access of peer GPU memory over nvlink or a hardware error",
        ),
        CudaError(
            700, "CUDA_ERROR_ILLEGAL_ADDRESS", "cudaErrorIllegalAddress", "an illegal memory access was encountered"
        ),
        CudaError(
            701,
            "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES",
            "cudaErrorLaunchOutOfResources",
            "too many resources requested for launch",
            False,
        ),
        CudaError(
            702, "CUDA_ERROR_LAUNCH_TIMEOUT", "cudaErrorLaunchTimeout", "the launch timed out and was terminated"
        ),
        CudaError(710, "CUDA_ERROR_ASSERT", "cudaErrorAssert", "device-side assert triggered"),
        CudaError(714, "CUDA_ERROR_HARDWARE_STACK_ERROR", "cudaErrorHardwareStackError", "hardware stack error"),
        CudaError(
            715,
            "CUDA_ERROR_ILLEGAL_INSTRUCTION",
            "cudaErrorIllegalInstruction",
            "an illegal instruction was encountered",
        ),
        CudaError(716, "CUDA_ERROR_MISALIGNED_ADDRESS", "cudaErrorMisalignedAddress", "misaligned address"),
        CudaError(
            717,
            "CUDA_ERROR_INVALID_ADDRESS_SPACE",
            "cudaErrorInvalidAddressSpace",
            "operation not supported on global/shared address space",
        ),
        CudaError(718, "CUDA_ERROR_INVALID_PC", "cudaErrorInvalidPc", "invalid program counter"),
        CudaError(719, "CUDA_ERROR_LAUNCH_FAILED", "cudaErrorLaunchFailure", "unspecified launch failure"),
        CudaError(
            721, "CUDA_ERROR_TENSOR_MEMORY_LEAK", "cudaErrorTensorMemoryLeak", "tensor memory not completely freed"
        ),
    )
}
NO_DEVICE = CudaError(100, "CUDA_ERROR_NO_DEVICE", "cudaErrorNoDevice", "no CUDA-capable device is detected", False)


class Wording(StrEnum):
    """The library that reports an error, which decides the type and the message of the exception."""

    LAUNCH = "launch"  # TVM, when it launches a kernel
    RUNTIME = "runtime"  # TVM 0.27, when it calls CUDA's runtime
    OLD = "old"  # TVM up to 0.17, when it calls CUDA's runtime
    TORCH = "torch"
    BARE = "bare"  # a library that adds nothing to CUDA's text


def cuda_exception(error: CudaError, wording: Wording) -> Exception:
    """Return the exception that a library raises for an error: it has the right full type name and message."""
    match wording:
        case Wording.LAUNCH:
            text = f"CUDALaunch Error: {error.driver}\n grid=(1,1,1),  block=(64,1,1)\n// func_name=add_kernel\n"
            return _exception("tvm.error", "InternalError", text)
        case Wording.RUNTIME:
            return RuntimeError(f"CUDA Runtime Error: {error.runtime} ({error.number}): {error.text}")
        case Wording.OLD:
            return _exception("tvm.error", "InternalError", f"CUDA: {error.text}")
        case Wording.TORCH:
            hint = "CUDA kernel errors might be asynchronously reported at some other API call"
            return _exception("torch", "AcceleratorError", f"CUDA error: {error.text}\n{hint}")
        case Wording.BARE:
            return RuntimeError(error.text)
        case _:
            assert_never(wording)


def _exception(module: str, name: str, text: str) -> Exception:
    kind: type[Exception] = type(name, (RuntimeError,), {"__module__": module})
    return kind(text)


_PR_GET_CHILD_SUBREAPER = 37  # prctl.h


class FakeDeviceLane:
    """A lane that does what its variant says.

    honest, lie  return right or wrong results
    raise        raise an exception in the run stage
    refuse       raise one in the compile stage, before anything is loaded
    hang, deaf   never return; `deaf` ignores SIGTERM too
    undying      never return, and write the process id to the file `undying`
    exit         end the process
    lost         raise an error of CUDA; the device is gone from then on
    corrupt      return wrong results, here and in everything that this process runs later
    seep         the same, but this lane's own result is right
    linger       return right results, but let everything fail that this process runs later
    pid, where   return the process id, or CUDA_VISIBLE_DEVICES as bytes
    bounds       return whether it adopts orphans, and the largest file and core file that it may write
    garbage      return whether automatic collection is on, and whether collections visit all objects
    700-launch   raise the error of CUDA with this number, in this `Wording`
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._stuck: Exception | None = None
        self._corrupt = False

    def supports(self, case: Case, spec: LaneSpec) -> str | None:
        return None

    def run(self, prepared: PreparedCase, spec: LaneSpec, step: Step) -> Ran:
        step(Stage.COMPILE)
        variant = self._next_variant() if spec.variant == "relax" and spec.name != "known-answer" else spec.variant
        if variant == "refuse":
            raise RuntimeError("refused by the compiler")
        step(Stage.RUN)
        if (self._folder / "lost").exists():
            raise cuda_exception(NO_DEVICE, Wording.RUNTIME)
        if self._stuck:
            raise self._stuck
        self._misbehave(variant)
        match variant:
            case "pid":
                return Ran((np.array(os.getpid()),))
            case "where":
                return Ran((np.frombuffer(os.environ["CUDA_VISIBLE_DEVICES"].encode(), np.uint8),))
            case "bounds":
                adopts = ctypes.c_int()
                ctypes.CDLL(None).prctl(_PR_GET_CHILD_SUBREAPER, ctypes.byref(adopts))
                most, core = (resource.getrlimit(each)[1] for each in (resource.RLIMIT_FSIZE, resource.RLIMIT_CORE))
                return Ran((np.array([adopts.value, most, core]),))
            case "garbage":
                return Ran((np.array([gc.isenabled(), gc.get_freeze_count() == 0]),))
        wrong = variant == "lie" or self._corrupt or (spec.name == "known-answer" and self._is_wrong())
        self._corrupt |= variant == "seep"
        return Ran((computed(prepared.case) + np.float32(wrong),))

    def _misbehave(self, variant: str) -> None:
        match variant:
            case "raise":
                raise RuntimeError("raised on purpose")
            case "corrupt":
                self._corrupt = True
            case "linger":
                self._stuck = cuda_exception(ERRORS[700], Wording.RUNTIME)
            case "exit":
                os._exit(3)
            case "hang":
                _hang()
            case "deaf":
                signal.signal(signal.SIGTERM, signal.SIG_IGN)
                _hang()
            case "undying":
                (self._folder / "undying").write_text(str(os.getpid()))
                _hang()
            case "lost":
                (self._folder / "lost").touch()
                raise cuda_exception(ERRORS[719], Wording.LAUNCH)
        number, _, wording = variant.partition("-")
        if number.isdecimal():
            failure = cuda_exception(ERRORS[int(number)], Wording(wording))
            self._stuck = failure if ERRORS[int(number)].sticky else None
            raise failure

    def _next_variant(self) -> str:
        path = self._folder / "variants"
        first, *rest = path.read_text().split() if path.exists() else ["honest"]
        if rest:
            path.write_text("\n".join(rest))
        return first

    def _is_wrong(self) -> bool:
        path = self._folder / "wrong"
        left = int(path.read_text()) if path.exists() else 0
        if left:
            path.write_text(str(left - 1))
        return left > 0


OPERATORS: dict[str, Callable[..., Array]] = {"sin": np.sin, "neg": np.negative, "matmul": np.matmul}


def computed(case: Case) -> Array:
    """Compute a graph of sin, neg and matmul that has one output."""
    values = dict(case.tensors)
    for node in case.graph.nodes:
        values[node.results[0].name] = OPERATORS[node.op](*(values[arg] for arg in node.args))
    return values[case.graph.outputs[0]]


def open_device() -> tuple[dict[str, str], Callable[[LaneSpec], Lane]]:
    """Do what `fuzzer.lanes.device.open_device` does, for a folder."""
    lane = FakeDeviceLane(Path(os.environ["CUDA_VISIBLE_DEVICES"]))
    return {"device": "fake"}, lambda spec: lane


def fake_gpu(folder: Path) -> Device:
    """Return the device whose folder this is. Its workers may write there, as they may to a device."""
    named = os.environ.get(confinement.USER, "").split(":")
    os.environ[confinement.USER] = ":".join({*filter(None, named), str(folder)})
    return Device(str(folder), opener=__file__)


def _hang() -> None:
    while True:
        time.sleep(60)
