"""Texts from files and children on a terminal."""

from __future__ import annotations

import ast
import io
import json
import os
import re
import signal
import subprocess
import sys
import unicodedata
from pathlib import Path

import pytest

from fuzzer.commands.tables import print_table
from fuzzer.system.terminal import (
    echo,
    escape_what_cannot_be_encoded,
    one_sentence,
    print_document,
    print_json,
    printable,
    say,
)

COMMANDS = Path(__file__).parents[3] / "fuzzer" / "commands"
ANOTHER_WAY = r"(?<![.\w])print\(|Console\([^)]*\)\.print|\bTable\(|sys\.std(out|err)\.write"
HOSTILE = "\x1b]52;c;eA==\x07\x1b[2J\x9b31m\u202egnp.exe\ud800\r"
HARMLESS = r"\x1b]52;c;eA==\x07\x1b[2J\x9b31m\u202egnp.exe\ud800\x0d"


def test_control_characters_are_shown_as_escape_sequences() -> None:
    assert printable(HOSTILE) == HARMLESS
    assert printable("lines\nand\ttabs, ü, 中, 🙂") == "lines\nand\ttabs, ü, 中, 🙂"


@pytest.mark.slow
def test_so_is_all_that_is_invisible() -> None:
    for code in [
        *range(0x300),
        *range(0x600, 0x620),
        *range(0x2000, 0x2070),
        0xE000,
        0xFEFF,
        0xFFF9,
        0xE0041,
        0x10FFFF,
    ]:
        shown = printable(f"a{chr(code)}\n")[1:-1]
        is_shown = chr(code).isprintable() or chr(code) in "\n\t"
        assert shown == (chr(code) if is_shown else shown.encode("ascii").decode())
        assert is_shown or ast.literal_eval(f'"{shown}"') == chr(code)
    for category in ("Cc", "Cf", "Zl", "Zp", "Cs", "Co", "Cn"):
        assert not any(
            chr(code).isprintable() for code in range(0x110000) if unicodedata.category(chr(code)) == category
        )


def test_all_ways_to_print_use_them(capsys: pytest.CaptureFixture[str]) -> None:
    echo(HOSTILE, 1, sep="|", end="")
    say(HOSTILE)
    shown = capsys.readouterr()
    assert shown.out == f"{HARMLESS}|1"
    assert shown.err == f"{HARMLESS}\n"
    print_json({"text": HOSTILE.replace("\ud800", "")})
    printed = capsys.readouterr().out
    assert json.loads(printed) == {"text": HOSTILE.replace("\ud800", "")}
    print_json({"\udcff": ("\x7f\u200b", 2, None, "\ud800", "🙂")})
    assert json.loads(capsys.readouterr().out) == {"\\udcff": ["\x7f\u200b", 2, None, "\\ud800", "🙂"]}
    assert re.fullmatch(r"[\n -~]+", printed)


def test_a_document_has_the_same_lines_on_a_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    """Its script can be copied: no line is wrapped."""
    line = "    inputs = (torch.zeros(1, 1, dtype=torch.uint8), torch.ones(1, dtype=torch.uint8), torch.ones(1, 1))"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys.stdout, "isatty", lambda: True)
        patch.setenv("COLUMNS", "80")
        echo(line)
        assert capsys.readouterr().out != f"{line}\n"
        print_document(f"# x\n{line}\n")
        print_document("\x1b[2J")
        assert capsys.readouterr().out == f"# x\n{line}\n\\x1b[2J\n"


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "cp437"])
def test_a_terminal_that_lacks_a_character_shows_an_escape_sequence(
    monkeypatch: pytest.MonkeyPatch, encoding: str
) -> None:
    written = {name: io.BytesIO() for name in ("stdout", "stderr")}
    for name, file in written.items():
        monkeypatch.setattr(sys, name, io.TextIOWrapper(file, encoding=encoding))
    escape_what_cannot_be_encoded()
    echo("中 🙂", flush=True)
    say("中")
    print_json({"中": "ü"})
    print_table(("name", "中"), [("ü", "…")])
    sys.stdout.flush()
    assert written["stdout"].getvalue().startswith(b"\\u4e2d \\U0001f642\n")
    assert written["stderr"].getvalue() == b"\\u4e2d\n"


@pytest.mark.slow
def test_a_command_writes_to_such_a_terminal(tmp_path: Path) -> None:
    """`--help` has characters of its own, and the name of the campaign is the user's."""
    environment = {**os.environ, "PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0", "LC_ALL": "C"}
    for words in (["run", "--help"], ["status", "--campaign", str(tmp_path / "中")], ["gen", "--seed", "1"]):
        done = subprocess.run([sys.executable, "-m", "fuzzer.cli", *words], capture_output=True, env=environment)
        assert b"Traceback" not in done.stderr
        assert done.returncode in (0, 64)


@pytest.mark.parametrize("number", [0, 1, 2])
def test_no_file_takes_the_place_of_a_closed_stream(tmp_path: Path, number: int) -> None:
    """What is opened next would be the stream, and get what is printed."""
    program = (
        "import os, sys; from fuzzer.system.terminal import echo, open_closed_streams, say; open_closed_streams();"
        f"file = open({str(tmp_path / 'a')!r}, 'w'); assert file.fileno() > 2; echo('out'); say('err');"
        "assert os.write(2, b'x') == os.write(1, b'x') == 1 and os.read(0, 1) == b''"
    )
    done = subprocess.run([sys.executable, "-c", f"import os; os.close({number}); {_AGAIN.format(program)}"])
    assert (done.returncode, (tmp_path / "a").read_text()) == (0, "")


_AGAIN = "import sys; os.execv(sys.executable, [sys.executable, '-c', {!r}])"
"""Python decides at its start which streams are closed."""


def test_no_command_prints_in_another_way() -> None:
    found = [
        f"{path.name}:{number}"
        for path in sorted(COMMANDS.glob("*.py"))
        if path.name != "tables.py"
        for number, line in enumerate(path.read_text().splitlines(), 1)
        if re.search(ANOTHER_WAY, line) and "def print(" not in line
    ]
    assert found == []


def test_names_in_commands_to_copy_are_quoted_for_a_shell() -> None:
    """A folder of somebody else may be called `$(x)`. What `quote` is not needed for comes from our own tables."""
    own = {"selection.py": "next(iter(rows))"}
    found = [
        f"{path.name}:{number}"
        for path in sorted(COMMANDS.parent.rglob("*.py"))
        for number, line in enumerate(path.read_text().splitlines(), 1)
        for name in re.findall(r"\bfuzz [a-z -]+\{([^}]*)", line)
        if not name.startswith(("quote(", "shlex.", "_for_shell(")) and name != own.get(path.name)
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


PRINTS_IN_A_HANDLER = """
import signal
from fuzzer.system.terminal import say
signal.signal(signal.SIGTERM, lambda number, frame: say("stopping"))
say("x" * 1_000_000)
say("last")
"""


def test_a_signal_handler_may_print_while_a_print_is_under_way() -> None:
    command = [sys.executable, "-c", PRINTS_IN_A_HANDLER]
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
    with subprocess.Popen(command, env=environment, stderr=subprocess.PIPE) as process:
        assert process.stderr is not None
        process.stderr.read(1)  # the line is longer than a pipe holds, so the child is inside its print
        process.send_signal(signal.SIGTERM)
        text = process.stderr.read().decode()
    assert process.returncode == 0
    assert text.replace("stopping\n", "") == f"{'x' * 999_999}\nlast\n"
