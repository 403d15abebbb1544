"""The fleet, on backends that only record their calls: which backend runs which lanes, when it starts, how it ends."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from fuzzer.isolate import fleet as module
from fuzzer.isolate.child_process import Bounds, GiveUp, never
from fuzzer.isolate.fleet import Fleet
from fuzzer.isolate.reports import SanitizerReport, Tool
from fuzzer.isolate.sine_case import sine_case as sine
from fuzzer.lanes import TORCH, TVM_LANES
from fuzzer.lanes.base.availability import Machine
from fuzzer.system.devices import Device
from fuzzer.system.environment import EnvironmentMissing
from fuzzer.toolchains.toolchain import HOST, Toolchain
from generators.graph import Case
from oracles.lane import Engine, Importer, LaneSpec
from oracles.outcome import Result, Skipped, Stage

NEW, C = TVM_LANES[0], TVM_LANES[2]
OLD = replace(NEW, toolchain="old")


class Fake:
    """In the place of an Executor: says its toolchain in every outcome."""

    started: list[Fake]

    def __init__(self, scratch: Path, toolchain: Toolchain, bounds: Bounds, give_up: GiveUp = never) -> None:
        if toolchain.name == "broken":
            raise EnvironmentMissing("toolchain 'broken' does not start: no torch")
        scratch.mkdir(parents=True)
        self.toolchain, self.bounds = toolchain, bounds
        self.calls: list[tuple[tuple[LaneSpec, ...], Bounds | None]] = []
        self.versions = {"python": "3.11", "tvm": "27" if toolchain is HOST else "25"}
        self.cpu_seconds = 10.0
        self.closed = 0
        Fake.started.append(self)

    def run(self, case: Case, lanes: Sequence[LaneSpec], bounds: Bounds | None = None) -> Result:
        self.calls.append((tuple(lanes), bounds))
        return Result({lane: Skipped(self.toolchain.name) for lane in lanes}, {Stage.RUN: 1.5}, 2.0)

    def run_fresh(self, case: Case, lanes: Sequence[LaneSpec], bounds: Bounds | None = None) -> Result:
        result = self.run(case, lanes, bounds)
        return replace(result, outcomes=dict.fromkeys(lanes, Skipped(f"{self.toolchain.name}, fresh")))

    def examine(self, case: Case, lane: LaneSpec) -> tuple[SanitizerReport, ...]:
        return (SanitizerReport(Tool.MEMCHECK, 1, f"{lane} in {self.toolchain.name}"),)

    def __exit__(self, *error: object) -> None:
        self.closed += 1


class FakePool(Fake):
    """In the place of a DevicePool."""

    def __init__(
        self,
        scratch: Path,
        devices: Sequence[Device],
        toolchain: Toolchain,
        bounds: Bounds,
        tell: Callable[[str], None],
    ) -> None:
        super().__init__(scratch, replace(toolchain, name=f"{toolchain.name} on {'+'.join(map(str, devices))}"), bounds)
        self.versions = {"python": "3.11", "device": "H100"}
        self.quarantined = {devices[0]: "too hot"}
        self.tell = tell


def find(name: str) -> Toolchain:
    if name == "nosuch":
        raise EnvironmentMissing("there is no toolchain 'nosuch' here")
    return HOST if name == "host" else Toolchain(name, "/opt/python")


@pytest.fixture(autouse=True)
def fakes(monkeypatch: pytest.MonkeyPatch) -> None:
    Fake.started = []
    monkeypatch.setattr(module, "Executor", Fake)
    monkeypatch.setattr(module, "DevicePool", FakePool)


@pytest.fixture
def fleet(tmp_path: Path) -> Any:
    with Fleet(tmp_path / "scratch", find) as started:
        yield started


CUDA = LaneSpec("relax-export-cuda", Engine.TVM, Importer.EXPORT, "relax", target="cuda")
GPU = Device("GPU-1")


def machine(*devices: Device, nvcc: bool = True) -> Machine:
    return Machine(lambda name: f"/bin/{name}" if nvcc else None, frozenset, lambda kind: devices)


@pytest.fixture
def with_gpu(tmp_path: Path) -> Any:
    with Fleet(tmp_path / "scratch", find, machine=machine(GPU)) as started:
        yield started


def names() -> list[str]:
    return [fake.toolchain.name for fake in Fake.started]


def test_each_lane_runs_in_its_toolchain_and_results_keep_the_order(fleet: Fleet) -> None:
    bounds = Bounds(wall_seconds=3)
    result = fleet.run(sine(), (TORCH, OLD, NEW, replace(C, toolchain="old")), bounds)
    assert list(result.outcomes) == [TORCH, OLD, NEW, replace(C, toolchain="old")]
    assert [outcome.reason for outcome in result.outcomes.values() if isinstance(outcome, Skipped)] == [
        "host",
        "old",
        "host",
        "old",
    ]
    assert (result.stage_cpu, result.cpu_seconds) == ({Stage.RUN: 3.0}, 4.0)
    host, old = Fake.started
    assert host.calls == [((TORCH, NEW), bounds)]
    assert old.calls == [((OLD, replace(C, toolchain="old")), bounds)]


@pytest.mark.parametrize(("nodes", "times"), [(1, 1), (100, 1), (250, 2.5)])
def test_a_model_of_many_nodes_may_take_longer(fleet: Fleet, nodes: int, times: float) -> None:
    """Its memory stays bounded as that of other cases."""
    (node,) = sine().graph.nodes
    case = replace(sine(), graph=replace(sine().graph, nodes=(node,) * nodes))
    fleet.run(case, (NEW,))
    fleet.run_fresh(case, (NEW,))
    within = Bounds(wall_seconds=60.0 * times, cpu_seconds=30.0 * times)
    assert Fake.started[0].calls == [((NEW,), within)] * 2


def test_a_toolchain_starts_when_its_first_lane_comes(fleet: Fleet) -> None:
    assert names() == []
    fleet.run(sine(), (TORCH,))
    assert names() == ["host"]
    for _ in range(2):
        fleet.run(sine(), (OLD,))
    assert names() == ["host", "old"]
    assert fleet.cpu_seconds == 20.0


def test_versions_are_the_hosts_and_what_others_have_instead(fleet: Fleet) -> None:
    assert fleet.versions == {"python": "3.11", "tvm": "27"}
    fleet.run(sine(), (OLD,))
    assert fleet.versions == {"python": "3.11", "tvm": "27", "tvm@old": "25"}


def test_no_lanes_start_nothing(fleet: Fleet) -> None:
    assert fleet.run(sine(), ()) == Result({})
    assert names() == []


@pytest.mark.parametrize("name", ["nosuch", "broken"])
def test_a_backend_that_does_not_start_is_reported_and_the_others_go_on(fleet: Fleet, name: str) -> None:
    for _ in range(2):
        with pytest.raises(EnvironmentMissing, match=f"toolchain '{name}'"):
            fleet.run(sine(), (replace(NEW, toolchain=name),))
    assert list(fleet.run(sine(), (OLD,)).outcomes) == [OLD]


def test_threads_share_one_backend(fleet: Fleet) -> None:
    together = threading.Barrier(8)

    def one(number: int) -> Result:
        together.wait()
        return fleet.run(sine(), (TORCH, OLD))

    with ThreadPoolExecutor(8) as pool:
        results = list(pool.map(one, range(8)))
    assert sorted(names()) == ["host", "old"]
    assert all(list(result.outcomes) == [TORCH, OLD] for result in results)


def test_toolchains_start_side_by_side(fleet: Fleet, monkeypatch: pytest.MonkeyPatch) -> None:
    both = threading.Barrier(2)

    class Slow(Fake):
        def __init__(self, scratch: Path, toolchain: Toolchain, bounds: Bounds, give_up: GiveUp = never) -> None:
            both.wait(120)
            super().__init__(scratch, toolchain, bounds)

    monkeypatch.setattr(module, "Executor", Slow)
    with ThreadPoolExecutor(2) as pool:
        backends = list(pool.map(fleet.backend, map(module.BackendKey, ("host", "old"))))
    assert [backend.versions["tvm"] for backend in backends] == ["27", "25"]


def test_the_end_closes_every_backend_and_leaves_no_files(tmp_path: Path) -> None:
    with Fleet(tmp_path / "scratch", find) as fleet:
        fleet.run(sine(), (TORCH, OLD))
        assert sorted(path.name for path in (tmp_path / "scratch").iterdir()) == ["host", "old"]
    assert [fake.closed for fake in Fake.started] == [1, 1]
    assert not (tmp_path / "scratch").exists()
    with pytest.raises(EnvironmentMissing, match=r"^this fleet is closed$"):
        fleet.run(sine(), (OLD,))


# --- lanes for devices


def test_lanes_for_a_gpu_run_on_it_each_in_its_toolchain(with_gpu: Fleet) -> None:
    lanes = (TORCH, CUDA, OLD, replace(CUDA, toolchain="old"))
    assert names() == []
    outcomes = with_gpu.run(sine(), lanes).outcomes
    assert [outcome.reason for outcome in outcomes.values() if isinstance(outcome, Skipped)] == [
        "host",
        "host on GPU-1",
        "old",
        "old on GPU-1",
    ]
    assert list(outcomes) == list(lanes)


@pytest.mark.parametrize("here", [machine(), machine(GPU, nvcc=False)])
def test_where_none_can_run_it_the_lane_is_the_hosts_to_compile(tmp_path: Path, here: Machine) -> None:
    with Fleet(tmp_path / "scratch", find, machine=here) as fleet:
        fleet.run(sine(), (TORCH, CUDA))
    assert names() == ["host"]
    assert fleet.quarantined == {}


def test_what_confirms_runs_fresh_wherever_it_runs(with_gpu: Fleet) -> None:
    outcomes = with_gpu.run_fresh(sine(), (TORCH, CUDA)).outcomes
    assert list(outcomes.values()) == [Skipped("host, fresh"), Skipped("host on GPU-1, fresh")]


def test_the_second_look_is_had_where_the_lane_runs(with_gpu: Fleet) -> None:
    (report,) = with_gpu.examine(sine(), CUDA)
    assert report.what == "relax-export-cuda in host on GPU-1"
    (report,) = with_gpu.examine(sine(), NEW)
    assert report.what == "relax-export-llvm in host"


def test_versions_and_quarantine_of_devices(with_gpu: Fleet) -> None:
    assert with_gpu.quarantined == {}
    with_gpu.run(sine(), (CUDA,))
    assert with_gpu.versions == {"python": "3.11", "tvm": "27", "device@host cuda": "H100"}
    assert with_gpu.quarantined == {GPU: "too hot"}
