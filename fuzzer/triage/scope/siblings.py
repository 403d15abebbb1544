"""Operators that may have the same bug: those of the same family of rows, on cases of the same scope, or, where no
statement fits, on the operands of the case."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import islice

from fuzzer.isolate.fleet import Runner
from fuzzer.triage.scope.asking import answer_of
from fuzzer.triage.scope.drawing import one_call
from fuzzer.triage.scope.neighbours import is_valid, retyped_if_valid, with_usual_numbers
from fuzzer.triage.scope.properties import properties
from fuzzer.triage.scope.statement import Answer, Statement
from generators.choice import ChoiceSource
from generators.graph import Case, Form, Invalid
from generators.table import TABLE, dialect_of
from oracles.finding import Finding

MOST_SIBLINGS = 6
CASES = 2
"""How many cases of each sibling run."""

DRAWS = 40
"""How many cases of a sibling are drawn to find some inside the statement."""


def siblings(
    runner: Runner,
    source: ChoiceSource,
    case: Case,
    finding: Finding,
    statement: Statement | None,
    has_time: Callable[[], bool],
) -> tuple[tuple[str, Answer], ...]:
    """Return what operators like the one of `case` do where the statement holds, as long as there is time; without a
    statement, what they do with its operands and with those of its attributes that they have. There are none for a
    case of several calls."""
    if len(case.graph.nodes) != 1:
        return ()
    found, opset = [], case.graph.opset
    for name in _alike(case.graph.nodes[0].op, opset):
        if not has_time():
            break
        cases = _inside(source, name, opset, statement) if statement else _on_its_operands(source, case, name)
        answers = [answer_of(runner, finding, each, finding.lane) for each in cases]
        if answers:
            found.append((name.partition("-")[0], _worst(answers)))
    return tuple(found)


def _alike(op: str, opset: int) -> list[str]:
    """Return the operators of the same family with the same number of operands, those with equal attributes first.
    A row that calls what has no row is of no family."""
    row, dialect = TABLE[op], dialect_of(op)
    family = (other for other in dialect.families().get(op, ()) if other.name != op and dialect.has(other.name, opset))
    others = [other for other in family if other.arity == row.arity]
    others.sort(key=lambda other: len(other.schema.keys() ^ row.schema.keys()))
    return [other.name for other in others[:MOST_SIBLINGS]]


def _inside(source: ChoiceSource, op: str, opset: int, statement: Statement) -> Iterator[Case]:
    """Yield cases of one call of the operator, with usual numbers, in which the statement holds."""
    return islice((case for case in _drawn(source, op, opset) if statement.holds(properties(case))), CASES)


def _on_its_operands(source: ChoiceSource, case: Case, op: str) -> Iterator[Case]:
    """Yield the case with another operator, if it takes the operands."""
    (node,) = case.graph.nodes
    try:
        drawn = TABLE[op].attrs(source, case.graph.arg_types(node))
    except (Invalid, ValueError, ArithmeticError, LookupError):  # a row draws attributes for operands that it takes
        return
    attrs = {name: node.attrs.get(name, value) for name, value in (drawn or {}).items()}
    called = replace(node, op=op, attrs=attrs, form=Form.PLAIN)
    changed = retyped_if_valid(replace(case, graph=replace(case.graph, nodes=(called,))))
    if changed is not None and is_valid(changed):
        yield changed


def _drawn(source: ChoiceSource, op: str, opset: int) -> Iterator[Case]:
    for _ in range(DRAWS):
        try:
            case = one_call(source, op, opset)
        except Invalid:
            continue
        if len(case.graph.nodes) == 1 and is_valid(case):
            yield with_usual_numbers(source, case)


def _worst(answers: list[Answer]) -> Answer:
    return min(answers, key=list(Answer).index) if Answer.FAILS in answers else answers[0]
