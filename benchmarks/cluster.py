"""What a driver of many nodes costs: CPU, bytes and memory of an update, for a growing number of nodes.

    python benchmarks/cluster.py [--nodes 10,100,1000] [--harvests 2000]

The driver is real; Ray and the clock are simulated, as in the driver's tests. The costs of Ray and of the nodes are
left out. The nodes are copies of one simulated campaign of 6,000 tests. Its counters are as large as those of a real
campaign after 575 tests: 550 reasons why lanes did not support a case, 330 signatures, 9,500 features.

An update has the counters and a finding, which the driver has from another node in nine of ten updates; one update in
thirty has the sums. The lines below the first ones show what each of these costs alone, with 10 nodes. `line` is the
time for the line that shows how far all nodes have come.
"""

from __future__ import annotations

import argparse
import random
import resource
import shutil
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

TESTS = Path(__file__).parents[1] / "tests"
sys.path[:0] = [str(TESTS / "fuzzer" / "cluster"), str(TESTS.parent)]

from fake_ray import Answer, Clock, Ray  # noqa: E402

from fuzzer.campaign.plan.settings import RunLimits  # noqa: E402
from fuzzer.campaign.store import index  # noqa: E402
from fuzzer.campaign.store.rows import Observations, index_row  # noqa: E402
from fuzzer.campaign.store.store import Store  # noqa: E402
from fuzzer.cluster import driver as driver_module  # noqa: E402
from fuzzer.cluster.collection import SUMS_EVERY, Collector, KnownFinding, Update  # noqa: E402
from fuzzer.cluster.driver import POLL_SECONDS, ClusterOptions, Driver  # noqa: E402
from fuzzer.lanes import EVERY_LANE  # noqa: E402
from generators.torch.ops import OPS  # noqa: E402
from oracles.lane import LaneSpec  # noqa: E402
from oracles.outcome import Outcome, Raised, Ran, Result, Stage, Unsupported  # noqa: E402

OUTCOMES: list[Outcome] = [
    Ran(()),
    Raised(Stage.COMPILE, "tvm.error.InternalError", "no"),
    Unsupported(Stage.IMPORT, "no"),
]
TESTS_OF_A_NODE = 6_000
"""`TESTS_OF_A_NODE` tests fill the sums by operator."""

REASONS, SIGNATURES, FEATURES = 12, 330, 9_500
"""Reasons of each lane; signatures and features of the campaign."""


def hexadecimal(drawn: random.Random) -> str:
    return f"{drawn.getrandbits(48):012x}"


def work(folder: Path) -> None:
    """Write the campaign of a node."""
    drawn = random.Random(1)
    lanes: list[LaneSpec] = list(EVERY_LANE)
    with Store(folder, 1) as store:
        for number in range(TESTS_OF_A_NODE):
            outcomes = {lane: drawn.choice(OUTCOMES) for lane in drawn.sample(lanes, 9)}
            row = index_row(number, 0.75, outcomes, [drawn.choice(OPS).name for _ in range(6)])
            store.finish_test(row, Result(outcomes, {Stage.COMPILE: 0.1}), number + 1, invalid=False)
        for lane in lanes[:46]:
            store.state.counters.lacking[lane.name] = {f"{hexadecimal(drawn)}.default": 1 for _ in range(REASONS)}
        store.state.found |= {hexadecimal(drawn): 3 for _ in range(SIGNATURES)}
        features = {f"failure {hexadecimal(drawn)}": 1 for _ in range(FEATURES)}
        store.save_state(Observations(features, dict.fromkeys(features, 1)))


@dataclass
class Mixture:
    """After how many updates one has a finding, a new finding, and the sums; 0 means never."""

    finding: int = 1
    fresh: int = 10
    sums: int = SUMS_EVERY


