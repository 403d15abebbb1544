"""What a driver of many nodes has to do: CPU, bytes and memory of a harvest, as the nodes become more.

    python benchmarks/cluster.py [--nodes 10,100,1000] [--harvests 2000]

A real driver on a Ray and a clock made by hand, as in its tests: what Ray itself costs is left out, and what the nodes
spend is taken off. The nodes are copies of one simulated campaign of 6,000 tests; its books are as large as those of a
real campaign after 575 tests: 550 reasons why lanes took no case, 330 signatures, 9,500 features.

A harvest brings the books and a finding, of which the driver has nine in ten from another node; one harvest in thirty
has the sums. Below stands what each of these costs alone, of 10 nodes. Last, the line that tells how far all are.
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

from fuzzer.campaign import index  # noqa: E402
from fuzzer.campaign.rows import Learnt, row_of  # noqa: E402
from fuzzer.campaign.store import Store  # noqa: E402
from fuzzer.cluster import driver as driver_module  # noqa: E402
from fuzzer.cluster.collection import SUMS_EVERY, Granary, Harvest, Lesson  # noqa: E402
from fuzzer.cluster.driver import BEAT_SECONDS, Driver, Order  # noqa: E402
from fuzzer.lanes import EVERY_LANE  # noqa: E402
from generators.ops import OPS  # noqa: E402
from oracles.lane import LaneSpec  # noqa: E402
from oracles.outcome import Outcome, Raised, Ran, Result, Stage, Unsupported  # noqa: E402

OUTCOMES: list[Outcome] = [
    Ran(()),
    Raised(Stage.COMPILE, "tvm.error.InternalError", "no"),
    Unsupported(Stage.IMPORT, "no"),
]
BEHIND_IT = 6_000
"""Tests of a node, which fill the sums by operator."""

REASONS, SIGNATURES, FEATURES = 12, 330, 9_500
"""Of each lane, and of the campaign."""


def hexadecimal(drawn: random.Random) -> str:
    return f"{drawn.getrandbits(48):012x}"


def work(folder: Path) -> None:
    """What a node has behind it."""
    drawn = random.Random(1)
    lanes: list[LaneSpec] = list(EVERY_LANE)
    with Store(folder, 1) as store:
        for number in range(BEHIND_IT):
            seen = {lane: drawn.choice(OUTCOMES) for lane in drawn.sample(lanes, 9)}
            row = row_of(number, 0.75, seen, [drawn.choice(OPS).name for _ in range(6)])
            store.through(row, Result(seen, {Stage.COMPILE: 0.1}), number + 1, invalid=False)
        for lane in lanes[:46]:
            store.state.tally.lacking[lane.name] = {f"{hexadecimal(drawn)}.default": 1 for _ in range(REASONS)}
        store.state.seen |= {hexadecimal(drawn): 3 for _ in range(SIGNATURES)}
        features = {f"failure {hexadecimal(drawn)}": 1 for _ in range(FEATURES)}
        store.save_state(Learnt(features, dict.fromkeys(features, 1)))


@dataclass
class Mixture:
    """Of what comes in a harvest: in how many of them a finding, one that is new, and the sums."""

    finding: int = 1
    fresh: int = 10
    sums: int = SUMS_EVERY


@dataclass
class Country:
    """All nodes, and what they sent. `seconds` and `wall` are the CPU and the time that were not the driver's."""

    campaign: str
    books: bytes
    sums: bytes
    finding: Path
    mixture: Mixture
    harvests: int = 0
    findings: int = 0
    packed: int = 0
    lessons: int = 0
    seconds: float = 0.0
    wall: float = 0.0

    def harvest(self, node: int, lessons: Sequence[Lesson]) -> bytes:
        of = self.mixture
        self.harvests += 1
        self.lessons += sum(len(lesson.document) for lesson in lessons)
        books = self.sums if of.sums and self.harvests % of.sums == 0 else self.books
        files = {index.NAME: books.replace(self.campaign.encode(), f"{node:032x}".encode())}
        if of.finding and self.harvests % of.finding == 0:
            files |= self._found(f"{self.findings // of.fresh:012x}")
            self.findings += 1
        data = Harvest(files, BEHIND_IT).packed()
        self.packed += len(data)
        return data

    def _found(self, signature: str) -> dict[str, bytes]:
        old = self.finding.name.rpartition("-")[2]
        there = f"crashes/{self.finding.name.replace(old, signature)}"
        files = (path for path in self.finding.iterdir() if path.is_file())
        return {f"{there}/{path.name}": path.read_bytes().replace(old.encode(), signature.encode()) for path in files}


