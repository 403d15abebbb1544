"""Relax modules of the user, with real TVM: right ones, wrong ones, and passes that change what they mean."""

from __future__ import annotations

import importlib
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import difftvm
from difftvm import FindingError, Invalid, PassNotReached
from fuzzer.api import relax_modules
from fuzzer.isolate.module_job import ModuleAnswer, ModuleJob
from oracles.lane import Pipeline


def attention() -> Any:
    """softmax(relu(x @ w)), of an open number of rows."""
    from tvm import relax, tirx

    builder = relax.BlockBuilder()
    rows = tirx.Var("n", "int64")
    x, w = relax.Var("x", relax.TensorType([rows, 8], "float32")), relax.Var("w", relax.TensorType([8, 8], "float32"))
    with builder.function("main", [x, w]):
        with builder.dataflow():
            made = builder.emit(relax.op.nn.relu(builder.emit(relax.op.matmul(x, w))))
            result = builder.emit_output(relax.op.nn.softmax(made, axis=-1))
        builder.emit_func_output(result)
    return builder.get()


PASSES = """
import os, signal
import tvm
from tvm import relax

RELU = tvm.ir.Op.get("relax.nn.relu")


@relax.expr_functor.mutator
class Drop(relax.PyExprMutator):
    def visit_call_(self, call):
        call = super().visit_call_(call)
        return call.args[0] if call.op == RELU else call


@relax.expr_functor.mutator
class Repeat(relax.PyExprMutator):
    def visit_call_(self, call):
        call = super().visit_call_(call)
        return relax.op.nn.relu(self.builder_.emit(call)) if call.op == RELU else call


@relax.expr_functor.mutator
class Forget(relax.PyExprMutator):
    def visit_call_(self, call):
        call = super().visit_call_(call)
        return relax.op.nn.relu(relax.Var("forgotten", call.args[0].ty)) if call.op == RELU else call


def drop_relu(mod):
    return rewritten(mod, Drop(mod))


def repeat_relu(mod):
    return rewritten(mod, Repeat(mod))


def forget_definition(mod):
    return rewritten(mod, Forget(mod))


def rewritten(mod, mutator):
    for name, function in mod.functions_items():
        if isinstance(function, relax.Function):
            mutator.builder_.update_func(name, mutator.visit_expr(function))
    return mutator.builder_.get()


def end(mod):
    os.kill(os.getpid(), signal.SIGSEGV)


def nothing(mod):
    return mod
"""


@pytest.fixture
def passes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    (tmp_path / "my_passes.py").write_text(PASSES)
    monkeypatch.syspath_prepend(tmp_path)
    yield importlib.import_module("my_passes")
    del sys.modules["my_passes"]


@pytest.mark.tvm
@pytest.mark.long
def test_a_module_is_right_in_each_lane(tmp_path: Path) -> None:
    rows = np.ones((5, 8), np.float32)
    done = difftvm.check(attention(), {"x": rows}, lanes="all-plain", target="metal", opt_level=3, folder=tmp_path)
    *here, metal = done.ran
    assert here == ["relax-module-llvm-opt3", "relax-module-c-opt3", "relax-module-zero-opt3"]
    assert metal == "relax-module-metal-opt3"
    (why,) = done.not_judged
    assert why.startswith("relax-module-metal-opt3: it is only compiled: nothing here runs its code")
    assert (done.not_run, done.not_confirmed, done.not_covered, done.cases) == ((), (), (), 1)
    assert not (tmp_path / "modules").exists()


def scalar() -> Any:
    """x + x, of rank 0."""
    from tvm import relax

    builder, x = relax.BlockBuilder(), relax.Var("x", relax.TensorType([], "float32"))
    with builder.function("main", [x]):
        with builder.dataflow():
            result = builder.emit_output(relax.op.add(x, x))
        builder.emit_func_output(result)
    return builder.get()


@pytest.mark.tvm
@pytest.mark.parametrize(
    ("inputs", "says"),
    [
        ({"y": np.ones((5, 8), np.float32)}, "main has no parameter y; it has x, w"),
        ([np.ones((5, 8), np.float32)] * 3, "main has no parameter x2; it has x, w"),
        ({"x": np.ones(8, np.float32)}, r"the input x has shape \[8\], and main takes \[n, 8\]"),
        ({"w": np.ones((8, 9), np.float32)}, r"the input w has shape \[8, 9\], and main takes \[8, 8\]"),
        ({"w": np.ones((8, 8), np.complex64)}, "the input w is complex64, and main takes float32"),
    ],
)
def test_inputs_that_do_not_fit_are_refused(tmp_path: Path, inputs: Any, says: str) -> None:
    with pytest.raises(Invalid, match=says):
        difftvm.check(attention(), inputs, lanes="*-llvm", folder=tmp_path)


@pytest.mark.tvm
def test_an_input_of_rank_0_and_numbers_of_another_width_fit(tmp_path: Path) -> None:
    done = difftvm.check(scalar(), [np.array(3)], lanes="*-llvm", folder=tmp_path)
    assert (done.ran, done.not_judged) == (("relax-module-llvm",), ())


