"""Whether a machine can run a lane, for machines that are made up."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from fuzzer.lanes import SAMPLED_LANES, TVM_LANES
from fuzzer.lanes.base.availability import (
    THIS,
    CompileOnly,
    Machine,
    Missing,
    Runnable,
    availability,
    available,
    checker_of,
    device_of,
    node_package,
    runs_by_kernels,
)
from fuzzer.lanes.target_table import TARGET_LANES
from fuzzer.system.devices import KINDS, Device, DeviceKind
from oracles.lane import Params
from oracles.targets import TARGETS as ROWS
from oracles.targets import TARGETS_BY_NAME, Runs, Target, family_of, target_named

LANES = {lane.target: lane for lane in TARGET_LANES}


def machine(*programs: str, cpu: str = "", gpus: int = 0, package: Path | None = None) -> Machine:
    return Machine(
        lambda name: f"/bin/{name}" if name in programs else None,
        lambda: frozenset(cpu.split()),
        lambda kind: tuple(Device(f"GPU-{number}") for number in range(gpus)),
        lambda name, node: package,
        lacks=lambda kind: f"what gives {kind}",
    )


def test_the_first_checker_that_is_installed() -> None:
    (clang,) = target_named("opencl").written.checkers
    why = "there is no OpenCL on this processor (PoCL): what gives pocl"
    assert availability(LANES["opencl"], machine("clang")) == CompileOnly(why, clang)
    assert availability(LANES["opencl"], machine()) == CompileOnly(why, None)
    unchecked = "nothing here runs its code, and no wasm-ld or wasm-validate or node on PATH checks it"
    assert availability(LANES["wasm32"], machine()) == CompileOnly(unchecked, None)
    both = checker_of(target_named("wasm32"), machine("node", "wasm-validate"))
    assert both is not None
    assert both.program == "wasm-validate"


def test_node_checks_wgsl_only_with_its_package() -> None:
    assert checker_of(target_named("webgpu"), machine("node")) is None
    found = checker_of(target_named("webgpu"), machine("node", package=Path("index.js")))
    assert found is not None
    assert found.package == "webgpu"


def test_a_package_of_node_is_found_beside_the_program(tmp_path: Path) -> None:
    entry = tmp_path / "lib/node_modules/webgpu/index.js"
    entry.parent.mkdir(parents=True)
    entry.touch()
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/node").touch()
    assert node_package("webgpu", str(tmp_path / "bin/node")) == entry
    assert node_package("none-of-that-name", str(tmp_path / "bin/node")) is None


def test_lanes_for_a_gpu_are_only_compiled_without_nvcc() -> None:
    lane = LANES["cuda"]
    assert availability(lane, machine("nvcc", gpus=1)) == Runnable()
    assert availability(lane, machine(gpus=1)) == CompileOnly("no nvcc on PATH for the GPU's code", None)


def test_a_driver_for_the_processor_runs_lanes_in_children() -> None:
    has_both = machine(gpus=1)
    for target in ("opencl", "webgpu"):
        assert availability(LANES[target], has_both) == Runnable()
        assert device_of(LANES[target], has_both) == "", "no worker of a device"
        assert [runs_by_kernels(LANES[target], here) for here in (has_both, machine())] == [True, False]
    assert not runs_by_kernels(LANES["cuda"], has_both)


def test_a_device_need_be_no_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    emulator, kind = Target("board", {"kind": "llvm"}, Runs.ON_A_DEVICE, "board"), DeviceKind("board emulator", tuple)
    monkeypatch.setitem(TARGETS_BY_NAME, "board", emulator)
    monkeypatch.setitem(KINDS, "board", kind)
    lane = replace(LANES["cuda"], target="board")
    has_both = replace(machine("nvcc"), devices=lambda kind: (Device(f"{kind}-0"),))
    assert availability(lane, has_both) == Runnable()
    assert [device_of(each, has_both) for each in (lane, LANES["cuda"], TVM_LANES[0])] == ["board", "cuda", ""]
    assert availability(lane, THIS) == CompileOnly("there is no board emulator", None)


def test_other_targets_accept_only_plain_lanes_with_bound_parameters() -> None:
    for target in ("c-asan", "cuda", "wasm32"):
        reason = Missing("this target runs only the model itself, with its parameters bound")
        here = machine("gcc", "nvcc", gpus=1)
        assert availability(replace(LANES[target], params=Params.INPUTS), here) == reason
        assert availability(replace(LANES[target], variant="gradient"), here) == reason


def test_campaigns_leave_out_what_is_missing() -> None:
    left = {lane.target for lane in SAMPLED_LANES} - {lane.target for lane in available(SAMPLED_LANES, machine())}
    assert left == {row.name for row in ROWS if row.cpu or row.compilers} - {"c"}


def test_a_lane_that_links_a_library_needs_a_compiler() -> None:
    library = replace(TVM_LANES[0], as_library=True)
    assert availability(library, machine()) == Missing("none of gcc, cc is on PATH")
    assert availability(library, machine("cc")) == Runnable()


def test_each_target_runs_here_or_names_its_checkers() -> None:
    for row in ROWS:
        assert (row.written is not None) == (row.runs in (Runs.BY_KERNELS, Runs.ON_A_DEVICE, Runs.NOWHERE)), row.name
        assert (row.config["kind"] == "c") == bool(row.compilers), row.name
        assert target_named(family_of(row.name)).config["kind"] == row.config["kind"], row.name
    assert len(TARGETS_BY_NAME) == len(ROWS)
