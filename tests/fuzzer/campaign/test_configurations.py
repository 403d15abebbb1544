"""Configurations: every legal tuple of what a file lists is compiled first, and nothing illegal ever."""

from __future__ import annotations

import os
from dataclasses import replace
from itertools import chain
from pathlib import Path

import fakes
import pytest
from graphs_by_hand import case_of
from hypothesis import given
from hypothesis import strategies as st

from fuzzer.campaign.cases.guidance import Guidance
from fuzzer.campaign.lanes.lane_mix import lanes_of
from fuzzer.campaign.plan.aim import Aim, Covering
from fuzzer.campaign.plan.configuration_file import PLAIN, Listed, read
from fuzzer.campaign.plan.configurations import PER_TEST, Configurations
from fuzzer.campaign.plan.covering import tuples_of
from fuzzer.campaign.plan.settings import LaneMix, Settings
from fuzzer.campaign.store.rows import Observations
from fuzzer.lanes import REFERENCES
from fuzzer.lanes.base.availability import Machine
from generators.graph import Invalid
from oracles.lane import Engine, LaneSpec, Params, Pipeline
from oracles.lane_check import invalid_reason
from oracles.outcome import Outcome, Stage, Unsupported
from oracles.siblings import additions
from oracles.target_kinds import KINDS
from oracles.transforms import TRANSFORMS_BY_NAME, ModuleForm, not_disabled_alone

ALL = """
tuples = 2
passes = ["FoldConstant", "FuseOps", "FuseTIR", "LegalizeOps", "ToNonDataflow", "TopologicalSort-depth"]
disabled = ["FuseTIR", "FuseOps", "StaticPlanBlockMemory"]
options = ["tirx.noalias", "tirx.disable_vectorize"]
pipelines = ["default_build", "zero"]
targets = ["llvm", "llvm-O0", "c"]
opt_levels = [2, 0, 3]
params = ["bound", "lifted", "lifted-consuming"]
executors = ["bytecode", "compiled"]
importers = ["export", "fx"]

[own]
passes = ["DeadCodeElimination"]
pipeline = "zero"
"""
CASE = case_of({"x0": "float32[2]"}, [("v0", "relu", "x0")], "v0")
SMALL = 'options = ["tirx.noalias"]\nopt_levels = [2, 3]\n'


@pytest.fixture(scope="module")
def everything(tmp_path_factory: pytest.TempPathFactory) -> Configurations:
    return configurations(tmp_path_factory.mktemp("all"), ALL)


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Listed:
    return configurations(tmp_path_factory.mktemp("small"), SMALL).listed


def configurations(folder: Path, text: str, seed: int = 1) -> Configurations:
    path = folder / "flags.toml"
    path.write_text(text)
    return Configurations(read(path, Machine(which=lambda name: f"/usr/bin/{name}")), seed)


