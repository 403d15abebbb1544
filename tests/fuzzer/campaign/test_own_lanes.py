"""The lanes of a user's own pass."""

from __future__ import annotations

import pytest

from fuzzer.campaign.plan.own_lanes import PLAIN, own_lanes
from generators.graph import Invalid
from oracles.lane_check import invalid_reason


def test_a_pass_on_any_module_runs_alone() -> None:
    (lane,) = own_lanes("p:idempotent:half")
    assert (lane.name, lane.passes) == ("relax-export-own-p", ("own:p:idempotent:half",))
    assert (lane.checked, lane.asserts, lane.importer) == (True, False, PLAIN.importer)
    assert invalid_reason(lane) is None


def test_a_pass_on_kernels_runs_where_there_are_kernels() -> None:
    legalized, fused = own_lanes("p:kernels")
    assert (legalized.name, legalized.passes) == ("relax-export-own-p-legalized", ("LegalizeOps", "own:p:kernels"))
    before = ("LegalizeOps", "AnnotateTIROpPattern", "FuseOps")
    assert (fused.name, fused.passes) == ("relax-export-own-p-fused", (*before, "own:p:kernels"))


def test_another_name_is_refused_in_one_sentence() -> None:
    with pytest.raises(Invalid) as error:
        own_lanes("__import__('os')")
    assert str(error.value) == (
        "own pass \"__import__('os')\": it is not NAME[:kernels][:idempotent][:other-order|fast-math|half], "
        "NAME of letters, digits, '_', '.' and '-'"
    )
