"""Changed inputs and shared memory of a run in eager PyTorch."""

from __future__ import annotations

import pytest
import torch

from fuzzer.lanes.torch.effects import aliases, modified

NAMES = ("x0", "x1")


def test_a_changed_input_is_named_and_a_nan_that_stays_is_not() -> None:
    before = [torch.tensor([1.0, torch.nan]), torch.tensor([1, 2])]
    after = [tensor.clone() for tensor in before]
    assert modified(NAMES, before, after) == ()
    after[1][0] = 7
    assert modified(NAMES, before, after) == ("x1",)
    after[0][1] = 0.0
    assert modified(NAMES, before, after) == ("x0", "x1")


@pytest.mark.parametrize("shape", [(), (0,), (2, 0)])
def test_tensors_of_every_shape_can_be_compared(shape: tuple[int, ...]) -> None:
    x = torch.ones(shape)
    assert modified(("x0",), [x], [x.clone()]) == ()
    assert aliases(("x0",), [x], [x]) == (((0, "x0"),) if x.numel() else ())


def test_views_share_memory_and_copies_do_not() -> None:
    x, y = torch.ones(2, 3), torch.ones(3)
    outputs = (x.t(), y + 0, y[1:], x.flatten(), x.clone())
    assert aliases(NAMES, [x, y], outputs) == ((0, "x0"), (2, "x1"), (3, "x0"))
