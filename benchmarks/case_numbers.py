"""Put extreme numbers and lists into each attribute of calls of every row: a rule gives types, or refuses them.

    python benchmarks/case_numbers.py [--every N]

Each row of each dialect is drawn once. Each of its attributes, and each element of those that are lists, becomes each
of `VALUES` in turn, as in a `case.json` that somebody else has written. The row's rule must give types, or raise
`Invalid`, within `MOST_SECONDS` and `MOST_BYTES`; any other error is a fault, although `generators.check` refuses such
a case too, and so is a warning. Prints how many calls there were, the most that one took, and each fault. Exits with 1
where there is one.
`--every N`: each N-th row only.
"""

from __future__ import annotations

import argparse
import resource
import sys
import time
import warnings
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from generators.builder import Builder
from generators.choice import NumpySource
from generators.dialect import dialect_named
from generators.dialect_names import NAMES
from generators.graph import Attr, Attrs, Invalid, Scalar
from generators.limits import Limits
from generators.op import Op, Types

SCALARS: tuple[Scalar, ...] = (
    *(None, True, "x", -1, 0, 10**9, 2**62, 2**63 - 1, -(2**63), 1.5, 5e-324, 1e308, -1e308),
)
LISTS: tuple[tuple[Scalar, ...], ...] = (
    *((), (1,), (1, 1), (1, 2, 3, 4), (10**9,) * 3, (-1,) * 3, (0,) * 3, (2**62,) * 40, (1e308,) * 3, (None,), ("x",)),
    (1,) * 10_000,
)
VALUES: tuple[Attr, ...] = (*SCALARS, *LISTS)
MOST_SECONDS, MOST_BYTES = 1.0, 4 << 30
MOST_PLACES = 3
"""How many elements of a list are changed; the others stay."""

TRIES = 100


@dataclass(frozen=True, slots=True)
class Call:
    """A call of a row, as it was drawn."""

    op: Op
    types: Types
    attrs: Attrs


@dataclass(frozen=True, slots=True)
class Answered:
    """How a rule ended for the attributes `changed`: "" is an answer, "refused" is `Invalid`, else the error."""

    op: str
    changed: str
    ending: str
    seconds: float

    @property
    def fault(self) -> str:
        if self.ending not in ("", "refused"):
            return self.ending
        return f"it takes {self.seconds:.1f} s" if self.seconds > MOST_SECONDS else ""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--every", type=int, default=1)
    options = parser.parse_args()
    counts, most, faults = Counter[str](), 0.0, 0
    for call in calls(options.every):
        for each in answers(call):
            counts[each.ending if each.ending in ("", "refused") else "error"] += 1
            most = max(most, each.seconds)
            if each.fault:
                faults += 1
                print(f"{each.op}: {each.changed[:120]}: {each.fault}", flush=True)
    print(
        f"{counts.total():,} calls, {counts['refused']:,} of them refused, {faults} faults; at most {most:.2f} s of CPU"
    )
    sys.exit(1 if faults else 0)


def calls(every: int = 1) -> Iterator[Call]:
    """A call of each N-th row of all dialects. Rows that cannot be drawn alone are left out."""
    for op, dialect, opset in list(rows())[::every]:
        if call := drawn(op, dialect, opset):
            yield call


def rows() -> Iterator[tuple[Op, str, int]]:
    """Each row with its dialect and an opset in which it is drawn; 0 where the dialect has no opsets."""
    met: set[str] = set()
    for name in NAMES:
        opsets = dialect_named(name).opsets
        for opset in opsets.drawn() if opsets else [0]:
            for op in dialect_named(name).rows_at(opset):
                if op.name not in met:
                    yield op, name, opset
                met.add(op.name)


def drawn(op: Op, dialect: str, opset: int) -> Call | None:
    """A call of the row; None where it cannot be drawn alone."""
    for number in range(TRIES):
        builder = Builder(NumpySource(5, number), Limits(max_numel=256), dialect=dialect, opset=opset)
        if builder.grow(op):
            node = next(node for node in builder.nodes if node.op == op.name)
            types = builder.graph().types
            return Call(op, tuple(types[name] for name in node.args), node.attrs)
    return None


def answers(call: Call) -> Iterator[Answered]:
    for key, value in changes(call.attrs):
        began = time.process_time()
        try:
            call.op.results(call.types, {**call.attrs, key: value})
            ending = ""
        except Invalid:
            ending = "refused"
        except Exception as error:
            ending = f"{type(error).__name__}: {error}"
        yield Answered(call.op.name, f"{key}={value!r}", ending, time.process_time() - began)


def changes(attrs: Attrs) -> Iterator[tuple[str, Attr]]:
    """Each attribute, and what it becomes: each value, itself with another element, and itself without one."""
    for key, before in attrs.items():
        yield from ((key, value) for value in VALUES)
        places = range(min(len(before), MOST_PLACES)) if isinstance(before, tuple) else ()
        for place in places:
            assert isinstance(before, tuple)
            yield from ((key, (*before[:place], value, *before[place + 1 :])) for value in SCALARS)
            yield key, (*before[:place], *before[place + 1 :])


if __name__ == "__main__":
    warnings.simplefilter("error")
    resource.setrlimit(resource.RLIMIT_AS, (MOST_BYTES, MOST_BYTES))
    main()
