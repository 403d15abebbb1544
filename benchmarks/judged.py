"""How many random cases show little: no float of their results is judged, or no two that differ.

    python benchmarks/judged.py [--dialect torch] [--cases 664] [--seed 77] [--workers 2] [--list]

Cases are drawn as a campaign without guidance draws them, and run in their references alone. Of the cases whose results
have floats it prints how many judge no float, how many at most two, and how many have no output with two different
judged floats: there a wrong index, order or axis cannot show. Then it says why. With `--list`, it prints a line for
each case that judges no float, or no two different ones. It measures the cases that are drawn and not TVM: it compiles
nothing.
"""

from __future__ import annotations

import argparse
import tempfile
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from fuzzer.campaign.cases.cases import random_cases
from fuzzer.campaign.plan.settings import Settings
from fuzzer.isolate.executor import Executor
from fuzzer.lanes import references_of
from generators.dialect import dialect_named
from generators.dialect_names import NAMES
from generators.graph import Case
from oracles.judged_elements import JudgedElements, judged_elements
from oracles.lane import is_eager
from oracles.outcome import Outcomes

ONE_ELEMENT = "the outputs have one element each"
EQUAL = "all numbers of an output are equal"
EMPTY = "the outputs have no elements"


@dataclass(frozen=True, slots=True)
class Measured:
    """One case with floats in its results."""

    number: int
    case: Case
    found: JudgedElements

    @property
    def why(self) -> str:
        """Why no two different floats are judged; "" where they are."""
        if self.found.different_floats > 1:
            return ""
        sizes = [type.numel for type in self.case.bound.output_types if type.dtype.is_float]
        if not any(sizes):
            return EMPTY
        if not self.found.judged_floats:
            return self.found.reasons[0][0]
        return ONE_ELEMENT if max(sizes) == 1 else EQUAL if not self.found.unjudged else self.found.reasons[0][0]


def measured(executor: Executor, dialect: str, cases: int, seed: int, workers: int) -> Iterator[Measured]:
    """The cases of a campaign that have floats in their results."""
    draw = random_cases(Settings(Path(), seed, ops={dialect: dialect_named(dialect).drawn()}), seed)
    lanes = references_of(dialect)

    def one(number: int) -> Measured | None:
        case = draw(number)
        assert case is not None, "random cases do not end"
        if not any(type.dtype.is_float for type in case.bound.output_types):
            return None
        outcomes: Outcomes = executor.run(case, lanes).outcomes
        return Measured(number, case, judged_elements(outcomes, list(filter(is_eager, outcomes))))

    with ThreadPoolExecutor(workers) as pool:
        yield from filter(None, pool.map(one, range(cases)))


def show(dialect: str, cases: list[Measured]) -> None:
    count = len(cases)
    none = sum(not each.found.judged_floats for each in cases)
    few = sum(each.found.judged_floats <= 2 for each in cases)
    reasons = Counter(each.why for each in cases if each.why)
    elements = sum(each.found.elements for each in cases)
    unjudged = sum((each.found.unjudged for each in cases), Counter[str]())
    print(f"{dialect}: {count} cases with floats in their results")
    for what, some in (
        ("judge no float", none),
        ("judge at most two", few),
        ("judge no two different ones", reasons.total()),
    ):
        print(f"  {some:5} {what} ({some / max(count, 1):.1%})")
    for reason, some in reasons.most_common():
        print(f"        {some:5} {reason}")
    print(f"  {elements} elements, {elements - unjudged.total()} judged")
    for reason, some in unjudged.most_common():
        print(f"        {some:5} not: {reason} ({some / elements:.2%})")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dialect", choices=NAMES, help="only this one")
    parser.add_argument("--cases", type=int, default=664)
    parser.add_argument("--seed", type=int, default=77)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--list", action="store_true", help="print each case that shows little")
    options = parser.parse_args()
    for dialect in [options.dialect] if options.dialect else NAMES:
        with Executor(Path(tempfile.mkdtemp(prefix="difftvm-"))) as executor:
            cases = list(measured(executor, dialect, options.cases, options.seed, options.workers))
        show(dialect, cases)
        for each in cases if options.list else ():
            if each.why:
                shapes = " ".join(map(str, each.case.bound.output_types))
                print(f"    test {each.number}: {each.why}: {', '.join(each.case.graph.ops)} -> {shapes}")


if __name__ == "__main__":
    main()
