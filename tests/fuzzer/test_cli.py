"""The command line: how it is parsed; bad input ends at once with one line and an exit code."""

from __future__ import annotations

import contextlib
import io
import json
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import fields
from importlib import metadata
from pathlib import Path

import msgspec
import pytest

from fuzzer import cli
from fuzzer.campaign.lanes.lane_table import LISTED
from fuzzer.campaign.store.counters import Counters
from fuzzer.campaign.store.lock import locked
from fuzzer.campaign.store.state import State
from fuzzer.campaign.store.store import Store
from fuzzer.cli import GROUPS as GROUPS_OF_VERBS
from fuzzer.cli import VERBS, main, routed, writes_to
from fuzzer.commands.run_options import EXAMPLES, OPTION_GROUPS, RunOptions
from fuzzer.signature.known import known_issues
from fuzzer.system.terminal import one_sentence
from fuzzer.triage.investigate import Investigated, Sighting
from generators import case_file
from generators.torch.ops import OPS

pytestmark = pytest.mark.slow

Fuzz = Callable[..., subprocess.CompletedProcess[str]]

DONE, BAD_INPUT, ENVIRONMENT = 0, 64, 69


@pytest.fixture
def no_torch(tmp_path: Path) -> str:
    """A PYTHONPATH on which torch cannot be imported: commands that start the compilers exit with 69."""
    (tmp_path / "no-torch").mkdir()
    (tmp_path / "no-torch" / "torch.py").write_text("raise ModuleNotFoundError('no torch here')\n")
    return str(tmp_path / "no-torch")


@pytest.fixture
def fuzz(tmp_path: Path, no_torch: str, monkeypatch: pytest.MonkeyPatch) -> Fuzz:
    """`fuzz ...` in this process: starting Python takes a second, and there are a hundred calls."""
    monkeypatch.setenv("PYTHONPATH", no_torch)
    monkeypatch.chdir(tmp_path)

    def run(*arguments: object) -> subprocess.CompletedProcess[str]:
        command = ["cli.py", *map(str, arguments)]
        monkeypatch.setattr(sys, "argv", command)
        out, err = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err), pytest.raises(SystemExit) as ended:
            main()
        assert isinstance(ended.value.code, int)
        return subprocess.CompletedProcess(command, ended.value.code, out.getvalue(), err.getvalue())

    return run


@pytest.fixture
def process(tmp_path: Path, no_torch: str) -> Fuzz:
    """`fuzz ...` in a process of its own, for commands whose children also write to the terminal."""

    def run(*arguments: object) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "fuzzer.cli", *map(str, arguments)]
        environment = {**os.environ, "PYTHONPATH": f"{no_torch}:{Path(__file__).parents[2]}"}
        return subprocess.run(command, capture_output=True, text=True, timeout=300, env=environment, cwd=tmp_path)

    return run


def refused(done: subprocess.CompletedProcess[str], *parts: object) -> None:
    """Check for exit code 64, one line on stderr that contains all `parts`, and nothing on stdout."""
    assert done.returncode == BAD_INPUT, done.stderr
    assert done.stdout == ""
    assert done.stderr.startswith("fuzz: ")
    assert done.stderr.count("\n") == 1
    for part in parts:
        assert str(part) in done.stderr


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ("", "--help"),
        ("--version", "--version"),
        ("--show-completion bash", "--show-completion bash"),
        ("run", "run"),
        ("run --tests 3", "run --tests 3"),
        ("--tests 3 --json", "run --tests 3 --json"),
        ("--seed=4", "run --seed=4"),
        ("--replay crashes/x", "replay crashes/x"),
        ("--replay=crashes/x", "replay crashes/x"),
        ("--replay crashes/x --times 3", "replay crashes/x --times 3"),
        ("--times 3 --replay crashes/x --json", "replay --times 3 crashes/x --json"),
        ("--json --replay=crashes/x", "replay crashes/x --json"),
        ("--replay", "replay"),
        ("replay crashes/x --json", "replay crashes/x --json"),
        ("run --replay crashes/x", "run --replay crashes/x"),
        ("triage --campaign c", "triage --campaign c"),
        ("doctor", "doctor"),
        ("lanes --json", "lanes --json"),
        ("ops", "ops"),
        ("gen --count 3 --seed 4", "gen --count 3 --seed 4"),
        ("sweep --out s --ops add", "sweep --out s --ops add"),
        ("--count 3", "run --count 3"),
        ("--help", "--help"),
        ("nonsense --tests 3", "nonsense --tests 3"),
        ("help", "--help"),
        ("help run", "run --help"),
        ("help corpus run", "corpus --help"),
        ("--verion", "--verion"),
    ],
)
def test_a_verb_that_is_left_out_is_added(arguments: str, expected: str) -> None:
    assert routed(arguments.split()) == expected.split()


