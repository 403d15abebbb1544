"""`--preload` as users have it: TVM is patched, or gets a pass of theirs, and campaigns find what is wrong with it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from fuzzer.findings import finding_file
from fuzzer.isolate.executor import Executor
from fuzzer.isolate.sine_case import sine_case as sine
from fuzzer.lanes import TORCH
from fuzzer.toolchains.preload import read
from fuzzer.toolchains.toolchain import Toolchain
from oracles.outcome import Ran

pytestmark = [pytest.mark.tvm, pytest.mark.long]

GONE, BAD_INPUT, ENVIRONMENT, SAME = 0, 64, 69, 77
IS_THERE = 1

WRONG_RELU = '''
import tvm
from tvm import te


def legalize(builder, call):
    """At least 1, not at least 0."""

    def compute(x):
        return te.compute(x.shape, lambda *i: te.max(x(*i), tvm.tirx.const(1, x.dtype)), name="wrong_relu")

    return builder.call_te(compute, call.args[0])


tvm.ir.register_op_attr("relax.nn.relu", "FLegalize", legalize, level=15)
'''

WRONG_PASS = """
import tvm
from tvm import relax


@relax.expr_functor.mutator
class Dropper(relax.PyExprMutator):
    def visit_call_(self, call):
        call = super().visit_call_(call)
        return call.args[0] if call.op == tvm.ir.Op.get("relax.negative") else call


@tvm.transform.module_pass(opt_level=0, name="DropNegations")
def drop_negations(mod, context):
    dropper = Dropper(mod)
    for name, function in mod.functions_items():
        if isinstance(function, relax.Function):
            dropper.builder_.update_func(name, dropper.visit_expr(function))
    return dropper.builder_.get()


build = relax.build
relax.build = lambda mod, *rest, **more: build(drop_negations(mod), *rest, **more)
"""


def fuzz(*arguments: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "fuzzer.cli", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=300)


def wrong_results(folder: Path, path: Path) -> dict[str, Path]:
    """The saved wrong results of a campaign with a preloaded file, by their operators. It ends with the third finding:
    what is wrong there may be an alias of the input, too."""
    options = ("--seed", 1, "--tests", 20, "--until-new", 3, "--workers", 1, "--scope-share", 0)
    lanes = ("--ops", "relu,neg", "--lanes", "relax-export-llvm")
    done = fuzz("run", *options, *lanes, "--campaign", folder, "--preload", path, "--json")
    assert done.returncode == 0, done.stderr
    findings = json.loads(done.stdout)["findings"]
    wrong = [each for each in findings if each["kind"] == "wrong-value"]
    return {" ".join(each["ops"]): folder / "crashes" / each["slug"] for each in wrong}


def test_wrong_results_are_found_reduced_and_replayed_with_the_file_only(tmp_path: Path) -> None:
    """A file may replace a legalization of TVM, and add a pass of its own."""
    path = tmp_path / "wrong.py"
    path.write_text(WRONG_RELU + WRONG_PASS)
    found = wrong_results(tmp_path, path)
    assert set(found) == {"relu", "neg"}
    folder = found["relu"]
    note = read(path).note
    doc = finding_file.read(folder)
    assert doc.versions["preload"] == note
    assert doc.blame.origin.place == "", "the file is no part of TVM's source, to which reports link"

    again = fuzz("--replay", folder, "--preload", path)
    assert (again.returncode, again.stderr) == (SAME, "")
    assert again.stdout.splitlines()[-1].endswith(f"repro.py {path}")
    without = fuzz("--replay", folder)
    assert without.returncode == GONE, without.stdout
    assert without.stderr == f"preloaded when it was found: {note}; now: nothing\n"

    script = folder / "repro.py"
    assert f"\n{note} was preloaded: give its path as the argument.\n" in script.read_text()
    shows = subprocess.run([sys.executable, script, path], capture_output=True, text=True)
    assert (shows.returncode, "\nthe bug is there:\n" in shows.stdout) == (IS_THERE, True)
    plain = subprocess.run([sys.executable, script], capture_output=True, text=True)
    assert (plain.returncode, plain.stdout.splitlines()[-1][:15]) == (GONE, "the bug is gone")


def test_one_that_raises_starts_no_campaign(tmp_path: Path) -> None:
    path = tmp_path / "bad.py"
    path.write_text("import tvm\n\ntvm.ir.Op.get('relax.nosuch')\n")
    done = fuzz("run", "--tests", 1, "--campaign", tmp_path, "--preload", path)
    assert (done.returncode, done.stdout) == (ENVIRONMENT, "")
    message = done.stderr.splitlines()[-1]
    assert message.startswith(f"fuzz: toolchain 'host' does not start: --preload {path}, line 3: ")
    assert "nosuch" in message
    assert not (tmp_path / "campaign.json").exists()
    assert list((tmp_path / "crashes").iterdir()) == []


def test_one_that_ends_its_process_is_named(tmp_path: Path) -> None:
    path = tmp_path / "ends.py"
    path.write_text("import os\nos._exit(3)\n")
    done = fuzz("doctor", "--preload", path)
    assert done.returncode == ENVIRONMENT
    assert done.stderr.splitlines()[-1].endswith(f"exit status 3 (--preload {path})")


@pytest.mark.parametrize("name", ["host", "mine"])
def test_it_is_executed_once_in_each_zygote_where_tvm_is_imported(tmp_path: Path, name: str) -> None:
    path, output = tmp_path / "tell.py", tmp_path / "output.txt"
    line = f"print(os.getpid(), 'tvm' in sys.modules, file=open({str(output)!r}, 'a'), flush=True)"
    path.write_text(f"import os, sys\n{line}\n")
    toolchain = Toolchain(name, sys.executable, preload=read(path))
    with Executor(tmp_path / "scratch", toolchain) as executor:
        for _ in range(2):
            assert isinstance(executor.run(sine(), (TORCH,)).outcomes[TORCH], Ran)
        assert output.read_text() == f"{executor._zygote.pid} True\n"
        assert executor.versions["preload"] == read(path).note
