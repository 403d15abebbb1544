"""The figures of benchmarks/supervisor.py, from samples made by hand, and what a sample has."""

from __future__ import annotations

import importlib
import operator
import sys

import sampling
from supervisor import TASKS, Cost, medians, parts, task_of, work_of

from oracles.remembered import remembered

LOOP = "fuzzer/campaign/run/loop.py:Campaign._work"
DRAWING = [LOOP, "fuzzer/campaign/cases/guidance.py:Guidance.case", "generators/builder.py:Builder.emit"]
JUDGING = [LOOP, "fuzzer/campaign/test/tiers.py:run_test", "oracles/judge.py:judge_all"]


def test_a_sample_counts_for_the_innermost_task_and_for_what_its_last_function_works_on() -> None:
    assert (task_of(DRAWING), work_of(DRAWING)) == ("draw the case", "graphs and cases")
    assert (task_of(JUDGING), work_of(JUDGING)) == ("run and judge the lanes of a test", "oracles")
    assert (task_of([LOOP]), work_of([LOOP]), task_of([])) == ("others", "others", "others")
    assert (task_of(["sampler"]), work_of(["sampler"])) == ("sampler", "sampler")


def test_the_parts_are_listed_from_the_dearest_on() -> None:
    lines = parts([(JUDGING, 1.0), (DRAWING, 2.0), (["sampler"], 1.0)])
    assert lines[:8] == [
        "4.0 CPU s of the supervisor were sampled",
        "",
        "task",
        "    2.00 s  50.0%  draw the case",
        "    1.00 s  25.0%  run and judge the lanes of a test",
        "    1.00 s  25.0%  sampler",
        "",
        "work",
    ]
    assert f"    3.00 s  75.0%  {LOOP}" in lines


def test_a_line_has_the_shares_of_all_parts() -> None:
    costs = [Cost(10, 1.0, 6.0, 2.0, 1.0), Cost(10, 3.0, 5.0, 2.0, 1.0), Cost(10, 2.0, 4.0, 3.0, 1.0)]
    assert medians(costs) == Cost(10, 2.0, 5.0, 2.0, 1.0)
    assert costs[0].line() == (
        "10 tests, 10.0 CPU s: supervisor 1.0 s (10.0%), tests 6.0 s (60.0%), triage 2.0 s (20.0%), "
        "zygotes 1.0 s (10.0%); supervisor 100.0 ms per test"
    )


def test_the_tasks_are_functions_of_the_supervisor() -> None:
    for place in TASKS:
        file, _, name = place.partition(":")
        module = importlib.import_module(file.removesuffix(".py").replace("/", "."))
        code = operator.attrgetter(name)(module).__code__
        assert sampling.Sampler().place(code) == place


def test_a_stack_has_the_functions_of_the_project_alone() -> None:
    sampler = sampling.Sampler()
    assert sampler.stack(sys._getframe()) == ()
    inside = remembered(1)(lambda sampler: sampler.stack(sys._getframe()))
    assert inside(sampler) == ("oracles/remembered.py:remembered.<locals>.decorated.<locals>.result_of",)
