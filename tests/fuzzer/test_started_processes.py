"""Each process that the supervisor starts gets an environment that the code names."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
IN_CHILDREN = ("fuzzer/lanes/", "fuzzer/children/")
"""Code of children, which pass on what they have inherited."""

STARTS = {"subprocess.Popen", "subprocess.run", "subprocess.check_output", "subprocess.check_call", "subprocess.call"}


def starts() -> Iterator[tuple[str, ast.Call]]:
    for path in sorted((ROOT / "fuzzer").rglob("*.py")):
        source = str(path.relative_to(ROOT))
        if source.startswith(IN_CHILDREN):
            continue
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call) and ast.unparse(node.func) in STARTS:
                yield f"{source}:{node.lineno}", node


@pytest.mark.parametrize(("where", "call"), list(starts()))
def test_it_names_an_environment(where: str, call: ast.Call) -> None:
    environments = [ast.unparse(each.value) for each in call.keywords if each.arg == "env"]
    assert len(environments) == 1, f"{where}: without env=, a process inherits everything"
    assert "os.environ" not in environments[0], where


@pytest.mark.slow
def test_there_are_some() -> None:
    assert len(list(starts())) >= 10