def test_failures_of_other_passes_are_others_and_those_of_other_pipelines_are_not() -> None:
    jobs = [
        ModuleJob(0, 1),
        ModuleJob(0, 1, pipeline=Pipeline.ZERO),
        ModuleJob(0, 2),
        ModuleJob(0, 1, passes=("FuseOps",)),
        ModuleJob(0, 1, target="c"),
        ModuleJob(1, 1),
    ]
    wrong = ModuleAnswer("wrong-value", "evaluate")
    done = [*((job, wrong) for job in jobs), (ModuleJob(0, 1), ModuleAnswer("", ""))]
    assert [[job for job, _ in some] for some in relax_modules._alike(done)] == [
        jobs[:3],
        [jobs[3]],
        [jobs[4]],
        [jobs[5]],
    ]


@pytest.mark.tvm
@pytest.mark.long
def test_a_pass_that_changes_the_meaning_is_found_with_a_script(tmp_path: Path, passes: Any) -> None:
    with pytest.raises(FindingError, match=r"the module after own:drop_relu, evaluate for llvm: result 0") as error:
        difftvm.check_pass(passes.drop_relu, modules=[attention()], seed=1, tests=1, folder=tmp_path / "found")
    (found,) = error.value.findings
    assert (found.kind, found.operators) == ("wrong-value", ("matmul", "nn.relu", "nn.softmax"))
    file = tmp_path / "found" / "1" / "own_pass.py"
    assert found.replay == f"python {found.repro} {file}"
    assert subprocess.run([sys.executable, found.repro, file], capture_output=True).returncode == 1
    file.write_text(file.read_text().replace("drop_relu", "nothing").replace("'nothing', user", "'drop_relu', user"))
    done = subprocess.run([sys.executable, found.repro, file], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, "right\n"), done.stderr


@pytest.mark.tvm
@pytest.mark.long
def test_a_pass_that_crashes_ends_its_own_process(tmp_path: Path, passes: Any) -> None:
    with pytest.raises(FindingError, match="the process ended by signal 11"):
        difftvm.check_pass(passes.end, modules=[attention()], seed=1, tests=1, folder=tmp_path / "found")


@pytest.mark.tvm
@pytest.mark.long
def test_a_pass_that_is_not_idempotent_is_found_where_it_claims_to_be(tmp_path: Path, passes: Any) -> None:
    options: dict[str, Any] = {"modules": [attention()], "seed": 1, "tests": 1}
    done = difftvm.check_pass(passes.repeat_relu, **options, folder=tmp_path / "no-claim")
    assert (done.ran, done.changed) == (1, 1)
    with pytest.raises(FindingError, match="not idempotent: a second run changes the module again") as error:
        difftvm.check_pass(passes.repeat_relu, **options, idempotent=True, folder=tmp_path / "found")
    (found,) = error.value.findings
    assert found.kind == "internal-error"


@pytest.mark.tvm
@pytest.mark.long
def test_a_pass_whose_result_is_ill_formed_is_found(tmp_path: Path, passes: Any) -> None:
    with pytest.raises(FindingError, match=r"TVM's checker refuses the module: .*forgotten is not defined") as error:
        difftvm.check_pass(passes.forget_definition, modules=[attention()], seed=1, tests=1, folder=tmp_path / "found")
    (found,) = error.value.findings
    assert found.kind == "ill-formed"


@pytest.mark.tvm
@pytest.mark.long
def test_a_right_pass_of_tvm_on_kernels(tmp_path: Path) -> None:
    done = difftvm.check_pass("FuseTIR", modules=[attention()], on="kernels", seed=1, tests=1, folder=tmp_path)
    assert (done.tests, done.ran, done.changed, done.flaky) == (1, 2, 1, 0)
    assert done.lanes == ("relax-export-own-FuseTIR-legalized", "relax-export-own-FuseTIR-fused")


@pytest.mark.tvm
@pytest.mark.long
def test_a_pass_that_changes_nothing_is_not_reached(tmp_path: Path, passes: Any) -> None:
    with pytest.raises(PassNotReached, match="the pass nothing changed none of 1 modules"):
        difftvm.check_pass(passes.nothing, modules=[attention()], seed=1, tests=1, folder=tmp_path / "found")


@pytest.mark.tvm
def test_what_is_no_module_is_refused(tmp_path: Path) -> None:
    (tmp_path / "text.json").write_text("[]")
    with pytest.raises(Invalid, match="no lane ran: relax-module-llvm: load: "):
        difftvm.check(tmp_path / "text.json", lanes="*-llvm", folder=tmp_path)
    with pytest.raises(Invalid, match=r"none.json: No such file or directory"):
        difftvm.check(tmp_path / "none.json")
    with pytest.raises(Invalid, match="no lane of a Relax module matches 'relax-export-llvm'"):
        difftvm.check(attention(), lanes="relax-export-llvm")
    with pytest.raises(Invalid, match=r"^a Relax module takes no weights: leave it out$"):
        difftvm.check(attention(), weights="own")
    with pytest.raises(Invalid, match=r"^a Relax module takes no aliasing: leave it out$"):
        difftvm.check(attention(), aliasing=True)
    with pytest.raises(ValueError, match="modules is empty"):
        difftvm.check_pass("FoldConstant", modules=[])
