"""Modules that are broken on purpose: TVM's check refuses them, and those that it accepts are reported."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from graphs_by_hand import case_of
from records import record
from small_models import CASES, outcome_of, small

from fuzzer.isolate.executor import Executor
from fuzzer.lanes import SAMPLED_LANES
from fuzzer.report import repro
from generators.graph import Case
from oracles.finding import Kind
from oracles.outcome import Mutant, MutantFate, Ran, Stage

pytestmark = pytest.mark.tvm

(MUTANTS,) = (lane for lane in SAMPLED_LANES if lane.variant == "mutants")


def mutants(executor: Executor, case: str) -> tuple[Mutant, ...]:
    outcome = outcome_of(executor, CASES[case], MUTANTS)
    assert isinstance(outcome, Ran), outcome
    return outcome.facts.mutants


@pytest.mark.smoke
@pytest.mark.parametrize("case", ["linear", "integers"])
def test_all_mutants_of_small_models_are_refused(executor: Executor, case: str) -> None:
    found = mutants(executor, case)
    assert len(found) == 6
    assert {mutant.fate for mutant in found} == {MutantFate.REFUSED}
    assert len({(mutant.legalised, mutant.change) for mutant in found}) == 6
    assert all(mutant.message and not mutant.edits for mutant in found)
    assert found == mutants(executor, case)


def assert_its_script_exits_1(mutant: Mutant, case: Case, folder: Path) -> None:
    path = folder / "repro.py"
    path.write_text(repro.script(record(case, Kind.CHECKER_GAP, MUTANTS, mutant, stage=Stage.COMPILE)))
    done = subprocess.run([sys.executable, str(path)], cwd=folder, capture_output=True, text=True)
    assert done.returncode == 1, done.stdout + done.stderr
    assert "IndexError" in done.stdout


@pytest.mark.long
def test_tvm_does_not_refuse_an_item_beyond_the_end_of_a_tuple(executor: Executor, tmp_path: Path) -> None:
    """TVM 0.27: the checker lets it pass, and no build takes it."""
    for size in range(2, 12):
        split = ("v0 v1", "chunk", "x0", {"chunks": 2, "dim": 0})
        case = case_of({"x0": f"float32[{2 * size},3]"}, [split, ("v2", "sub", "v0 v1")], "v2", small)
        outcome = outcome_of(executor, case, MUTANTS)
        assert isinstance(outcome, Ran), outcome
        if found := [mutant for mutant in outcome.facts.mutants if mutant.fate is not MutantFate.REFUSED]:
            (mutant,) = found
            assert (mutant.change, mutant.fate) == ("an item beyond the end of a tuple", MutantFate.RAISED)
            assert "IndexError" in mutant.message
            assert len(json.loads(mutant.edits)) == 1
            assert_its_script_exits_1(mutant, case, tmp_path)
            return
    pytest.fail("ten cases, and none had this mutant")


FOUNDING = """
import tvm
from tvm import relax
from tvm.script import ir as I, relax as R, tirx as T

@I.ir_module(check_well_formed=False)
class Module:
    @T.prim_func(private=True, s_tir=True)
    def relu(A: T.Buffer((64, 64, 56, 56), "float32"), B: T.Buffer((64, 64, 56, 56), "float32")):
        for i, j, k, l in T.grid(64, 64, 56, 56):
            with T.sblock("B"):
                a, b, c, d = T.axis.remap("SSSS", [i, j, k, l])
                B[a, b, c, d] = T.max(A[a, b, c, d], T.float32(0))

    @R.function
    def main(x: R.Tensor((1, 3, 58, 58), "float32"), w: R.Tensor((64, 3, 3, 3), "float32")):
        cls = Module
        with R.dataflow():
            lv = R.nn.conv2d(x, w)
            gv = R.call_tir(cls.relu, (lv,), out_ty=R.Tensor((1, 64, 56, 56), "float32"))
            R.output(gv)
        return gv

try:
    relax.analysis.well_formed(Module)
except Exception as error:
    print("refused:", error)
"""


def test_the_founding_gap_is_closed(tmp_path: Path) -> None:
    """A kernel for (64, 64, 56, 56) on what conv2d gives, (1, 64, 56, 56): TVM 0.17 let it pass, 0.27 does not."""
    path = tmp_path / "founding.py"
    path.write_text(FOUNDING)
    done = subprocess.run([sys.executable, str(path)], capture_output=True, text=True)
    assert done.stdout.startswith("refused: "), done.stderr
