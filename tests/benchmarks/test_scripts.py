"""Every script of benchmarks/ runs by the command that its docstring and the documents give: by its path."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SCRIPTS = [path for path in sorted((ROOT / "benchmarks").glob("*.py")) if "__main__" in path.read_text()]


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: path.stem)
def test_a_script_imports_its_neighbours_by_their_names(path: Path) -> None:
    """By its path, Python finds the modules beside a script, and no package `benchmarks`."""
    tree = ast.parse(path.read_text())
    named = [node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    named += [alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names]
    assert not [name for name in named if name.partition(".")[0] == "benchmarks"]
    assert f"python benchmarks/{path.name}" in (ast.get_docstring(tree) or "")


def test_the_documents_give_no_other_command() -> None:
    documents = [*ROOT.glob("*.md"), *ROOT.glob("docs/*.md"), *ROOT.glob("benchmarks/*.py"), ROOT / "Makefile"]
    assert not [path.name for path in documents if "-m benchmarks" in path.read_text()]