# --- bad input


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ("--bogus", "--bogus"),
        ("--tests x", "Invalid value for '--tests': it takes a whole number"),
        ("triage --by size", "Invalid value for '--by': 'size' is not one of"),
        ("--verion", "No such option: --verion; did you mean --version?"),
        ("--tests -1", "--tests"),
        ("--seconds -1", "--seconds"),
        ("--seed -1", "--seed"),
        ("--workers 0", "--workers"),
        ("--tests", "--tests"),
        ("run surplus", "surplus"),
        ("nonsense", "nonsense"),
        ("--replay", "finding"),
        ("--replay crashes/x --times 0", "--times"),
        ("--lanes nosuch*", "no lane matches 'nosuch*'; `fuzz lanes` lists them"),
        ("--lanes torch", "no lane matches 'torch'"),
        ("--ops nosuch*,neither", "no operator matches 'nosuch*,neither'; `fuzz ops` lists them"),
        ("--ops ,", "no operator matches ','"),
        (
            "ops rellu",
            "no operator of torch has 'rellu' in its name; perhaps you mean relu, rrelu or relu6; `fuzz ops`",
        ),
        (
            "ops GroupNormaliz",
            "no operator of torch has 'GroupNormaliz' in its name; `fuzz ops GroupNormaliz --dialect onnx`",
        ),
        ("lanes nosuch", "no lane has 'nosuch' in its name; `fuzz lanes` lists all"),
        ("ops relu --reach from_onnx", "relu: --reach lists all operators that reach a part; leave out relu"),
        ("corpus run --record", "--record: name the corpus DIR to write into"),
        ("show nosuch", "there is no such folder, nor a finding with this in its name; `fuzz triage --all` lists them"),
        (
            "--ops RELU",
            "no operator matches 'RELU': names are case-sensitive, and 'relu' matches; `fuzz ops` lists them",
        ),
        (
            "--dialect onnx --ops conv*",
            "no operator matches 'conv*': names are case-sensitive, and 'Conv*' matches; "
            "`fuzz ops --dialect onnx` lists them",
        ),
        ("--dialect onnx --ops nosuch,*trans*[e],conv-1?", "and 'Transpose,Conv-1?' matches; "),
        ("--dialect onnx --ops nosuch", "no operator matches 'nosuch'; `fuzz ops --dialect onnx` lists them"),
    ],
)
def test_bad_options(fuzz: Fuzz, arguments: str, says: str) -> None:
    refused(fuzz(*arguments.split()), says)


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ("gen --bogus", "--bogus"),
        ("gen surplus", "surplus"),
        ("gen --count 0", "--count"),
        ("gen --count x", "--count"),
        ("gen --seed -1", "--seed"),
        ("gen --nodes 0", "--nodes"),
        ("gen --profile odd", "'odd' is not one of 'normal', 'edge', 'special', 'extreme'"),
        ("gen --ops nosuch", "no operator matches 'nosuch'; `fuzz ops` lists them"),
        ("gen --dialect c", "no dialect 'c'; there are torch and onnx"),
        ("gen --dialect onnx,torch", "--dialect takes one dialect here: torch or onnx"),
        ("gen --dialect onnx --ops conv", "'Conv' matches; `fuzz ops --dialect onnx` lists them"),
        ("gen --dialect onnx --profile extreme", "cases of ONNX have no numbers of the profile extreme"),
        ("gen --out", "--out"),
        ("gen --count 1 --out file", "file/seed0-000000: Not a directory"),
        ("ops --coverage --ops nosuch", "no operator matches 'nosuch'; `fuzz ops` lists them"),
        ("ops --coverage --count 0", "--count"),
        ("sweep", "Missing option '--out'"),
        ("sweep --out", "--out"),
        ("sweep --out new --bogus", "--bogus"),
        ("sweep --out new surplus", "surplus"),
        ("sweep --out new --samples 0", "--samples"),
        ("sweep --out new --seconds -1", "--seconds"),
        ("sweep --out new --workers 0", "--workers"),
        ("sweep --out new --lanes nosuch", "no lane of cases of torch matches 'nosuch'; `fuzz lanes` lists them"),
        ("sweep --out new --dialect onnx --lanes relax-fx-*", "no lane of cases of onnx matches 'relax-fx-*'"),
        ("sweep --out new --dialect onnx,torch", "--dialect takes one dialect here: torch or onnx"),
        ("sweep --out new --dialect c", "no dialect 'c'; there are torch and onnx"),
        ("sweep --out new --against nosuch.json", "nosuch.json: No such file or directory"),
        ("sweep --out new --against file", "file is no table of a sweep: "),
        ("sweep --out new --drain -1", "--drain"),
    ],
)
def test_bad_options_of_gen_and_sweep(fuzz: Fuzz, tmp_path: Path, arguments: str, says: str) -> None:
    (tmp_path / "file").touch()
    before = set(tmp_path.iterdir())
    refused(fuzz(*arguments.split()), says)
    assert set(tmp_path.iterdir()) == before


