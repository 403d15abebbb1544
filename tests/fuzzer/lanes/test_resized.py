"""Images of another size by their definitions, against PyTorch's."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
import torch
from torch.nn import functional

from fuzzer.lanes.evaluated.operators import value_of

IMAGE = torch.arange(24, dtype=torch.float64).square().reshape(1, 2, 3, 4)


def resized(x: torch.Tensor, size: tuple[int, ...], method: str, how: str, **more: Any) -> torch.Tensor:
    attrs = {
        "layout": "NCHW" if x.dim() == 4 else "NCDHW",
        "roi": None,
        "method": method,
        "coordinate_transformation_mode": how,
        "rounding_method": "floor",
        "cubic_alpha": -0.75,
        "cubic_exclude": 0,
        "extrapolation_value": 7.0,
        "out_dtype": None,
        **more,
    }
    found: torch.Tensor = value_of(f"image.resize{x.dim() - 2}d", SimpleNamespace(**attrs), (x, size))
    return found


@pytest.mark.parametrize("size", [(5, 7), (2, 2), (3, 9), (1, 4)])
@pytest.mark.parametrize(("method", "own"), [("linear", "bilinear"), ("cubic", "bicubic")])
def test_images_are_those_of_pytorch(size: tuple[int, int], method: str, own: str) -> None:
    right = functional.interpolate(IMAGE, size, mode=own, align_corners=False)
    torch.testing.assert_close(resized(IMAGE, size, method, "half_pixel"), right)
    if min(size) > 1:
        right = functional.interpolate(IMAGE, size, mode=own, align_corners=True)
        torch.testing.assert_close(resized(IMAGE, size, method, "align_corners"), right)


@pytest.mark.parametrize(("how", "mode"), [("asymmetric", "nearest"), ("tf_half_pixel_for_nn", "nearest-exact")])
def test_nearest_pixels_are_those_of_pytorch(how: str, mode: str) -> None:
    right = functional.interpolate(IMAGE, (6, 3), mode=mode)
    assert torch.equal(resized(IMAGE, (6, 3), "nearest_neighbor", how), right)


@pytest.mark.parametrize(
    ("method", "how", "mode"), [("nearest_neighbor", "asymmetric", "nearest"), ("linear", "half_pixel", "bilinear")]
)
def test_an_infinite_pixel_changes_only_what_is_made_of_it(method: str, how: str, mode: str) -> None:
    image = IMAGE.clone()
    image[0, 0, 1, 2], image[0, 1, 0, 0] = torch.inf, torch.nan
    right = functional.interpolate(image, (6, 3), mode=mode)
    found = resized(image, (6, 3), method, how)
    inner = slice(1, -1)  # PyTorch moves positions at the edge inside, and reads one more pixel there
    torch.testing.assert_close(found[:, :, inner], right[:, :, inner], equal_nan=True)


def test_volumes_and_other_layouts() -> None:
    x = IMAGE.reshape(1, 1, 2, 3, 4)
    right = functional.interpolate(x, (3, 2, 5), mode="trilinear", align_corners=False)
    torch.testing.assert_close(resized(x, (3, 2, 5), "linear", "half_pixel"), right)
    turned = resized(x.movedim(1, -1), (3, 2, 5), "linear", "half_pixel", layout="NDHWC")
    torch.testing.assert_close(turned.movedim(-1, 1), right)


def test_what_is_outside_of_the_region_has_the_given_number() -> None:
    x = torch.tensor([0.0, 10.0, 20.0]).reshape(1, 1, 1, 3)
    found = resized(x, (1, 3), "linear", "tf_crop_and_resize", roi=(0.0, 0.0, 1.0, 1.5), out_dtype="float16")
    assert found.flatten().tolist() == [0.0, 15.0, 7.0]
    assert found.dtype is torch.float16
    single = resized(x, (1, 1), "linear", "tf_crop_and_resize", roi=(0.0, 0.5, 0.0, 1.0))
    assert single.item() == 15.0


def test_weights_of_pixels_that_are_not_there_are_left_out() -> None:
    """The pixel at -0.25 is between -1 and 0: of its four pixels, -2 to 1, the last two are there."""
    x = torch.tensor([8.0, 16.0]).reshape(1, 1, 1, 2)
    found = resized(x, (1, 4), "cubic", "half_pixel", cubic_alpha=-0.5, cubic_exclude=1)
    third, fourth = -1.5 * 0.75**3 + 2 * 0.75**2 + 0.5 * 0.75, 0.5 * 0.75**3 - 0.5 * 0.75**2
    right = (8 * third + 16 * fourth) / (third + fourth)
    assert found[0, 0, 0, 0].item() == pytest.approx(right)
