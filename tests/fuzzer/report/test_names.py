"""What reports call the operators of a model."""

from __future__ import annotations

from dataclasses import replace

import pytest
from fakes import TVM
from graphs_by_hand import Call, case_of
from records import record

from fuzzer.lanes import MODEL_LANES
from fuzzer.report.names import operators
from fuzzer.signature.blame import Blame, Origin, Place
from oracles.finding import Kind, Mismatch
from oracles.outcome import Raised, Stage


@pytest.mark.parametrize(("ops", "rest"), [(3, ""), (4, " with 1 more operator"), (5, " with 2 more operators")])
def test_of_many_operators_three_are_named(ops: int, rest: str) -> None:
    names = ["neg", "relu", "tanh", "sin", "cos"][:ops]
    calls = [(f"v{at}", name, f"v{at - 1}" if at else "x0") for at, name in enumerate(names)]
    case = case_of({"x0": "float32[2]"}, calls, f"v{ops - 1}")
    shown = operators(record(case, Kind.WRONG_VALUE, TVM, Mismatch(0, "1", "2")))
    assert shown == f"`torch.neg` + `torch.relu` + `torch.tanh`{rest}"


FLAT = Blame(Place.FRONTEND, "Flatten", "Flatten._impl_v13")
GOT_A_TYPE = replace(FLAT, origin=Origin(made="float32[1, 4]", right="float32[4, 1]"))


@pytest.mark.parametrize(("blame", "named"), [(FLAT, "`Flatten`"), (GOT_A_TYPE, "`Flatten` + `Relu`")])
def test_at_a_failed_import_of_a_file_the_operator_is_named_that_stops_it(blame: Blame, named: str) -> None:
    """Where a wrong type was given before, the importer stops at a later operator."""
    calls: list[Call] = [("v0", "Flatten-13", "x0"), ("v1", "Relu-14", "v0")]
    case = case_of({"x0": "float32[4]"}, calls, "v1", opset=17)
    raised = Raised(Stage.IMPORT, "ValueError", "no")
    assert operators(record(case, Kind.INTERNAL_ERROR, MODEL_LANES[0], raised, blame=blame)) == named
