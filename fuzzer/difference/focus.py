"""What `fuzz diff` aims at: the entries of TVM that a change touches, the operators and the lanes that run them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from fuzzer.campaign.cases.torch.pass_tests import PASS_TESTS
from fuzzer.difference.changed_code import ChangedCode
from fuzzer.difference.changed_entries import ChangedEntry, ChangedTable
from fuzzer.difference.changed_files import OPERATOR, TARGET
from fuzzer.difference.reach_map import ReachMap
from fuzzer.difference.touched_lanes import TouchedLanes, touched_lanes
from fuzzer.difference.touched_rows import hinted_rows, touched_rows
from fuzzer.toolchains.code_entries import Kind
from fuzzer.toolchains.reached import PASS
from fuzzer.watching.formatting import number_of
from generators.aimed_choice import numbers_beside, sizes_beside
from generators.graph import DType
from generators.op import Op
from generators.torch.motifs import Motif

MOST_ROWS = 0.5
"""A change that touches more than this part of all rows is drawn for as in every campaign."""

MOST_CONSTANTS = 24
"""The numbers of code with more constants than this are those of a table, and direct nothing."""


_PLURALS = {kind: f"{kind}s" for kind in Kind} | {Kind.PASS: "passes"}


@dataclass(frozen=True, slots=True)
class Focus:
    """Nothing is aimed at where `lanes` has none.

    entries   what differs
    rows      by dialect, the operators whose cases run it; empty where every case does, or where it is not known
    hinted    by dialect, operators that the changed code of passes names: these are drawn more often
    lanes     the lanes that run it
    motifs    small graphs that a changed pass rewrites
    numbers   numbers for attributes and ranks, around the constants of the changed code
    sizes     sizes of dimensions, around them
    dtypes    those that the changed code names
    """

    entries: tuple[ChangedEntry, ...] = ()
    rows: Mapping[str, tuple[Op, ...]] = field(default_factory=dict)
    hinted: Mapping[str, tuple[Op, ...]] = field(default_factory=dict)
    lanes: TouchedLanes = field(default_factory=TouchedLanes)
    motifs: tuple[Motif, ...] = ()
    numbers: tuple[int, ...] = ()
    sizes: tuple[int, ...] = ()
    dtypes: frozenset[DType] = frozenset()

    @property
    def is_known(self) -> bool:
        return bool(self.lanes.always)

    @property
    def dialects(self) -> tuple[str, ...]:
        """The dialects of the lanes."""
        return tuple(dict.fromkeys(lane.dialect for lane in self.lanes.always))

    @property
    def names(self) -> frozenset[str]:
        """The names of the rows."""
        return frozenset(op.name for rows in self.rows.values() for op in rows)

    def in_words(self, kept: int) -> str:
        """The sentence that says what the run will do. `kept` is how many kept cases have such operators."""
        if not self.is_known:
            return "it is not known which operators run the change: cases of all operators are drawn"
        kinds = Counter(entry.kind for entry in self.entries)
        touched = ", ".join(f"{count} {kind if count == 1 else _PLURALS[kind]}" for kind, count in kinds.items())
        rows = number_of(len(self.names), "operator") if self.names else "all operators"
        lanes = number_of(len(self.lanes.all), "lane")
        return f"the change touches {touched}: {rows}, {lanes}; {number_of(kept, 'kept case')} reach them"


def focus_of(
    table: ChangedTable, code: ChangedCode, ops: Mapping[str, Sequence[Op]], reach_map: ReachMap | None = None
) -> Focus:
    """`ops` are the operators that may be drawn, by dialect. The map adds those whose cases reach functions that were
    replaced or have changed."""
    entries = (*table.entries, *_of_parts(code, table))
    targets = [part.removeprefix(f"{TARGET} ") for part in code.parts if part.startswith(f"{TARGET} ")]
    lanes = touched_lanes(entries, targets)
    if not lanes.always:
        return Focus(entries)
    dialects = {lane.dialect for lane in lanes.always}
    ops = {dialect: rows for dialect, rows in ops.items() if dialect in dialects}
    known = [(entry, touched_rows(entry, table) | _measured(entry, reach_map)) for entry in entries]
    for_all = any(not rows and entry.kind is not Kind.IMPORTER for entry, rows in known if entry.kind not in _NARROWED)
    names = frozenset() if for_all else frozenset[str]().union(*(rows for _, rows in known))
    rows = _of_names(ops, names)
    if sum(map(len, rows.values())) > MOST_ROWS * sum(map(len, ops.values())):
        rows = {}
    constants = {value for entry in entries for value in entry.constants}
    constants = constants if len(constants) <= MOST_CONSTANTS else set()
    passes = [entry for entry in entries if entry.kind is Kind.PASS]
    text = code.text if passes or not rows else ""
    hinted = hinted_rows(passes, text, table)
    changed = {entry.name.rpartition(".")[2] for entry in passes}
    return Focus(
        entries,
        rows,
        _of_names(ops, hinted),
        lanes,
        tuple(motif for test in PASS_TESTS if test.row.pass_name in changed for motif in test.motifs),
        numbers_beside(constants),
        sizes_beside(constants),
        frozenset(dtype for dtype in DType if re.search(rf"\b{dtype.value}\b", code.text)),
    )


def _measured(entry: ChangedEntry, reach_map: ReachMap | None) -> frozenset[str]:
    """The rows that reach a function of a converter or a legalization, by the map: of each function that not most rows
    reach."""
    if reach_map is None or entry.kind not in _NARROWED:
        return frozenset()
    rows = [reach_map.rows_of(name) for name in (*entry.functions, *entry.replaced, f"{OPERATOR} {entry.name}")]
    few = (found for found in rows if len(found) <= MOST_ROWS * len(reach_map.rows))
    return frozenset(name for found in few for name in found)


_NARROWED = (Kind.CONVERTER, Kind.LEGALIZATION, Kind.GRADIENT)
"""Entries that only cases of some operators run, also where it is not known which."""


def _of_names(ops: Mapping[str, Sequence[Op]], names: frozenset[str]) -> dict[str, tuple[Op, ...]]:
    found = {dialect: tuple(op for op in rows if op.name in names) for dialect, rows in ops.items()}
    return {dialect: rows for dialect, rows in found.items() if rows}


def _of_parts(code: ChangedCode, table: ChangedTable) -> list[ChangedEntry]:
    """The entries that stand for what files of C++ name."""
    found = []
    for part in sorted(code.parts):
        what, _, name = part.partition(" ")
        if what == OPERATOR and name in table.makers:
            found.append(ChangedEntry(Kind.LEGALIZATION, name))
        elif what == PASS and (name in table.pipelines or any(test.row.pass_name == name for test in PASS_TESTS)):
            found.append(ChangedEntry(Kind.PASS, name))
            found += [ChangedEntry(Kind.PIPELINE, pipeline) for pipeline in table.pipelines.get(name, ())]
    return found