def test_a_sweep_into_a_file(fuzz: Fuzz, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    done = fuzz("sweep", "--out", "file")
    assert (done.returncode, done.stdout) == (BAD_INPUT, "")
    assert done.stderr.splitlines()[1:] == ["fuzz: file: File exists; a sweep needs a folder of its own"]


@pytest.mark.parametrize("option", ["--lanes", "--ops"])
def test_a_bad_glob_starts_no_campaign(fuzz: Fuzz, tmp_path: Path, option: str) -> None:
    refused(fuzz(option, "nosuch", "--campaign", "new"))
    assert not (tmp_path / "new").exists()


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("p", "--own-pass p needs --preload FILE.py, the file that registers the pass"),
        ("p:twice", "own pass 'p:twice': it is not NAME[:kernels][:idempotent][:other-order|fast-math|half], NAME of"),
        ("__import__('os')", "own pass"),
    ],
)
def test_a_bad_own_pass_starts_no_campaign(fuzz: Fuzz, tmp_path: Path, name: str, says: str) -> None:
    (tmp_path / "pass.py").touch()
    loads = () if name == "p" else ("--preload", "pass.py")
    refused(fuzz("run", "--own-pass", name, *loads, "--campaign", "new"), says)
    assert not (tmp_path / "new").exists()


def test_an_error_of_difftvm_is_not_the_verdict_of_a_comparison(fuzz: Fuzz, monkeypatch: pytest.MonkeyPatch) -> None:
    """Exit code 1, Python's own, would say that a build is worse."""
    monkeypatch.setattr("fuzzer.commands.diff.pair", lambda *_: {}["a bug"])
    done = fuzz("diff")
    assert (done.returncode, done.stdout) == (79, "")
    assert done.stderr.startswith("Traceback (most recent call last):\n")
    assert done.stderr.endswith("\nKeyError: 'a bug'\n")


PRELOADS = ("run --campaign new", "--replay {saved}", "sweep --out new", "doctor")


@pytest.mark.parametrize("command", PRELOADS)
@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("none.py", "fuzz: --preload none.py: No such file or directory\n"),
        ("broken.py", "fuzz: --preload broken.py, line 2: SyntaxError: '(' was never closed\n"),
    ],
)
def test_a_preload_that_cannot_be_read_starts_nothing(
    fuzz: Fuzz, tmp_path: Path, saved: Path, command: str, name: str, says: str
) -> None:
    (tmp_path / "broken.py").write_text("import tvm\nx = (\n")
    done = fuzz(*command.format(saved=saved).split(), "--preload", name)
    assert (done.returncode, done.stdout, done.stderr) == (BAD_INPUT, "", says)
    assert not (tmp_path / "new").exists()


def test_a_campaign_cannot_name_a_file_to_preload(fuzz: Fuzz, saved: Path) -> None:
    state = saved.parents[1] / "campaign.json"
    (state.parent / "index.sqlite").unlink()  # campaign.json counts only without it
    state.write_bytes(b'{"preload":"mine.py",' + state.read_bytes()[1:])
    refused(fuzz("--campaign", state.parent), state, "preload")


