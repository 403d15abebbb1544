"""Texts from files and children on a terminal."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from fuzzer.commands.tables import print_table
from fuzzer.system.terminal import echo, one_sentence, print_json, printable, say

COMMANDS = Path(__file__).parents[3] / "fuzzer" / "commands"
ANOTHER_WAY = r"(?<![.\w])print\(|Console\([^)]*\)\.print|\bTable\(|sys\.std(out|err)\.write"
HOSTILE = "\x1b]52;c;eA==\x07\x1b[2J\x9b31m\u202egnp.exe\ud800\r"
HARMLESS = r"\x1b]52;c;eA==\x07\x1b[2J\x9b31m\u202egnp.exe\ud800\x0d"


def test_control_characters_are_shown_as_escape_sequences() -> None:
    assert printable(HOSTILE) == HARMLESS
    assert printable("lines\nand\ttabs, ü, 中, 🙂") == "lines\nand\ttabs, ü, 中, 🙂"


def test_all_ways_to_print_use_them(capsys: pytest.CaptureFixture[str]) -> None:
    echo(HOSTILE, 1, sep="|", end="")
    say(HOSTILE)
    shown = capsys.readouterr()
    assert shown.out == f"{HARMLESS}|1"
    assert shown.err == f"{HARMLESS}\n"
    print_json({"text": HOSTILE.replace("\ud800", "")})
    assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e]", capsys.readouterr().out)


def test_no_command_prints_in_another_way() -> None:
    found = [
        f"{path.name}:{number}"
        for path in sorted(COMMANDS.glob("*.py"))
        if path.name != "tables.py"
        for number, line in enumerate(path.read_text().splitlines(), 1)
        if re.search(ANOTHER_WAY, line) and "def print(" not in line
    ]
    assert found == []


def test_a_table_shows_no_control_characters(capsys: pytest.CaptureFixture[str]) -> None:
    """The versions in it are those that a child has reported."""
    print_table(("TVM", "verdict"), [(f"0.27{HOSTILE}", "fails"), ("0.26", HOSTILE)])
    shown = capsys.readouterr().out
    assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e\ud800]", shown)
    assert "0.27\\x1b]52" in shown
    assert "fails" in shown


def test_an_error_is_one_sentence_whatever_it_quotes() -> None:
    assert one_sentence("/a/b: no such folder") == "/a/b: no such folder"
    assert one_sentence("a\n  b\x1b") == "a b\\x1b"
    long = one_sentence("/a/b: field `" + "\x1b" * 5000 + "`; delete it")
    assert len(long) <= 299
    assert long.startswith("/a/b: field `\\x1b")
    assert long.endswith("`; delete it")
    assert " [...] " in long
