"""The scope of a finding, from its reduced case: asks, learns, confirms."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from fuzzer.isolate.fleet import Runner
from fuzzer.triage.investigate import EXPENSIVE_KINDS
from fuzzer.triage.metered import Metered
from fuzzer.triage.scope.asking import answer_of, asker
from fuzzer.triage.scope.neighbours import neighbours, with_usual_numbers
from fuzzer.triage.scope.routes import routes
from fuzzer.triage.scope.search import Answers, Near, confirmed, contradicts, learn
from fuzzer.triage.scope.siblings import siblings
from fuzzer.triage.scope.statement import NO_SCOPE, Answer, Hits, Scope, Statement, Variation
from fuzzer.triage.scope.variations import DTYPE_OF, Varied, variations
from generators.choice import NumpySource
from generators.graph import Case
from oracles.finding import Finding
from oracles.lane import Engine

MOST_QUESTIONS, CPU_SECONDS = 130, 10.0
LEARNT, INSIDE, OUTSIDE, TABLE = 0.4, 0.56, 0.72, 0.88
"""Parts of the effort at which learning, each side of the confirmation, and the table end. The rest is for siblings and
other routes."""

ROUNDS = 3
"""How often a statement that a held-out case contradicts is learnt again."""


def scope_of(
    runner: Runner, case: Case, finding: Finding, most: int = MOST_QUESTIONS, seconds: float = CPU_SECONDS
) -> Scope:
    """Return the scope of a finding with this reduced case.

    If the failure also shows with usual numbers in all inputs, numbers do not matter, and all cases have usual ones: a
    wrong result can be right by chance where they are zeros or NaN. `NO_SCOPE` where the case does not fail here, and
    where each case that fails would take as long as a lane may.
    """
    if finding.kind in EXPENSIVE_KINDS:
        return NO_SCOPE
    metered, source = Metered(runner), NumpySource(0)
    finding = cheaper(metered, case, finding)
    answers = Answers(asker(metered, finding), lambda count: max(count / most, metered.cpu_seconds / seconds))
    plain = with_usual_numbers(source, case)
    numbers_matter = answers.about(plain) is not Answer.FAILS
    if numbers_matter and answers.about(case) is not Answer.FAILS:
        return replace(NO_SCOPE, cpu_seconds=metered.cpu_seconds)
    start = case if numbers_matter else plain

    def near(cases: Sequence[Case], count: int) -> Iterator[Case]:
        return neighbours(source, cases, count, with_numbers=numbers_matter)

    table = list(variations(source, start, with_numbers=numbers_matter))
    for each in table:
        if each.what.startswith(DTYPE_OF):  # what a bug needs most often
            answers.about(each.case)
    statement, hits = _confirmed_statement(near, answers, [each.case for each in table])
    rows = _rows(answers, table)
    if statement is None or any(contradicts(statement, each.properties, each.answer) for each in answers.all):
        statement, hits = next(iter(answers.statements()), None), (Hits(), Hits())
    others = siblings(metered, source, start, finding, statement, lambda: answers.used() < 1.0)
    return Scope(
        statement,
        *hits,
        rows,
        others,
        routes(metered, start, finding, lambda: answers.used() < 1.0),
        answers.count,
        round(metered.cpu_seconds, 2),
    )


def cheaper(runner: Runner, case: Case, finding: Finding) -> Finding:
    """Return the finding on its lane without argument checks, if it shows there: compiling them takes most of LLVM's
    time for a small case. Otherwise return it unchanged."""
    lane = replace(finding.lane, asserts=False)
    if lane == finding.lane or finding.lane.engine is not Engine.TVM:
        return finding
    return replace(finding, lane=lane) if answer_of(runner, finding, case, lane) is Answer.FAILS else finding


def _confirmed_statement(near: Near, answers: Answers, table: list[Case]) -> tuple[Statement | None, tuple[Hits, Hits]]:
    """Learn a statement, and ask about held-out cases. Learn again where one of them contradicts it."""
    statement, hits = None, (Hits(), Hits())
    for _ in range(ROUNDS):
        statement = learn(near, answers, table, LEARNT)
        if statement is None:
            return None, (Hits(), Hits())
        hits = confirmed(near, answers, statement, (INSIDE, OUTSIDE))
        if all(each.right == each.of for each in hits):
            break
    return statement, hits


def _rows(answers: Answers, table: Sequence[Varied]) -> tuple[Variation, ...]:
    return tuple(
        Variation(each.what, each.value, answers.about(each.case))
        for each in table
        if answers.knows(each.case) or answers.used() < TABLE
    )
