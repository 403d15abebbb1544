"""What random cases of ONNX reach, and how fast graphs are drawn.

    python benchmarks/onnx_reach.py [--count 5000] [--seed 1]

It draws cases as a campaign without guidance does, and counts the rows (a version of an operator each), the parts of
TVM's converters, and what the calls differ in: the row with the dtype of its first operand, with a class of an
attribute's value (`fuzzer/cases/attribute_class.py`), and with both. Then it prints the graphs of five operators per
CPU second, without their values.
"""

from __future__ import annotations

import argparse
import sys
import time

from fuzzer.cases.attribute_class import class_of
from fuzzer.coverage.onnx.features import features_of, wanted
from generators.builder import Builder, Limits
from generators.choice import NumpySource
from generators.graph import Case
from generators.onnx.random_graph import draw_opset, generate
from generators.onnx.rows import OPS, rows_at
from generators.random_graph import grow

NODES = 5
GRAPHS = 1000


class Reached:
    """Sets of what was drawn."""

    def __init__(self) -> None:
        self.rows: set[str] = set()
        self.parts: set[object] = set()
        self.dtypes: set[tuple[str, str]] = set()
        self.classes: set[tuple[str, str, str]] = set()
        self.both: set[tuple[str, str, str, str]] = set()
        self.forms: set[tuple[str, str]] = set()
        self.opsets: set[int] = set()

    def add(self, case: Case) -> None:
        graph = case.graph
        types = graph.types
        self.parts.update(features_of(graph))
        self.opsets.add(graph.opset)
        for node in graph.nodes:
            dtype = str(types[node.args[0]].dtype) if node.args else "-"
            self.rows.add(node.op)
            self.dtypes.add((node.op, dtype))
            self.forms.add((node.op, node.form.value))
            for name, value in node.attrs.items():
                self.classes.add((node.op, name, class_of(value)))
                self.both.add((node.op, name, class_of(value), dtype))


def graphs_per_second(seed: int) -> float:
    """Graphs of five operators or a few more per CPU second."""
    began = time.process_time()
    for number in range(GRAPHS):
        source = NumpySource(seed, number)
        opset = draw_opset(source)
        builder = Builder(source, Limits(NODES), dialect="onnx", opset=opset)
        grow(builder, NODES, rows_at(opset))
        builder.graph()
    return GRAPHS / (time.process_time() - began)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=5000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    reached = Reached()
    for number in range(options.count):
        reached.add(generate(NumpySource(options.seed, number)))
    print(f"{options.count} cases at {len(reached.opsets)} opsets")
    print(f"{len(reached.rows)} of {len(OPS)} rows")
    print(f"{len(reached.parts & wanted())} of {len(wanted())} parts of TVM's converters")
    print(f"{len(reached.dtypes)} rows with a dtype, {len(reached.forms)} with a form")
    print(f"{len(reached.classes)} rows with a class of an attribute")
    print(f"{len(reached.both)} rows with a class of an attribute and a dtype")
    print(f"{graphs_per_second(options.seed):.0f} graphs of {NODES} operators per CPU second")
    return 0


if __name__ == "__main__":
    sys.exit(main())