@dataclass
class SimulatedNodes:
    """All nodes, and counts of what they sent. `seconds` and `wall` are CPU and wall time that the nodes used."""

    campaign: str
    counters: bytes
    sums: bytes
    finding: Path
    mixture: Mixture
    updates: int = 0
    findings: int = 0
    packed: int = 0
    received: int = 0
    seconds: float = 0.0
    wall: float = 0.0

    def collect(self, node: int, findings: Sequence[KnownFinding]) -> bytes:
        of = self.mixture
        self.updates += 1
        self.received += sum(len(finding.document) for finding in findings)
        counters = self.sums if of.sums and self.updates % of.sums == 0 else self.counters
        files = {index.NAME: counters.replace(self.campaign.encode(), f"{node:032x}".encode())}
        if of.finding and self.updates % of.finding == 0:
            files |= self._found(f"{self.findings // of.fresh:012x}")
            self.findings += 1
        data = Update(files, TESTS_OF_A_NODE).packed()
        self.packed += len(data)
        return data

    def _found(self, signature: str) -> dict[str, bytes]:
        old = self.finding.name.rpartition("-")[2]
        there = f"crashes/{self.finding.name.replace(old, signature)}"
        files = (path for path in self.finding.iterdir() if path.is_file())
        return {f"{there}/{path.name}": path.read_bytes().replace(old.encode(), signature.encode()) for path in files}


@dataclass
class Node:
    sent: SimulatedNodes
    part: int
    began: tuple[float, float] = field(default=(0.0, 0.0))

    def collect(self, findings: list[KnownFinding], acknowledged: bool) -> bytes:
        cpu, wall = time.process_time(), time.monotonic()
        data = self.sent.collect(self.part, findings)
        self.sent.seconds += time.process_time() - cpu
        self.sent.wall += time.monotonic() - wall
        return data

    def stop(self) -> None:
        return None


class Quick(Ray):
    """A Ray that does not wait."""

    def wait(self, answers: Sequence[Answer], timeout: float) -> tuple[list[Answer], list[Answer]]:
        return [answers[0]], list(answers[1:])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nodes", default="10,100,1000")
    parser.add_argument("--harvests", type=int, default=2000, help="of all nodes together; each has two at least")
    options = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="difftvm-"))
    work(folder / "node")
    finding = sorted((TESTS.parent / "crashes").glob("wrong-value-*"))[0]
    with Store(folder / "node", 1) as store:
        campaign = store.state.campaign
    collector = Collector(folder / "node")
    counters, sums = (collector.collect(last=last)[0][index.NAME] for last in (False, True))

    def measure(nodes: int, updates: int, mixture: Mixture, words: str) -> None:
        measured(folder / "driver", SimulatedNodes(campaign, counters, sums, finding, mixture), nodes, updates, words)
        shutil.rmtree(folder / "driver")

    for nodes in map(int, options.nodes.split(",")):
        measure(nodes, options.harvests, Mixture(), "")
    few = options.harvests // 10
    measure(10, few, Mixture(finding=0, sums=0), "counters alone")
    measure(10, few, Mixture(fresh=10**6, sums=0), "and a known finding")
    measure(10, few, Mixture(fresh=1, sums=0), "and a new finding")
    measure(10, few, Mixture(finding=0, sums=1), "counters and sums")
    shutil.rmtree(folder)


def measured(into: Path, sent: SimulatedNodes, nodes: int, updates: int, words: str) -> None:
    clock = Clock(most_looks=10**9)
    vars(driver_module)["time"] = clock
    machines = Quick(clock, [1], lambda share, folder, seed_cases: Node(sent, share.part))
    polls = max(1, updates // nodes - 1)  # and one at the end
    options = ClusterOptions("none", into, RunLimits(POLL_SECONDS * polls - 1), nodes)
    with Store(into, 1) as store:
        store.scratch.mkdir()
        cpu, wall = time.process_time(), time.monotonic()
        driver = Driver(options, store, machines, lambda line: None)
        driver.run()
        cpu, wall = time.process_time() - cpu - sent.seconds, time.monotonic() - wall - sent.wall
        line = time.process_time()
        store.ask(lambda held: held.totals())
        line = time.process_time() - line
    size = sum(path.stat().st_size for path in into.glob(f"{index.NAME}*"))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    print(
        f"{nodes:5} nodes {sent.updates:5} updates  {words:20}{1e3 * cpu / sent.updates:6.1f} ms of CPU, "
        f"{1e3 * wall / sent.updates:6.1f} ms of time, {sent.packed / sent.updates / 1e3:6.1f} kB each  "
        f"{len(driver.new)} new, {sent.received / 1e6:.1f} MB received  index {size / nodes / 1e3:.0f} kB a node  "
        f"line {1e3 * line:.0f} ms  {peak} MiB peak",
        flush=True,
    )


if __name__ == "__main__":
    main()
