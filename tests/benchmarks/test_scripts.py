"""The documents run scripts of benchmarks/ by their paths, as their docstrings do."""

from __future__ import annotations

from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_the_documents_give_no_other_command() -> None:
    documents = [*ROOT.glob("*.md"), *ROOT.glob("docs/*.md"), *ROOT.glob("benchmarks/*.py"), ROOT / "Makefile"]
    assert not [path.name for path in documents if "-m benchmarks" in path.read_text()]
