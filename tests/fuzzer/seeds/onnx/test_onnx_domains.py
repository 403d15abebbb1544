"""The domains in which operands of calls of ONNX are defined."""

from __future__ import annotations

import pytest

from fuzzer.seeds.onnx.domains import needed
from generators.domain import ANY, within
from generators.graph import Node, TensorType
from generators.onnx.model import Node as NodeOfFile
from generators.onnx.rows import ROWS
from generators.onnx.unlisted import call_of

OPERANDS = "float32[2,3,4] float32[4,18] float32[18]"


@pytest.mark.parametrize(
    ("mask", "past", "domain"),
    [
        ("int32[2]", "", within(1, 3)),
        ("int32[2]", "float32[2,2,2,5,3]", within(1, 8)),
        ("int32[4]", "", within(0, 3)),
        ("int32[2,3]", "", within(1, 1)),
        ("int32[2,3,3]", "", within(1, 1)),
    ],
)
def test_a_mask_of_attention_leaves_keys_to_each_query(mask: str, past: str, domain: object) -> None:
    types = tuple(map(TensorType.parse, f"{OPERANDS} {mask} {past}".split()))
    given = (True, True, True, True, bool(past), False, False)
    attrs = {**ROWS["Attention-1"].defaults, "num_heads": 2, "inputs": given, "outputs": (True, bool(past))}
    node = Node("Attention-1", ("x", "w", "b", "m", "p")[: len(types)], attrs, ())
    assert needed(node, 3, types) == domain


def test_lengths_of_sequences_are_within_them() -> None:
    """The other operands of a node without a row may have any numbers."""
    sizes = {"x": "float32[7,2,5]", "w": "float32[1,12,5]", "r": "float32[1,12,3]", "lengths": "int32[2]"}
    types = {name: TensorType.parse(type) for name, type in {**sizes, "y": "float32[1,2,3]"}.items()}
    node = call_of(NodeOfFile("LSTM", ("x", "w", "r", "", "lengths"), ("", "y")), 0, types)
    found = [needed(node, place, tuple(types[name] for name in sizes)) for place in range(4)]
    assert found == [ANY, ANY, ANY, within(1, 7)]
