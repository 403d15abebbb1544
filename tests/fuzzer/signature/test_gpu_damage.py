"""What an outcome implies for the GPU: every error of CUDA, as each library reports it."""

from __future__ import annotations

import pytest
from fake_device import ERRORS, NO_DEVICE, Wording, cuda_exception

from fuzzer.signature import GpuDamage, classify_failure, gpu_damage_of
from oracles.outcome import Cause, Died, Raised, Ran, Skipped, Stage, TimedOut

BROKEN = (214, 220)


def raised(error: Exception) -> Raised:
    return Raised(Stage.RUN, f"{type(error).__module__}.{type(error).__qualname__}", str(error))


@pytest.mark.parametrize("wording", Wording)
def test_every_damage_is_detected_and_no_refusal_is_taken_for_one(wording: Wording) -> None:
    heard = [code for code in ERRORS if ERRORS[code].sticky or wording is not Wording.BARE]
    expected = {code: GpuDamage.DEVICE if code in BROKEN else GpuDamage.WORKER for code in heard}
    assert {
        code: gpu_damage_of(classify_failure(raised(cuda_exception(ERRORS[code], wording)))) for code in heard
    } == expected


@pytest.mark.parametrize(
    ("name", "damage"),
    [
        ("cudaErrorECCUncorrectable", GpuDamage.DEVICE),
        ("cudaErrorNvlinkUncorrectable", GpuDamage.DEVICE),
        ("CUDA_ERROR_NVLINK_UNCORRECTABLE", GpuDamage.DEVICE),
        ("cudaErrorIllegalAddress", GpuDamage.WORKER),
        ("CUDNN_STATUS_BAD_PARAM", GpuDamage.WORKER),
        ("CUDNN_STATUS_SUCCESS", GpuDamage.NONE),
    ],
)
def test_names_of_errors(name: str, damage: GpuDamage) -> None:
    assert gpu_damage_of(Raised(Stage.RUN, "RuntimeError", f"it ended with {name}")) is damage


def test_what_is_not_there_is_no_word_on_the_hardware() -> None:
    assert gpu_damage_of(raised(cuda_exception(NO_DEVICE, Wording.RUNTIME))) is GpuDamage.WORKER


@pytest.mark.parametrize(
    "message",
    [
        "CUDA out of memory. Tried to allocate 20.00 MiB. GPU 0 has a total capacity of 79.15 GiB",
        "CUDA error: CUBLAS_STATUS_EXECUTION_FAILED when calling `cublasSgemm(...)`",
        "cuDNN error: CUDNN_STATUS_EXECUTION_FAILED",
        "CUDAError: cuModuleLoadData(&(module_[device_id]), data_.c_str()) failed with error: CUDA_ERROR_INVALID_IMAGE",
        "CUDA error: device kernel image is invalid\nCUDA kernel errors might be asynchronously reported",
    ],
)
def test_other_words_for_an_error_of_a_process(message: str) -> None:
    assert gpu_damage_of(Raised(Stage.RUN, "RuntimeError", message)) is GpuDamage.WORKER
    assert (
        gpu_damage_of(Died(Stage.RUN, Cause.SIGNAL, 6, f"terminate called\n  what():  {message}\n")) is GpuDamage.WORKER
    )


@pytest.mark.parametrize(
    "log",
    [
        "NVRM: Xid (PCI:0000:3b:00): 79, pid=1234, GPU has fallen off the bus.",
        "Unable to determine the device handle for GPU 0000:3B:00.0: GPU is lost.  Reboot the system",
    ],
)
def test_the_drivers_words_for_a_gpu_that_is_gone(log: str) -> None:
    assert gpu_damage_of(Died(Stage.RUN, Cause.EXIT, 1, log)) is GpuDamage.DEVICE


@pytest.mark.parametrize(
    "outcome",
    [
        Ran(()),
        TimedOut(Stage.RUN, 60.0),
        Died(Stage.COMPILE, Cause.SIGNAL, 11, "Fatal Python error: Segmentation fault"),
        Skipped("no C compiler on PATH"),
        Raised(Stage.COMPILE, "tvm.error.InternalError", "Check failed: (x == y) is false: Cannot find cuda pipeline"),
        Raised(Stage.RUN, "ValueError", "out of memory"),
        Raised(Stage.IMPORT, "AssertionError", "Unsupported function types ['cudnn_convolution.default']"),
    ],
)
def test_what_has_nothing_to_do_with_cuda(outcome: Ran | TimedOut | Died | Skipped | Raised) -> None:
    assert gpu_damage_of(outcome) is GpuDamage.NONE
