"""Toolchains as they are installed: `make test-toolchains` installs them; what is not there is skipped."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from fuzzer.evaluation import toolchain_check
from fuzzer.isolate.executor import Executor
from fuzzer.isolate.fleet import Fleet
from fuzzer.lanes import MODEL_LANES, MODEL_SAMPLED_LANES, ONNX_LANES, RELAY_LANES, SAMPLED_LANES, TVM_LANES, needed
from fuzzer.toolchains import registry
from fuzzer.toolchains.lanes import in_toolchain, in_toolchains, named
from fuzzer.toolchains.toolchain import GraphLanguage
from generators import case_file
from generators.builder import Limits
from generators.choice import NumpySource
from generators.onnx.random_graph import generate
from generators.onnx.rows import ROWS
from oracles.judge import judge_all
from oracles.outcome import Broken, MutantFate, Ran, facts_of
from oracles.trace import Tracing

pytestmark = [pytest.mark.tvm, pytest.mark.toolchains]

INSTALLED = registry.names()
ROOT = Path(__file__).parents[3]
OLD = "0.25.0.post1"


def is_there(name: str) -> pytest.MarkDecorator:
    return pytest.mark.skipif(
        name not in INSTALLED, reason=f"toolchain {name} is not installed: fuzz toolchain add {name}"
    )


@is_there(OLD)
def test_every_lane_works_in_an_older_release(fleet: Fleet) -> None:
    report = toolchain_check.check(registry.find(OLD), fleet)
    assert [lane for lane in report.lanes if not lane.passed] == []
    assert [lane.lane for lane in report.lanes] == [lane.name for lane in (*TVM_LANES, *SAMPLED_LANES)]
    assert (report.versions["tvm"], report.versions["torch"].partition("+")[0]) == (OLD, _hosts("torch"))
    assert registry.read(OLD).versions["tvm_ffi"] == "0.1.12"


@is_there(OLD)
def test_an_older_release_has_its_own_tvm_and_nothing_of_the_hosts() -> None:
    """None of its modules comes from the host's site-packages, but for ours."""
    toolchain = registry.find(OLD)
    root = str(registry.root() / OLD)
    assert toolchain.python.startswith(root)
    names = ("tvm", "tvm_ffi", "torch", "numpy", "msgspec")
    program = f"import importlib; print(*(importlib.import_module(name).__file__ for name in {names}))"
    done = subprocess.run([toolchain.python, "-P", "-c", program], capture_output=True, text=True, check=True)
    assert [path for path in done.stdout.split() if not path.startswith(root)] == []


@is_there(OLD)
@pytest.mark.parametrize("name", ["conv-relu-batch", "lift-params", "linear-4d"])
def test_an_older_release_compiles_the_corpus(fleet: Fleet, name: str) -> None:
    case = case_file.read(ROOT / "corpus" / name)
    lanes = in_toolchains(TVM_LANES, named(OLD))
    references = dict.fromkeys(reference for lane in lanes for reference in needed(lane))
    result = fleet.run(case, (*references, *lanes))
    assert all(isinstance(result.outcomes[lane], Ran) for lane in lanes)
    assert [finding for finding in judge_all(case, result.outcomes) if finding.lane in lanes] == []


@is_there(OLD)
def test_an_older_release_runs_cases_of_onnx(fleet: Fleet) -> None:
    case = generate(NumpySource(1, 0), Limits(max_nodes=1), [ROWS["Neg-13"]], symbolic=False, opset=17)
    lanes = in_toolchains((*MODEL_LANES, *MODEL_SAMPLED_LANES), named(OLD))
    outcomes = fleet.run(case, (*ONNX_LANES, *lanes)).outcomes
    assert [lane.name for lane in lanes if isinstance(outcomes[lane], Broken)] == []
    assert all(isinstance(outcomes[lane], Ran) for lane in lanes if lane.name in {lane.name for lane in MODEL_LANES})
    assert [finding for finding in judge_all(case, outcomes) if finding.lane in lanes] == []


@is_there(OLD)
def test_the_mutants_of_all_releases_are_the_same(fleet: Fleet) -> None:
    """The lane that breaks modules reads and writes the JSON of either release."""
    here = next(lane for lane in SAMPLED_LANES if lane.variant == "mutants")
    there = in_toolchain(here, OLD)
    outcomes = fleet.run(toolchain_check.case(), (here, there)).outcomes
    new, old = (facts_of(outcomes[lane]).mutants for lane in (here, there))
    assert len(new) == 6
    assert [(mutant.change, mutant.fate) for mutant in old] == [(mutant.change, mutant.fate) for mutant in new]
    assert {mutant.fate for mutant in old} == {MutantFate.REFUSED}


@is_there(OLD)
def test_results_of_two_releases_agree(fleet: Fleet) -> None:
    here = TVM_LANES[0]
    there = replace(here, toolchain=OLD)
    outcomes = fleet.run(toolchain_check.case(), (here, there)).outcomes
    new, old = outcomes[here], outcomes[there]
    assert isinstance(new, Ran)
    assert isinstance(old, Ran)
    np.testing.assert_allclose(old.outputs[0], new.outputs[0], rtol=1e-6)


@is_there(OLD)
def test_lanes_of_an_older_release_are_traced_too(fleet: Fleet) -> None:
    """Its passes have other namespaces: what can be left out there can be left out here."""
    case = case_file.read(ROOT / "corpus" / "linear-4d")
    lane = in_toolchain(replace(TVM_LANES[0], tracing=Tracing(limit=0)), OLD)
    outcome = fleet.run(case, (lane,)).outcomes[lane]
    assert isinstance(outcome, Ran)
    assert outcome.facts.trace is not None
    assert outcome.facts.trace.passes[0].name == "DispatchSampling"
    assert {each.ran for each in outcome.facts.trace.passes if each.optional} == {False}


@is_there("relay")
def test_relay_builds_and_runs(tmp_path: Path) -> None:
    """Its zygote builds and runs a program before it says that it is ready."""
    toolchain = registry.find("relay")
    assert toolchain.kind is GraphLanguage.RELAY
    with Executor(tmp_path / "scratch", toolchain) as executor:
        assert executor.versions["tvm"] == "0.17.dev0"
        assert executor.versions["torch"].partition("+")[0] == _hosts("torch")


@is_there("relay")
def test_every_lane_in_relay_works(fleet: Fleet) -> None:
    report = toolchain_check.check(registry.find("relay"), fleet)
    assert [(lane.lane, lane.passed, lane.reason) for lane in report.lanes] == [
        (lane.name, True, "") for lane in RELAY_LANES
    ]


def _hosts(package: str) -> str:
    program = f"import importlib.metadata as m; print(m.version({package!r}))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    return done.stdout.strip().partition("+")[0]