def lanes_of_rows(found: Configurations) -> list[LaneSpec]:
    tests = -(-len(found.rows) // PER_TEST)
    return list(chain.from_iterable(map(found.lanes, range(tests))))[: len(found.rows)]


def illegal(lane: LaneSpec) -> bool:
    lowered = any(TRANSFORMS_BY_NAME[name].form is ModuleForm.LOWERED for name in lane.passes)
    return bool(
        invalid_reason(lane)
        or not_disabled_alone(lane.disabled)
        or (lowered and lane.pipeline is not Pipeline.DEFAULT)
        or (lane.params.is_lifted and lane.opt_level == 0)
        or (lane.params is Params.LIFTED_CONSUMING and "TopologicalSort-depth" in lane.passes)
        or any(need not in lane.passes for name in lane.passes for need in TRANSFORMS_BY_NAME[name].after)
    )


def unordered(lane: LaneSpec) -> LaneSpec:
    """The lane with its passes in one order: the order of a configuration is drawn."""
    return replace(lane, passes=tuple(sorted(lane.passes)))


def test_the_first_tests_compile_each_legal_pair(everything: Configurations) -> None:
    lanes = lanes_of_rows(everything)
    factors = everything.listed.factors
    covered = {found for row in everything.rows for found in tuples_of(row, 2)}
    assert len(covered) == everything.tuples
    for row, lane in zip(everything.rows, lanes, strict=True):
        for factor, value in zip(factors, row, strict=True):
            chosen = factor.values[value]
            if not factor.name:
                assert getattr(lane, factor.field) == chosen
            elif factor.name in getattr(lane, factor.field):
                assert chosen
            else:
                assert not chosen
    for one, other in (
        ("opt_level 3", "tirx.noalias"),
        ("without StaticPlanBlockMemory", "target c"),
        ("FuseTIR", "executor compiled"),
    ):
        assert any({one, other} <= {*additions(lane), f"target {lane.target}"} for lane in lanes)


@pytest.mark.slow
def test_no_configuration_is_illegal(everything: Configurations) -> None:
    lanes = [lane for index in range(300) for lane in everything.lanes(index)]
    assert [lane for lane in lanes if illegal(lane)] == []
    assert all(lane.checked and lane.engine is Engine.TVM for lane in lanes)
    assert {lane.name for lane in lanes} == {"relax-export-drawn", "relax-fx-drawn"}


def test_after_the_rows_values_of_the_own_configuration_are_flipped(everything: Configurations) -> None:
    tests = -(-len(everything.rows) // PER_TEST)
    later = [lane for index in range(tests + 1, tests + 101) for lane in everything.lanes(index)]
    rows = set(map(unordered, lanes_of_rows(everything)))
    flipped = [lane for lane in later if unordered(lane) not in rows]
    assert 130 <= len(flipped) <= 150, "the others are the rows again"
    own = sum("DeadCodeElimination" in lane.passes and lane.pipeline is Pipeline.ZERO for lane in flipped)
    assert own > len(flipped) * 0.3, "each value is the user's own in 70 % of them; in half of the rows, or less"


@pytest.mark.slow
@given(st.integers(0, 50), st.integers(0, 500))
def test_the_seed_and_the_number_decide(small: Listed, seed: int, index: int) -> None:
    one, other = Configurations(small, seed), Configurations(small, seed)
    assert one.lanes(index) == other.lanes(index)
    assert len(one.lanes(index)) == PER_TEST


def test_a_test_runs_its_configurations_with_the_references_and_siblings(tmp_path: Path) -> None:
    found = configurations(tmp_path, SMALL)
    lanes = lanes_of(Settings(tmp_path, 1, LaneMix(configurations=found)), 1, 0, CASE)
    assert lanes[: len(REFERENCES)] == REFERENCES
    assert set(found.lanes(0)) <= set(lanes)
    assert [lane.name for lane in lanes if lane.engine is Engine.TVM and not additions(lane)]


# --- what is covered


def test_a_row_is_covered_when_its_lane_says_something_about_tvm(tmp_path: Path) -> None:
    found = configurations(tmp_path, SMALL)
    settings = Settings(tmp_path, 1, LaneMix(configurations=found))
    assert settings.aim.line(()) == "0 of 4 pairs of values of the configurations covered"
    right = fakes.expect([1.0, -2.0])
    outcomes: dict[LaneSpec, Outcome] = dict(fakes.references(right))
    second = found.lanes(0)[1]
    outcomes |= {lane: fakes.correct((right,)) for lane in found.lanes(0)}
    outcomes[second] = Unsupported(Stage.IMPORT, "no")
    guide = Guidance(settings, 1)
    guide.learn(0, CASE, outcomes, ())
    rows = {int(name.rpartition(" ")[2]) for name in guide.covered_rows}
    assert rows == {0, 2}
    assert settings.aim.line(guide.covered_rows) == "2 of 4 pairs of values of the configurations covered"
    again = Guidance(settings, 1)
    again.recall(Observations(guide.changed().features, {}))
    assert again.covered_rows == guide.covered_rows
    other = configurations(tmp_path, SMALL, seed=2)
    assert Settings(tmp_path, 2, LaneMix(configurations=other)).aim.line(guide.covered_rows).startswith("0 of 4 ")


def test_an_invalid_case_covers_nothing(tmp_path: Path) -> None:
    found = configurations(tmp_path, SMALL)
    outcomes: dict[LaneSpec, Outcome] = {lane: fakes.correct((fakes.expect([1.0]),)) for lane in found.lanes(0)}
    assert found.features(0, outcomes) == frozenset()


def test_tuples_of_rows_are_counted_once() -> None:
    covering = Covering(2, [(0, 0), (0, 1)], 4, "configuration x-1 ")
    names = ["configuration x-1 0", "configuration x-1 1", "configuration y-1 0", "op relu"]
    assert Aim(covering=covering).line(names).startswith("2 of 4 ")
    assert Aim().line(names) == ""


# --- files that are wrong


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "nothing in it has two values; list passes, disabled, options, pipelines, targets, ..."),
        ('targets = ["llvm"]', "nothing in it has two values; list passes, disabled, options, pipelines, targets, ..."),
        ("x", "Expected '=' after a key in a key/value pair (at end of document)"),
        ("passes = 1", "Expected `array`, got `int` - at `$.passes`"),
        ("pases = []", "Object contains unknown field `pases`"),
        ("tuples = 4", "Expected `int` <= 3 - at `$.tuples`"),
        ('passes = ["FuseOp"]', "no pass is called 'FuseOp'"),
        ('disabled = ["a b"]', "no pass of TVM is called 'a b'"),
        ('options = ["noalias"]', "no option of TVM is called 'noalias'"),
        ('targets = ["llvm", "z80"]', f"no target is called 'z80'; the kinds are {', '.join(KINDS)}"),
        ("opt_levels = [2, 5]", "there is no optimisation level 5"),
        ('pipelines = ["one"]', "Invalid enum value 'one' - at `$.pipelines[0]`"),
        ('executors = ["bytecode", "vm"]', "no program of Relax runs in the executor vm"),
        ('importers = ["export", "trace"]', "the importer trace does not import a model into Relax"),
        ('targets = ["llvm", "c"]', "c: missing: none of gcc, cc is on PATH"),
        ('disabled = ["FuseTIR"]', "FuseTIR may only be disabled together with FuseOps: list this too"),
        (
            'passes = ["ToNonDataflow"]\npipelines = ["zero"]',
            "no legal configuration of it has passes ToNonDataflow",
        ),
        (
            'opt_levels = [0, 2]\nparams = ["bound", "lifted"]\n[own]\nopt_level = 0\nparams = "lifted"',
            "[own] has two values that exclude each other: opt_level 0 and params lifted",
        ),
        (f"options = {[f'tirx.x{n}' for n in range(101)]}", "it lists more than 200 values"),
    ],
)
def test_a_wrong_file_is_refused_in_one_sentence(text: str, why: str, tmp_path: Path) -> None:
    path = tmp_path / "flags.toml"
    path.write_text(text)
    with pytest.raises(Invalid) as error:
        read(path, Machine(which=lambda name: None))
    assert str(error.value) == f"{path}: {why}"


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (f"opt_levels = [{'9' * 5000}]", "Exceeds the limit"),
        ('passes = ["\udc80"]', "can't decode byte 0x80"),
        (f"passes = {'[' * 5000}", "recursion|nested"),
        (" " * 17_000, "it has more than 16,384 bytes$"),
    ],
)
def test_a_file_that_harms_its_reader_is_refused(text: str, why: str, tmp_path: Path) -> None:
    path = tmp_path / "flags.toml"
    path.write_text(text, errors="surrogateescape")
    with pytest.raises(Invalid, match=why):
        read(path)


def test_a_pipe_or_a_link_in_the_place_of_a_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "real.toml").write_text('targets = ["llvm", "llvm-O0"]')
    (tmp_path / "link.toml").symlink_to(tmp_path / "real.toml")
    os.mkfifo(tmp_path / "pipe.toml")
    for name, why in (("link", "it is a link"), ("pipe", "it is not a regular file")):
        with pytest.raises(Invalid, match=rf"{name}\.toml: {why}"):
            read(tmp_path / f"{name}.toml")


@pytest.mark.slow
def test_a_file_that_is_not_there_and_too_many_tuples_are_refused(tmp_path: Path) -> None:
    with pytest.raises(Invalid, match=r"none\.toml: No such file or directory$"):
        read(tmp_path / "none.toml")
    many = f"tuples = 3\noptions = {[f'tirx.x{n}' for n in range(60)]}"
    with pytest.raises(Invalid, match="more than 100000 3-tuples; list fewer values"):
        configurations(tmp_path, many)


def test_the_lane_that_configurations_start_from_adds_nothing() -> None:
    assert additions(PLAIN) == ()
