"""Each line `$ fuzz ...` of the documents is a command that this version parses. Nothing is run here.

`test_tutorial.py` and `test_documented_commands_tvm.py` run some of them.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer

from fuzzer.cli import VERBS, command_of, routed

ROOT = Path(__file__).parents[1]
PAGES = [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").rglob("*.md")), *sorted(ROOT.glob("*/README.md"))]
LINE = re.compile(r"^\$ (?:\S*/)?fuzz (.*)$", re.MULTILINE)


def documented() -> Iterator[Any]:
    """The words after `fuzz` of each line, with the page as the name of the test."""
    for page in PAGES:
        for line in LINE.findall(page.read_text()):
            yield pytest.param(line, id=f"{page.relative_to(ROOT)}: {line[:60]}")


def without_actions(command: Any) -> Any:
    """The command, which only parses its words."""
    if command.callback:
        command.callback = lambda **_: None
    for each in getattr(command, "commands", {}).values():
        without_actions(each)
    return command


def parse(line: str) -> None:
    """Parse a line as the shell and `fuzz` do. Raise what a wrong option or argument raises."""
    verb, *words = routed(shlex.split(line, comments=True))
    assert verb in VERBS, f"there is no command {verb!r}"
    without_actions(command_of(verb)).main(words, standalone_mode=False)


@pytest.mark.parametrize("line", [*documented()])
def test_it_can_be_called_so(line: str) -> None:
    parse(line)


def test_the_documents_have_commands() -> None:
    assert len(list(documented())) >= 43


def options_of(command: Any) -> Iterator[str]:
    """The long options of a command and its subcommands that users see. Of a switch, both names."""
    for each in command.params:
        if not getattr(each, "hidden", False):
            yield from (name for name in (*each.opts, *each.secondary_opts) if name.startswith("--"))
    for each in getattr(command, "commands", {}).values():
        yield from options_of(each)


def test_each_option_stands_in_a_page() -> None:
    """One name of a switch is enough: the one that a user has a reason to write."""
    text = "\n".join(page.read_text() for page in PAGES)
    pages = set(re.findall(r"--[a-z][a-z-]*", text))
    missing = [
        (verb, name)
        for verb in VERBS
        for name in options_of(command_of(verb))
        if name not in pages and not {name.replace("--", "--no-", 1), name.replace("--no-", "--")} & pages - {name}
    ]
    assert missing == []


@pytest.mark.parametrize(
    "line",
    ["diff --patched-preloaded a.py", "corpus keeps hunt", "corpus keep", "toolchain add", "diff a", "run --tests x"],
)
def test_what_cannot_be_called_so_is_noticed(line: str) -> None:
    with pytest.raises(typer.TyperException):
        parse(line)


def test_a_verb_that_does_not_exist_is_noticed() -> None:
    with pytest.raises(AssertionError, match="there is no command 'differ'"):
        parse("differ --base a")
