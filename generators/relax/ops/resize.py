"""Images and volumes of another size."""

from __future__ import annotations

from contextlib import suppress
from functools import partial

import numpy as np

from generators.builder import Builder
from generators.choice import ChoiceSource
from generators.graph import Attr, Attrs, DType, Invalid, TensorType, Value
from generators.op import (
    INT,
    NUMBER,
    NUMBERS,
    SIZES,
    Arithmetic,
    Op,
    Operands,
    Types,
    int_of,
    ints_of,
    one_of,
    optional,
    require,
)
from generators.relax.ops.operands import FLOATS
from generators.relax.row import row
from generators.shared.positions import LONGEST, ROUNDED, is_certain, ways
from generators.shared.sizes import product

METHODS = ("linear", "linear", "nearest_neighbor", "cubic")
POSITIONS = (
    "half_pixel",
    "half_pixel",
    "align_corners",
    "asymmetric",
    "pytorch_half_pixel",
    "tf_half_pixel_for_nn",
    "tf_crop_and_resize",
)
ROUNDING = ("round", "floor", "ceil")
CROP = "tf_crop_and_resize"
LAYOUTS = {2: ("NCHW", "NHWC"), 3: ("NCDHW", "NDHWC")}
_LARGEST = {2: 9, 3: 5}


def spatial_axes(layout: str) -> tuple[int, ...]:
    """The axes of depth, height and width."""
    return tuple(axis for axis, letter in enumerate(layout) if letter in "DHW")


def _images(rank: int) -> Operands:
    """TVM's kernels compute with float32 whatever the dtype is, so float64 is rare."""

    def operands(b: Builder) -> tuple[Value, ...]:
        dtype = b.source.choice((DType.FLOAT32, DType.FLOAT32, DType.FLOAT32, DType.FLOAT16, DType.FLOAT64))
        return (b.tensor((dtype,), (rank + 2, rank + 2)),)

    return operands


def _resized(rank: int, types: Types, attrs: Attrs) -> TensorType:
    x, new = types[0], ints_of(attrs, "size")
    require(x.rank == rank + 2 and x.dtype in FLOATS, f"takes images of rank {rank + 2}, not {x}")
    require(len(new) == rank and min(new) > 0, f"takes {rank} positive sizes")
    how, method, roi = str(attrs["coordinate_transformation_mode"]), str(attrs["method"]), attrs["roi"]
    require(how != "align_corners" or min(new) > 1, "one pixel has no corners")
    require((how == CROP) == (roi is not None), "a region is for tf_crop_and_resize")
    require(method == "cubic" or int_of(attrs, "cubic_exclude") == 0, "cubic_exclude is for cubic")
    sizes = list(x.sizes)
    for place, axis in enumerate(spatial_axes(str(attrs["layout"]))):
        _require_certain(x.sizes[axis], new[place], region_of(attrs, place, rank), attrs)
        sizes[axis] = new[place]
    wanted = attrs["out_dtype"]
    return (x if wanted is None else x.with_dtype(DType(str(wanted)))).with_shape(*sizes)


def region_of(attrs: Attrs, place: int, rank: int) -> tuple[float, float]:
    """The part of an axis that is resized: from 0, the first pixel, to 1, the last one."""
    roi = attrs["roi"]
    if not isinstance(roi, tuple):
        return 0.0, 1.0
    require(len(roi) == 2 * rank, f"a region has {2 * rank} numbers")
    return float(str(roi[place])), float(str(roi[rank + place]))


def _require_certain(old: int, new: int, region: tuple[float, float], attrs: Attrs) -> None:
    """Raise `Invalid` where rounding decides which pixel is the nearest, or which is outside. No document says what
    "round" does between two pixels."""
    how, nearest = str(attrs["coordinate_transformation_mode"]), attrs["method"] == "nearest_neighbor"
    if not nearest and how != CROP:
        return
    require(0 < old <= LONGEST and new <= LONGEST, f"{old} has no pixels, or is too long to check")
    kind = str(attrs["rounding_method"])
    rounded = (np.round if kind == "round" else ROUNDED[kind]) if nearest else None
    # what lies half a pixel further is as certain
    found = ways(
        "half_pixel" if how == "tf_half_pixel_for_nn" else how, int(old), int(new), int(new) / int(old), region
    )
    found = [way + 0.5 for way in found] if how == "tf_half_pixel_for_nn" else found
    certain = is_certain(found, int(old), rounded, how == CROP, exact=not nearest or kind != "round")
    require(certain, f"the nearest pixel is a matter of rounding from {old} to {new}")


def _draw_resized(rank: int, source: ChoiceSource, types: Types) -> Attrs | None:
    """The first of some draws that does not depend on rounding."""
    for _ in range(4):
        drawn = _draw_any(rank, source)
        with suppress(Invalid):
            _resized(rank, types, drawn)
            return drawn
    return None


def _draw_any(rank: int, source: ChoiceSource) -> Attrs:
    how, method = source.choice(POSITIONS), source.choice(METHODS)
    size = tuple(source.integer(1 + (how == "align_corners"), _LARGEST[rank]) for _ in range(rank))
    roi: Attr = None
    if how == CROP:
        starts = [source.choice((0.0, 0.125, -0.25)) for _ in range(rank)]
        roi = (*starts, *(source.choice((1.0, 0.75, 1.25)) for _ in range(rank)))
    wanted = source.choice((DType.FLOAT32, DType.FLOAT16)).value if source.rarely(12) else None
    return {
        "size": size,
        "roi": roi,
        "layout": source.choice(LAYOUTS[rank]),
        "method": method,
        "coordinate_transformation_mode": how,
        "rounding_method": source.choice(ROUNDING),
        "cubic_alpha": source.choice((-0.75, -0.5)),
        "cubic_exclude": int(method == "cubic" and source.chance(40)),
        "extrapolation_value": source.choice((0.0, 1.5)),
        "out_dtype": wanted,
    }


def _terms(types: Types, attrs: Attrs) -> int:
    """The pixels that contribute to one, and the rounding of positions, which grows with the size."""
    if attrs["method"] == "nearest_neighbor":
        return 1
    new = ints_of(attrs, "size")
    taps = product([4 if attrs["method"] == "cubic" else 2] * len(new))
    return int(taps + max(*map(int, types[0].sizes), *new) ** 2 // 16)


def _resize(rank: int) -> Op:
    return row(
        f"image.resize{rank}d",
        _images(rank),
        partial(_resized, rank),
        partial(_draw_resized, rank),
        {
            "size": SIZES,
            "roi": optional(NUMBERS),
            "layout": one_of(*LAYOUTS[rank]),
            "method": one_of(*METHODS),
            "coordinate_transformation_mode": one_of(*POSITIONS),
            "rounding_method": one_of(*ROUNDING),
            "cubic_alpha": NUMBER,
            "cubic_exclude": INT,
            "extrapolation_value": NUMBER,
            "out_dtype": optional(one_of(*FLOATS)),
        },
        arguments=("size",),
        terms=_terms,
        arithmetic=Arithmetic.FUNCTION_IN_ANY,
        scale=4.0,  # the rounding of positions is multiplied by the differences between pixels
    )


OPS = (_resize(2), _resize(3))