def test_a_finding_cannot_name_a_file_to_preload(fuzz: Fuzz, saved: Path) -> None:
    """Its versions may name one; nothing is executed."""
    path = saved / "finding.json"
    path.write_bytes(path.read_bytes().replace(b'"versions": {', b'"versions": {"preload": "mine.py 0123456789ab", '))
    done = fuzz("--replay", saved)
    assert done.returncode == ENVIRONMENT, "no torch here: it went on to the compilers"
    path.write_bytes(path.read_bytes().replace(b"{", b'{"preload": "mine.py", ', 1))
    refused(fuzz("--replay", saved), path, "preload")


def test_a_campaign_that_never_began_has_no_seed(fuzz: Fuzz, tmp_path: Path) -> None:
    for seed in (1, 2):
        assert fuzz("--seed", seed, "--campaign", "new").returncode == ENVIRONMENT, "no torch here"
    assert not (tmp_path / "new" / "campaign.json").exists()


def test_a_campaign_of_another_seed(fuzz: Fuzz, saved: Path) -> None:
    refused(fuzz("--seed", 2, "--campaign", saved.parents[1]), "seed 1, not 2", "--campaign DIR")


def test_a_corrupt_campaign(fuzz: Fuzz, saved: Path) -> None:
    state = saved.parents[1] / "campaign.json"
    (state.parent / "index.sqlite").unlink()
    state.write_text("{")
    refused(fuzz("--campaign", state.parent), state)


def test_a_campaign_that_is_a_file(fuzz: Fuzz, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    refused(fuzz("--campaign", "file"), "file")


# --- replay of a folder that is no finding


def test_replay_of_a_missing_folder(fuzz: Fuzz, tmp_path: Path) -> None:
    refused(fuzz("--replay", tmp_path / "none"), f"{tmp_path / 'none'}: there is no such folder")


@pytest.mark.parametrize("words", ["show", "replay", "minimize", "triage --campaign", "status --campaign", "check"])
def test_a_name_that_no_file_can_have_is_bad_input(fuzz: Fuzz, words: str) -> None:
    refused(fuzz(*words.split(), f"{'a' * 300}.py"), "File name too long")


def test_replay_of_a_file(fuzz: Fuzz, saved: Path) -> None:
    refused(fuzz("--replay", saved / "case.json"), "case.json: not the folder of a finding, but a file")


VERBS_FOR_FINDINGS = ("replay", "minimize", "blame", "bisect", "report", "file")


@pytest.mark.parametrize("verb", VERBS_FOR_FINDINGS)
def test_every_verb_reports_a_folder_that_is_no_finding_in_one_line(fuzz: Fuzz, saved: Path, verb: str) -> None:
    crashes, empty = saved.parent, saved.parents[1] / "empty"
    empty.mkdir()
    mistyped = saved.with_name(f"{saved.name}x")
    assert fuzz(verb, saved / "none").stderr == f"fuzz: {saved / 'none'}: there is no such folder\n"
    message = one_sentence(f"fuzz: {mistyped}: there is no such folder; did you mean {saved}?")  # paths may be long
    assert fuzz(verb, mistyped).stderr == f"{message}\n"
    assert fuzz(verb, empty).stderr == (f"fuzz: {empty}: not the folder of a finding: there is no finding.json in it\n")
    for folder in (crashes, crashes.parent):
        says = f"{folder}: not one finding, but a folder that holds 1; name one, such as {saved}"
        refused(fuzz(verb, folder), says)


@pytest.mark.parametrize("name", ["case.json", "tensors.safetensors"])
def test_replay_of_a_missing_file(fuzz: Fuzz, saved: Path, name: str) -> None:
    (saved / name).unlink()
    refused(fuzz("--replay", saved), f"{saved / name}: No such file")


@pytest.mark.parametrize("name", ["finding.json", "case.json", "tensors.safetensors"])
@pytest.mark.parametrize("kept", [0, 40, -4])
def test_replay_of_a_truncated_file(fuzz: Fuzz, saved: Path, name: str, kept: int) -> None:
    (saved / name).write_bytes((saved / name).read_bytes()[:kept])
    refused(fuzz("--replay", saved), saved / name)


@pytest.mark.parametrize("name", ["finding.json", "case.json", "tensors.safetensors"])
def test_replay_of_binary_noise(fuzz: Fuzz, saved: Path, name: str) -> None:
    (saved / name).write_bytes(bytes(range(256)) * 8)
    refused(fuzz("--replay", saved), saved / name)


def test_replay_of_a_foreign_case(fuzz: Fuzz, saved: Path, make: Callable[..., tuple[Investigated, Sighting]]) -> None:
    found, _ = make(op="neg", size=4)
    text, tensors = case_file.encode(found.case)
    (saved / "case.json").write_bytes(text)
    (saved / "tensors.safetensors").write_bytes(tensors)
    refused(fuzz("--replay", saved), saved / "case.json", "not the case of this finding")


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ('"relu"', '"neg"', "not the case of this finding"),
        ('"relu"', '"system"', "'system' is not in the operator table"),
        ('"attrs": {}', '"attrs": {"cmd": "x"}', "takes attributes [], not ['cmd']"),
        ('"v0"', '"v0;import os"', "is no name"),
        ("float32[2,3]", "float32[3,2]", "tensors: x0"),
        ('"dialect": "torch"', '"dialect": "mlir"', "dialect 'mlir' is not known"),
        ('"format": 2', '"format": 1', "format 1 is not known; this version reads 2"),
        ('"format": 2', '"format": 3', "format 3 is not known; this version reads 2"),
        ('"role": "input"', '"role": "output"', "Invalid enum value 'output'"),
        ('"role": "input"', '"role": "input", "layout": "diagonal"', "Invalid enum value 'diagonal'"),
        ('"role": "input"', '"role": "buffer", "layout": "strided"', "x0 cannot be strided"),
        ('"role": "input"', '"role": "input", "domain": "odd"', "'odd' is no domain"),
        ('"attrs": {}', '"attrs": {}, "form": "operator"', "has no operator form"),
        ('"attrs": {}', '"attrs": {}, "form": "inplace"', "cannot work in place: x0 may be part of an input"),
        ("float32[2,3]", "float32[n,3]", "symbols: n is not declared"),
        ("float32[2,3]", "complex64[2,3]", "is no tensor type"),
        ('"outputs"', '"more": 1, "outputs"', "more"),
    ],
)
def test_replay_of_an_edited_case(fuzz: Fuzz, saved: Path, old: str, new: str, says: str) -> None:
    path = saved / "case.json"
    assert old in path.read_text()
    path.write_text(path.read_text().replace(old, new))
    refused(fuzz("--replay", saved), path, says)


