"""Names of what a test did: the same for what is of one kind, others for what is not."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest

from fuzzer.campaign.store.features import features_of, of_case
from fuzzer.lanes import TORCH, TVM_LANES
from generators.builder import Builder
from generators.choice import NumpySource
from generators.graph import Case, DType, Form, TensorType
from generators.onnx.rows import at_opset
from generators.random_graph import with_values
from generators.torch.motifs import call
from generators.torch.random_graph import generate
from oracles.judge import judge_all
from oracles.lane import LaneSpec
from oracles.outcome import Facts, Outcome, Raised, Ran, Stage, Unsupported

LANE = TVM_LANES[0]


def softmax_of_sum(*sizes: int, dim: int = -1) -> Case:
    b = Builder(NumpySource(0))
    x = b.fresh_input(TensorType(DType.FLOAT32, sizes))
    call(b, "softmax", call(b, "add", x, x), dim=dim)
    return with_values(b, "by hand")


def test_the_names_of_a_case() -> None:
    assert set(of_case(softmax_of_sum(2, 3).graph)) == {
        "op add float32 2",
        "op softmax float32 2",
        "attr add alpha=1",
        "attr softmax dim=-1",
        "attr softmax dtype=None",
    }


def test_forms_have_names_and_functions_one_for_all_operators() -> None:
    b = Builder(NumpySource(0), dialect="onnx", opset=17)
    x = b.fresh_input(TensorType(DType.FLOAT32, (2,)))
    for name, form in (("Relu", Form.LOCAL), ("Neg", Form.LOCAL), ("Abs", Form.IDENTITY)):
        b.emit(at_opset(name, 17), (x,), {}, form)
    forms = {name for name in of_case(with_values(b, "by hand").graph) if name.startswith("form ")}
    assert forms == {"form local", "form Abs-13 identity"}


def test_sizes_and_values_have_no_names_and_ranks_have() -> None:
    assert set(of_case(softmax_of_sum(2, 3).graph)) == set(of_case(softmax_of_sum(5, 1).graph))
    assert set(of_case(softmax_of_sum(2, 3).graph)) != set(of_case(softmax_of_sum(2, 3, 4).graph))


@pytest.mark.parametrize(("one", "other", "same"), [(-1, -2, False), (0, 1, False), (3, 4, True), (-1, 1, False)])
def test_attributes_have_classes(one: int, other: int, same: bool) -> None:
    sizes = (1, 2, 1, 2, 1)
    features = [set(of_case(softmax_of_sum(*sizes, dim=dim).graph)) for dim in (one, other)]
    assert (features[0] == features[1]) is same


def test_what_lanes_did_and_how_they_came_out() -> None:
    outputs = (np.zeros((2, 3), np.float32),)
    facts = Facts(behaviour=("relax relax.add float32 2", "kernel fused_add_softmax", "pass FuseTIR"))
    raised = Raised(Stage.COMPILE, "tvm.error.InternalError", "Check failed: no", facts=facts)
    assert features_of({TORCH: Ran(outputs), LANE: raised}, ()) == {
        f"{LANE.importer} relax relax.add float32 2",
        "kernel fused_add_softmax",
        "pass FuseTIR",
        f"{LANE.importer} Raised compile",
    }


def test_what_an_importer_lacks_is_a_feature_of_its_own() -> None:
    lacks = Unsupported(Stage.IMPORT, "Unsupported function types ['softmax.int']")
    assert f"{LANE.importer} lacks softmax.int" in features_of({LANE: lacks}, ())


def test_each_failure_has_a_name() -> None:
    case = softmax_of_sum(2, 3)
    failure = Raised(Stage.COMPILE, "tvm.error.InternalError", "Check failed")
    outcomes: dict[LaneSpec, Outcome] = {TORCH: Ran(case_outputs(case)), LANE: failure}
    found = tuple(judge_all(case, outcomes))
    (name,) = (name for name in features_of(outcomes, found) if name.startswith("failure "))
    renamed = replace(failure, message="Check failed ")
    again = tuple(judge_all(case, {**outcomes, LANE: renamed}))
    assert name in features_of(outcomes, again)


def case_outputs(case: Case) -> tuple[np.ndarray, ...]:
    return tuple(np.zeros(type.sizes, type.dtype.numpy) for type in case.graph.output_types)


def test_names_hold_no_numbers_of_many_digits() -> None:
    """These are sizes and values, of which there is no end."""
    b = Builder(NumpySource(0))
    x = b.fresh_input(TensorType(DType.FLOAT32, (1234, 1)))
    call(b, "add", call(b, "pad_constant", x, pad=(1234, 1234), value=1234.5), x, alpha=1234)
    for case in (with_values(b, "by hand"), *(generate(NumpySource(5, index)) for index in range(20))):
        assert [name for name in of_case(case.graph) if re.search(r"\d{3}", name)] == []
