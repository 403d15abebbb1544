"""Measure how fast cases (a graph and its values) are generated, in one process and without any compiler.

    python benchmarks/generation.py                 graphs per second at 5, 10 and 20 operators
    python benchmarks/generation.py --outliers      the slowest and the largest of many cases

Time is CPU time, with garbage collection. `graphs` leaves out the drawing of values; `cases` includes it. With
--outliers, sizes are computed from the finished cases.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time

from generators.builder import Builder, Limits
from generators.choice import NumpySource
from generators.graph import Case
from generators.random_graph import grow
from generators.table import TABLE
from generators.torch.ops import OPS
from generators.torch.random_graph import generate

GOALS = {5: 1500, 10: 700, 20: 300}
SLOWEST_MS = 100.0


def one_graph(seed: int, index: int, nodes: int) -> float:
    """CPU seconds for a graph of exactly `nodes` operators or a few more (guards are added)."""
    began = time.process_time()
    builder = Builder(NumpySource(seed, index), Limits(nodes))
    grow(builder, nodes, OPS)
    builder.graph()
    return time.process_time() - began


def one_case(seed: int, index: int, nodes: int) -> float:
    return timed_case(seed, index, nodes)[0]


def timed_case(seed: int, index: int, nodes: int) -> tuple[float, Case]:
    began = time.process_time()
    case = generate(NumpySource(seed, index), Limits(nodes, min_nodes=nodes))
    return time.process_time() - began, case


def cost(case: Case) -> tuple[int, int]:
    """Bytes of all tensors, and multiply-adds: of the binding of symbolic sizes that needs most of each."""
    return max(map(bytes_of, case.instances())), max(map(work_of, case.instances()))


def bytes_of(case: Case) -> int:
    return sum(type.numel * type.dtype.bits // 8 for type in case.bound.types.values())


def work_of(case: Case) -> int:
    graph, total = case.bound, 0
    for node in graph.nodes:
        terms = TABLE[node.op].terms
        count = terms(graph.arg_types(node), node.attrs) if terms else 0
        total += count * sum(value.type.numel for value in node.results)
    return total


def speed(count: int, seed: int) -> bool:
    good = True
    one_case(seed, 0, 5)
    for nodes, goal in GOALS.items():
        rates = []
        for measure in (one_graph, one_case):
            rounds = [sum(measure(seed, r * count + i, nodes) for i in range(count)) / count for r in range(5)]
            rates.append(1 / statistics.median(rounds))
        good = good and rates[0] >= goal
        print(f"{nodes:3} operators: {rates[0]:7.0f} graphs/s (goal {goal}), {rates[1]:7.0f} cases/s with values")
    return good


def outliers(count: int, seed: int) -> bool:
    times, costs = [], [(0, 0)]
    for index in range(count):
        seconds, case = timed_case(seed, index, 1 + index % 20)
        times.append(seconds)
        costs.append(cost(case))
    worst = sorted(range(count), key=times.__getitem__)[-3:]
    print(f"{count} cases of 1 to 20 operators in {sum(times):.0f} CPU s; the slowest, in ms:")
    for index in reversed(worst):
        print(f"  {1000 * times[index]:7.1f}  seed {seed} index {index}, {1 + index % 20} operators")
    most_bytes, most_work = (max(column) for column in zip(*costs, strict=True))
    limits = Limits()
    print(f"the largest: {most_bytes / (1 << 20):.1f} MiB of tensors, {most_work / 1e6:.1f} M multiply-adds")
    good = most_bytes <= limits.max_bytes and most_work <= limits.max_work
    return good and 1000 * max(times) < SLOWEST_MS


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
