"""Makes the map from parts of TVM to operators.

One case of each row is imported by each cheap importer, and compiled after one of them, in a toolchain whose processes
note what they call.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from fuzzer.campaign.plan.streams import Stream, choices
from fuzzer.difference.changed_code import noting
from fuzzer.difference.changed_files import OPERATOR
from fuzzer.difference.near_cases import limits_of, opset_of
from fuzzer.difference.python_changes import Functions, functions_in, tvm_folder
from fuzzer.difference.reach_map import FORMAT, ReachMap
from fuzzer.isolate.fleet import BackendKey, Fleet, RunLanes
from fuzzer.lanes import EVALUATED_LANES, references_of
from fuzzer.system import temporary
from fuzzer.toolchains.reached import PASS
from fuzzer.toolchains.toolchain import HOST, Toolchain
from generators.graph import Invalid
from generators.op import Op
from generators.table import dialect_of
from oracles.importers import EXPENSIVE, plain_importer
from oracles.lane import LaneSpec, Pipeline, is_reference
from oracles.outcome import Outcome, Stage, facts_of

FOLDERS = ("relax/", "topi/", "s_tir/dlight/", "te/", "tirx/", "s_tir/transform/")
WITHOUT = ("/testing/", "/script/", "/contrib/", "/distributed/", "/training/", "/meta_schedule/", "tirx/expr.py")
"""Files of TVM whose functions every program calls, or none."""


def measured(
    toolchain: Toolchain,
    ops: Mapping[str, Sequence[Op]],
    workers: int,
    tell: Callable[[int, int], None],
    seed: int = 0,
) -> ReachMap:
    """Run the cases of a seed. `tell` gets how many of how many rows are done."""
    with temporary.folder() as folder:
        traced = noting(toolchain, functions_of_tvm(tvm_folder(toolchain)), folder, conditions=False)
        with Fleet(folder / "scratch", lambda name: traced if name == traced.name else HOST) as fleet:
            rows = [op for each in ops.values() for op in each]
            found: list[set[str]] = []
            with ThreadPoolExecutor(workers) as pool:
                for done in pool.map(lambda op: _reached_by(fleet.run, op, traced.name, seed), rows):
                    found.append(done)
                    tell(len(found), len(rows))
            versions = fleet.backend(BackendKey(traced.name)).versions
            return _joined(rows, found, versions, fleet.cpu_seconds)


def functions_of_tvm(tvm: Path) -> Functions:
    """The functions of TVM's Python that are noted."""
    found: Functions = {}
    for path in sorted(tvm.rglob("*.py")):
        file = path.relative_to(tvm).as_posix()
        if file.startswith(FOLDERS) and not any(word in file for word in WITHOUT):
            with suppress(SyntaxError):
                found[file] = functions_in(path)
    return found


def lanes_of_map(dialect: str, toolchain: str) -> list[LaneSpec]:
    """The lanes that import cases of a dialect. That of the plain importer compiles the module too, by the pipeline
    that fuses and folds before it does what the default one does."""
    found = []
    for lane in EVALUATED_LANES:
        if lane.dialect == dialect and lane.importer not in EXPENSIVE:
            until = Stage.COMPILE if lane.importer is plain_importer(dialect) else Stage.IMPORT
            lane = replace(lane, name=f"relax-{lane.importer}-drawn", variant="relax", pipeline=Pipeline.ZERO)
            found.append(replace(lane, target="llvm-O0", until=until, toolchain=toolchain))
    return found


def _reached_by(run: RunLanes, op: Op, toolchain: str, seed: int) -> set[str]:
    """What a case with a single call of the row reaches; nothing where there is no such case."""
    dialect = dialect_of(op.name)
    source = choices(seed, 0, Stream.DIFF_OPERATOR)
    try:
        opset = opset_of(dialect, source, [op])
        case = dialect.draw(source, limits_of(1), [op], op.name, symbolic=False, opset=opset).case()
    except Invalid:
        return set()
    outcomes = run(case, [*references_of(dialect.name)[:1], *lanes_of_map(dialect.name, toolchain)]).outcomes
    return {name for lane, outcome in outcomes.items() if not is_reference(lane) for name in _names(outcome)}


def _names(outcome: Outcome) -> Iterator[str]:
    facts = facts_of(outcome)
    yield from facts.reached
    for words in (name.split() for name in facts.behaviour):
        if words[0] == "relax":
            yield f"{OPERATOR} {words[1]}"
        elif words[0] in (PASS, "kernel"):
            yield " ".join(words)


def _joined(rows: Sequence[Op], found: Sequence[set[str]], versions: Mapping[str, str], seconds: float) -> ReachMap:
    reaching: dict[str, list[int]] = {}
    for number, names in enumerate(found):
        for name in sorted(names):
            reaching.setdefault(name, []).append(number)
    return ReachMap(FORMAT, dict(versions), [op.name for op in rows], reaching, round(seconds, 1))
