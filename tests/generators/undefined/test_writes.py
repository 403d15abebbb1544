"""Which elements several different numbers are written to, against PyTorch's own indexing."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
import torch

from generators.graph import Array, DType, TensorType
from generators.undefined import Call
from generators.undefined.writes import along, by_coordinates, by_items


def _call(attrs: dict[str, object], *args: Array) -> Call:
    types = tuple(TensorType(DType(str(arg.dtype)), arg.shape) for arg in args)
    return Call(args, types, types[:1], attrs)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("index", "source", "undefined"),
    [
        ([1, 1], [5.0, 6.0, 6.0], [0, 1, 0]),
        ([1, -2], [5.0, 5.0, 6.0], [0, 0, 0]),
        ([0, 2], [5.0, 6.0, 7.0], [0, 0, 0]),
        (2, [5.0, 6.0], [0, 0, 0]),
        ([2], 5.0, [0, 0, 0]),
    ],
)
def test_numbers_of_a_source_that_is_longer_than_its_index_are_not_written(
    index: object, source: object, undefined: list[int]
) -> None:
    """As PyTorch's scatter takes the first ones."""
    places = along("dim")(_call({"dim": 0}, np.zeros(3), np.array(index), np.array(source)))
    assert places.results[0].tolist() == undefined


def test_a_row_of_no_coordinates_stands_for_the_whole_result() -> None:
    updates = np.array([[1.0, 2.0], [1.0, 3.0]])
    places = by_coordinates(_call({}, np.zeros(2), np.zeros((2, 0), np.int64), updates))
    assert places.results[0].tolist() == [0, 1]


def _items_for(rng: np.random.Generator, shape: Sequence[int]) -> tuple[list[str], list[Array]]:
    """An index into a tensor of this shape, and its tensors. An ellipsis may stand for no dimension."""
    items: list[str] = []
    tensors: list[Array] = []
    axis = 0
    while axis < len(shape):
        size = shape[axis]
        match rng.choice(["tensor", "number", "list", "...", "None", "slice"], p=[0.4, 0.1, 0.1, 0.15, 0.05, 0.2]):
            case "tensor":
                count = () if rng.random() < 0.15 else (2,)
                tensors.append(rng.integers(-size, size, count))
                items.append(f"{{{len(tensors) + 1}}}")
            case "number":
                items.append(str(rng.integers(-size, size)))
            case "list":
                items.append(f"[{', '.join(map(str, rng.integers(-size, size, 2)))}]")
            case "..." if "..." not in items:
                items.append("...")
                axis -= int(rng.integers(2))
            case "None":
                items.append("None")
                axis -= 1
            case _:
                items.append(str(rng.choice([":", "1:", "::2"])))
        axis += 1
    return items, tensors


def _selected(shape: Sequence[int], items: Sequence[str], tensors: Sequence[Array]) -> Array:
    """The flat positions that PyTorch reads for this index."""
    text = ", ".join(f"tensors[{int(item[1:-1]) - 2}]" if item.startswith("{") else item for item in items)
    flat = torch.arange(int(np.prod(shape))).reshape(tuple(shape))
    chosen: torch.Tensor = eval(f"x[{text}]", {"x": flat, "tensors": [torch.from_numpy(np.array(t)) for t in tensors]})
    return chosen.numpy()


@pytest.mark.parametrize("seed", range(8))
def test_an_index_selects_what_it_selects_for_pytorch(seed: int) -> None:
    rng, tried, spared = np.random.default_rng(seed), 0, 0
    while tried < 60:
        shape = rng.integers(2, 5, rng.integers(1, 5)).tolist()
        items, tensors = _items_for(rng, shape)
        chosen = _selected(shape, items, tensors)
        values = rng.integers(0, 3, chosen.shape).astype(np.float64)
        written: list[set[float]] = [set() for _ in range(int(np.prod(shape)))]
        for place, value in zip(chosen.ravel(), values.ravel(), strict=True):
            written[place].add(value)
        found = by_items(_call({"index": tuple(items)}, np.zeros(shape), values, *tensors)).results[0]
        assert found.ravel().tolist() == [len(each) > 1 for each in written], (shape, items)
        tried += 1
        spared += "..." in items and len(items) - 1 - items.count("None") == len(shape)
    assert spared >= 3, "an ellipsis stands for no dimension in some of them"
