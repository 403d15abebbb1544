"""The help of `fuzz`: it fits the terminal, names each option once, loads little, and answers slips."""

from __future__ import annotations

import re
import subprocess
import sys
from dataclasses import fields
from importlib import metadata
from pathlib import Path

import pytest
from fuzz_called import DONE, Fuzz, refused

from fuzzer.cli import GROUPS as GROUPS_OF_VERBS
from fuzzer.cli import VERBS
from fuzzer.commands.run_options import EXAMPLES, OPTION_GROUPS, RunOptions

pytestmark = pytest.mark.slow


def test_help(fuzz: Fuzz) -> None:
    done = fuzz("--help")
    assert (done.returncode, done.stderr) == (DONE, "")
    assert all(f" {command} " in done.stdout for command in VERBS)


def test_no_argument_prints_help_and_starts_nothing(process: Fuzz, tmp_path: Path) -> None:
    before = set(tmp_path.iterdir())
    done = process()
    assert (done.returncode, done.stderr, done.stdout) == (DONE, "", process("-h").stdout)
    assert set(tmp_path.iterdir()) == before


def test_each_line_of_help_fits_80_columns_whole(fuzz: Fuzz) -> None:
    lines = fuzz("--help").stdout.splitlines()
    begin = lines.index("Start here:")
    listed = dict(line.split(maxsplit=1) for line in lines[begin : lines.index("", -3)] if line.startswith("  "))
    assert listed == VERBS
    assert [line for line in lines[begin:] if line.endswith(":")] == [f"{name}:" for name in GROUPS_OF_VERBS]


def test_each_option_of_a_run_is_in_one_group(fuzz: Fuzz) -> None:
    names = [name for names in OPTION_GROUPS.values() for name in names]
    hidden = {"first", "end"}
    assert sorted(names) == sorted({field.name for field in fields(RunOptions)} - hidden)
    shown = fuzz("run", "--help").stdout
    assert all(f"\n{group}:\n" in shown for group in (*OPTION_GROUPS, "Examples"))
    assert all(example.split("  ")[0] in shown for example in EXAMPLES)


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (("triage", "--tpo", "3"), "No such option: --tpo; did you mean --top?"),
        (("run", "--lanes", "relax-cuda"), "no lane matches 'relax-cuda'; perhaps you mean relax-"),
        (("lanes", "relax-exprot-llvm"), "in its name; perhaps you mean relax-export-llvm"),
        (("chekc",), "No such command 'chekc'; did you mean 'check'?"),
        (("list",), " triage` does that"),
        (("Submit", "1"), " file` does that"),
        (("stop",), "No such command 'stop'; Ctrl-C, or "),
        (("frobnicate",), " help` lists the commands"),
        (("merge", "a", "b"), " merge --help` shows what is meant"),
        (
            ("--ops", "reluu"),
            "no operator matches 'reluu'; perhaps you mean relu, rrelu or relu6; `fuzz ops` ",
        ),
        (("check", "absent.py:net"), "absent.py: there is no such file"),
        (("scope",), " scope --help` shows what is meant"),
        (("--seconds", "2x"), "'2x' is no length of time; write 90, 90s, 2m, 1.5h or 1d"),
    ],
)
def test_a_slip_is_answered_with_what_was_perhaps_meant(fuzz: Fuzz, words: tuple[str, ...], why: str) -> None:
    refused(fuzz(*words), why)


def test_an_option_that_is_like_no_other_has_no_proposal(fuzz: Fuzz) -> None:
    done = fuzz("scope", "--second")
    refused(done, "No such option: --second")
    assert "did you mean" not in done.stderr


def test_version(fuzz: Fuzz) -> None:
    done = fuzz("--version")
    assert (done.returncode, done.stderr, done.stdout) == (DONE, "", f"difftvm {metadata.version('difftvm')}\n")


def test_shell_completion_offers_verbs_and_their_options(process: Fuzz, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:  # typer would ask for the shell that runs the tests
        patch.setenv("_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION", "1")
        assert "_FUZZ_COMPLETE=complete_bash" in process("--show-completion", "bash").stdout
    monkeypatch.setenv("_FUZZ_COMPLETE", "complete_bash")
    for words, expected in (("tri", "triage"), ("triage --u", "--unsupported"), ("toolchain ch", "check")):
        monkeypatch.setenv("COMP_WORDS", f"fuzz {words}")
        monkeypatch.setenv("COMP_CWORD", str(len(words.split())))
        assert process().stdout.splitlines() == [expected]


def test_help_imports_neither_numpy_nor_a_verb(tmp_path: Path) -> None:
    program = "import sys; from fuzzer import cli; sys.argv = ['fuzz', '--help']; cli.main()"
    program = f"import atexit, sys; atexit.register(lambda: print(*sys.modules, file=sys.stderr)); {program}"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    loaded = set(done.stderr.split())
    assert "Start here:" in done.stdout
    assert not [name for name in loaded if name.startswith(("fuzzer.commands", "generators", "oracles"))]
    assert not loaded & {"numpy", "rich", "torch", "tvm"}


@pytest.mark.parametrize("command", sorted(VERBS))
def test_help_of_each_command(fuzz: Fuzz, command: str) -> None:
    done = fuzz(command, "--help")
    assert (done.returncode, done.stderr) == (DONE, "")
    assert done.stdout.startswith(f"Usage: fuzz {command} ")
    assert not re.search(r"<\w", done.stdout), "`N` and `PART`, not the types of Python"


GROUPS = {"toolchain": ("add", "list", "remove", "python", "check"), "bench": ("honesty",)}


CALLS = [call for verb in VERBS for call in [(verb, each) for each in GROUPS.get(verb, ())] or [(verb,)]]


@pytest.mark.parametrize("call", CALLS, ids=" ".join)
def test_each_verb_but_two_takes_json(fuzz: Fuzz, call: tuple[str, ...]) -> None:
    takes = "  --json " in fuzz(*call, "--help").stdout
    assert takes == (call not in (("toolchain", "add"), ("toolchain", "remove")))
