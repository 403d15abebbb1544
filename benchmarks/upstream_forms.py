"""Bugs of TVM's importer of ONNX that others reported, and the form of a case that can show each.

`upstream_onnx.toml` has them, reviewed by a person:

    number      the issue of apache/tvm, or the pull request where there is no issue
    reported    year and month
    title       what the model has, in our words
    fixed       the first release of TVM with a fix; left out where none is known
    ops         the operators: a call of one of them has the form
    opsets      the first and the last opset of the case; left out where all are meant
    form        conditions that all hold of the call, each as [subject, what, relation, values ...]: a property of
                fuzzer/triage/scope/properties.py and a relation of statement.py. The relations "left out" and "given"
                are about attributes that are one number or text
    reads       the call reads a result of a call of this operator, which is written as `read_as` says, if that is there
    read_by     a call of this operator reads a result of the call
    open_sizes  an operand of the call, or of the call that it reads, has open sizes
    result_size a result has a dimension of this size
    uneven      the results have different shapes
    halves      an operand has a number between two integers
    lane        the lane that shows the bug; relax-onnx-model-llvm by default
    shows       the kinds of failure of the lane that are the bug, or "refused"; after ": " words of the message
    why_not     why no case has the form; then there are no conditions
"""

from __future__ import annotations

import datetime
import tomllib
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path

import msgspec
import numpy as np

from fuzzer.lanes import MODEL_LANES, MODEL_SAMPLED_LANES
from fuzzer.triage.scope.properties import properties
from fuzzer.triage.scope.statement import Condition, Property, Relation
from generators.builder import Limits
from generators.choice import NumpySource
from generators.graph import Case, Form, Graph, Invalid, Node, Scalar, holds_floats
from generators.onnx.operator import NodeForm
from generators.onnx.random_graph import generate
from generators.onnx.rows import OPS
from generators.onnx.schema import OLDEST, newest_opset
from generators.op import Op
from oracles.lane import LaneSpec

FILE = Path(__file__).with_name("upstream_onnx.toml")
LEFT_OUT, GIVEN = "left out", "given"
REFUSED = "refused"
"""TVM says that it does not support something in the case: no failure, but some reports are about that."""

NODES_THAT_READ = 3
"""The most calls of a case that is drawn for a bug where one call reads another."""


class Bug(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    number: int
    reported: str
    title: str
    ops: tuple[str, ...]
    shows: tuple[str, ...]
    fixed: str = ""
    opsets: tuple[int, int] = (OLDEST, 99)
    form: tuple[tuple[Scalar, ...], ...] = ()
    reads: str = ""
    read_as: Form | None = None
    read_by: str = ""
    open_sizes: bool = False
    result_size: int | None = None
    uneven: bool = False
    halves: bool = False
    lane: str = "relax-onnx-model-llvm"
    why_not: str = ""

    def is_shown_by(self, kind: str, message: str) -> bool:
        """Whether a failure of this kind with this message is the bug."""
        wanted = (each.partition(": ") for each in self.shows)
        return any(kind == each and words in message for each, _, words in wanted)

    @property
    def runs_in(self) -> LaneSpec:
        return next(lane for lane in (*MODEL_LANES, *MODEL_SAMPLED_LANES) if lane.name == self.lane)


class Upstream(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    read_on: datetime.date
    bug: tuple[Bug, ...]


@cache
def upstream() -> Upstream:
    return msgspec.convert(tomllib.loads(FILE.read_text()), Upstream)


# --- the form


def has_form(bug: Bug, case: Case) -> bool:
    """Whether a call of the case is as the bug needs it."""
    graph = case.graph
    if bug.why_not or not bug.opsets[0] <= graph.opset <= bug.opsets[1]:
        return False
    calls = [index for index, node in enumerate(graph.nodes) if node.title in bug.ops and _is_meant(bug, case, node)]
    known = properties(case) if calls and bug.form else {}
    return any(all(condition_of(words, index).holds(known) for words in bug.form) for index in calls)


def condition_of(words: tuple[Scalar, ...], call: int) -> Condition:
    subject, what, relation, *values = words
    about = Property(call, str(subject), str(what))
    if relation in (LEFT_OUT, GIVEN):
        return Condition(about, Relation.IN if relation == LEFT_OUT else Relation.NOT_IN, (None,))
    return Condition(about, Relation(str(relation)), tuple(values))


def _is_meant(bug: Bug, case: Case, node: Node) -> bool:
    """Whether the conditions hold that are about more than the properties of a call."""
    read = [other for other in _read_by(case.graph, node) if other.title == bug.reads]
    read = [other for other in read if bug.read_as in (None, other.form)]
    operands = [type for call in (node, *read) for type in case.graph.arg_types(call)]
    readers = [other for other in case.graph.nodes if node in _read_by(case.graph, other)]
    return (
        (not bug.reads or bool(read))
        and (not bug.read_by or any(other.title == bug.read_by for other in readers))
        and (not bug.open_sizes or any(type.symbols for type in operands))
        and (bug.result_size is None or any(bug.result_size in value.type.shape for value in node.results))
        and (not bug.uneven or len({value.type.shape for value in node.results}) > 1)
        and (not bug.halves or any(_has_halves(case, name) for name in node.args))
    )


def _read_by(graph: Graph, node: Node) -> Iterator[Node]:
    """The calls whose results the call reads."""
    makers = {value.name: other for other in graph.nodes for value in other.results}
    return (makers[name] for name in node.args if name in makers)


def _has_halves(case: Case, name: str) -> bool:
    if name not in case.tensors or not holds_floats(case.tensors[name]):
        return False
    numbers = case.tensors[name].astype(np.float64)
    finite = numbers[np.isfinite(numbers)]
    return bool(np.any(finite - np.floor(finite) == 0.5))


# --- cases


def directed(bug: Bug, count: int, seed: int) -> Iterator[Case]:
    """Draw cases of the operators of a bug, at each opset in turn. Fewer than `count` where some cannot be drawn."""
    rows, opsets = rows_of(*bug.ops, bug.reads, bug.read_by), _opsets(bug)
    limits = Limits(max_nodes=NODES_THAT_READ if bug.reads or bug.read_by else 1)
    for number in range(count):
        source, opset = NumpySource(seed, number), opsets[number % len(opsets)]
        try:
            yield generate(source, limits, rows, f"seed {seed} number {number}", symbolic=bug.open_sizes, opset=opset)
        except Invalid:
            continue


def rows_of(*operators: str) -> tuple[Op, ...]:
    return tuple(op for op in OPS if op.name.rpartition("-")[0] in operators)


def _opsets(bug: Bug) -> list[int]:
    """The opsets of the bug that have one of its operators."""
    schemas = [op.source.schema for op in rows_of(*bug.ops) if isinstance(op.source, NodeForm)]
    first, last = max(bug.opsets[0], OLDEST), min(bug.opsets[1], newest_opset())
    return [opset for opset in range(first, last + 1) if any(schema.in_force(opset) for schema in schemas)]


def in_toolchain(bug: Bug, toolchain: str) -> LaneSpec:
    return replace(bug.runs_in, toolchain=toolchain)
