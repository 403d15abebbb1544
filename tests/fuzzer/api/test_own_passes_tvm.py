"""Passes of a user, right and wrong, with real compilers: the examples of docs/passes.md, and `fuzz run --own-pass`."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from fuzzer.findings import finding_file
from fuzzer.signature.blame import Place
from oracles.finding import Kind

pytestmark = [pytest.mark.tvm, pytest.mark.long]

ENVIRONMENT, SAME, IS_THERE, CANNOT_TELL = 69, 77, 1, 125
EXAMPLES = Path(__file__).parents[3] / "docs" / "examples"

PASSES = """
import os, signal
from tvm import relax
from difftvm import register_pass


def define_twice(mod):
    main = mod["main"]
    body = relax.SeqExpr([*main.body.blocks, *main.body.blocks], main.body.body)
    mod = mod.clone()
    mod["main"] = relax.Function(main.params, body, main.ret_ty).with_attr("global_symbol", "main")
    return mod


def end(mod):
    os.kill(os.getpid(), signal.SIGSEGV)


register_pass("define-twice", define_twice)
register_pass("end", end)
register_pass("fold", "FoldConstant")
"""


def run(*words: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, *map(str, words)], capture_output=True, text=True, timeout=400)


def fuzz(*arguments: object) -> subprocess.CompletedProcess[str]:
    return run("-m", "fuzzer.cli", *arguments)


@dataclass(frozen=True)
class Example:
    """What docs/examples/own_pass.py printed, and the folders of its checks."""

    folder: Path
    printed: str

    def finding(self, name: str) -> Path:
        (found,) = (self.folder / name / "1" / "crashes").iterdir()
        return found


@pytest.fixture(scope="module")
def example(tmp_path_factory: pytest.TempPathFactory) -> Example:
    folder = tmp_path_factory.mktemp("own-passes")
    done = run(EXAMPLES / "own_pass.py", folder)
    assert done.returncode == 0, done.stderr
    return Example(folder, done.stdout)


def test_the_right_pass_is_right_and_is_known_to_have_been_tried(example: Example) -> None:
    line = re.search(r"^remove_double_negation: right in 30 tests; it changed (\d+) modules$", example.printed, re.M)
    assert line
    assert int(line[1]) > 0
    found = map(finding_file.read, (example.folder / "remove_double_negation" / "1" / "crashes").iterdir())
    assert {doc.kind for doc in found} <= {Kind.ALIASED_OUTPUT}  # of -(-x) is x left, and no check fails for that


def test_the_wrong_pass_is_found_reduced_and_blamed(example: Example) -> None:
    assert "\nremove_negation: `torch.neg` after `own:remove_negation` gives wrong values" in example.printed
    doc = finding_file.read(example.finding("remove_negation"))
    assert (str(doc.kind), tuple(doc.ops), doc.confirmed) == ("wrong-value", ("neg",), "3 of 3")
    assert doc.lane.passes == ("own:remove_negation:idempotent",)
    assert (doc.blame.place, doc.blame.culprit) == (Place.PASS, "own:remove_negation")
    assert doc.script is not None
    assert doc.script.shows


def test_the_wrong_pass_is_replayed_with_its_file_only(example: Example) -> None:
    """Without the file, the name in the lane stands for nothing."""
    folder, file = example.finding("remove_negation"), example.folder / "remove_negation" / "1" / "own_pass.py"
    assert fuzz("--replay", folder, "--preload", file).returncode == SAME
    without = fuzz("--replay", folder)
    assert without.returncode == ENVIRONMENT
    assert without.stdout.splitlines()[0] == (
        "environment: relax-export-own-remove_negation: no pass is registered as 'remove_negation' in this process: "
        "give the file that registers it with --preload"
    )
    script = run(folder / "repro.py", file)
    assert script.returncode == IS_THERE, script.stderr
    assert script.stdout.splitlines()[-2:] == ["the bug is there:", "result 0 has wrong values"]
    assert run(folder / "repro.py").returncode == CANNOT_TELL


AGAIN = """
import sys

