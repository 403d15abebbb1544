"""List dtypes that a row's inference accepts for its first operand and that are never drawn for it.

    python benchmarks/dtypes.py [--draws 120]

With few draws, some dtypes are missing by chance. With more draws, the rest is missing on purpose.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from contextlib import suppress

from generators.builder import Limits
from generators.choice import NumpySource
from generators.graph import DType, Invalid, Node, Profile
from generators.op import Op, Types
from generators.random_graph import generate
from generators.torch.ops import OPS


def calls(op: Op, draws: int) -> Iterator[tuple[Node, Types]]:
    """Calls of the operator, with the types of their operands."""
    for draw in range(draws):
        source = NumpySource(27, OPS.index(op), draw)
        with suppress(Invalid):  # no draw fits
            case = generate(source, Limits(max_nodes=1, max_numel=256), [op], profile=Profile.NORMAL, motifs=())
            types = case.bound.types
            yield from ((node, tuple(types[name] for name in node.args)) for node in case.graph.nodes[-1:] if node.args)


def never_drawn(op: Op, draws: int) -> list[str]:
    drawn: set[DType] = set()
    accepted: set[DType] = set()
    for node, types in calls(op, draws):
        if node.op == op.name:
            drawn.add(types[0].dtype)
            accepted |= {dtype for dtype in DType if accepts(op, types, node, dtype)}
    return sorted(dtype.value for dtype in accepted - drawn)


def accepts(op: Op, types: Types, node: Node, dtype: DType) -> bool:
    """Whether inference accepts the dtype for the first operand, or for all operands that share its dtype."""
    alone = (types[0].with_dtype(dtype), *types[1:])
    together = tuple(each.with_dtype(dtype) if each.dtype is types[0].dtype else each for each in types)
    for changed in (alone, together):
        with suppress(Invalid):
            op.results(changed, node.attrs)
            return True
    return False


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--draws", type=int, default=120)
    draws = parser.parse_args().draws
    lacking = {op.name: found for op in OPS if (found := never_drawn(op, draws))}
    print(f"{len(lacking)} of {len(OPS)} rows")
    for name, found in lacking.items():
        print(f"  {name}: {' '.join(found)}")


if __name__ == "__main__":
    main()
