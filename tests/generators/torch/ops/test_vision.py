"""Rows of `vision`."""

from __future__ import annotations

import pytest
import torch
import torch.nn.functional as F
from eager import inferred, types_of

from generators.graph import Attr, Attrs, Form, Invalid, Node, TensorType
from generators.torch.ops import TABLE
from generators.torch.source import constructor

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")


def attrs_of(op: str, **given: Attr) -> Attrs:
    return {**TABLE[op].defaults, **given}


@pytest.mark.exhaustive
@pytest.mark.parametrize("again", [None, True])
def test_sizes_for_all_scales_are_those_of_pytorch(again: bool | None) -> None:
    for size in range(1, 60):
        for scale in (0.3, 1 / 3, 0.7, 0.9, 1.1, 1.3, 1.7, 2.3, 2.9, 0.1 + 0.2, 7 / 3):
            attrs = attrs_of("interpolate_linear", scale_factor=scale, recompute_scale_factor=again)
            if int(size * scale):
                reference = F.interpolate(torch.empty(1, 1, size, device="meta"), scale_factor=scale, mode="linear")
                assert inferred("interpolate_linear", types_of(f"float32[1,1,{size}]"), attrs) == (
                    f"float32[1,1,{reference.shape[-1]}]"
                )


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["nearest", "nearest-exact"])
def test_accepted_nearest_sizes_do_not_depend_on_dtype_rank_or_layout(mode: str) -> None:
    """For other sizes PyTorch's result depends on them, and the row refuses these sizes."""
    op, accepted, refused = TABLE[f"interpolate_{mode.replace('-', '_')}"], 0, 0
    for size in (1, 2, 3, 5, 6, 12, 14, 26, 31):
        for given in [{"size": out} for out in range(1, 38)] + [{"scale_factor": s / 10} for s in range(3, 33)]:
            try:
                op.results(types_of(f"float32[1,1,{size}]"), attrs_of(op.name, **given))
            except Invalid:
                refused += 1
                continue
            accepted += 1
            one = torch.arange(size).reshape(1, 1, size)
            line = F.interpolate(one.float(), mode=mode, **given)
            flat = {"size": (2, given["size"])} if "size" in given else {"scale_factor": (1.0, given["scale_factor"])}
            for dtype in (torch.float32, torch.float64, torch.uint8):
                image = one[:, :, None].expand(1, 8, 2, size).to(dtype)
                for laid_out in (image.contiguous(), image.contiguous(memory_format=torch.channels_last)):
                    resized = F.interpolate(laid_out, mode=mode, **flat)
                    assert torch.equal(resized[0, 0, 0].float(), line[0, 0]), (size, given, dtype)
    assert accepted > 400
    assert refused > 10


@pytest.mark.parametrize(
    ("op", "types", "given", "text"),
    [
        ("interpolate_nearest", "float32[1,1,4,4]", {"scale_factor": 2}, "UpsamplingNearest2d(scale_factor=2)"),
        ("interpolate_nearest", "float32[1,1,4,4]", {"size": 2}, 'Upsample(size=2, mode="nearest")'),
        (
            "interpolate_bilinear",
            "float32[1,1,4,4]",
            {"size": (2, 3), "align_corners": True},
            "UpsamplingBilinear2d(size=(2, 3))",
        ),
        (
            "interpolate_trilinear",
            "float32[1,1,4,4,4]",
            {"scale_factor": 0.5, "align_corners": True},
            'Upsample(scale_factor=0.5, align_corners=True, mode="trilinear")',
        ),
    ],
)
def test_layers(op: str, types: str, given: dict[str, Attr], text: str) -> None:
    node = Node(op, ("a0",), attrs_of(op, **given), (), Form.MODULE)
    assert constructor(node, ("a0",), types_of(types), "m") == [f"m = torch.nn.{text}"]


def test_no_layer_can_express_antialias() -> None:
    attrs = attrs_of("interpolate_bilinear", size=2, antialias=True)
    assert not TABLE["interpolate_bilinear"].expresses(Form.MODULE, types_of("float32[1,1,4,4]"), attrs)


@pytest.mark.parametrize("mode", ["linear", "area"])
def test_terms_count_pixels_and_grow_with_the_size(mode: str) -> None:
    op = TABLE[f"interpolate_{mode}"]
    assert op.terms
    short, long = (TensorType.parse(f"float32[1,1,{size}]") for size in (8, 800))
    assert op.terms((short,), attrs_of(op.name, size=4)) < op.terms((long,), attrs_of(op.name, size=4))
