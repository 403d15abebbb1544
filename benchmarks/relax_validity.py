"""Draw cases of Relax, and ask TVM's parser, its checker and its inference, and the definitions of the operators.

    python benchmarks/relax_validity.py --count 1000 --seed 1 --ops 'relax.nn.*' --nodes 5 --build

A case is valid where TVM parses its module and the checker takes it, TVM infers the types of the case, and the
definitions give results of these types. With `--build`, TVM compiles the module for llvm, too; what it then refuses is
counted for each operator of a case of one call.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from fnmatch import fnmatchcase

import tvm
from tvm import relax

from fuzzer.lanes.relax.references import evaluated
from fuzzer.lanes.relax.trace import result_types
from generators.builder import Limits
from generators.choice import NumpySource
from generators.graph import Case
from generators.relax import source
from generators.relax.ops import OPS
from generators.relax.random_graph import generate


def verdict(case: Case, *, build: bool) -> tuple[str, str]:
    """What is wrong with a case, and the message; two empty texts where nothing is."""
    types = case.bound.output_types
    stage = "parser"
    try:
        made = source.module(case.bound)
        for helper in made.helpers:
            exec(helper, {"tvm": tvm})
        module = tvm.script.from_source(made.text, check_well_formed=False)
        stage = "checker"
        relax.analysis.well_formed(module)
        stage = "types of TVM"
        expected = [f"{type.dtype}{list(type.sizes)}" for type in types]
        assert list(result_types(module)) == expected, f"{result_types(module)} instead of {expected}"
        stage = "definitions"
        found = [f"{array.dtype}{list(array.shape)}" for array in evaluated(case)]
        assert found == expected, f"{found} instead of {expected}"
        stage = "build"
        if build:
            relax.build(relax.transform.LambdaLift()(module) if made.is_lifted else module, "llvm")
    except Exception as error:  # TVM may raise anything
        lines = [line for line in str(error).splitlines() if line.strip()] or [type(error).__name__]
        return stage, lines[0][:200]
    return "", ""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--nodes", type=int, default=5)
    parser.add_argument("--ops", default="*", help="globs of names, such as 'relax.nn.*'")
    parser.add_argument("--each", action="store_true", help="--count cases of one call of each operator")
    parser.add_argument("--build", action="store_true")
    options = parser.parse_args()
    ops = [op for op in OPS if any(fnmatchcase(op.name, glob) for glob in options.ops.split(","))]
    groups = [[op] for op in ops] if options.each else [ops]
    faults: Counter[str] = Counter()
    shown: set[str] = set()
    total = 0
    for group in groups:
        for number in range(options.count):
            limits = Limits(max_nodes=1 if options.each else options.nodes)
            case = generate(NumpySource(options.seed, number), limits, group, symbolic=False)
            total += 1
            what, message = verdict(case, build=options.build)
            if what:
                faults[what] += 1
                names = ", ".join(sorted({node.op for node in case.graph.nodes}))
                if (key := f"{what}: {names if options.each else ''} {message}") not in shown:
                    shown.add(key)
                    print(f"-- {number} {what}: {names}: {message}")
    print(f"{total} cases: {', '.join(f'{n} refused by the {what}' for what, n in faults.items()) or 'all are valid'}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