@dataclass
class Node:
    country: Country
    part: int
    began: tuple[float, float] = field(default=(0.0, 0.0))

    def harvest(self, lessons: list[Lesson], taken: bool) -> bytes:
        cpu, wall = time.process_time(), time.monotonic()
        data = self.country.harvest(self.part, lessons)
        self.country.seconds += time.process_time() - cpu
        self.country.wall += time.monotonic() - wall
        return data

    def stop(self) -> None:
        return None


class Quick(Ray):
    """Whose waiting costs nothing either."""

    def wait(self, answers: Sequence[Answer], timeout: float) -> tuple[list[Answer], list[Answer]]:
        return [answers[0]], list(answers[1:])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nodes", default="10,100,1000")
    parser.add_argument("--harvests", type=int, default=2000, help="of all nodes together; each has two at least")
    asked = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="difftvm-"))
    work(folder / "node")
    finding = sorted((TESTS.parent / "crashes").glob("wrong-value-*"))[0]
    with Store(folder / "node", 1) as store:
        campaign = store.state.campaign
    granary = Granary(folder / "node")
    books, sums = (granary.new(last=last)[0][index.NAME] for last in (False, True))

    def measure(nodes: int, harvests: int, mixture: Mixture, words: str) -> None:
        measured(folder / "driver", Country(campaign, books, sums, finding, mixture), nodes, harvests, words)
        shutil.rmtree(folder / "driver")

    for nodes in map(int, asked.nodes.split(",")):
        measure(nodes, asked.harvests, Mixture(), "")
    few = asked.harvests // 10
    measure(10, few, Mixture(finding=0, sums=0), "books alone")
    measure(10, few, Mixture(fresh=10**6, sums=0), "and a known finding")
    measure(10, few, Mixture(fresh=1, sums=0), "and a new finding")
    measure(10, few, Mixture(finding=0, sums=1), "books and sums")
    shutil.rmtree(folder)


def measured(into: Path, country: Country, nodes: int, harvests: int, words: str) -> None:
    clock = Clock(most_looks=10**9)
    vars(driver_module)["time"] = clock
    machines = Quick(clock, [1], lambda dealt, folder, given: Node(country, dealt.part))
    beats = max(1, harvests // nodes - 1)  # and one at the end
    order = Order("none", into, BEAT_SECONDS * beats - 1, nodes=nodes)
    with Store(into, 1) as store:
        store.scratch.mkdir()
        cpu, wall = time.process_time(), time.monotonic()
        driver = Driver(order, store, machines, lambda line: None)
        driver.run()
        cpu, wall = time.process_time() - cpu - country.seconds, time.monotonic() - wall - country.wall
        line = time.process_time()
        store.ask(lambda held: held.totals())
        line = time.process_time() - line
    size = sum(path.stat().st_size for path in into.glob(f"{index.NAME}*"))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    print(
        f"{nodes:5} nodes {country.harvests:5} harvests  {words:20}{1e3 * cpu / country.harvests:6.1f} ms of CPU, "
        f"{1e3 * wall / country.harvests:6.1f} ms of time, {country.packed / country.harvests / 1e3:6.1f} kB each  "
        f"{len(driver.new)} new, lessons {country.lessons / 1e6:.1f} MB  index {size / nodes / 1e3:.0f} kB a node  "
        f"line {1e3 * line:.0f} ms  {peak} MiB peak",
        flush=True,
    )


if __name__ == "__main__":
    main()
