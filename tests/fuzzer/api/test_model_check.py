"""What a check says of a model whose cases end in different ways. No compiler is started."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from fakes import TVM
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
