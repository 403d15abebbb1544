"""The other readers of an exported file give PyTorch's results."""

from __future__ import annotations

import pytest
from small_models import CASES

from fuzzer.isolate.executor import Executor
from fuzzer.lanes import ONNX_READERS, REFERENCES
from oracles.against_torch import judge
from oracles.outcome import Ran
from oracles.reference import expected

pytestmark = [pytest.mark.tvm, pytest.mark.smoke]


@pytest.mark.parametrize("case", ["linear", "conv"])
def test_readers_agree_with_pytorch(executor: Executor, case: str) -> None:
    outcomes = executor.run(CASES[case], (*REFERENCES, *ONNX_READERS)).outcomes
    right = expected(outcomes)
    assert right is not None
    for reader in ONNX_READERS:
        outcome = outcomes[reader]
        assert isinstance(outcome, Ran), outcome
        assert judge(outcome.outputs, right) is None
