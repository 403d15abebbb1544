"""How often the scope of a planted bug is found: operators that fail under known conditions, without a compiler.

    python benchmarks/scope.py [--runs 130] [--held-out 400] [--only WORD]

The bugs are those of `tests/fuzzer/triage/scope/triggers.py`. For each: whether the statement is right about all
held-out cases, how many questions that took, whether it excludes a case that fails (then it calls something necessary
that is not), and the statement where it is not the planted one. Exits with 1 if fewer than 85 % are right about all, or
if a statement excludes a case that fails and is certain.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT), *(str(ROOT / "tests" / part) for part in ("", "fuzzer/triage/scope"))]

import fakes  # noqa: E402 - modules of the tests
from labs import FakeLab  # noqa: E402
from triggers import TRIGGERS, Trigger  # noqa: E402

from fuzzer.triage.scope.find import WHOLE_EFFORT, Effort, scope_of  # noqa: E402
from fuzzer.triage.scope.neighbours import neighbours  # noqa: E402
from fuzzer.triage.scope.properties import properties  # noqa: E402
from fuzzer.triage.scope.statement import Scope, Statement  # noqa: E402
from fuzzer.triage.scope.words import phrase  # noqa: E402
from generators.choice import NumpySource  # noqa: E402
from generators.graph import Case  # noqa: E402
from oracles.finding import Component, Finding, Kind  # noqa: E402
from oracles.outcome import Stage  # noqa: E402

RAISED = fakes.raised(Stage.COMPILE)
FINDING = Finding(Kind.INTERNAL_ERROR, Component.TVM, fakes.TVM, Stage.COMPILE, RAISED)
LEAST_RIGHT = 0.85


def found(trigger: Trigger, case: Case, runs: int) -> Scope:
    lab = FakeLab(lambda each, *_: RAISED if trigger.fires(each) else None)
    return scope_of(lab, case, FINDING, Effort(runs, 1e9))


def held_out(trigger: Trigger, case: Case, statement: Statement, count: int) -> tuple[int, int, int]:
    """Return about how many cases the statement is right, how many there are, and how many that fail it excludes."""
    source, cases = NumpySource(1, 9), [case]
    right = excluded = of = 0
    for each in neighbours(source, cases, count, with_numbers=True):
        fires, holds = trigger.fires(each), statement.holds(properties(each))
        of, right, excluded = of + 1, right + (fires is holds), excluded + (fires and not holds)
        if fires and len(cases) < 30:
            cases.append(each)
    return right, of, excluded


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=WHOLE_EFFORT.runs)
    parser.add_argument("--held-out", type=int, default=400)
    parser.add_argument("--only", default="", metavar="WORD")
    arguments = parser.parse_args()
    chosen = [each for each in TRIGGERS if arguments.only in str(each)]
    good = wrong = 0
    for trigger in chosen:
        began, case = time.process_time(), trigger.first_case()
        scope = found(trigger, case, arguments.runs)
        statement = scope.statement
        right, of, excluded = held_out(trigger, case, statement, arguments.held_out) if statement else (0, 0, 0)
        exact = statement is not None and right == of
        good, wrong = good + exact, wrong + (bool(excluded) and scope.is_certain)
        other = "" if exact else f"; found: {phrase(statement, case.graph) if statement else 'nothing'}"
        sure = "certain" if scope.is_certain else "not certain"
        seconds = time.process_time() - began
        print(
            f"{'right' if exact else 'WRONG'}  {trigger}; {scope.cases} questions, {seconds:.1f} s, {sure}, "
            f"{right} of {of} held-out cases, {excluded} failing ones excluded{other}",
            flush=True,
        )
    print(f"{good} of {len(chosen)} right; {wrong} certain statements exclude a case that fails")
    sys.exit(0 if good >= LEAST_RIGHT * len(chosen) and not wrong else 1)


if __name__ == "__main__":
    main()
