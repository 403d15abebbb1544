"""Images and volumes of another size, by the definitions that TVM's documentation of R.image.resize2d refers to."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from fuzzer.lanes.evaluated.common import Function, dtype_of, ints, require

_CROP = "tf_crop_and_resize"
_ROUNDED = {"round": torch.round, "floor": torch.floor, "ceil": torch.ceil}


def resized(rank: int) -> Function:
    """The function for images with this many axes of depth, height and width."""

    def call(attrs: Any, x: Tensor, size: Any) -> Tensor:
        axes = [axis for axis, letter in enumerate(str(attrs.layout)) if letter in "DHW"]
        require(len(axes) == rank and x.is_floating_point(), "images in another layout")
        roi = [0.0] * rank + [1.0] * rank if attrs.roi is None else [float(each) for each in attrs.roi]
        made, outside = x.double(), torch.zeros(x.dim() * [1], dtype=torch.bool)
        for place, (axis, new) in enumerate(zip(axes, ints(size), strict=True)):
            old = x.shape[axis]
            at = _positions(attrs, old, new, (roi[place], roi[rank + place]))
            made = _summed(made.movedim(axis, -1), _taps(attrs, at, old)).movedim(-1, axis)
            if str(attrs.coordinate_transformation_mode) == _CROP:
                shape = [new if each == axis else 1 for each in range(x.dim())]
                outside = outside | ((at < 0) | (at > old - 1)).reshape(shape)
        made = torch.where(outside, float(attrs.extrapolation_value), made)
        wanted = str(attrs.out_dtype)
        return made.to(x.dtype if wanted in ("", "void", "None") else dtype_of(wanted))

    return call


def _positions(attrs: Any, old: int, new: int, region: tuple[float, float]) -> Tensor:
    """Where the pixels of the result lie along an axis of the image."""
    at, last = torch.arange(new, dtype=torch.float64), old - 1
    match str(attrs.coordinate_transformation_mode):
        case "half_pixel":
            return (at + 0.5) * old / new - 0.5
        case "pytorch_half_pixel":
            return (at + 0.5) * old / new - 0.5 if new > 1 else 0 * at
        case "tf_half_pixel_for_nn":
            return (at + 0.5) * old / new
        case "asymmetric":
            return at * old / new
        case "align_corners":
            require(new > 1, "one pixel between two corners")
            return at * last / (new - 1)
        case mode:
            require(mode == _CROP, f"images by {mode}")
            low, high = region
            return low * last + at * (high - low) * last / (new - 1) if new > 1 else 0 * at + (low + high) * last / 2


def _summed(x: Tensor, taps: Sequence[tuple[Tensor, Tensor]]) -> Tensor:
    """The weighted pixels of the last axis. A pixel that is no tap counts nothing, even if it is infinite or NaN."""
    return torch.stack([weight * x.index_select(-1, pixel) for pixel, weight in taps]).sum(0)


def _taps(attrs: Any, at: Tensor, old: int) -> list[tuple[Tensor, Tensor]]:
    """The pixels of the image that go into each pixel of the result, and their weights. The image goes on with the
    pixels at its edges, except for cubic_exclude, which leaves out what is not there."""
    method, first = str(attrs.method), at.floor()
    if method == "nearest_neighbor":
        require(str(attrs.rounding_method) in _ROUNDED, f"the nearest pixel by {attrs.rounding_method!r}")
        taps = [(_ROUNDED[str(attrs.rounding_method)](at), torch.ones_like(at))]
    elif method == "linear":
        taps = [(first, 1 - (at - first)), (first + 1, at - first)]
    else:
        require(method == "cubic", f"images by {method}")
        taps = [
            (first + place - 1, weight) for place, weight in enumerate(_spline(at - first, float(attrs.cubic_alpha)))
        ]
        if attrs.cubic_exclude:
            taps = _of_image(taps, old)
    return [(pixel.clamp(0, old - 1).long(), weight) for pixel, weight in taps]


def _of_image(taps: Sequence[tuple[Tensor, Tensor]], old: int) -> list[tuple[Tensor, Tensor]]:
    """The taps with weight 0 for pixels that are not there. The others add up to 1."""
    inside = [(pixel, torch.where((pixel >= 0) & (pixel < old), weight, 0.0)) for pixel, weight in taps]
    whole = torch.stack([weight for _, weight in inside]).sum(0)
    return [(pixel, weight / whole) for pixel, weight in inside]


def _spline(t: Tensor, alpha: float) -> tuple[Tensor, ...]:
    """The weights of the two pixels before and the two after (Keys, Cubic convolution interpolation, 1981)."""
    return (
        alpha * (t**3 - 2 * t**2 + t),
        (alpha + 2) * t**3 - (alpha + 3) * t**2 + 1,
        -(alpha + 2) * t**3 + (2 * alpha + 3) * t**2 - alpha * t,
        -alpha * t**3 + alpha * t**2,
    )
