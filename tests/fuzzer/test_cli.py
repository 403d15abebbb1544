"""The command line: how it is parsed; bad input ends at once with one line and an exit code."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from fuzz_called import BAD_INPUT, DONE, ENVIRONMENT, Fuzz, refused

from fuzzer import cli
from fuzzer.campaign.lanes.lane_table import LISTED
from fuzzer.campaign.store.lock import locked
from fuzzer.cli import routed, writes_to
from generators import case_file
from generators.torch.ops import OPS

pytestmark = pytest.mark.slow


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
        ("--replay", "FINDING"),
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
