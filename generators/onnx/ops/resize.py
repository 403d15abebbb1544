"""Images of another size: Resize in all its versions, and Upsample."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from generators.builder import Builder
from generators.choice import ChoiceSource
from generators.graph import Attr, Attrs, DType, TensorType, Value
from generators.onnx.call import Call
from generators.onnx.operator import Constant, Operator
from generators.onnx.ops.operands import float32
from generators.onnx.schema import Schema
from generators.op import NUMBERS, SIZES, one_of, require
from generators.shared.positions import LONGEST, ROUNDED, is_certain, ways
from generators.shared.sizes import MOST_FACTOR, product

_SCALES = tuple(map(float32, (2.0, 2.0, 0.5, 1.5, 0.75, 3.0, 1.0, 2.5, 1.3, 0.3)))
_ROOM = 2048
"""The most elements of a resized image."""

MODES = ("nearest", "linear", "cubic")
_POSITIONS = ("half_pixel", "pytorch_half_pixel", "align_corners", "asymmetric", "tf_crop_and_resize")
_EXTRA_POSITIONS = {19: ("half_pixel_symmetric",)}
"""Without tf_half_pixel_for_nn of version 11, which the interpreter of onnx 1.23 lacks."""
NEAREST_MODES = ("round_prefer_floor", "round_prefer_ceil", "floor", "ceil")
POLICIES = ("stretch", "not_larger", "not_smaller")


def _positions_of(schema: Schema) -> tuple[str, ...]:
    return (*_POSITIONS, *_EXTRA_POSITIONS.get(schema.since, ()))


# --- types


def _axes(call: Call) -> tuple[int, ...]:
    rank = call.first.rank
    given = (call.integers("axes") if call.has("axes") else None) or tuple(range(rank))
    require(all(-rank <= axis < rank for axis in given), f"axes {given} are out of range for rank {rank}")
    axes = tuple(axis % rank for axis in given)
    require(len(set(axes)) == len(axes), f"axes {given} repeat a dimension")
    return axes


def _numbers(call: Call, name: str) -> tuple[float, ...]:
    value = call.attrs.get(name)
    return tuple(float(item) for item in value if isinstance(item, int | float)) if isinstance(value, tuple) else ()


def _scaled(size: int, scale: float) -> int:
    require(scale <= MOST_FACTOR, f"a scale of {scale} is larger than any size")
    over, under = scale.as_integer_ratio()
    rounded = int(np.floor(np.float32(int(size)) * np.float32(scale)))
    require(int(size) * over // under == rounded, f"the new size of {size} by {scale} is a matter of rounding")
    return size * over // under if under <= 64 else rounded


def _sizes(call: Call) -> tuple[list[int], list[float]]:
    """The new size and the scale of each dimension."""
    x, axes = call.first, _axes(call)
    scales, sizes = _numbers(call, "scales"), call.integers("sizes") or ()
    require(bool(scales) != bool(sizes), "takes either scales or sizes")
    require(len(scales or sizes) == len(axes), f"takes {len(axes)} numbers")
    new, steps = [int(size) if not scales else size for size in x.sizes], [1.0] * x.rank
    policy = call.text("keep_aspect_ratio_policy") if call.has("keep_aspect_ratio_policy") else "stretch"
    require(policy == "stretch" or bool(sizes), "a policy goes with sizes")
    # onnxruntime 1.31 forgets the policy for these axes
    require(policy == "stretch" or min(call.integers("axes") or (0,)) >= 0, "a policy goes with axes from 0 on")
    for place, axis in enumerate(axes):
        if scales:
            require(scales[place] > 0, "scales are positive")
            new[axis], steps[axis] = _scaled(x.sizes[axis], scales[place]), scales[place]
        else:
            require(sizes[place] > 0, "sizes are positive")
            new[axis], steps[axis] = sizes[place], sizes[place] / int(x.sizes[axis])
    if policy != "stretch":
        common = (min if policy == "not_larger" else max)(steps[axis] for axis in axes)
        for axis in axes:
            exact = common * int(x.sizes[axis])
            require(abs(exact % 1 - 0.5) > 1e-3, f"a size of {exact} is a matter of rounding")
            new[axis], steps[axis] = int(np.floor(exact + 0.5)), common
    return new, steps


def _resized(call: Call) -> TensorType:
    x = call.first
    require(2 <= x.rank <= 5 and x.numel > 0, f"takes rank 2 to 5 and some elements, not {x}")
    new, steps = _sizes(call)
    require(min(new) > 0, f"{x} would have no elements")
    mode = call.text("mode")
    how = call.text("coordinate_transformation_mode") if call.has("coordinate_transformation_mode") else "asymmetric"
    _require_supported(call, mode, how, new)
    region = how != "tf_crop_and_resize" or len(_numbers(call, "roi")) == 2 * len(_axes(call))
    require(region, "tf_crop_and_resize takes a region")
    if how in ("align_corners", "tf_crop_and_resize"):
        whole = all(int(old) * step == size for old, step, size in zip(x.sizes, steps, new, strict=True))
        require(whole, f"{how} does not say what the new size is where scales give no whole number")
    if how == "pytorch_half_pixel":
        single = any(size == 1 != old for old, size in zip(x.sizes, new, strict=True))
        require(not single, "the readers take another pixel where one is left")
    if not x.dtype.is_float and how == "tf_crop_and_resize":
        require(call.number("extrapolation_value") in (0, 1), "extrapolated integers are rounded in other ways")
    _require_changes(call, how, new, steps)
    kind = call.text("nearest_mode") if call.has("nearest_mode") else "floor"
    rounded = ROUNDED[kind] if mode == "nearest" else None
    for axis, (old, size, step) in enumerate(zip(x.sizes, new, steps, strict=True)):
        if old == size or (rounded is None and how != "tf_crop_and_resize"):
            continue
        require(max(old, size) <= LONGEST, f"{x} is too long to check")
        found = ways(how, int(old), int(size), step, _region(call, axis))
        certain = is_certain(found, int(old), rounded, how == "tf_crop_and_resize", exact=how != "half_pixel_symmetric")
        require(certain, f"the nearest pixel is a matter of rounding from {old} to {size}")
    return x.with_shape(*new)


def _require_changes(call: Call, how: str, new: Sequence[int], steps: Sequence[float]) -> None:
    """onnxruntime 1.31 leaves an axis as it is whose size stays, and rounds up where version 10 makes it smaller."""
    for axis, (old, size, step) in enumerate(zip(call.first.sizes, new, steps, strict=True)):
        cut = how == "tf_crop_and_resize" and _region(call, axis) != (0.0, 1.0)
        require(old != size or (step == 1 and not cut), f"{how} of {old} to {size} by {step}")
        require(call.schema.since != 10 or step >= 1, "version 10 makes no images smaller")


def _region(call: Call, axis: int) -> tuple[float, float]:
    """The part of an axis that tf_crop_and_resize takes: from 0, the first pixel, to 1, the last one."""
    roi, axes = _numbers(call, "roi"), _axes(call)
    if call.text("coordinate_transformation_mode") != "tf_crop_and_resize" or axis not in axes:
        return 0.0, 1.0
    place = axes.index(axis)
    return roi[place], roi[len(axes) + place]


def _require_supported(call: Call, mode: str, how: str, new: Sequence[int]) -> None:
    """What onnxruntime 1.31 has."""
    x = call.first
    changed = [axis for axis in range(x.rank) if new[axis] != x.sizes[axis]]
    images = {"linear": range(max(0, x.rank - 3 if x.rank == 5 else x.rank - 2), x.rank)}.get(mode, range(x.rank))
    if mode == "cubic":
        require(x.rank in (2, 4), f"onnxruntime 1.31 has no cubic {x}")
        images = range(x.rank - 2, x.rank)
    require(mode == "nearest" or all(axis in images for axis in changed), f"onnxruntime 1.31 resizes no batch of {x}")
    require(mode == "nearest" or x.dtype.is_float, f"the readers round {x.dtype} in other ways")
    if call.has("antialias") and call.integer("antialias"):
        require(mode != "nearest" and x.rank in (2, 4), "antialias is for linear and cubic images")


# --- what is drawn


def _image(b: Builder, schema: Schema) -> tuple[Value, ...]:
    dtypes = schema.dtypes("X")
    return (b.pick(lambda t: t.dtype in dtypes and 3 <= t.rank <= 5 and t.numel > 0, lambda: _fresh(b, dtypes)),)


def _fresh(b: Builder, dtypes: Sequence[DType]) -> TensorType:
    rank = b.source.choice((2, 3, 4, 4, 4, 5))
    batch = b.symbolic_size(8, 60) or b.source.choice((1, 1, 2, 3))
    lead = [batch, b.source.choice((1, 1, 2, 3))] if rank > 2 else []
    return TensorType(b.dtype(dtypes), (*lead, *(b.source.choice((1, 2, 3, 4, 5, 8)) for _ in range(rank - len(lead)))))


def _spatial(x: TensorType) -> list[int]:
    return list(range(0 if x.rank == 2 else 2, x.rank))


def _scales_of(source: ChoiceSource, x: TensorType, axes: Sequence[int]) -> list[float]:
    room = max(1, _ROOM // max(1, product(x.sizes)))
    found = []
    for axis in axes:
        fitting = [s for s in _SCALES if x.sizes[axis] * s >= 1 and s <= room] if axis in _spatial(x) else [1.0]
        found.append(source.choice(fitting or [1.0]))
        room = max(1, int(room / max(1.0, found[-1])))
    return found


def _attributes(source: ChoiceSource, call: Call) -> Attrs | None:
    x = call.first
    modes = ["nearest", "nearest"]
    if x.dtype.is_float:
        modes += ["linear", "linear", *(["cubic"] if x.rank in (2, 4) else [])]
    mode = source.choice(modes)
    drawn: dict[str, Attr] = {"mode": mode}
    axes = list(range(x.rank))
    if call.has("axes") and source.chance(35):
        axes = source.shuffled(_spatial(x)) if source.chance(40) else _spatial(x)
        negative = source.chance(30)
        drawn["axes"] = tuple(axis - x.rank if negative else axis for axis in axes)
    scales = _scales_of(source, x, axes)
    by_sizes = call.schema.has_input("sizes") and source.chance(45)
    if by_sizes:
        drawn["sizes"] = tuple(
            source.integer(1, 2 * int(x.sizes[axis]) + 1) if axis in _spatial(x) else int(x.sizes[axis])
            for axis in axes
        )
        listed = drawn.get("axes")
        if call.has("keep_aspect_ratio_policy") and isinstance(listed, tuple) and listed[:1] >= (0,):
            drawn["keep_aspect_ratio_policy"] = source.choice(POLICIES)
    else:
        drawn["scales"] = tuple(scales)
    if not call.has("coordinate_transformation_mode"):
        return drawn
    how = source.choice(_positions_of(call.schema))
    drawn["coordinate_transformation_mode"] = how
    drawn["nearest_mode"] = source.choice(NEAREST_MODES)
    drawn["cubic_coeff_a"] = source.choice((-0.75, -0.5, float32(-0.6)))
    drawn["exclude_outside"] = int(mode == "cubic" and source.chance(40))
    drawn["extrapolation_value"] = source.choice((0.0, 0.0, 1.5, -2.0) if x.dtype.is_float else (0.0, 1.0))
    if how == "tf_crop_and_resize":
        starts = [source.choice((0.0, 0.125, -0.25)) if axis in _spatial(x) else 0.0 for axis in axes]
        ends = [source.choice((1.0, 0.75, 1.25)) if axis in _spatial(x) else 1.0 for axis in axes]
        drawn["roi"] = (*starts, *ends)
    elif not call.schema.input("roi").optional:
        drawn["roi"] = ()
    if not call.schema.input("scales").optional and by_sizes:
        drawn["scales"] = ()
    if call.has("antialias") and mode != "nearest" and x.rank in (2, 4):
        drawn["antialias"] = int(source.chance(30))
    return drawn


def _upsampled(call: Call) -> TensorType:
    require(all(scale >= 1 for scale in _numbers(call, "scales")), "scales are 1 or more")
    return _resized(call)


def _upsample_attributes(source: ChoiceSource, call: Call) -> Attrs | None:
    x = call.first
    scales = [max(1.0, scale) for scale in _scales_of(source, x, range(x.rank))]
    mode = source.choice(("nearest", "linear")) if x.dtype.is_float else "nearest"
    return {"mode": mode, "scales": tuple(scales)}


def _terms(call: Call) -> int:
    """The pixels that contribute to one, and the rounding of positions, which grows with the size."""
    if call.text("mode") == "nearest":
        return 0
    new, _ = _sizes(call)
    taps = 4 if call.text("mode") == "cubic" else 2
    shrunk = [-(-int(old) // max(int(size), 1)) for old, size in zip(call.first.sizes, new, strict=True)]
    wide = shrunk if call.has("antialias") and call.integer("antialias") else [1] * len(new)
    return product([taps * times for times in wide[-3:]]) + max(*map(int, call.first.sizes), *map(int, new)) ** 2 // 16


_KINDS = {
    "mode": one_of(*MODES),
    "coordinate_transformation_mode": one_of(*_POSITIONS, "half_pixel_symmetric"),
    "nearest_mode": one_of(*NEAREST_MODES),
    "keep_aspect_ratio_policy": one_of(*POLICIES),
}
_FLOATS = Constant(NUMBERS, DType.FLOAT32)

OPERATORS: tuple[Operator, ...] = (
    Operator(
        "Resize",
        _image,
        _resized,
        _attributes,
        constants={"roi": _FLOATS, "scales": _FLOATS, "sizes": Constant(SIZES)},
        kinds=_KINDS,
        terms=_terms,
        scale=4.0,  # the rounding of positions is multiplied by the differences between pixels
    ),
    Operator(
        "Upsample",
        _image,
        _upsampled,
        _upsample_attributes,
        constants={"scales": _FLOATS},
        kinds={"mode": one_of("nearest", "linear")},
        terms=_terms,
        scale=4.0,
    ),
)
