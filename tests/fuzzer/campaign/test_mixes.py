"""What campaigns draw where they draw all operators of a dialect."""

from __future__ import annotations

import pytest

from fuzzer.campaign.cases.mixes import mixes_of
from generators.choice import NumpySource
from generators.dialect import dialect_named
from generators.limits import Limits


@pytest.mark.parametrize("name", ["onnx", "relax"])
def test_a_dialect_that_names_no_mixes_draws_all_of_its_operators(name: str) -> None:
    record, mixes = dialect_named(name), mixes_of(name)
    assert mixes.mix(NumpySource(1)) is record.drawn()
    assert mixes.draw is record.draw
    assert not any(mixes.is_for_pass(1, index) for index in range(50))
    assert mixes.for_pass(NumpySource(1), 1, 0, Limits(), "") is None
