"""Operators that may have the same bug: those of the same family of rows, on cases of the same scope."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import islice

from fuzzer.isolate.fleet import Runner
from fuzzer.triage.scope.asking import answer_of
from fuzzer.triage.scope.drawing import in_force, one_call
from fuzzer.triage.scope.neighbours import is_valid, with_usual_numbers
from fuzzer.triage.scope.properties import properties
from fuzzer.triage.scope.statement import Answer, Statement
from generators.choice import ChoiceSource
from generators.graph import Case, Invalid
from generators.table import TABLE, dialect_of, families
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
    """Return what operators like the one of `case` do where the statement holds, as long as there is time. There are
    none without a statement, or for a case of several calls."""
    if statement is None or len(case.graph.nodes) != 1:
        return ()
    found, opset = [], case.graph.opset
    for name in _alike(case.graph.nodes[0].op, opset):
        if not has_time():
            break
        answers = [answer_of(runner, finding, each, finding.lane) for each in _inside(source, name, opset, statement)]
        if answers:
            found.append((name.partition("-")[0], _worst(answers)))
    return tuple(found)


def _alike(op: str, opset: int) -> list[str]:
    """Return the operators of the same family with the same number of operands, those with equal attributes first."""
    row = TABLE[op]
    family = (other for other in families(dialect_of(op))[op] if other.name != op and in_force(other.name, opset))
    others = [other for other in family if other.arity == row.arity]
    others.sort(key=lambda other: len(other.schema.keys() ^ row.schema.keys()))
    return [other.name for other in others[:MOST_SIBLINGS]]


def _inside(source: ChoiceSource, op: str, opset: int, statement: Statement) -> Iterator[Case]:
    """Yield cases of one call of the operator, with usual numbers, in which the statement holds."""
    return islice((case for case in _drawn(source, op, opset) if statement.holds(properties(case))), CASES)


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
