"""The row and the attributes of a call of a program."""

from __future__ import annotations

import pytest

from fuzzer.seeds.torch.program import Arg, Call, Ref
from fuzzer.seeds.torch.row_of_call import NoRow, node_of
from generators.graph import DType, TensorType

X = TensorType(DType.FLOAT32, (2, 3))


def clamped(low: Arg) -> Call:
    return Call("clamp", {"input": Ref("x"), "min": low, "max": 2.0}, ("y",))


@pytest.mark.parametrize(("low", "means"), [(0.5, 0.5), ((0.5,), 0.5), ((), None), (None, None)])
def test_a_list_means_its_only_element_or_none(low: Arg, means: float | None) -> None:
    assert node_of(clamped(low), {"x": X}, {"y": X}).attrs["min"] == means


def test_a_list_of_several_elements_is_not_none() -> None:
    with pytest.raises(NoRow, match=r"min is \(0.5, 1.5\), which clamp does not accept"):
        node_of(clamped((0.5, 1.5)), {"x": X}, {"y": X})
