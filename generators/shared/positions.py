"""Where the pixels of a resized image lie in the image, and whether that is a matter of rounding."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from generators.graph import Array

LONGEST = 1 << 12
"""The largest size for which each position is checked."""


def ways(how: str, old: int, new: int, scale: float, roi: tuple[float, float]) -> list[Array]:
    """The positions of the new pixels along an axis, computed in float64 and float32, with quotients and products. They
    may be infinite or no numbers where the region is large."""
    with np.errstate(all="ignore"):
        return [
            _positions(how, old, new, dtype(scale), dtype(roi[0]), dtype(roi[1]), quotient)
            for dtype in (np.float64, np.float32)
            for quotient in (True, False)
        ]


def _positions(how: str, old: int, new: int, scale: Any, low: Any, high: Any, quotient: bool) -> Array:
    """The positions, in the dtype of `scale`, as docs/Operators.md of onnx says. Without `quotient`, what is divided is
    multiplied with the reciprocal."""
    dtype = type(scale)
    at, half, last = np.arange(new, dtype=dtype), dtype(0.5), dtype(old - 1)

    def over(x: Any, y: Any) -> Any:
        return x / y if quotient else x * (dtype(1) / y)

    found: Array
    match how:
        case "asymmetric":
            found = over(at, scale)
        case "align_corners":
            found = over(at * last, dtype(new - 1)) if new > 1 else 0 * at
        case "tf_crop_and_resize" if new > 1:
            found = low * last + over(at * (high - low) * last, dtype(new - 1))
        case "tf_crop_and_resize":
            found = half * (low + high) * last + 0 * at
        case "half_pixel_symmetric":
            shift = dtype(old) / 2 * (1 - over(dtype(new), scale * dtype(old)))
            found = shift + over(at + half, scale) - half
        case _:
            found = over(at + half, scale) - half
    return found


ROUNDED: dict[str, Callable[[Array], Array]] = {
    "round_prefer_floor": lambda x: np.ceil(x - 0.5),
    "round_prefer_ceil": lambda x: np.floor(x + 0.5),
    "floor": np.floor,
    "ceil": np.ceil,
}


def is_certain(
    ways: Sequence[Array], old: int, rounded: Callable[[Array], Array] | None, cut: bool, exact: bool
) -> bool:
    """Whether the nearest pixels, and those outside the image, are the same however positions are rounded. Positions
    that are computed exactly may lie between two pixels, if the formula has few steps (`exact`)."""
    wide = np.stack([way.astype(np.float64) for way in ways])
    if not np.isfinite(wide).all():
        return False
    slack = np.where((wide == wide[0]).all(0) & exact, 0, 1e-5 * (1 + np.abs(wide[0])))
    around = np.concatenate([wide - slack, wide, wide + slack])
    views = []
    if rounded is not None:
        views.append(np.clip(rounded(around), 0, old - 1))
    if cut:
        views.append((around < 0) | (around > old - 1))
    return all(bool((view == view[0]).all()) for view in views)
