"""Pads: the source texts of layers."""

from __future__ import annotations

import pytest
from eager import types_of

from generators.graph import Attrs, Form, Node
from generators.torch.ops import TABLE
from generators.torch.source import constructor, statements


@pytest.mark.parametrize(
    ("op", "attrs", "form", "text"),
    [
        ("pad_constant", {"pad": (1, -1), "value": None}, Form.PLAIN, 'F.pad(a0, (1, -1), mode="constant")'),
        ("pad_constant", {"pad": (1, 0), "value": 1.5}, Form.FUNCTION, "torch.constant_pad_nd(a0, (1, 0), value=1.5)"),
        ("pad_constant", {"pad": (1, 0, 1, 1), "value": None}, Form.MODULE, "torch.nn.ZeroPad2d((1, 0, 1, 1))"),
        ("pad_constant", {"pad": (2, 2), "value": 0.5}, Form.MODULE, "torch.nn.ConstantPad1d(2, 0.5)"),
        ("pad_reflect", {"pad": (1, 2)}, Form.MODULE, "torch.nn.ReflectionPad1d((1, 2))"),
        ("pad_replicate", {"pad": (1,) * 6}, Form.MODULE, "torch.nn.ReplicationPad3d(1)"),
        ("pad_circular", {"pad": (0, 1, -1, 0)}, Form.MODULE, "torch.nn.CircularPad2d((0, 1, -1, 0))"),
    ],
)
def test_source_texts(op: str, attrs: Attrs, form: Form, text: str) -> None:
    node = Node(op, ("a0",), attrs, (), form)
    lines = constructor(node, ("a0",), types_of("float32[2,3,4,5,6]"), "layer") or statements(node, ("a0",))
    assert [line.split("= ", 1)[1] for line in lines] == [text]


def test_constant_layers_pad_one_to_three_dimensions() -> None:
    op = TABLE["pad_constant"]
    expressed = [
        op.expresses(Form.MODULE, types_of("int64[1,1,1,1]"), {"pad": (1, 1) * n, "value": 2}) for n in range(5)
    ]
    assert expressed == [False, True, True, True, False]
