"""The lanes of a Relax module."""

from __future__ import annotations

from typing import Any

import pytest

from fuzzer.api.module_lanes import module_lanes, only_compiled
from fuzzer.isolate.module_job import ModuleJob
from fuzzer.lanes.model_lanes import choice
from generators.graph import Invalid
from oracles.lane import Pipeline

LLVM, ZERO, C = ModuleJob(0, 0), ModuleJob(0, 0, pipeline=Pipeline.ZERO), ModuleJob(0, 0, target="c")


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({}, {"relax-module-llvm": LLVM, "relax-module-zero": ZERO}),
        ({"lanes": "all-plain"}, {"relax-module-llvm": LLVM, "relax-module-c": C, "relax-module-zero": ZERO}),
        ({"lanes": "relax-module-c"}, {"relax-module-c": C}),
        ({"target": "c"}, {"relax-module-llvm": LLVM, "relax-module-zero": ZERO, "relax-module-c": C}),
        (
            {"lanes": "relax-module-llvm", "target": "opencl"},
            {"relax-module-llvm": LLVM, "relax-module-opencl": ModuleJob(0, 0, target="opencl")},
        ),
        ({"pipeline": "zero"}, {"relax-module-llvm-zero": ZERO}),
        (
            {"lanes": "relax-module-llvm", "pipeline": "cpu_generic", "opt_level": 3},
            {"relax-module-llvm-cpu_generic-opt3": ModuleJob(0, 0, pipeline=Pipeline.CPU, opt_level=3)},
        ),
    ],
)
def test_the_lanes_of_a_choice(given: dict[str, Any], expected: dict[str, ModuleJob]) -> None:
    found = module_lanes(choice(**given), ())
    assert found == expected
    assert list(found) == list(expected)


def test_each_lane_runs_the_passes() -> None:
    found = module_lanes(choice(), ("FoldConstant",))
    assert {job.passes for job in found.values()} == {("FoldConstant",)}


def test_code_that_no_processor_runs_is_only_compiled() -> None:
    assert only_compiled("llvm") == ""
    assert only_compiled("metal").startswith("it is only compiled: nothing here runs its code")


def test_an_unknown_lane_is_refused() -> None:
    with pytest.raises(Invalid, match=r"^no lane of a Relax module matches 'x': they are relax-module-llvm, "):
        module_lanes(choice("x"), ())
