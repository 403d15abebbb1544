"""The commands of docs/around.md run, and print what it shows; and its file is the one that they read."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from test_tutorial import commands_in, pattern_of, run

from fuzzer.findings import finding_file
from oracles.siblings import additions

DOCS = Path(__file__).parents[1] / "docs"
PAGE = (DOCS / "around.md").read_text()


def test_the_page_shows_the_file_that_its_command_reads() -> None:
    (shown,) = re.findall(r"```toml\n(.*?)```", PAGE, re.S)
    assert (DOCS / "examples" / "flags.toml").read_text().endswith(shown)


@pytest.mark.tvm
@pytest.mark.pages
def test_the_commands_of_the_page(tmp_path: Path) -> None:
    """One finding each: the planted operator, and exactly the planted pair of options."""
    (tmp_path / "docs").symlink_to(DOCS)
    commands = commands_in(PAGE)
    printed = run([f"{command} --workers 1" for command, _ in commands], tmp_path)
    assert len(commands) == 2
    for (command, output), found in zip(commands, printed, strict=True):
        assert pattern_of(output).fullmatch(found), f"the page shows other output\n$ {command}\n{found}"
    (saved,) = finding_file.folders_in(tmp_path / "flags" / "crashes")
    doc = finding_file.read(saved)
    assert additions(doc.lane) == ("tirx.disable_vectorize", "opt_level 3")
    assert not doc.flaky
