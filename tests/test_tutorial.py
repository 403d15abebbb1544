"""The commands of docs/tutorial.md run, in its order, and print what it shows."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

TUTORIAL = Path(__file__).parents[1] / "docs" / "tutorial.md"
BLOCK = re.compile(r"^```\n(\$ .*?)^```$", re.MULTILINE | re.DOTALL)
END = "\x01"


def commands_in(text: str) -> list[tuple[str, str]]:
    """The commands of a document, each with the output that stands below it."""
    parts = [part for block in BLOCK.findall(text) for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]]
    return [(command, output) for command, _, output in (part.partition("\n") for part in parts)]


def pattern_of(output: str) -> re.Pattern[str]:
    """`...` on a line of its own stands for any lines, and within a line for any characters of it."""
    lines = [
        r"(?:.*\n)*?" if line.strip() == "..." else r".*".join(map(re.escape, line.split("..."))) + r"\n"
        for line in output.splitlines()
    ]
    return re.compile("".join(lines))


def run(commands: list[str], folder: Path) -> list[str]:
    """The output of each command, in one shell."""
    environment = {
        **os.environ,
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
        "XDG_STATE_HOME": str(folder / "state"),
    }
    # the mark keeps the exit status, which the next command may print
    mark = f"mark() {{ local status=$?; printf '{END}'; return $status; }}\n"
    script = mark + "".join(f"{command}\nmark\n" for command in commands)
    done = subprocess.run(["/bin/sh", "-c", script], cwd=folder, env=environment, stdout=subprocess.PIPE, text=True)
    return done.stdout.split(END)[:-1]


@pytest.mark.parametrize(
    ("output", "printed", "fits"),
    [
        ("a\n...\nd\n", "a\nb\nc\nd\n", True),
        ("a\n...\nd\n", "a\nd\n", True),
        ("a\n...\nd\n", "a\nb\n", False),
        ("a ... c\n", "a (b) c\n", True),
        ("a ... c\n", "a b\n", False),
        ("a.b\n", "axb\n", False),
        ("", "", True),
        ("", "a\n", False),
    ],
)
def test_what_stands_for_other_text(output: str, printed: str, fits: bool) -> None:
    assert bool(pattern_of(output).fullmatch(printed)) is fits


def test_commands_are_read_from_blocks() -> None:
    text = "x\n```\n$ a b\nc\n$ d\n```\n```sh\nmake\n```\n"
    assert commands_in(text) == [("a b", "c\n"), ("d", "")]


@pytest.mark.tvm
@pytest.mark.slow
@pytest.mark.pages
def test_the_tutorial(tmp_path: Path) -> None:
    """On a busy machine too: triage after the last test ends where nothing waits, not after a minute."""
    tutorial = commands_in(TUTORIAL.read_text())
    assert len(tutorial) >= 9
    commands = [f"{command} --drain 3600" if command.startswith("fuzz run ") else command for command, _ in tutorial]
    printed = run(commands, tmp_path)
    for (command, output), found in zip(tutorial, printed, strict=True):
        assert pattern_of(output).fullmatch(found), f"the tutorial shows other output\n$ {command}\n{found}"