def test_replay_of_a_deeply_nested_case(fuzz: Fuzz, saved: Path) -> None:
    path = saved / "case.json"
    nested = "[" * 5000 + "]" * 5000
    path.write_text(path.read_text().replace('"attrs": {}', f'"attrs": {{"a": {nested}}}'))
    refused(fuzz("--replay", saved), path)


def test_replay_in_lanes_that_do_not_exist(fuzz: Fuzz, saved: Path) -> None:
    refused(fuzz("--replay", saved, "--lanes", "nosuch"), "no lane matches 'nosuch'")


def test_replay_leaves_a_bad_finding_as_it_is(fuzz: Fuzz, saved: Path) -> None:
    (saved / "case.json").write_text("{")
    before = {path.name: path.read_bytes() for path in saved.iterdir()}
    fuzz("--replay", saved)
    assert {path.name: path.read_bytes() for path in saved.iterdir()} == before
    assert [path.name for path in saved.parent.iterdir()] == [saved.name]


# --- a missing environment


@pytest.mark.parametrize("command", ["run", "replay", "doctor"])
def test_without_torch(process: Fuzz, saved: Path, command: str) -> None:
    arguments = {"run": ("--campaign", "new"), "replay": (saved,), "doctor": ()}[command]
    done = process(command, *arguments)
    assert done.returncode == ENVIRONMENT
    assert done.stderr.splitlines()[-1].startswith("fuzz: toolchain 'host' does not start: ")
    assert "no torch here" in done.stderr.splitlines()[-1]
    assert done.stdout == ""


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ("gen --count 1 --stats", "PyTorch does not start (status 1)"),
        ("sweep --out new", "PyTorch's samples could not be taken (status 1)"),
    ],
)
def test_gen_and_sweep_without_torch(process: Fuzz, arguments: str, says: str) -> None:
    done = process(*arguments.split())
    assert (done.returncode, done.stdout) == (ENVIRONMENT, "")
    assert done.stderr.splitlines()[-1] == f"fuzz: {says}; see its message above"
    assert done.stderr.count("ModuleNotFoundError: no torch here\n") == 1


