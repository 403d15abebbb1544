"""The scope of a finding, from its reduced case: asks, learns, confirms."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from fuzzer.isolate.fleet import Lab, Runner
from fuzzer.triage.investigate import EXPENSIVE_KINDS
from fuzzer.triage.metered import MeteredLab
from fuzzer.triage.scope.asking import answer_of, asker
from fuzzer.triage.scope.ignored import ignored
from fuzzer.triage.scope.neighbours import is_valid, neighbours, with_attributes, with_usual_numbers, with_whole_numbers
from fuzzer.triage.scope.open_sizes import asker_of_opened, open_dimensions, open_rows, opened
from fuzzer.triage.scope.routes import routes
from fuzzer.triage.scope.search import Answers, Near, confirmed, learn
from fuzzer.triage.scope.siblings import siblings
from fuzzer.triage.scope.statement import NO_SCOPE, Answer, Hits, Relation, Scope, Statement, Variation
from fuzzer.triage.scope.variations import DTYPE_OF, Varied, variations
from generators.choice import NumpySource
from generators.graph import Case
from oracles.finding import Finding, Kind
from oracles.lane import Engine


@dataclass(frozen=True, slots=True)
class Effort:
    """The limits of one scope. Only `runs` decides what is found, so that it does not depend on the machine and on what
    else runs there.

    runs     runs of a lane, for questions about cases and for all the rest
    seconds  CPU seconds of all runs, which no usual scope comes near. A scope that reaches them says so
    """

    runs: int
    seconds: float = 150.0


WHOLE_EFFORT = Effort(130)
LEARNT, TABLE, INSIDE, OUTSIDE = 0.35, 0.6, 0.72, 0.84
"""Parts of the effort at which learning, the table, and each side of the confirmation end. The rest is for siblings and
other routes."""

ROUNDS = 3
"""How many statements are put to the test."""


def scope_of(lab: Lab, case: Case, finding: Finding, effort: Effort = WHOLE_EFFORT) -> Scope:
    """Return the scope of a finding with this reduced case.

    Where dimensions of the case are open, they are open in all cases, and a statement is about their sizes in the run.
    If the failure also shows with usual numbers in all inputs, and without their fractions, numbers do not matter, and
    all cases have usual ones: a wrong result can be right by chance where they are zeros or NaN.

    `NO_SCOPE` where the case does not fail here, and where each case that fails would take as long as a lane may.
    """
    if finding.kind in EXPENSIVE_KINDS:
        return NO_SCOPE
    metered, source = MeteredLab(lab), NumpySource(0)
    finding = cheaper(metered, case, finding)
    ask, dimensions = asker(metered, finding), open_dimensions(case)
    if dimensions:
        ask, case = asker_of_opened(ask, dimensions), case.at(case.sizes)

    def used(count: int) -> float:
        if metered.cpu_seconds >= effort.seconds:
            return 1.0
        return max(count, metered.runs) / effort.runs

    answers, start = _first_answers(source, case, ask, used, wrong=finding.kind is Kind.WRONG_VALUE)
    if answers.with_numbers and answers.about(case) is not Answer.FAILS:
        return replace(NO_SCOPE, cpu_seconds=metered.cpu_seconds)

    def near(cases: Sequence[Case], count: int) -> Iterator[Case]:
        drawn = neighbours(source, cases, count, with_numbers=answers.with_numbers)
        return (each for each in drawn if tells_enough(each, start, finding))

    table = list(variations(source, start, with_numbers=answers.with_numbers))
    for each in table:
        if each.what.startswith(DTYPE_OF):  # what a bug needs most often
            answers.about(each.case)
    learn(near, answers, [each.case for each in table], LEARNT)
    rows = _rows(answers, table)
    tried = [(each, answers.about(each.case)) for each in table if answers.knows(each.case)]
    ignores = () if dimensions else ignored(metered, start, finding, tried, lambda: answers.used() < INSIDE)
    statement, hits = _confirmed_statement(near, answers, start)
    known = (each.case for each in table if answers.knows(each.case))
    failing = [start, *(each for each in known if answers.about(each) is Answer.FAILS)]

    def has_time() -> bool:
        return answers.used() < 1.0

    return Scope(
        statement,
        *hits,
        (*rows, *open_rows(metered, failing, finding, has_time)),
        () if dimensions else siblings(metered, source, start, finding, statement, has_time),
        routes(metered, opened(start, dimensions) or start, finding, has_time),
        ignores,
        answers.count,
        round(metered.cpu_seconds, 2),
        metered.cpu_seconds >= effort.seconds,
    )


def tells_enough(case: Case, start: Case, finding: Finding) -> bool:
    """Whether the result of the case can be wrong. One number alone is often right by chance: an index of a tensor of
    one element is 0. It is tried only where that of `start`, which fails, is one number too."""
    return finding.kind is not Kind.WRONG_VALUE or not _is_one_number(case) or _is_one_number(start)


def _is_one_number(case: Case) -> bool:
    types = [*(item.value.type for item in case.bound.inputs), *case.bound.output_types]
    return all(type.numel == 1 for type in types)


def _first_answers(
    source: NumpySource, case: Case, ask: Callable[[Case], Answer], used: Callable[[int], float], *, wrong: bool
) -> tuple[Answers, Case]:
    """Ask whether the numbers of the case matter. Return the answers, and the case to start from, which has usual
    numbers if they do not. `wrong`: whether the finding is a wrong result, which can be right by chance."""
    plain = with_usual_numbers(source, case)
    usual = [(each, ask(each)) for each in (plain, with_whole_numbers(plain))]
    matter = usual[0][1] is not Answer.FAILS or usual[1][1] is Answer.PASSES

    def with_other_numbers(case: Case) -> Case:
        return with_usual_numbers(source, case)

    other = with_other_numbers if wrong and not matter else None
    answers = Answers(ask, used, with_numbers=matter, with_other_numbers=other)
    for usual_case, answer in usual:
        answers.record(usual_case, answer)
    return answers, case if matter else plain


def cheaper(runner: Runner, case: Case, finding: Finding) -> Finding:
    """Return the finding on its lane without argument checks, if it shows there: compiling them takes most of LLVM's
    time for a small case. Otherwise return it unchanged."""
    lane = replace(finding.lane, asserts=False)
    if lane == finding.lane or finding.lane.engine is not Engine.TVM:
        return finding
    return replace(finding, lane=lane) if answer_of(runner, finding, case, lane) is Answer.FAILS else finding


def _confirmed_statement(near: Near, answers: Answers, start: Case) -> tuple[Statement | None, tuple[Hits, Hits]]:
    """Return the plainest statement, confirmed by held-out cases. Where one contradicts it, the next statement takes
    its place. A case that passes by chance counts as one of those for which the statement is not right."""
    for _ in range(ROUNDS):
        statement = _with_each_exception_tried(answers, start)
        if statement is None:
            break
        inside, outside = confirmed(near, answers, statement, (INSIDE, OUTSIDE))
        if inside.right == inside.of and outside.right == outside.of:
            return statement, (Hits(inside.right, inside.of + answers.by_chance(statement)), outside)
    return next(iter(answers.statements()), None), (Hits(), Hits())


def _with_each_exception_tried(answers: Answers, start: Case) -> Statement | None:
    """Return the plainest statement. The case `start`, which fails, was run with each value of an attribute for which
    the statement says that it does not fail: an answer about another case may have had another reason."""
    while True:
        statement = next(iter(answers.statements()), None)
        left = [case for case in _exceptions(start, statement) if not answers.knows(case)]
        if not left or answers.used() >= INSIDE:
            return statement
        for case in left:
            answers.about(case)


def _exceptions(start: Case, statement: Statement | None) -> Iterator[Case]:
    for condition in statement.conditions if statement else ():
        place = condition.property
        attrs = start.graph.nodes[place.call].attrs
        if condition.relation is Relation.NOT_IN and place.what == "value" and place.subject in attrs:
            for value in condition.values:
                case = with_attributes(start, place.call, {place.subject: value})
                if case is not None and is_valid(case):
                    yield case


def _rows(answers: Answers, table: Sequence[Varied]) -> tuple[Variation, ...]:
    return tuple(
        Variation(each.what, each.value, answers.about(each.case))
        for each in table
        if answers.knows(each.case) or answers.used() < TABLE
    )
