"""Resizing, sampling and rearranging images."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from generators.builder import Builder
from generators.choice import ChoiceSource
from generators.domain import within
from generators.graph import FLOATS, Attr, Attrs, DType, Form, TensorType, Value
from generators.op import (
    BOOL,
    INT,
    NUMBER,
    NUMBERS,
    SIZES,
    AttrKind,
    Layer,
    Op,
    Terms,
    Types,
    int_of,
    ints_of,
    one_of,
    optional,
    require,
)
from generators.shared.sizes import MOST_FACTOR, product
from generators.torch.ops.guard import clamped
from generators.torch.ops.keywords import more
from generators.torch.ops.operands import one
from generators.torch.ops.rules import ALL, SINGLE_AND_DOUBLE, require_dtype, require_same_dtype

# --- interpolate

_SCALES = (2.0, 2.0, 0.5, 1.5, 0.75, 2, 3.0, 1.3, 0.3, 1.0, 2.5, 1)
_ROOM = 1024
"""The most elements of a resized image."""
_LONGEST = 1 << 16
"""The largest size for which each nearest pixel is checked."""


def _each(attr: Attr, rank: int) -> list[int | float]:
    """One number for each dimension: PyTorch repeats a single one."""
    values = attr if isinstance(attr, tuple) else (attr,) * rank
    require(len(values) == rank, f"takes 1 or {rank} numbers, not {len(values)}")
    return [value for value in values if isinstance(value, int | float)]


def _scaled(size: int, scale: float) -> int:
    """The size, which PyTorch computes in double precision and rounds towards zero."""
    require(abs(scale) <= MOST_FACTOR, f"a scale of {scale} is larger than any size")
    over, under = scale.as_integer_ratio()
    return size * over // under if 0 < under <= 64 and over >= 0 else int(int(size) * scale)


def _is_nearest_certain(size: int, out: int, scale: float | None, exact: bool) -> bool:
    """Whether the nearest pixel is the same however positions are rounded.

    PyTorch computes positions in single or double precision, from the ratio of the sizes or from the scale, depending
    on rank, dtype and memory layout. For some layouts it has a shortcut if the size stays or doubles, even if the scale
    is slightly different.
    """
    if out > _LONGEST:
        return False
    target = np.arange(out) + (0.5 if exact else 0.0)
    step = size / out if scale is None else 1 / scale
    single = np.floor(target.astype(np.float32) * np.float32(step))
    double = np.floor(target * step)
    divided = np.floor(target * size / out if scale is None else target / scale)
    last = size - 1
    ways = [np.minimum(way, last) for way in (single, double, divided)]
    if not exact and out in (size, 2 * size):
        ways.append(np.arange(out) // (out // size))
    return all(np.array_equal(ways[0], way) for way in ways[1:])


def _output_sizes(x: TensorType, attrs: Attrs) -> list[int]:
    size, scale = attrs["size"], attrs["scale_factor"]
    require((size is None) != (scale is None), "takes either size or scale_factor")
    require(size is None or not attrs["recompute_scale_factor"], "recompute_scale_factor requires a scale_factor")
    if size is not None:
        return [int(number) for number in _each(size, x.rank - 2)]
    return [_scaled(old, factor) for old, factor in zip(x.sizes[2:], _each(scale, x.rank - 2), strict=True)]


def _interpolate(mode: str, ranks: Sequence[int]) -> Callable[[Types, Attrs], TensorType]:
    """PyTorch accepts uint8 in some linear modes, but its rounding depends on the processor. Eager mode accepts an
    empty batch, but the export fails for the nearest modes."""
    nearest = mode.startswith("nearest")
    dtypes = (*FLOATS, DType.UINT8) if nearest else FLOATS

    def infer(types: Types, attrs: Attrs) -> TensorType:
        (x,) = types
        require(x.rank in ranks, f"takes rank {' or '.join(map(str, ranks))}, not {x}")
        require_dtype(types, *(SINGLE_AND_DOUBLE if attrs.get("antialias") else dtypes))
        sizes = _output_sizes(x, attrs)
        filled = x.sizes[0 if nearest else 1 if mode != "area" or x.rank == 5 else 2 :]
        least = 0 if mode == "area" else 1
        require(min(filled) > 0 and min(sizes) >= least, f"cannot resize {x} to {sizes}")
        if nearest:
            fixed = attrs["recompute_scale_factor"] or attrs["scale_factor"] is None
            scales = [None] * len(sizes) if fixed else _each(attrs["scale_factor"], len(sizes))
            for old, new, scale in zip(x.sizes[2:], sizes, scales, strict=True):
                is_certain = _is_nearest_certain(int(old), int(new), scale, mode == "nearest-exact")
                require(is_certain, f"the nearest pixel is a matter of rounding from {old} to {new}")
        return x.with_shape(*x.sizes[:2], *sizes)

    return infer


def _interpolate_attrs(mode: str) -> Callable[[ChoiceSource, Types], Attrs | None]:
    linear, images = mode.endswith(("linear", "bicubic")), mode in ("bilinear", "bicubic")

    def attrs(source: ChoiceSource, types: Types) -> Attrs | None:
        (x,) = types
        nd = x.rank - 2
        most = int((_ROOM / max(1, x.sizes[0] * x.sizes[1])) ** (1 / nd))
        drawn: dict[str, Attr] = {"size": None, "scale_factor": None}
        if source.chance(45):
            sizes = [source.integer(1, max(1, min(most, 2 * int(size) + 1))) for size in x.sizes[2:]]
            drawn["size"] = sizes[0] if source.chance(25) else tuple(sizes)
        else:
            fitting = [[s for s in _SCALES if 1 <= int(size) * s < max(most, int(size)) + 1] for size in x.sizes[2:]]
            common = [s for s in _SCALES if all(s in each for each in fitting)]
            if not all(fitting):
                return None
            single = bool(common) and source.chance(60)
            drawn["scale_factor"] = source.choice(common) if single else tuple(map(source.choice, fitting))
        again = drawn["size"] is None and source.chance(25)
        drawn["recompute_scale_factor"] = again or source.choice((None, None, None, False))
        if linear:
            drawn["align_corners"] = source.choice((None, None, False, True, True))
        if images:
            drawn["antialias"] = x.dtype in SINGLE_AND_DOUBLE and source.chance(25)
        return drawn

    return attrs


def _interpolate_terms(mode: str) -> Terms | None:
    """The pixels that contribute to one, and the rounding of positions, which grows with the size."""

    def terms(types: Types, attrs: Attrs) -> int:
        old, new = types[0].sizes[2:], _output_sizes(types[0], attrs)
        shrunk = [-(-size // max(out, 1)) for size, out in zip(old, new, strict=True)]
        if mode == "area":
            return product([times + 1 for times in shrunk])
        taps = 4 if mode == "bicubic" else 2
        wide = shrunk if attrs.get("antialias") else [1] * len(old)
        return product([taps * times for times in wide]) + max(*old, *new) ** 2 // 16

    return None if mode.startswith("nearest") else terms


def _upsample(mode: str, schema: Mapping[str, AttrKind], defaults: Attrs) -> Layer:
    """torch.nn.Upsample, or one of the two layers of the older interface."""

    def make(types: Types, attrs: Attrs) -> str:
        text = more(attrs, schema, defaults, "align_corners", "antialias").removeprefix(", ")
        if types[0].rank == 4 and attrs["recompute_scale_factor"] is None:
            if mode == "bilinear" and attrs["align_corners"]:
                return f"torch.nn.UpsamplingBilinear2d({text})"
            if mode == "nearest" and attrs["size"] is None:
                return f"torch.nn.UpsamplingNearest2d({text})"
        return f'torch.nn.Upsample({more(attrs, schema, defaults, "antialias").removeprefix(", ")}, mode="{mode}")'

    return Layer(make, when=lambda types, attrs: not attrs.get("antialias"))


def _interpolate_row(mode: str, *ranks: int, plainer: str | None = None) -> Op:
    linear, images = mode.endswith(("linear", "bicubic")), mode in ("bilinear", "bicubic")
    size = AttrKind("a size, or one for each dimension", lambda v: INT.accepts(v) or SIZES.accepts(v))
    scale = AttrKind("a number, or one for each dimension", lambda v: NUMBER.accepts(v) or NUMBERS.accepts(v))
    schema = {"size": optional(size), "scale_factor": optional(scale), "recompute_scale_factor": optional(BOOL)}
    schema |= {"align_corners": optional(BOOL)} if linear else {}
    schema |= {"antialias": BOOL} if images else {}
    defaults: Attrs = {key: False if key == "antialias" else None for key in schema}
    uint8 = (*FLOATS, DType.UINT8) if mode.startswith("nearest") else FLOATS
    return Op(
        f"interpolate_{mode.replace('-', '_')}",
        one(uint8, ranks=(min(ranks), max(ranks))),
        _interpolate(mode, ranks),
        f'F.interpolate({{0}}, mode="{mode}"{{more}})',
        _interpolate_attrs(mode),
        schema,
        defaults,
        terms=_interpolate_terms(mode),
        scale=4.0,  # the rounding of positions is multiplied by the differences between pixels
        forms={Form.MODULE: _upsample(mode, schema, defaults)},
        plainer=plainer,
    )


# --- pixel_shuffle


def _times(attrs: Attrs, key: str) -> int:
    times = int_of(attrs, key)
    require(times > 0, f"{key} must be positive")
    return times


def _pixel_shuffle(types: Types, attrs: Attrs) -> TensorType:
    (x,), times = types, _times(attrs, "upscale_factor")
    require(x.rank >= 3, f"pixel_shuffle takes rank 3 or more, not {x}")
    *lead, channels, height, width = x.sizes
    require(channels % times**2 == 0, f"{channels} channels do not split into {times} x {times}")
    return x.with_shape(*lead, channels // times**2, height * times, width * times)


def _pixel_unshuffle(types: Types, attrs: Attrs) -> TensorType:
    (x,), times = types, _times(attrs, "downscale_factor")
    require(x.rank >= 3, f"pixel_unshuffle takes rank 3 or more, not {x}")
    require(x.numel > 0, f"PyTorch leaves {x} as it is, for it is empty")
    *lead, channels, height, width = x.sizes
    require(height % times == 0 and width % times == 0, f"{x} does not split into {times} x {times}")
    return x.with_shape(*lead, channels * times**2, height // times, width // times)


def _splits(sizes: Sequence[int], times: int, parts: Sequence[int]) -> bool:
    return all(size % times**part == 0 for size, part in zip(sizes, parts, strict=True))


def _images(*parts: int) -> Callable[[Builder], tuple[Value, ...]]:
    """An image whose last three sizes are multiples of these powers of a number."""

    def operands(b: Builder) -> tuple[Value, ...]:
        def fresh() -> TensorType:
            times = b.source.choice((2, 2, 3))
            image = [times**part * b.source.choice((1, 1, 2, 3)) for part in parts]
            lead = [size if size <= 16 else 2 for size in b.shape(b.source.integer(0, 2))]
            return TensorType(b.dtype(ALL), (*lead, *image))

        def fits(t: TensorType) -> bool:
            return t.rank >= 3 and any(_splits(t.sizes[-3:], times, parts) for times in (2, 3))

        return (b.pick(fits, fresh),)

    return operands


def _factor(key: str, *parts: int) -> Callable[[ChoiceSource, Types], Attrs]:
    def attrs(source: ChoiceSource, types: Types) -> Attrs:
        fitting = [times for times in (2, 3, 4) if _splits(types[0].sizes[-3:], times, parts)]
        return {key: source.choice(fitting) if fitting and source.chance(90) else 1}

    return attrs


# --- grid_sample


def _grid_sample(types: Types, attrs: Attrs) -> TensorType:
    require_dtype(types, *FLOATS)
    require_same_dtype(types)
    x, grid = types
    nd = x.rank - 2
    require(nd in (2, 3) and grid.rank == x.rank, f"takes an image and a grid of rank 4 or 5, not {x} and {grid}")
    require(x.sizes[0] == grid.sizes[0] and grid.sizes[-1] == nd, f"{grid} is no grid of {nd} coordinates for {x}")
    require(min(x.sizes[2:]) > 0, f"there is nothing to sample in {x}")
    require(nd == 2 or attrs["mode"] != "bicubic", "bicubic is for two dimensions only")
    return x.with_shape(*x.sizes[:2], *grid.sizes[1:-1])


def _grid_sample_operands(b: Builder) -> tuple[Value, ...]:
    """An image and a grid that extends slightly beyond its edges: a new input, or a computed value that is clamped."""
    x = b.tensor(FLOATS, ranks=(4, 5))
    batch, nd, dtype = x.type.sizes[0], x.type.rank - 2, x.type.dtype

    def fits(t: TensorType) -> bool:
        return t.dtype == dtype and t.rank == nd + 2 and t.sizes[0] == batch and t.sizes[-1] == nd

    computed = [value for value in b.results() if fits(value.type)]
    if computed and b.source.chance(70):
        return x, clamped(b, b.source.choice(computed), -1.25, 1.25)
    wanted = TensorType(dtype, (batch, *(b.source.integer(1, 4) for _ in range(nd)), nd))
    return x, b.fresh_input(wanted, domain=b.source.choice((within(-1, 1), within(-1, 1), within(-2, 2))))


def _grid_sample_attrs(source: ChoiceSource, types: Types) -> Attrs:
    modes = ("bilinear", "bilinear", "nearest", *(("bicubic",) if types[0].rank == 4 else ()))
    return {
        "mode": source.choice(modes),
        "padding_mode": source.choice(("zeros", "zeros", "border", "reflection")),
        "align_corners": source.choice((None, False, True, True)),
    }


def affine_grid(types: Types, attrs: Attrs) -> TensorType:
    (theta,), size = types, ints_of(attrs, "size")
    require_dtype(types, *FLOATS)
    nd = len(size) - 2
    require(nd in (2, 3) and min(size) > 0, f"takes a size of 4 or 5 positive numbers, not {size}")
    require(theta.sizes == (size[0], nd, nd + 1), f"{theta} is no affine map for {size}")
    whole = min(size[2:]) > 1 or theta.dtype in SINGLE_AND_DOUBLE
    require(whole, f"PyTorch lacks a grid of one {theta.dtype} coordinate")
    return theta.with_shape(size[0], *size[2:], nd)


def _affine_grid_operands(b: Builder) -> tuple[Value, ...]:
    nd = b.source.choice((2, 2, 3))

    def fits(t: TensorType) -> bool:
        return t.dtype.is_float and t.rank == 3 and t.sizes[0] > 0 and t.sizes[1:] == (nd, nd + 1)

    return (b.pick(fits, lambda: TensorType(b.dtype(FLOATS), (b.source.integer(1, 3), nd, nd + 1))),)


def _affine_grid_attrs(source: ChoiceSource, types: Types) -> Attrs:
    batch, nd = types[0].sizes[:2]
    least = 1 if types[0].dtype in SINGLE_AND_DOUBLE else 2
    size = (batch, source.integer(1, 3), *(source.integer(least, 5) for _ in range(nd)))
    return {"size": size, "align_corners": source.choice((None, False, True, True))}


OPS = (
    _interpolate_row("nearest", 3, 4, 5),
    _interpolate_row("nearest-exact", 3, 4, 5, plainer="interpolate_nearest"),
    _interpolate_row("linear", 3),
    _interpolate_row("bilinear", 4),
    _interpolate_row("bicubic", 4),
    _interpolate_row("trilinear", 5),
    _interpolate_row("area", 3, 4, 5),
    Op(
        "pixel_shuffle",
        _images(2, 0, 0),
        _pixel_shuffle,
        "F.pixel_shuffle({0}, {upscale_factor})",
        _factor("upscale_factor", 2, 0, 0),
        {"upscale_factor": INT},
        forms={
            Form.FUNCTION: "torch.pixel_shuffle({0}, {upscale_factor})",
            Form.MODULE: Layer("torch.nn.PixelShuffle({upscale_factor})"),
        },
    ),
    Op(
        "pixel_unshuffle",
        _images(0, 1, 1),
        _pixel_unshuffle,
        "F.pixel_unshuffle({0}, {downscale_factor})",
        _factor("downscale_factor", 0, 1, 1),
        {"downscale_factor": INT},
        forms={
            Form.FUNCTION: "torch.pixel_unshuffle({0}, {downscale_factor})",
            Form.MODULE: Layer("torch.nn.PixelUnshuffle({downscale_factor})"),
        },
    ),
    Op(
        "grid_sample",
        _grid_sample_operands,
        _grid_sample,
        "F.grid_sample({0}, {1}{more})",
        _grid_sample_attrs,
        {
            "mode": one_of("bilinear", "nearest", "bicubic"),
            "padding_mode": one_of("zeros", "border", "reflection"),
            "align_corners": optional(BOOL),
        },
        {"mode": "bilinear", "padding_mode": "zeros", "align_corners": None},
        arity=(2, 2),
        terms=lambda types, attrs: 16 if attrs["mode"] == "bicubic" else 2 ** (types[0].rank - 2),
        scale=4.0,
    ),
    Op(
        "affine_grid",
        _affine_grid_operands,
        affine_grid,
        "F.affine_grid({0}, {size}{more})",
        _affine_grid_attrs,
        {"size": SIZES, "align_corners": optional(BOOL)},
        {"align_corners": None},
        terms=lambda types, attrs: types[0].sizes[2],
        scale=1.0,  # coordinates are rounded like 1, even close to 0
    ),
)