def test_coverage_without_torch(process: Fuzz) -> None:
    done = process("ops", "--coverage", "--json")
    assert (done.returncode, done.stdout) == (ENVIRONMENT, "")
    last = done.stderr.splitlines()[-1]
    assert last == "fuzz: fuzzer.children.coverage does not start (exit 1): ModuleNotFoundError: no torch here"


# --- commands that need no compiler


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


GROUPS = {"toolchain": ("add", "list", "remove", "python", "check"), "bench": ("honesty",)}
CALLS = [call for verb in VERBS for call in [(verb, each) for each in GROUPS.get(verb, ())] or [(verb,)]]


@pytest.mark.parametrize("call", CALLS, ids=" ".join)
def test_each_verb_but_two_takes_json(fuzz: Fuzz, call: tuple[str, ...]) -> None:
    takes = "  --json " in fuzz(*call, "--help").stdout
    assert takes == (call not in (("toolchain", "add"), ("toolchain", "remove")))


def test_lanes(fuzz: Fuzz) -> None:
    done = fuzz("lanes", "--json")
    assert (done.returncode, done.stderr) == (DONE, "")
    assert [lane["name"] for lane in json.loads(done.stdout)] == [lane.name for lane in LISTED]
    head, *lines = fuzz("lanes").stdout.splitlines()
    assert head.split()[0] == "lane"
    assert [line.split()[0] for line in lines] == [lane.name for lane in LISTED]


@pytest.mark.parametrize("part", ["O2", "o2"])
def test_a_part_of_a_name_of_a_lane_may_be_small_or_capital(fuzz: Fuzz, part: str) -> None:
    names = [line.split()[0] for line in fuzz("lanes", part).stdout.splitlines()[1:]]
    assert names == [lane.name for lane in LISTED if "O2" in lane.name]
    assert names


def test_ops(fuzz: Fuzz) -> None:
    done = fuzz("ops", "--json")
    assert (done.returncode, done.stderr) == (DONE, "")
    assert [(op["name"], tuple(op["arity"])) for op in json.loads(done.stdout)] == [(op.name, op.arity) for op in OPS]
    shown = fuzz("ops").stdout
    listed = [line.split()[0] for line in shown.splitlines()[1:]]
    assert listed == [op.name for op in OPS]
    assert "\N{HORIZONTAL ELLIPSIS}" not in shown
    assert "-2, 1:-1:2, None, ...," in shown


def test_gen_needs_no_compiler(fuzz: Fuzz, tmp_path: Path) -> None:
    done = fuzz("gen", "--count", 3, "--seed", 5, "--out", "cases")
    assert (done.returncode, done.stderr) == (DONE, "")
    (line,) = done.stdout.splitlines()
    assert line.startswith("3 cases in cases, ")
    assert line.endswith(" CPU s of generation; next: python -m fuzzer.cli run --seconds 120")
    names = [f"seed5-{index:06d}" for index in range(3)]
    assert sorted(path.name for path in (tmp_path / "cases").iterdir()) == names
    for index, name in enumerate(names):
        assert case_file.read(tmp_path / "cases" / name).origin == f"seed 5 test {index}"


def test_gen_takes_a_dialect(fuzz: Fuzz, tmp_path: Path) -> None:
    done = fuzz("gen", "--count", 3, "--dialect", "onnx", "--ops", "Conv,Relu", "--out", "cases")
    assert (done.returncode, done.stderr) == (DONE, "")
    assert done.stdout.endswith(" CPU s of generation; next: python -m fuzzer.cli run --dialect onnx --seconds 120\n")
    graphs = [case_file.read(folder).graph for folder in (tmp_path / "cases").iterdir()]
    assert [graph.dialect for graph in graphs] == ["onnx"] * 3
    assert {op.partition("-")[0] for graph in graphs for op in graph.ops} == {"Conv", "Relu"}


