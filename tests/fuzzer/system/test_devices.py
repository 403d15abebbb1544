"""Which GPUs are found: what nvidia-smi lists, what CUDA_VISIBLE_DEVICES leaves of it, and the known answer."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from fuzzer.isolate.known_answer import KNOWN_ANSWER
from fuzzer.system.devices import Device, found_devices, listed
from generators.check import check
from oracles.outcome import Raised, Ran, Stage

WHOLE = """\
GPU 0: NVIDIA H100 80GB HBM3 (UUID: GPU-81495ec7-da36-8ea5-9f7d-5804aa3fef20)
GPU 1: NVIDIA GeForce RTX 3090 (UUID: GPU-b614723c-e261-4605-066e-79daab4c00ff)
"""
SPLIT = """\
GPU 0: NVIDIA A100-SXM4-80GB (UUID: GPU-e52dfcc4-406d-a3d4-f787-4402b535877a)
  MIG 2g.20gb     Device  0: (UUID: MIG-ec4c3916-65fa-5948-b9b5-9f21a2ddfcc0)
  MIG 1c.3g.40gb  Device  1: (UUID: MIG-000d40d3-5924-5906-9879-8b69bf58689b)
GPU 1: NVIDIA A100-SXM4-80GB (UUID: GPU-b614723c-e261-4605-066e-79daab4c00ff)
"""
OLD_DRIVER = """\
GPU 0: A100-PCIE-40GB (UUID: GPU-9de3d0e8-33f5-10dc-0c79-2c88a7ab0a23)
  MIG 4g.20gb Device 0: (UUID: MIG-GPU-9de3d0e8-33f5-10dc-0c79-2c88a7ab0a23/2/0)
"""
H100 = Device("GPU-81495ec7-da36-8ea5-9f7d-5804aa3fef20", "NVIDIA H100 80GB HBM3")
RTX = Device("GPU-b614723c-e261-4605-066e-79daab4c00ff", "NVIDIA GeForce RTX 3090")
PARTS = [
    Device("MIG-ec4c3916-65fa-5948-b9b5-9f21a2ddfcc0", "NVIDIA A100-SXM4-80GB MIG 2g.20gb"),
    Device("MIG-000d40d3-5924-5906-9879-8b69bf58689b", "NVIDIA A100-SXM4-80GB MIG 1c.3g.40gb"),
]


def test_gpus_are_listed_with_their_names() -> None:
    assert listed(WHOLE) == [H100, RTX]


def test_a_gpu_that_is_split_is_there_in_parts_only() -> None:
    assert listed(SPLIT) == [*PARTS, Device(RTX.id, "NVIDIA A100-SXM4-80GB")]


def test_the_parts_names_of_older_drivers() -> None:
    (part,) = listed(OLD_DRIVER)
    assert part.id == "MIG-GPU-9de3d0e8-33f5-10dc-0c79-2c88a7ab0a23/2/0"
    assert part.name == "A100-PCIE-40GB MIG 4g.20gb"


@pytest.mark.parametrize("text", ["", "No devices found.\n", "NVIDIA-SMI has failed because ...\n"])
def test_nothing_to_list(text: str) -> None:
    assert listed(text) == []


@pytest.fixture
def nvidia_smi(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """One that lists `WHOLE`."""
    program = tmp_path / "nvidia-smi"
    program.write_text(f"#!/bin/sh\n[ \"$*\" = -L ] && cat <<'END'\n{WHOLE}END\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    return program


@pytest.mark.parametrize(
    ("wanted", "found"),
    [
        (None, (H100, RTX)),
        ("", ()),
        ("-1", ()),
        ("NoDevFiles", ()),
        (H100.id, (H100,)),
        ("GPU-b61", (RTX,)),
        ("GPU-0000", (Device("GPU-0000"),)),
        (f"{RTX.id},{H100.id}", (RTX, H100)),
        ("1,0,1", (Device("1"), Device("0"))),
        ("0,-1,1", (Device("0"),)),
        (f"{PARTS[0].id}", (Device(PARTS[0].id),)),
    ],
)
def test_the_users_own_choice_comes_first(nvidia_smi: Path, wanted: str | None, found: tuple[Device, ...]) -> None:
    assert found_devices({} if wanted is None else {"CUDA_VISIBLE_DEVICES": wanted}) == found


def test_without_a_driver_that_answers_there_is_none(nvidia_smi: Path) -> None:
    nvidia_smi.write_text("#!/bin/sh\necho 'NVIDIA-SMI has failed'; exit 9\n")
    assert found_devices({}) == ()
    nvidia_smi.unlink()
    assert found_devices({}) == ()


# --- the known answer


def test_the_known_answer_is_the_last_bit_of_a_valid_case() -> None:
    check(KNOWN_ANSWER.case)
    x, y = KNOWN_ANSWER.case.inputs.values()
    assert np.abs(KNOWN_ANSWER.expected).max() < 2**24, "exact in float32, in whatever order"
    assert KNOWN_ANSWER.is_given(Ran((x @ y,), (x @ y,)))


def test_tf32_gives_another_answer() -> None:
    x, y = KNOWN_ANSWER.case.inputs.values()
    mantissa, exponent = np.frexp(x)
    tf32 = np.ldexp(np.round(mantissa * 2**11) / 2**11, exponent)
    assert not KNOWN_ANSWER.is_given(Ran((tf32.astype(np.float32) @ y,)))


def test_what_is_not_the_known_answer() -> None:
    right = KNOWN_ANSWER.expected
    for outputs in ((), (right, right), (right + 1,), (right.astype(np.float64),), (right.reshape(-1),)):
        assert not KNOWN_ANSWER.is_given(Ran(outputs))
    assert not KNOWN_ANSWER.is_given(Ran((right,), (right + 1,)))
    assert not KNOWN_ANSWER.is_given(Raised(Stage.RUN, "RuntimeError", "no"))
    assert not KNOWN_ANSWER.is_given(replace(Ran((right,)), again=()))
