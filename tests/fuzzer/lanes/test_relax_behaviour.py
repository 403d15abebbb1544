"""The names that a lane records of operators, passes, kernels and their loops, without sizes."""

from __future__ import annotations

import re

import pytest
from graphs_by_hand import Call, case_of
from small_models import outcome_of

from fuzzer.isolate.executor import Executor
from fuzzer.lanes import TVM_LANES, select
from generators.graph import Case
from oracles.outcome import Ran, facts_of

pytestmark = [pytest.mark.tvm, pytest.mark.smoke]

LLVM = TVM_LANES[0]
(ZERO,) = select("relax-export-zero")


def behaviour(executor: Executor, case: Case) -> set[str]:
    outcome = outcome_of(executor, case, LLVM)
    assert isinstance(outcome, Ran), outcome
    return set(outcome.facts.behaviour)


def softmax(size: int) -> Case:
    return case_of({"x0": f"float32[{size},3]"}, [("v0", "softmax", "x0", {"dim": 1}), ("v1", "relu", "v0")], "v1")


def test_names_of_a_small_model(executor: Executor) -> None:
    observed = behaviour(executor, softmax(2))
    assert observed >= {
        "relax relax.nn.softmax float32 2",
        "relax relax.nn.relu float32 2",
        "pass LegalizeOps",
        "pass RewriteDataflowReshape",
        "kernel relu",
        "kernel softmax",
        "tir SR max reads 1",
        "tir SR add reads 1",
        "tir SS exp reads 2",
        "tir SS div reads 2",
        "tir SS max reads 1",
    }
    assert not [name for name in observed if name.startswith("pass ") and re.search(r"\d", name)]


def test_names_do_not_depend_on_sizes(executor: Executor) -> None:
    assert behaviour(executor, softmax(2)) == behaviour(executor, softmax(5))


def test_fused_kernels_have_the_names_of_their_operators(executor: Executor) -> None:
    calls: list[Call] = [("v0", "relu", "x0"), ("v1", "sigmoid", "v0")]
    outcome = outcome_of(executor, case_of({"x0": "float32[2,3]"}, calls, "v1"), ZERO)
    assert {"pass FuseOps", "kernel fused_relu_tir_sigmoid"} <= set(facts_of(outcome).behaviour)