sys.path.insert(0, sys.argv[1])
import difftvm
import own_pass

difftvm.check_pass(own_pass.remove_negation, ops="exp", tests=1, seed=1, folder=sys.argv[2])
"""


def test_a_second_check_in_the_same_folder_begins_with_the_models_of_earlier_findings(example: Example) -> None:
    """Its own models have no negation. The pass is a function of a module here, and claims nothing."""
    folder = example.folder / "remove_negation"
    done = run("-c", AGAIN, EXAMPLES, folder)
    assert done.returncode == 1
    assert "FindingError: `torch.neg` after `own:remove_negation` gives wrong values\n" in done.stderr
    assert "from_module('own_pass', 'remove_negation')" in (folder / "2" / "own_pass.py").read_text()


def test_a_claim_that_does_not_hold_is_a_finding(example: Example) -> None:
    """relu(relu(x)) is right, and a second run repeats it again."""
    doc = finding_file.read(example.finding("repeat_relu"))
    assert (str(doc.kind), tuple(doc.ops), doc.blame.culprit) == ("internal-error", ("relu",), "own:repeat_relu")
    assert "own:repeat_relu is not idempotent: a second run changes the module again" in example.printed


def test_a_wrong_backend_is_found_and_blamed_and_a_right_one_is_right(tmp_path: Path) -> None:
    """Their modules have compiled code in an attribute, which TVM cannot compare."""
    done = run(EXAMPLES / "own_backend.py", tmp_path)
    assert done.returncode == 0, done.stderr
    assert re.search(r"^exact_relu: right in 20 tests; it changed [1-9]\d* modules$", done.stdout, re.M)
    assert "\nwrong_relu: `torch.relu` after `own:wrong_relu` gives wrong values" in done.stdout
    (folder,) = (tmp_path / "wrong_relu" / "1" / "crashes").iterdir()
    doc = finding_file.read(folder)
    assert (str(doc.kind), tuple(doc.ops), doc.blame.culprit) == ("wrong-value", ("relu",), "own:wrong_relu")
    assert doc.script is not None
    assert doc.script.shows


def test_a_campaign_survives_passes_that_break_modules_and_processes(tmp_path: Path) -> None:
    file = tmp_path / "passes.py"
    file.write_text(PASSES)
    passes = [word for name in ("define-twice", "end", "fold:idempotent") for word in ("--own-pass", name)]
    options = (
        "--seed",
        1,
        "--tests",
        2,
        "--workers",
        1,
        "--drain",
        1000,
        "--scope-share",
        0,
        "--ops",
        "relu",
        "--json",
    )
    done = fuzz("run", "--random", *options, *passes, "--preload", file, "--campaign", tmp_path)
    assert done.returncode == 0, done.stderr
    found = {tuple(each["lanes"]): each["kind"] for each in json.loads(done.stdout)["findings"]}
    assert found == {("relax-export-own-define-twice",): "ill-formed", ("relax-export-own-end",): "died"}
    docs = [finding_file.read(folder) for folder in (tmp_path / "crashes").iterdir()]
    assert {doc.blame.culprit for doc in docs} == {"own:define-twice", "own:end"}
    assert all(doc.script is not None and doc.script.shows for doc in docs)


def test_a_pass_that_no_file_registers_starts_no_campaign(tmp_path: Path) -> None:
    file = tmp_path / "passes.py"
    file.write_text(PASSES)
    done = fuzz("run", "--tests", 1, "--preload", file, "--own-pass", "nosuch", "--campaign", tmp_path / "new")
    assert (done.returncode, done.stdout) == (ENVIRONMENT, "")
    assert done.stderr.splitlines()[-1] == (
        "fuzz: relax-export-own-nosuch: no pass is registered as 'nosuch' in this process: give the file that "
        "registers it with --preload"
    )
    assert not (tmp_path / "new" / "campaign.json").exists()
