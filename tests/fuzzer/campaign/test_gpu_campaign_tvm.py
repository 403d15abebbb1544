"""Whole campaigns on a GPU that is a folder: what it gets wrong is found, its troubles are nobody else's findings."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from fake_device import fake_gpu

from fuzzer.campaign.plan.settings import LaneMix, Settings
from fuzzer.campaign.run.loop import Campaign
from fuzzer.campaign.store.store import Store
from fuzzer.findings.replay import load, replay
from fuzzer.isolate.device_pool import DevicePool
from fuzzer.isolate.executor import Executor
from fuzzer.isolate.fleet import BackendKey, Fleet
from fuzzer.lanes import TVM_LANES
from fuzzer.lanes.base.availability import Machine
from fuzzer.lanes.target_table import TARGET_LANES
from fuzzer.system.exit_codes import Exit
from fuzzer.toolchains.registry import find
from generators.graph import Case, DType, Graph, Input, Node, TensorType, Value
from oracles.finding import Component, Kind

pytestmark = [pytest.mark.tvm, pytest.mark.long]

(CUDA,) = (lane for lane in TARGET_LANES if lane.target == "cuda")
LLVM = TVM_LANES[0]
NO_GPU = Machine(lambda name: f"/bin/{name}", frozenset, lambda kind: ())


def case(index: int) -> Case:
    """-sin(-x), with other numbers in each test."""
    x, *values = (Value(name, TensorType(DType.FLOAT32, (2, 3))) for name in ("x0", "v0", "v1", "v2"))
    names = ("x0", "v0", "v1")
    nodes = tuple(Node(op, (arg,), {}, (v,)) for op, arg, v in zip(("neg", "sin", "neg"), names, values, strict=True))
    numbers = np.linspace(-1, 1 + index, 6, dtype=np.float32).reshape(2, 3)
    return Case(Graph((Input(x),), nodes, ("v2",)), {"x0": numbers}, origin=f"test {index}")


class Gpu:
    """The folder, a fleet that treats it as a GPU, and the messages of the fleet."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "gpu"
        self.folder.mkdir(parents=True)
        self.device = fake_gpu(self.folder)
        self.messages: list[str] = []
        self.machine = Machine(lambda name: f"/bin/{name}", frozenset, lambda kind: (self.device,))
        self.fleet = Fleet(folder / "scratch", find, machine=self.machine, tell=self.messages.append)

    def set_variants(self, *variants: str) -> None:
        (self.folder / "variants").write_text("\n".join(variants))

    @property
    def pool(self) -> DevicePool:
        pool = self.fleet.backend(BackendKey("host", "cuda"))
        assert isinstance(pool, DevicePool)
        return pool

    def campaign(self, store: Store, tests: int) -> Campaign:
        settings = Settings(store.folder, 1, LaneMix((LLVM, CUDA)))
        cases = lambda index: case(index) if index < tests else None
        campaign = Campaign(settings, store, self.fleet, cases, machine=self.machine)
        campaign.run()
        return campaign


@pytest.fixture
def gpu(executor: Executor, tmp_path: Path) -> Iterator[Gpu]:
    """Its fleet has the zygote of all tests, which touches no device."""
    made = Gpu(tmp_path / "machine")
    made.fleet._backends[BackendKey("host")] = executor
    yield made
    del made.fleet._backends[BackendKey("host")]
    made.fleet.__exit__(None, None, None)


@pytest.mark.parametrize(
    ("sin", "kind"), [("lie", Kind.WRONG_VALUE), ("700-launch", Kind.INTERNAL_ERROR), ("exit", Kind.DIED)]
)
def test_what_a_gpu_gets_wrong_is_found_reduced_saved_and_replayed(
    gpu: Gpu, tmp_path: Path, sin: str, kind: Kind
) -> None:
    gpu.set_variants(sin)
    with Store(tmp_path, 1) as store:
        (doc,) = gpu.campaign(store, 2).triage.new
    assert (doc.kind, doc.component, doc.lanes, doc.confirmed) == (kind, Component.TVM, [CUDA.name], "3 of 3")
    assert len(doc.ops) == 1
    saved, reduced = load(tmp_path / "crashes" / doc.slug)
    assert saved.versions["device@host cuda"] == "fake"
    assert replay(gpu.fleet.run_fresh, saved, reduced, (CUDA,), 2).exit is Exit.SAME
    gpu.set_variants("honest")
    assert replay(gpu.fleet.run_fresh, saved, reduced, (CUDA,), 2).exit is Exit.GONE
    assert (gpu.messages, gpu.pool.quarantined) == ([], {})
    gpu.fleet._machine = NO_GPU  # where it is only compiled, nobody says that the finding is gone
    (run,) = replay(gpu.fleet.run_fresh, saved, reduced, (CUDA,), 1).runs
    assert (run.verdict, run.verdict_text) == (Exit.ENVIRONMENT, "is not run")
    assert "relax-export-cuda: compile-only" in run.text


def test_a_gpu_that_breaks_is_given_up_and_the_campaign_goes_on(gpu: Gpu, tmp_path: Path) -> None:
    gpu.set_variants("honest", "honest", "214-launch")
    with Store(tmp_path, 1) as store:
        campaign = gpu.campaign(store, 6)
        counters = store.state.counters
        assert (campaign.triage.new, store.findings) == ([], {})
        assert (counters.tests, counters.invalid, counters.lane_results) == (6, 0, 6 + 2)
    why = f"tvm.error.InternalError: CUDALaunch Error: CUDA_ERROR_ECC_UNCORRECTABLE, while it ran {CUDA}"
    assert gpu.fleet.quarantined == {gpu.device: why}
    assert gpu.messages == [f"{gpu.device} is no longer used: {why}"]
    assert counters.environment == {
        f"{gpu.device} is quarantined: {why}": 1,
        f"every GPU is quarantined: {gpu.device}: {why}": 3,
    }


@pytest.mark.parametrize("sin", ["linger", "seep"])
def test_what_a_test_leaves_behind_is_no_later_tests_finding(gpu: Gpu, tmp_path: Path, sin: str) -> None:
    gpu.set_variants("honest", sin, "honest")
    with Store(tmp_path, 1) as store:
        assert (gpu.campaign(store, 6).triage.new, store.findings) == ([], {})
        assert store.state.counters.lane_results == 12
    assert gpu.pool.supervisors[0].started == 2
    assert gpu.pool.quarantined == {}
