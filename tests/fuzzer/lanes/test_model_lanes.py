"""The lanes that a person means: llvm by default, and the person's own target and settings."""

from __future__ import annotations

from typing import Any

import pytest

from fuzzer.lanes import EVERY_TVM_LANE, lanes_of
from fuzzer.lanes.model_lanes import LaneChoice, choice, lanes_for
from generators.graph import Invalid
from oracles.lane import Pipeline


def names(dialect: str = "torch", **given: Any) -> list[str]:
    return [lane.name for lane in lanes_for(choice(**given), dialect)]


@pytest.mark.parametrize(
    ("dialect", "given", "expected"),
    [
        ("torch", {}, ["relax-export-llvm", "relax-onnx-dynamo-llvm"]),
        ("onnx", {}, ["relax-onnx-model-llvm"]),
        ("torch", {"lanes": "relax-fx-llvm"}, ["relax-fx-llvm"]),
        ("torch", {"target": "llvm"}, ["relax-export-llvm", "relax-onnx-dynamo-llvm"]),
        (
            "torch",
            {"target": "c"},
            ["relax-export-llvm", "relax-onnx-dynamo-llvm", "relax-export-c", "relax-onnx-dynamo-c"],
        ),
        ("onnx", {"target": "c"}, ["relax-onnx-model-llvm", "relax-onnx-model-c"]),
        (
            "torch",
            {"target": "cuda -arch=sm_90", "lanes": "relax-export-llvm"},
            ["relax-export-llvm", "relax-export-cuda-arch-sm_90"],
        ),
        ("onnx", {"target": "opencl"}, ["relax-onnx-model-llvm", "relax-onnx-model-opencl"]),
        ("torch", {"pipeline": "zero"}, ["relax-export-zero", "relax-onnx-dynamo-llvm-zero"]),
        ("torch", {"pipeline": "default"}, ["relax-export-llvm", "relax-onnx-dynamo-llvm"]),
        ("onnx", {"pipeline": "cpu_generic", "opt_level": 3}, ["relax-onnx-model-llvm-cpu_generic-opt3"]),
        (
            "onnx",
            {"lanes": "relax-onnx-model-c", "target": "metal"},
            ["relax-onnx-model-c", "relax-onnx-model-c-metal"],
        ),
    ],
)
def test_the_lanes_of_a_choice(dialect: str, given: dict[str, Any], expected: list[str]) -> None:
    assert names(dialect, **given) == expected


@pytest.mark.parametrize("dialect", ["torch", "onnx"])
@pytest.mark.parametrize("globs", ["*", "all-plain"])
def test_the_plain_lanes_have_a_name(globs: str, dialect: str) -> None:
    assert lanes_for(choice(globs), dialect) == lanes_of(dialect).plain


def test_a_lane_that_campaigns_have_is_theirs() -> None:
    (_, _, export, onnx) = lanes_for(choice(target="c"), "torch")
    assert export in EVERY_TVM_LANE
    assert (onnx.target, onnx in EVERY_TVM_LANE) == ("c", False)
    (lane,) = lanes_for(choice(lanes="relax-export-llvm", pipeline="zero", opt_level=1), "torch")
    assert (lane.pipeline, lane.opt_level, lane.target) == (Pipeline.ZERO, 1, "llvm")


class Target:
    """It has the module and the text of TVM's own class."""

    __module__ = "tvm.target.target"

    def __str__(self) -> str:
        return '{"kind":"cuda","tag":"","keys":["cuda","gpu"],"arch":"sm_90"}'


@pytest.mark.parametrize(
    ("target", "text"),
    [
        (None, ""),
        ("llvm -mcpu=skylake-avx512", "llvm-avx512"),
        ({"kind": "cuda", "arch": "sm_90"}, "cuda -arch=sm_90"),
        (Target(), "cuda -keys=cuda,gpu -arch=sm_90"),
    ],
)
def test_a_target_is_a_text_a_dictionary_or_tvms_own(target: object, text: str) -> None:
    assert choice(target=target) == LaneChoice(target=text)


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"target": 3}, "a int is no target: pass a text such as 'cuda -arch=sm_90'"),
        ({"pipeline": "o3"}, "there is no pipeline 'o3': pass default, default_build, zero, cpu_generic"),
        ({"opt_level": 5}, "there is no optimisation level 5: pass 0 to 4"),
        ({"lanes": "x"}, "no lane of cases of torch matches 'x'; `fuzz lanes` lists them"),
    ],
)
def test_what_has_no_meaning_is_refused(given: dict[str, Any], says: str) -> None:
    with pytest.raises(Invalid) as error:
        names(**given)
    assert str(error.value) == says
