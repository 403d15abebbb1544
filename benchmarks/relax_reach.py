"""What random cases of Relax reach, and how fast graphs are drawn.

    python benchmarks/relax_reach.py [--count 5000] [--seed 1]

It draws cases as a campaign without guidance does, and counts what the calls differ in: the row, the row with its form,
with the dtype of its first operand, with a class of an attribute's value (`fuzzer/cases/attribute_class.py`), and with
all of them. Then it prints the graphs of five operators per CPU second, without their values.
"""

from __future__ import annotations

import argparse
import sys
import time

from fuzzer.cases.attribute_class import class_of
from generators.builder import Builder, Limits
from generators.choice import NumpySource
from generators.graph import Graph
from generators.random_graph import grow
from generators.relax.ops import OPS
from generators.relax.random_graph import draw_graph
from generators.relax.row import RelaxForm
from generators.relax.schema import schemas

NODES = 5
GRAPHS = 1000


class Reached:
    """Sets of what was drawn."""

    def __init__(self) -> None:
        self.rows: set[str] = set()
        self.forms: set[tuple[str, str]] = set()
        self.dtypes: set[tuple[str, str]] = set()
        self.classes: set[tuple[str, str, str]] = set()
        self.all: set[tuple[str, str, str, str, str]] = set()

    def add(self, graph: Graph) -> None:
        types = graph.types
        for node in graph.nodes:
            dtype, form = str(types[node.args[0]].dtype) if node.args else "-", node.form.value
            self.rows.add(node.op)
            self.forms.add((node.op, form))
            self.dtypes.add((node.op, dtype))
            for name, value in node.attrs.items() or [("-", None)]:
                self.classes.add((node.op, name, class_of(value)))
                self.all.add((node.op, name, class_of(value), dtype, form))


def graphs_per_second(seed: int) -> float:
    """Graphs of five operators or a few more per CPU second."""
    began = time.process_time()
    for number in range(GRAPHS):
        builder = Builder(NumpySource(seed, number), Limits(NODES), dialect="relax")
        grow(builder, NODES, OPS)
        builder.graph()
    return GRAPHS / (time.process_time() - began)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=5000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    reached = Reached()
    for number in range(options.count):
        reached.add(draw_graph(NumpySource(options.seed, number)).graph)
    own = {row.source.schema.name for row in OPS if isinstance(row.source, RelaxForm)}
    legalized = {name for name, schema in schemas().items() if schema.legalized}
    print(f"{options.count} cases")
    print(f"{len(reached.rows)} of {len(OPS)} rows; {len(own & legalized)} of {len(legalized)} legalizations have one")
    print(f"{len(reached.forms)} rows with a form, {len(reached.dtypes)} with a dtype")
    print(f"{len(reached.classes)} rows with a class of an attribute")
    print(f"{len(reached.all)} rows with a class of an attribute, a dtype and a form")
    print(f"{graphs_per_second(options.seed):.0f} graphs of {NODES} operators per CPU second")
    return 0


if __name__ == "__main__":
    sys.exit(main())
