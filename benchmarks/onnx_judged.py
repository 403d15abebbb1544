"""How many cases of ONNX have each version, attribute, optional input and output of TVM's converters, and are judged.

    python benchmarks/onnx_judged.py [--times 20] [--seed 1] [--ops GLOB] [--workers 2] [--all]

For each operator it draws cases, and runs those that have a part of which more is wanted. Of a part, more is wanted
until `--times` cases were imported and judged, or `ATTEMPTS` times as many were judged. A case is judged where the
references agree on its result and TVM's lane took it. It is imported where TVM's importer did not refuse it.

It prints a line for each part that was imported and judged less often, with the reason that is known or TVM's most
frequent message; with `--all`, a line for each part. Exits with 1 where a part was not judged so often, and no reason
is known.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path

from rich.console import Console
from rich.progress import track

from fuzzer.coverage.onnx.features import Feature, features_of, operator_of, reason_of, wanted
from fuzzer.isolate.executor import Executor
from fuzzer.lanes import MODEL_LANES, ONNX_LANES
from generators.builder import Limits
from generators.choice import NumpySource
from generators.graph import Case, Invalid
from generators.onnx.operator import NodeForm
from generators.onnx.random_graph import generate
from generators.onnx.rows import OPS
from generators.onnx.schema import OLDEST, newest_opset
from generators.op import Op
from oracles.outcome import Outcome, Raised, Skipped, Unsupported
from oracles.reference import expected
from oracles.stage import Stage

ATTEMPTS = 3
DRAWN = 20
"""`DRAWN` cases are drawn for each row and time: not all have a part of which more is wanted."""
LANE = MODEL_LANES[0]


@dataclass(slots=True)
class Counts:
    """How many cases of an operator have each part; `refused` has the messages of TVM's importer."""

    judged: Counter[Feature] = field(default_factory=Counter)
    imported: Counter[Feature] = field(default_factory=Counter)
    refused: dict[Feature, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))
    cases: int = 0


def cases_of(rows: Sequence[Op], seed: int, count: int) -> Iterator[Case]:
    """Cases of the versions of an operator in turn, at each opset in which they are in force."""
    for number in range(count):
        row = rows[number % len(rows)]
        form = row.source
        assert isinstance(form, NodeForm)
        opsets = [opset for opset in range(OLDEST, newest_opset() + 1) if form.schema.in_force(opset)]
        source, opset = NumpySource(seed, number), opsets[number // len(rows) % len(opsets)]
        try:
            yield source.choice(generate(source, Limits(max_nodes=2), (row,), opset=opset).instances())
        except Invalid:
            continue


def count(executor: Executor, rows: Sequence[Op], times: int, seed: int) -> Counts:
    """Run cases of an operator until each of its parts was imported and judged `times` times."""
    name, counts = operator_of(rows[0]), Counts()
    missing = {feature for feature in wanted() if feature.operator == name}
    for case in cases_of(rows, seed, DRAWN * times * len(rows)):
        parts = {feature for feature in features_of(case.graph) if feature.operator == name}
        if not parts & missing:
            continue
        outcomes = executor.run(case, (*ONNX_LANES, LANE)).outcomes
        counts.cases += 1
        out = outcomes[LANE]
        if expected(outcomes) is None or isinstance(out, Skipped):
            continue
        counts.judged.update(parts)
        if is_imported(out):
            counts.imported.update(parts)
        else:
            for part in parts:
                counts.refused[part][message_of(out)] += 1
        missing = {
            feature
            for feature in missing
            if counts.imported[feature] < times and counts.judged[feature] < ATTEMPTS * times
        }
        if not missing:
            break
    return counts


def is_imported(out: Outcome) -> bool:
    return not isinstance(out, Unsupported) and (not isinstance(out, Raised) or out.stage.is_after(Stage.IMPORT))


def message_of(out: Outcome) -> str:
    return out.message.strip().splitlines()[-1][:120] if isinstance(out, Raised) and out.message else str(out)[:120]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--times", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--ops", default="*", help="only these operators")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--all", action="store_true", help="print each part")
    options = parser.parse_args()
    operators: dict[str, list[Op]] = defaultdict(list)
    for row in OPS:
        name = operator_of(row)
        if fnmatchcase(name, options.ops):
            operators[name].append(row)
    began = time.monotonic()
    with (
        Executor(Path(tempfile.mkdtemp(prefix="difftvm-"))) as executor,
        ThreadPoolExecutor(options.workers) as pool,
    ):
        work = pool.map(lambda rows: count(executor, rows, options.times, options.seed), operators.values())
        found = list(track(work, "running cases", len(operators), console=Console(stderr=True)))
        cpu = executor.cpu_seconds
    total = Counts()
    for each in found:
        total.judged.update(each.judged)
        total.imported.update(each.imported)
        total.refused.update(each.refused)
        total.cases += each.cases
    features = sorted(feature for feature in wanted() if feature.operator in operators)
    enough = sum(total.judged[feature] >= options.times for feature in features)
    imported = sum(total.imported[feature] >= options.times for feature in features)
    unexplained = 0
    print(f"{total.cases} cases, {cpu:.0f} CPU s, {time.monotonic() - began:.0f} s")
    print(f"{len(features)} parts: {enough} are judged {options.times} times or more, {imported} imported as often")
    for feature in features:
        judged, taken = total.judged[feature], total.imported[feature]
        reason = reason_of(feature) if judged < options.times else ""
        unexplained += judged < options.times and not reason
        if options.all or judged < options.times or taken < options.times:
            refused = total.refused.get(feature, Counter()).most_common(1)
            why = reason or (refused[0][0] if refused and taken < options.times else "")
            print(f"{feature}: judged {judged}, imported {taken}" + (f": {why}" if why else ""))
    return 1 if unexplained else 0


if __name__ == "__main__":
    sys.exit(main())
