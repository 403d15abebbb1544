"""Rows of `vision`."""

from __future__ import annotations

import pytest
import torch
import torch.nn.functional as F
from eager import in_torch, inferred, types_of
from form_comparison import compare_forms
from random_calls import compare_calls, refused_by_both

from generators.graph import Attr, Attrs, Form, Invalid, Node, TensorType
from generators.torch.ops import TABLE, Op, vision
from generators.torch.source import constructor

EACH_ROW = pytest.mark.parametrize("op", vision.OPS, ids=lambda op: op.name)
pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")


def attrs_of(op: str, **given: Attr) -> Attrs:
    return {**TABLE[op].defaults, **given}


@pytest.mark.parametrize("op", [op for op in vision.OPS if op.name != "grid_sample"], ids=lambda op: op.name)
@pytest.mark.exhaustive
def test_pytorch_accepts_every_random_call_that_the_row_accepts(op: Op) -> None:
    differences = compare_calls(op, 150).keys() - {"accepted", "refused", "stricter"}
    assert not [call for call in differences if "1000000.0" not in call]  # the memory does not suffice for these


@EACH_ROW
@pytest.mark.exhaustive
def test_every_form_gives_the_results_of_the_plain_form(op: Op) -> None:
    compared, wrong = compare_forms(op, 80)
    assert not wrong
    assert all(compared[form] for form in op.forms)


REFUSED: list[tuple[str, str, dict[str, Attr], str]] = [
    ("interpolate_nearest", "float32[2,2]", {"size": 2}, "takes rank 3 or 4 or 5"),
    ("interpolate_linear", "float32[1,2,2,2]", {"size": 2}, "takes rank 3, not"),
    ("interpolate_nearest", "float32[1,1,4]", {}, "takes either size or scale_factor"),
    ("interpolate_nearest", "float32[1,1,4]", {"size": 2, "scale_factor": 2}, "takes either size or scale_factor"),
    ("interpolate_nearest", "float32[1,1,4,4]", {"size": (2,)}, "takes 1 or 2 numbers, not 1"),
    ("interpolate_bilinear", "float32[1,1,4,4]", {"scale_factor": (2.0,)}, "takes 1 or 2 numbers, not 1"),
    ("interpolate_area", "float32[1,1,4]", {"size": 2, "recompute_scale_factor": True}, "requires a scale_factor"),
    ("interpolate_nearest", "float32[1,0,4]", {"size": 2}, "to [2]"),
    ("interpolate_bicubic", "float32[1,1,4,4]", {"scale_factor": 0.2}, "to [0, 0]"),
    ("interpolate_area", "float32[1,1,0]", {"size": 2}, "to [2]"),
    ("interpolate_bilinear", "float16[1,1,4,4]", {"size": 2, "antialias": True}, "is not defined for float16"),
    ("interpolate_linear", "int64[1,1,4]", {"size": 2}, "is not defined for int64"),
    ("pixel_shuffle", "float32[3,2,2]", {"upscale_factor": 2}, "3 channels do not split into 2 x 2"),
    ("pixel_shuffle", "float32[4,2]", {"upscale_factor": 2}, "takes rank 3 or more"),
    ("pixel_unshuffle", "float32[1,3,4]", {"downscale_factor": 2}, "does not split into 2 x 2"),
    ("pixel_unshuffle", "float32[1,4,4]", {"downscale_factor": 0}, "downscale_factor must be positive"),
    ("grid_sample", "float32[1,1,4,4] float32[2,1,1,2]", {}, "is no grid of 2 coordinates"),
    ("grid_sample", "float32[1,1,4,4] float32[1,1,1,3]", {}, "is no grid of 2 coordinates"),
    ("grid_sample", "float32[1,1,0,4] float32[1,1,1,2]", {}, "nothing to sample"),
    ("grid_sample", "float32[1,1,4,4] float64[1,1,1,2]", {}, "must share one dtype"),
    ("grid_sample", "float32[1,1,2,2,2] float32[1,1,1,1,3]", {"mode": "bicubic"}, "for two dimensions only"),
    ("affine_grid", "float32[2,2,3]", {"size": (2, 1, 0, 3)}, "4 or 5 positive numbers"),
    ("affine_grid", "float32[2,2,3]", {"size": (1, 1, 2, 3)}, "is no affine map"),
    ("affine_grid", "float16[2,2,3]", {"size": (2, 1, 1, 3)}, "lacks a grid of one float16 coordinate"),
]


@pytest.mark.parametrize(("op", "types", "given", "message"), REFUSED)
def test_pytorch_and_inference_refuse(op: str, types: str, given: dict[str, Attr], message: str) -> None:
    refused_by_both(op, types_of(types), attrs_of(op, **given), message)


@pytest.mark.parametrize(
    ("op", "types", "given", "message"),
    [
        (
            "interpolate_bilinear",
            "uint8[1,1,4,4]",
            {"size": 3},
            "is not defined for uint8",
        ),  # the rounding depends on the processor
        ("interpolate_nearest", "float32[0,1,2]", {"size": 2}, "cannot resize"),
        (
            "interpolate_nearest",
            "float32[1,1,2,5]",
            {"scale_factor": 1.1},
            "a matter of rounding",
        ),  # PyTorch computes it in another way
        ("interpolate_nearest", "float32[1,1,31]", {"scale_factor": 2.3}, "a matter of rounding from 31 to 71"),
        (
            "pixel_unshuffle",
            "float32[0,1,2,2]",
            {"downscale_factor": 2},
            "leaves float32",
        ),  # PyTorch returns it in its old shape
    ],
)
def test_inference_refuses_what_pytorch_accepts(op: str, types: str, given: dict[str, Attr], message: str) -> None:
    in_torch(op, types_of(types), attrs_of(op, **given))
    with pytest.raises(Invalid, match=message):
        inferred(op, types_of(types), attrs_of(op, **given))


@pytest.mark.parametrize(
    ("op", "types", "given", "result"),
    [
        ("interpolate_nearest", "uint8[1,2,3,5]", {"scale_factor": (2, 1.5)}, "uint8[1,2,6,7]"),
        (
            "interpolate_nearest_exact",
            "bfloat16[1,1,4]",
            {"size": 3, "recompute_scale_factor": False},
            "bfloat16[1,1,3]",
        ),
        ("interpolate_area", "float32[2,0,5]", {"scale_factor": 0.1}, "float32[2,0,0]"),
        ("interpolate_trilinear", "float16[1,1,2,3,4]", {"scale_factor": 1.3}, "float16[1,1,2,3,5]"),
        ("pixel_shuffle", "bool[0,4,0,3]", {"upscale_factor": 2}, "bool[0,1,0,6]"),
        ("grid_sample", "float16[0,2,3,3] float16[0,4,0,2]", {"padding_mode": "border"}, "float16[0,2,4,0]"),
        ("affine_grid", "float64[2,3,4]", {"size": (2, 7, 1, 2, 3), "align_corners": True}, "float64[2,1,2,3,3]"),
    ],
)
def test_corners_that_both_accept(op: str, types: str, given: dict[str, Attr], result: str) -> None:
    assert inferred(op, types_of(types), attrs_of(op, **given)) == result
    assert in_torch(op, types_of(types), attrs_of(op, **given)) == result


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