def test_triage_lists_findings(fuzz: Fuzz, saved: Path) -> None:
    done = fuzz("triage", "--json", "--campaign", saved.parents[1])
    assert (done.returncode, done.stderr) == (DONE, "")
    (listed,) = json.loads(done.stdout)["causes"]
    assert (listed["slug"], listed["kind"], listed["component"]) == (saved.name, "internal-error", "tvm")
    plain = fuzz("triage", "--campaign", saved.parents[1])
    assert saved.name in plain.stdout
    counted = "1 confirmed cause: 1 high; 1 finding"
    assert plain.stdout.splitlines()[-1] == f"{counted}; next: python -m fuzzer.cli show 1"


def test_triage_of_a_folder_that_is_no_campaign(fuzz: Fuzz, tmp_path: Path) -> None:
    refused(fuzz("triage", "--campaign", "k9"), "k9: no campaign; `fuzz run --campaign k9` starts one")
    assert not (tmp_path / "k9").exists()


@pytest.mark.parametrize("verb", ["status", "triage", "dashboard"])
def test_a_broken_campaign_is_the_same_error_for_each_verb(fuzz: Fuzz, tmp_path: Path, verb: str) -> None:
    (tmp_path / "c").mkdir()
    (tmp_path / "c" / "campaign.json").write_text("{")
    says = "c/campaign.json: Input data was truncated; move it away to start afresh (findings stay)"
    refused(fuzz(verb, "--campaign", "c"), says)


def test_triage_of_an_empty_campaign(fuzz: Fuzz, tmp_path: Path) -> None:
    with Store(tmp_path, 1):
        pass
    assert fuzz("triage").stdout == "no findings; next: python -m fuzzer.cli run\n"
    assert json.loads(fuzz("triage", "--json").stdout) == {
        key: [] for key in ("causes", "provisional", "other_causes", "other_provisional")
    }
    assert fuzz("triage", "--unsupported").stdout == "nothing is counted yet\n"
    assert json.loads(fuzz("triage", "--unsupported", "--json").stdout) == {}
    assert {entry["met"] for entry in json.loads(fuzz("triage", "--known", "--json").stdout)} == {0}


def campaign_of(folder: Path, state: State) -> Path:
    """A campaign that has only its campaign.json."""
    folder.mkdir()
    (folder / "campaign.json").write_bytes(msgspec.json.encode(state))
    return folder


def test_triage_counts_what_importers_lack(fuzz: Fuzz, tmp_path: Path) -> None:
    counters = Counters(unsupported={"b": 4, "a": 1}, lacking={"b": {"x": 1, "z": 3, "y": 3}, "a": {"w": 1}})
    counters.environment = {"no space left": 2}
    campaign = campaign_of(tmp_path / "c", State(0, counters=counters))
    done = fuzz("triage", "--unsupported", "--campaign", campaign)
    assert (done.returncode, done.stderr) == (DONE, "")
    assert done.stdout.splitlines() == [
        "a: 1 things lacking, met in 1 tests",
        "      1 w",
        "b: 3 things lacking, met in 4 tests",
        "      3 y",
        "      3 z",
        "      1 x",
        "the machine failed 2 lanes: no space left",
    ]
    listed = json.loads(fuzz("triage", "--unsupported", "--json", "--campaign", campaign).stdout)
    assert listed == {"a": {"w": 1}, "b": {"y": 3, "z": 3, "x": 1}}
    assert list(listed["b"]) == ["y", "z", "x"]


def test_triage_counts_known_behaviour(fuzz: Fuzz, tmp_path: Path) -> None:
    met, *others = known_issues()
    campaign = campaign_of(tmp_path / "c", State(0, known={met.name: 7}))
    done = fuzz("triage", "--known", "--campaign", campaign)
    assert (done.returncode, done.stderr) == (DONE, "")
    lines = done.stdout.splitlines()
    assert lines[: len(others) + 1] == [
        f"      7 {met.name} ({met.upstream}): {met.why}",
        *(f"  matches nothing here: {entry.name} ({entry.upstream})" for entry in others),
    ]
    assert all(line.startswith("  matches nothing here: ") for line in lines[len(others) + 1 :])
    (first, *rest) = json.loads(fuzz("triage", "--known", "--json", "--campaign", campaign).stdout)
    assert first == {"name": met.name, "why": met.why, "upstream": met.upstream, "met": 7}
    assert [(entry["name"], entry["met"]) for entry in rest] == [(entry.name, 0) for entry in others]


