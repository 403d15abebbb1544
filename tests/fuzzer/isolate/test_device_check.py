"""`fuzz doctor` checks that each device computes correctly, and gives the reason where one does not."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from fake_device import fake_gpu

from fuzzer.isolate import device_pool
from fuzzer.isolate.device_check import check_devices, devices_here
from fuzzer.isolate.device_pool import DevicePool
from fuzzer.lanes.base.availability import Machine
from fuzzer.toolchains.toolchain import HOST

pytestmark = pytest.mark.slow


def test_devices_that_give_a_wrong_answer_or_none_do_not_pass(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    devices = [fake_gpu(tmp_path / name) for name in ("right", "wrong", "late", "lost")]
    for device in devices:
        Path(device.id).mkdir()
    (tmp_path / "wrong" / "wrong").write_text("3")
    (tmp_path / "late" / "wrong").write_text("2")
    (tmp_path / "lost" / "lost").touch()
    monkeypatch.setattr(device_pool, "STOP_SECONDS", patience := 60.0)
    with DevicePool(tmp_path / "scratch", devices) as pool:
        checks = check_devices(pool)
        checked = time.monotonic()
    assert time.monotonic() - checked < patience, "it does not wait for a quarantined device"
    assert [(check.device, check.passed) for check in checks] == [
        (str(tmp_path / "right"), True),
        (str(tmp_path / "wrong"), False),
        (str(tmp_path / "late"), True),
        (str(tmp_path / "lost"), False),
    ]
    wrong, lost = (check.why_not for check in checks if not check.passed)
    assert wrong == "no known answer: another result"
    assert lost.endswith("CUDA Runtime Error: cudaErrorNoDevice (100): no CUDA-capable device is detected")


def test_those_that_campaigns_use(tmp_path: Path) -> None:
    device = fake_gpu(tmp_path)
    for nvcc, devices, why in (
        ("/bin/nvcc", (device,), ""),
        ("/bin/nvcc", (), "there is no GPU: lanes for one are only compiled"),
        (None, (device,), "no nvcc on PATH for the GPU's code: lanes for one are only compiled"),
    ):
        machine = Machine(lambda name, nvcc=nvcc: nvcc, frozenset, lambda kind, devices=devices: devices)
        checks, why_none = devices_here(HOST, machine)
        assert ([check.passed for check in checks], why_none) == ([] if why else [True], why)


def test_no_devices(tmp_path: Path) -> None:
    with DevicePool(tmp_path / "scratch", []) as pool:
        assert check_devices(pool) == []
