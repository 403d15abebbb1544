"""What a check says of a model whose cases end in different ways. No compiler is started."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from fakes import TVM, internal_error
from graphs_by_hand import case_of
from labs import FakeLab

from fuzzer.api.model_check import ModelCheck
from generators.graph import Case
from oracles.lane import LaneSpec
from oracles.outcome import Outcome, Stage, Unsupported


def test_what_a_lane_compiled_at_one_size_is_covered(tmp_path: Path) -> None:
    """The lane takes all but erf, and the next time, as at another size, nothing at all."""
    refused = ["erf"]

    def outcome(case: Case, lane: LaneSpec, lanes: Sequence[LaneSpec]) -> Outcome | None:
        return Unsupported(Stage.IMPORT, "no erf") if set(refused) & set(case.graph.ops) else None

    case = case_of({"x0": "float32[2]"}, [("v0", "relu", "x0"), ("v1", "erf", "v0"), ("v2", "neg", "v1")], "v2")
    run = ModelCheck(FakeLab(outcome), (TVM,), tmp_path)
    run.run(case)
    refused[:] = ["erf", "relu", "neg"]
    run.run(case)
    checked = run.checked(2, (), "", 0.0)
    assert checked.not_covered == ("erf (1 time): import: no erf",)
    assert checked.not_run == ((TVM.name, "import: no erf; it ran the rest, without `erf`"),)


def test_a_failure_is_reduced_once_for_all_sizes(tmp_path: Path) -> None:
    """It names the inputs of each run. At another size a check runs the case, and the rest of it, and no more."""

    def outcome(case: Case, lane: LaneSpec, lanes: Sequence[LaneSpec]) -> Outcome | None:
        return internal_error(Stage.COMPILE) if "erf" in case.graph.ops else None

    lab, ran = FakeLab(outcome), []
    run = ModelCheck(lab, (TVM,), tmp_path)
    for size in (2, 7):
        steps = [("v0", "relu", "x0"), ("v1", "erf", "v0"), ("v2", "neg", "v1")]
        run.run(case_of({"x0": f"float32[{size}]"}, steps, "v2"))
        ran.append(len(lab.ran) - sum(ran))
    (failure,) = run.of_model
    assert failure.operators == ("erf",)
    assert failure.inputs == ("x0 [2]", "x0 [7]")
    assert failure.line == f"{failure.title}; with x0 [2], with x0 [7]"
    assert ran[1] < ran[0] / 2


def test_a_failure_at_one_size_names_no_inputs(tmp_path: Path) -> None:
    run = ModelCheck(FakeLab(lambda *_: internal_error(Stage.COMPILE)), (TVM,), tmp_path)
    run.run(case_of({"x0": "float32[2]"}, [("v0", "erf", "x0")], "v0"))
    (failure,) = run.of_model
    assert failure.line == failure.title
