"""What a driver of many nodes has to do: time and bytes of one harvest, as the nodes become more.

    python benchmarks/cluster.py [--nodes 10,100,1000] [--beats 3]

Simulated nodes of 16 CPUs: 20 tests a second (1.25 for each CPU), nine lanes and six operators each. A harvest brings
the 200 tests of ten seconds. They are packed, unpacked and merged as by a real driver; only Ray's network is left out.
One in thirty harvests also has the sums by operator, lane and outcome: the last line.
"""

from __future__ import annotations

import argparse
import random
import resource
import shutil
import sqlite3
import tempfile
import time
from contextlib import closing
from pathlib import Path

from fuzzer.campaign import index, merge
from fuzzer.campaign.rows import row_of
from fuzzer.campaign.store import Store
from fuzzer.cluster.harvest import Granary, Harvest
from fuzzer.lanes import EVERY_LANE
from generators.ops import OPS
from oracles.lane import LaneSpec
from oracles.outcome import Outcome, Raised, Ran, Result, Stage, Unsupported

OUTCOMES: list[Outcome] = [
    Ran(()),
    Raised(Stage.COMPILE, "tvm.error.InternalError", "no"),
    Unsupported(Stage.IMPORT, "no"),
]
A_BEAT = 200
TESTS = 6_000
"""That a node has behind it: five minutes', which fill the sums by operator."""


def work(folder: Path, tests: int, seed: int) -> None:
    """What a node does in a beat."""
    drawn = random.Random(seed)
    lanes: list[LaneSpec] = list(EVERY_LANE)
    with Store(folder, seed) as store:
        for number in range(store.state.next_test, store.state.next_test + tests):
            seen = {lane: drawn.choice(OUTCOMES) for lane in drawn.sample(lanes, 9)}
            store.state.tally.tests += 1
            store.state.tally.wall_seconds += 0.05
            store.state.tally.add(Result(seen, {Stage.COMPILE: 0.1}))
            store.record(row_of(number, 0.75, seen, [drawn.choice(OPS).name for _ in range(6)]))
            store.finished(number + 1)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nodes", default="10,100,1000")
    parser.add_argument("--beats", type=int, default=3)
    asked = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="difftvm-"))
    templates = [folder / f"template-{number}" for number in range(5)]
    for number, template in enumerate(templates):
        work(template, TESTS, number)
    for nodes in map(int, asked.nodes.split(",")):
        _measure(folder / f"driver-{nodes}", templates, nodes, asked.beats)
    _measure(folder / "driver-sums", templates, 10, 1, sums=True)
    shutil.rmtree(folder)


def _measure(into: Path, templates: list[Path], nodes: int, beats: int, *, sums: bool = False) -> None:
    packed = unpacked = 0
    spent = 0.0
    with Store(into, 1) as store:
        store.scratch.mkdir()
        for beat in range(beats):
            for node in range(nodes):
                granary = Granary(templates[node % len(templates)], TESTS - A_BEAT * (beats - beat))
                files, next_test = granary.new(last=sums)
                data = Harvest(files, next_test).packed()
                packed += len(data)
                unpacked += sum(map(len, files.values()))
                began = time.process_time()
                small = Path(tempfile.mkdtemp(dir=store.scratch))
                Harvest.unpacked(data).write(small)
                spent -= _named(small, node)
                merge.bring(small, store)
                shutil.rmtree(small)
                spent += time.process_time() - began
        store.save_state()
        size = sum(path.stat().st_size for path in into.glob(f"{index.NAME}*"))
    harvests = nodes * beats
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    print(
        f"{nodes:5} nodes  {'with sums' if sums else '         '}  {1e3 * spent / harvests:6.1f} ms of CPU a harvest  "
        f"{packed / harvests / 1e3:6.1f} kB ({unpacked / harvests / 1e3:.0f} unpacked)  "
        f"index {size / harvests / A_BEAT:5.0f} bytes a test  {peak} MiB peak",
        flush=True,
    )


def _named(small: Path, node: int) -> float:
    """The templates are few: each node gets a name of its own. The CPU seconds that this took."""
    began = time.process_time()
    with closing(sqlite3.connect(small / index.NAME)) as db, db:
        db.execute("UPDATE origins SET campaign = ? WHERE campaign <> ''", (f"node {node}",))
    return time.process_time() - began


if __name__ == "__main__":
    main()
