"""What a test of the gate may not do, as its text shows it. tests/gate_rules.py holds it to the rest while it runs."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from parts import GATE, THINNED, part_of
from source_file import Function, SourceFile
from source_rule import Place, Rule

LEAST_WAIT = 120.0
"""Seconds that a test waits at least for a result: a busy machine is ten times slower."""

A_BOUND = 3.0
"""A shorter time is the bound that a test is about, and not a wait for a result."""

WAITS = {"join", "wait", "result", "acquire", "poll"}


def marks_in(nodes: list[ast.expr]) -> list[str]:
    """The names of pytest's marks in decorators, or in `pytestmark`."""
    attributes = (each for node in nodes for each in ast.walk(node) if isinstance(each, ast.Attribute))
    return [each.attr for each in attributes if ast.unparse(each.value) == "pytest.mark"]


def functions_of_the_gate(file: SourceFile) -> Iterator[Function]:
    """The functions of a file of tests that are no tests of other parts: tests of the gate, and what they call. Tests
    of parts of which the gate has a tenth are among them."""
    of_module = [
        mark
        for node in file.tree.body
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "pytestmark"
        for mark in marks_in([node.value])
    ]
    for function in file.functions:
        if part_of([*of_module, *marks_in(function.decorator_list)]) in {GATE, *THINNED}:
            yield function


def number(node: ast.expr | None) -> float:
    return float(node.value) if isinstance(node, ast.Constant) and isinstance(node.value, int | float) else 0.0


def short_waits(file: SourceFile) -> Iterator[Place]:
    for function in functions_of_the_gate(file):
        for node in ast.walk(function):
            match node:
                case ast.Call(func=ast.Attribute(attr=name), args=[*_, last]) if name in WAITS:
                    seconds = number(last)
                case ast.Call(keywords=keywords):
                    seconds = number(next((each.value for each in keywords if each.arg == "timeout"), None))
                case ast.BinOp(left=ast.Call(func=called), op=ast.Add(), right=right):
                    seconds = number(right) if ast.unparse(called) == "time.monotonic" else 0.0
                case _:
                    continue
            if A_BOUND <= seconds < LEAST_WAIT:
                yield Place(node.lineno, ast.unparse(node)[:60])


def short_loops(file: SourceFile) -> Iterator[Place]:
    """`for _ in range(N)` around a sleep: it waits for N times as long."""
    for function in functions_of_the_gate(file):
        for node in ast.walk(function):
            match node:
                case ast.For(iter=ast.Call(func=ast.Name(id="range"), args=[times]), body=body):
                    slept = sum(
                        number(call.args[0])
                        for each in body
                        for call in ast.walk(each)
                        if isinstance(call, ast.Call) and ast.unparse(call.func) in {"time.sleep", "sleep"}
                    )
                    if A_BOUND <= number(times) * slept < LEAST_WAIT:
                        yield Place(node.lineno, ast.unparse(node.iter))


def campaigns_of_some_seconds(file: SourceFile) -> Iterator[Place]:
    for function in functions_of_the_gate(file):
        for node in ast.walk(function):
            if isinstance(node, ast.Constant) and node.value == "--seconds":
                yield Place(node.lineno, "--seconds")


RULES = (
    Rule(
        says="a test of the gate waits for a result for 120 s at least: a busy machine is slow",
        files=("tests/",),
        without=(
            "tests/browser.py",  # for tests of the part browser
            "tests/fuzzer/isolate/",  # limits of time are what they are about
            "tests/run_parts.py",  # ends what is over its time
        ),
        places=short_waits,
        example="def test_it():\n    thread.join(60)",
    ),
    Rule(
        says="a loop that sleeps waits for a result for 120 s at least, in tests of the gate",
        files=("tests/",),
        without=("tests/browser.py", "tests/fuzzer/isolate/"),  # as above
        places=short_loops,
        example="def test_it():\n    for _ in range(100):\n        time.sleep(0.05)",
    ),
    Rule(
        says="a test of the gate ends a campaign by a number of tests, not by seconds",
        files=("tests/",),
        without=("tests/source_rules/",),
        places=campaigns_of_some_seconds,
        exceptions={
            "tests/fuzzer/test_cli.py": (2, "commands that are refused"),
            "tests/fuzzer/commands/test_help.py": (1, "a command that is refused"),
        },
        example='def test_it():\n    fuzz("run", "--seconds", "5")',
    ),
)
