"""How fast cases are generated: graph and values, in one process, without any compiler.

    python benchmarks/generation.py                 graphs per second at 5, 10 and 20 operators
    python benchmarks/generation.py --outliers      the slowest of 100,000 graphs

CPU time; garbage collection as Python does it. `graphs` leaves out the drawing of values (what a generator of graphs is
measured by), `cases` has it.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time

from generators.builder import Builder, Limits
from generators.choice import NumpySource
from generators.ops import OPS
from generators.random_graph import generate, grow

GOALS = {5: 1500, 10: 700, 20: 300}
SLOWEST_MS = 100.0


def one_graph(seed: int, index: int, nodes: int) -> float:
    """CPU seconds for a graph of exactly `nodes` operators or a few more (guards come on top)."""
    began = time.process_time()
    builder = Builder(NumpySource(seed, index), Limits(nodes))
    grow(builder, nodes, OPS)
    builder.graph()
    return time.process_time() - began


def one_case(seed: int, index: int, nodes: int) -> float:
    began = time.process_time()
    generate(NumpySource(seed, index), Limits(nodes), at_least=nodes)
    return time.process_time() - began


def speed(count: int, seed: int) -> bool:
    good = True
    one_case(seed, 0, 5)
    for nodes, goal in GOALS.items():
        rates = []
        for what in (one_graph, one_case):
            rounds = [sum(what(seed, r * count + i, nodes) for i in range(count)) / count for r in range(5)]
            rates.append(1 / statistics.median(rounds))
        good = good and rates[0] >= goal
        print(f"{nodes:3} operators: {rates[0]:7.0f} graphs/s (goal {goal}), {rates[1]:7.0f} cases/s with values")
    return good


def outliers(count: int, seed: int) -> bool:
    times = [one_case(seed, index, 1 + index % 20) for index in range(count)]
    worst = sorted(range(count), key=times.__getitem__)[-3:]
    print(f"{count} cases of 1 to 20 operators in {sum(times):.0f} CPU s; the slowest, in ms:")
    for index in reversed(worst):
        print(f"  {1000 * times[index]:7.1f}  seed {seed} index {index}, {1 + index % 20} operators")
    return 1000 * max(times) < SLOWEST_MS


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=400, help="graphs per round (of five), or in all with --outliers")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--outliers", action="store_true")
    args = parser.parse_args()
    good = outliers(args.count, args.seed) if args.outliers else speed(args.count, args.seed)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
