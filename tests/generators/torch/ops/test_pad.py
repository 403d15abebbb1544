"""Pads: calls that PyTorch refuses, corner cases, and the source texts of layers."""

from __future__ import annotations

import pytest
from eager import in_torch, inferred, types_of

from generators.graph import Attrs, Form, Invalid, Node
from generators.torch.ops import TABLE
from generators.torch.source import constructor, statements

REFUSED = [
    ("pad_constant", "float32[2,3]", {"pad": (-4, 0), "value": None}, "crops more than size 3"),
    ("pad_constant", "float32[3]", {"pad": (-4, 5), "value": 0}, "crops more than size 3"),
    ("pad_constant", "float32[3]", {"pad": (1, 1, 1, 1), "value": 0}, "of 2 dimensions does not fit"),
    ("pad_constant", "float32[3]", {"pad": (1,), "value": 0}, "pad takes pairs, not 1 amounts"),
    ("pad_constant", "uint8[3]", {"pad": (1, 1), "value": -1}, "uint8 cannot hold -1"),
    ("pad_constant", "int8[3]", {"pad": (1, 1), "value": 127.5}, "int8 cannot hold 127.5"),
    ("pad_constant", "float16[3]", {"pad": (1, 1), "value": 65520}, "float16 cannot hold 65520"),
    ("pad_reflect", "float32[1,1,3]", {"pad": (3, 0)}, "pad (3, 0) is more than 2, the most for size 3"),
    ("pad_reflect", "float32[4]", {"pad": (1, 1)}, "takes rank + 1 or + 2"),
    ("pad_reflect", "bool[1,4]", {"pad": (1, 1)}, "is not defined for bool"),
    ("pad_reflect", "float32[2,0,4]", {"pad": (1, 1)}, "takes no empty dimension but the batch"),
    ("pad_replicate", "float32[1,1,3]", {"pad": (-2, -1)}, "crops all of size 3"),
    ("pad_replicate", "float32[1,3]", {"pad": ()}, "pads 1 to 3 dimensions"),
    ("pad_circular", "float32[1,1,3]", {"pad": (4, 0)}, "pad (4, 0) is more than 3, the most for size 3"),
    ("pad_circular", "float32[1,1,0]", {"pad": (1, 0)}, "pad (1, 0) is more than 0, the most for size 0"),
]


@pytest.mark.parametrize(("op", "types", "attrs", "message"), REFUSED)
def test_pytorch_and_inference_refuse(op: str, types: str, attrs: Attrs, message: str) -> None:
    with pytest.raises(RuntimeError):
        in_torch(op, types_of(types), attrs)
    with pytest.raises(Invalid) as error:
        inferred(op, types_of(types), attrs)
    assert message in str(error.value)


@pytest.mark.parametrize(
    ("op", "types", "attrs"),
    [
        ("pad_circular", "float32[1,1,3]", {"pad": (2, -3)}),  # PyTorch copies uninitialized elements
        (
            "pad_reflect",
            "float32[1,2,3]",
            {"pad": (0, -3, 0, 0)},
        ),  # PyTorch accepts an empty dimension if another is not empty
        ("pad_constant", "int8[3]", {"pad": (0, 0), "value": 300}),  # PyTorch accepts it unless something is padded
    ],
)
def test_inference_refuses_what_pytorch_accepts(op: str, types: str, attrs: Attrs) -> None:
    in_torch(op, types_of(types), attrs)
    with pytest.raises(Invalid):
        inferred(op, types_of(types), attrs)


@pytest.mark.parametrize(
    ("op", "types", "attrs", "result"),
    [
        ("pad_constant", "int64[3]", {"pad": (-1, 5), "value": 2}, "int64[7]"),
        ("pad_constant", "float32[3]", {"pad": (-1, -2), "value": None}, "float32[0]"),
        ("pad_constant", "float32[3]", {"pad": (-3, 2), "value": -0.5}, "float32[2]"),
        ("pad_constant", "bool[0,2]", {"pad": (1, 0, 0, 2), "value": 7}, "bool[2,3]"),
        ("pad_constant", "uint8[2]", {"pad": (1, 1), "value": 255.0}, "uint8[4]"),
        ("pad_constant", "float16[]", {"pad": (), "value": None}, "float16[]"),
        ("pad_constant", "int8[1,1,1,1,1]", {"pad": (0, 1) * 5, "value": True}, "int8[2,2,2,2,2]"),
        ("pad_reflect", "int8[2,4]", {"pad": (3, -1)}, "int8[2,6]"),
        ("pad_reflect", "float32[0,2,4]", {"pad": (-4, 3)}, "float32[0,2,3]"),
        ("pad_replicate", "uint8[2,3]", {"pad": (-3, 9)}, "uint8[2,9]"),
        ("pad_circular", "bool[1,3]", {"pad": (3, 3)}, "bool[1,9]"),
        ("pad_circular", "float32[1,1,3]", {"pad": (-1, -2)}, "float32[1,1,0]"),
        ("pad_circular", "float32[1,0,3]", {"pad": (2, -1)}, "float32[1,0,4]"),
    ],
)
def test_corners(op: str, types: str, attrs: Attrs, result: str) -> None:
    assert inferred(op, types_of(types), attrs) == result
    assert in_torch(op, types_of(types), attrs) == result


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
