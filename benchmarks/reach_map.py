"""Measure the map from parts of TVM to operators: its cost, its size, and how often it is right.

    python benchmarks/reach_map.py [--functions 200] [--workers 2] [--seed 1]

Two maps are made of other cases of the same operators. Functions are drawn from the first map, each with one of its
operators. The map is right where the case of this operator in the second map reaches the function too. Prints the CPU
seconds and the bytes of the first map, how many parts of each kind it has, and how often it is right: of all functions,
and of those that at most a tenth of the operators reach.
"""

from __future__ import annotations

import argparse
import random
from collections import Counter

import msgspec

from fuzzer.difference.measured_map import measured
from fuzzer.difference.reach_map import ReachMap
from fuzzer.difference.reach_rows import rows_of_map
from fuzzer.toolchains.toolchain import HOST

FEW = 0.1
KINDS = ("pass", "kernel", "operator")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--functions", type=int, default=200)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    rows = rows_of_map()
    first, second = (measured(HOST, rows, options.workers, lambda *_: None, seed) for seed in (0, options.seed))
    kinds = Counter(kind_of(name) for name in first.reaching)
    print(f"{len(first.rows)} operators, {first.cpu_seconds:.0f} CPU s, {len(msgspec.json.encode(first)):,} bytes")
    print(", ".join(f"{count:,} of the kind {kind}" for kind, count in kinds.most_common()))
    functions = [name for name in first.reaching if kind_of(name) == "function"]
    few = [name for name in functions if len(first.reaching[name]) <= FEW * len(first.rows)]
    for what, names in (("functions", functions), (f"functions that at most {FEW:.0%} of the operators reach", few)):
        source = random.Random(options.seed)
        drawn = source.sample(sorted(names), min(options.functions, len(names)))
        right = sum(is_right(name, source.choice(first.rows_of(name)), second) for name in drawn)
        print(f"{what}: right for {right} of {len(drawn)}")


def kind_of(name: str) -> str:
    word = name.partition(" ")[0]
    return word if word in KINDS else "function"


def is_right(name: str, row: str, other: ReachMap) -> bool:
    return row in other.rows_of(name)


if __name__ == "__main__":
    main()
