"""A GPU that is none: it fails as CUDA's documentation says that GPUs fail, in the words of TVM and of PyTorch.

The device is a folder, whose path stands in CUDA_VISIBLE_DEVICES. What outlives a process lies there, in files:
`wrong` (so many known answers come out wrong), `lost` (the GPU has fallen off the bus), `undying` (the process that no
signal ends), `sins` (variants, one for each of the next lanes of TVM's but for known answers; the last one stays).
An error that CUDA calls sticky stays with the process: all that it does afterwards fails alike.
Imported in workers only. It loads no compiler.
"""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import assert_never

import numpy as np

from fuzzer.lanes.base.bench import Bench, Lane, Step
from generators.graph import Array, Case
from oracles.lane import LaneSpec
from oracles.outcome import Ran, Stage


@dataclass(frozen=True, slots=True)
class CudaError:
    """A row of CUresult (CUDA driver API) and cudaError_t (runtime API), whose numbers agree.

    text    of cudaGetErrorString
    sticky  it «leaves the process in an inconsistent state and any further CUDA work will return the same error»
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


class Speaker(StrEnum):
    """Who reports an error; each has words of its own."""

    LAUNCH = "launch"  # TVM, of a kernel
    RUNTIME = "runtime"  # TVM 0.27, of a call of the runtime
    OLD = "old"  # TVM up to 0.17, of the same
    TORCH = "torch"
    MUTE = "mute"  # a library that leaves the text alone


def said(error: CudaError, by: Speaker) -> Exception:
    """As child processes report it: the type's name and the message."""
    match by:
        case Speaker.LAUNCH:
            text = f"CUDALaunch Error: {error.driver}\n grid=(1,1,1),  block=(64,1,1)\n// func_name=add_kernel\n"
            return _exception("tvm.error", "InternalError", text)
        case Speaker.RUNTIME:
            return RuntimeError(f"CUDA Runtime Error: {error.runtime} ({error.number}): {error.text}")
        case Speaker.OLD:
            return _exception("tvm.error", "InternalError", f"CUDA: {error.text}")
        case Speaker.TORCH:
            hint = "CUDA kernel errors might be asynchronously reported at some other API call"
            return _exception("torch", "AcceleratorError", f"CUDA error: {error.text}\n{hint}")
        case Speaker.MUTE:
            return RuntimeError(error.text)
        case _:
            assert_never(by)


def _exception(module: str, name: str, text: str) -> Exception:
    kind: type[Exception] = type(name, (RuntimeError,), {"__module__": module})
    return kind(text)


class FakeDeviceLane:
    """What a lane does, by its variant: `honest`, `lie`, `raise`, `refuse` (before anything is loaded); `hang`, `deaf`
    (to SIGTERM), `undying`, `exit`; `lost`; `corrupt`, from which on all in the process goes wrong silently, `seep`,
    after which it does, and `linger`, after which all fails; `pid`, `where`; and errors of CUDA, as `700-launch`:
    number and speaker."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._stuck: Exception | None = None
        self._corrupt = False

    def supports(self, case: Case, spec: LaneSpec) -> str | None:
        return None

    def run(self, bench: Bench, spec: LaneSpec, step: Step) -> Ran:
        step(Stage.COMPILE)
        variant = self._sin() if spec.variant == "relax" and spec.name != "known-answer" else spec.variant
        if variant == "refuse":
            raise RuntimeError("refused by the compiler")
        step(Stage.RUN)
        if (self._folder / "lost").exists():
            raise said(NO_DEVICE, Speaker.RUNTIME)
        if self._stuck:
            raise self._stuck
        self._misbehave(variant)
        match variant:
            case "pid":
                return Ran((np.array(os.getpid()),))
            case "where":
                return Ran((np.frombuffer(os.environ["CUDA_VISIBLE_DEVICES"].encode(), np.uint8),))
        wrong = variant == "lie" or self._corrupt or (spec.name == "known-answer" and self._is_wrong())
        self._corrupt |= variant == "seep"
        return Ran((computed(bench.case) + np.float32(wrong),))

    def _misbehave(self, variant: str) -> None:
        match variant:
            case "raise":
                raise RuntimeError("raised on purpose")
            case "corrupt":
                self._corrupt = True
            case "linger":
                self._stuck = said(ERRORS[700], Speaker.RUNTIME)
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
                raise said(ERRORS[719], Speaker.LAUNCH)
        number, _, speaker = variant.partition("-")
        if number.isdecimal():
            failure = said(ERRORS[int(number)], Speaker(speaker))
            self._stuck = failure if ERRORS[int(number)].sticky else None
            raise failure

    def _sin(self) -> str:
        path = self._folder / "sins"
        now, *later = path.read_text().split() if path.exists() else ["honest"]
        if later:
            path.write_text("\n".join(later))
        return now

    def _is_wrong(self) -> bool:
        path = self._folder / "wrong"
        left = int(path.read_text()) if path.exists() else 0
        if left:
            path.write_text(str(left - 1))
        return left > 0


_OPERATORS = {"sin": np.sin, "neg": np.negative, "matmul": np.matmul}


def computed(case: Case) -> Array:
    """What graphs of a few operators come to, with one output."""
    values = dict(case.tensors)
    for node in case.graph.nodes:
        values[node.results[0].name] = _OPERATORS[node.op](*(values[arg] for arg in node.args))
    return values[case.graph.outputs[0]]


def open_device() -> tuple[dict[str, str], Callable[[LaneSpec], Lane]]:
    """See `fuzzer.lanes.device`."""
    lane = FakeDeviceLane(Path(os.environ["CUDA_VISIBLE_DEVICES"]))
    return {"device": "fake"}, lambda spec: lane


def _hang() -> None:
    while True:
        time.sleep(60)