@pytest.mark.parametrize("table", ["--known", "--unsupported"])
def test_triage_of_a_damaged_campaign_json(fuzz: Fuzz, tmp_path: Path, table: str) -> None:
    campaign = campaign_of(tmp_path / "c", State(0))
    (campaign / "campaign.json").write_text('{"seed": ')
    refused(fuzz("triage", table, "--campaign", campaign), campaign / "campaign.json")


@pytest.mark.parametrize(
    ("arguments", "folder"),
    [
        (["run"], "."),
        (["run", "--campaign", "a", "--seed", "1"], "a"),
        (["run", "--seed", "1", "--campaign=b"], "b"),
        (["run", "--campaign"], "."),
        (["triage", "--work", "--campaign", "a"], "a"),
        (["triage", "--campaign", "a"], None),
        (["run", "--campaign", "a", "--help"], None),
        (["status", "--campaign", "a"], None),
        (["--help"], None),
    ],
)
def test_the_campaign_that_a_command_writes_to(arguments: list[str], folder: str | None) -> None:
    assert writes_to(arguments) == (None if folder is None else Path(folder))


@pytest.mark.parametrize("words", [("run",), ("--seed", "1"), ("triage", "--work")])
def test_a_second_writer_is_refused_before_anything_large_is_imported(tmp_path: Path, words: tuple[str, ...]) -> None:
    """These imports take seconds on a busy machine."""
    program = (
        "import atexit, sys\n"
        "large = ('numpy', 'torch', 'fuzzer.commands.run', 'fuzzer.campaign.store.store', 'fuzzer.isolate.executor')\n"
        "atexit.register(lambda: print([name for name in large if name in sys.modules]))\n"
        "from fuzzer.cli import main\n"
        "main()\n"
    )
    with locked(tmp_path):
        command = [sys.executable, "-c", program, *words, "--campaign", str(tmp_path)]
        second = subprocess.run(command, capture_output=True, text=True)
    assert second.stderr == f"fuzz: {tmp_path}: process {os.getpid()} runs this campaign\n"
    assert (second.returncode, second.stdout) == (64, "[]\n")


@pytest.mark.parametrize(
    ("arguments", "begins"), [(["run"], True), (["check", "x"], True), (["run", "-h"], False), (["triage"], False)]
)
def test_a_terminal_gets_a_sign_of_life_before_modules_are_loaded(
    arguments: list[str], begins: bool, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    cli._say_that_it_begins(arguments)
    assert capsys.readouterr().err == "", "it is no terminal"
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    cli._say_that_it_begins(arguments)
    assert capsys.readouterr().err == "difftvm: loading ...\n" * begins


@pytest.mark.parametrize("words", [("--help",), ("--version",), ("ops",), ("lanes", "--json"), ("show", "selu")])
def test_a_command_whose_output_nobody_reads_ends_quietly(tmp_path: Path, words: tuple[str, ...]) -> None:
    """141 is what a shell says of `cat x | true` too. 1 would say that a build is worse."""
    root = Path(__file__).parents[2]
    reads, writes = os.pipe()
    os.close(reads)
    environment = {**os.environ, "PYTHONPATH": str(root)}
    command = [sys.executable, "-m", "fuzzer.cli", *words]
    done = subprocess.run(command, stdout=writes, stderr=subprocess.PIPE, timeout=300, env=environment, cwd=root)
    os.close(writes)
    assert (done.returncode, done.stderr) == (141, b"")


@pytest.mark.parametrize("stderr_is_read", [True, False])
def test_another_broken_pipe_is_an_error_of_difftvm(stderr_is_read: bool) -> None:
    """As the socket of a worker that has ended: 1, with which typer ends then, would say that a build is worse."""
    reads, writes = os.pipe()
    program = (
        "import sys\n"
        "import fuzzer.cli as cli\n"
        "def breaks(*_): raise BrokenPipeError(32, 'Broken pipe')\n"
        "cli.Verbs.invoke = breaks\n"
        "cli.main()\n"
    )
    os.close(reads)
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
    stderr = subprocess.PIPE if stderr_is_read else writes
    command = [sys.executable, "-c", program, "lanes"]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=stderr, timeout=300, env=environment)
    os.close(writes)
    assert (done.returncode, done.stdout) == (79, b"")
    if stderr_is_read:
        assert done.stderr.decode().splitlines()[-1] == "BrokenPipeError: [Errno 32] Broken pipe"
