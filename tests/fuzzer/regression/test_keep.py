"""What is recorded of the cases of a regression corpus."""

from __future__ import annotations

from dataclasses import replace

import fakes
import pytest
from regression_by_hand import EXPORT, FX, candidate

from fuzzer.regression.keep import Record
from fuzzer.regression.record import Coverage, Entry
from fuzzer.regression.runs import RIGHT, UNSUPPORTED, Ends, failure_id
from oracles.finding import Component, Finding, Kind
from oracles.lane import LaneSpec
from oracles.outcome import Stage

FINDING = Finding(Kind.INTERNAL_ERROR, Component.TVM, FX, Stage.IMPORT, fakes.raised(Stage.IMPORT, "E"))
FAILURE = failure_id(FINDING)


def ends(found: dict[LaneSpec, str], features: str = "kernel add") -> Ends:
    return Ends(found, {FAILURE: FINDING}, frozenset({features}), 0.5)


def test_a_lane_that_ends_otherwise_the_second_time_is_left_out() -> None:
    made = Record({})
    made.add(candidate(1, ""), ends({EXPORT: RIGHT, FX: FAILURE}), ends({EXPORT: RIGHT, FX: RIGHT}))
    assert [entry.right for entry in made.entries] == [["relax-export-llvm"]]
    assert made.unsteady == 1


def test_a_case_without_a_steady_lane_is_left_out() -> None:
    made = Record({})
    made.add(candidate(1, ""), ends({EXPORT: RIGHT}), ends({}))
    assert (made.entries, made.cases) == ([], {})


@pytest.mark.parametrize("message", ["DefaultCPUAllocator: can't allocate memory: you tried ...", "std::bad_alloc"])
def test_a_lane_that_got_no_memory_is_left_out(message: str) -> None:
    raised = fakes.raised(Stage.EXPORT, "RuntimeError", message)
    finding = Finding(Kind.INTERNAL_ERROR, Component.EXPORTER, FX, Stage.EXPORT, raised)
    both = Ends({EXPORT: RIGHT, FX: failure_id(finding)}, {failure_id(finding): finding}, frozenset(), 0.5)
    made = Record({})
    made.add(candidate(1, ""), both, both)
    assert [(entry.right, entry.fails) for entry in made.entries] == [(["relax-export-llvm"], {})]
    assert (made.unsteady, made.description([], {}).failures) == (1, {})


def test_failures_are_recorded_with_their_family() -> None:
    made = Record({FAILURE: "internal-error-add-0123456789ab"})
    made.add(candidate(1, ""), ends({EXPORT: UNSUPPORTED, FX: FAILURE}), ends({EXPORT: UNSUPPORTED, FX: FAILURE}))
    (entry,) = made.entries
    assert entry == Entry(
        candidate(1, "").name, ["relu"], "test 1", [], ["relax-export-llvm"], {"relax-fx-llvm": FAILURE}
    )
    description = made.description(["kernel add", "kernel mul", "op add float32 2", "compiled add"], {"tvm": "1"})
    assert description.failures[FAILURE].family == "internal-error-add-0123456789ab"
    assert (
        description.failures[FAILURE].title == "relax-fx-llvm refuses a valid PyTorch model in its import step: E: no"
    )
    assert description.coverage == {
        "compiler": Coverage(1, 2),
        "operators": Coverage(0, 1),
        "attributes and forms": Coverage(0, 0),
    }


def test_a_finding_says_its_own_family() -> None:
    made = Record({FAILURE: "of another"})
    made.add(candidate(1, "", family="its own"), ends({FX: FAILURE}), ends({FX: FAILURE}))
    made.add(candidate(2, ""), ends({FX: FAILURE}), ends({FX: FAILURE}))
    made.add(candidate(3, "", family="without a steady lane"), ends({FX: FAILURE}), ends({}))
    assert made.kept_families == {"its own"}
    assert made.description([], {}).failures[FAILURE].family == "its own"


def test_lanes_that_differ_have_names_that_differ() -> None:
    other = replace(FX, passes=("FuseOps",))
    made = Record({})
    made.add(candidate(1, ""), ends({FX: RIGHT, other: RIGHT}), ends({FX: RIGHT, other: RIGHT}))
    assert made.entries[0].right == ["relax-fx-llvm", "relax-fx-llvm-2"]
    assert made.description([], {}).lanes["relax-fx-llvm-2"]["passes"] == ("FuseOps",)
