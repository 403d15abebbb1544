"""Images sampled at points of a grid, regions of images, and boxes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from generators.builder import Builder
from generators.choice import ChoiceSource
from generators.domain import Domain, distinct, within
from generators.graph import Attr, Attrs, DType, Role, TensorType, Value
from generators.onnx.call import Call
from generators.onnx.operator import PREVIOUS, Constant, Operator, Step
from generators.onnx.ops.operands import float32, tensor
from generators.onnx.schema import Attribute, Schema
from generators.op import INT, NUMBER, SIZES, one_of, optional, require
from generators.shared.sizes import least, product

# --- GridSample and AffineGrid

_SAMPLED = ("bilinear", "bicubic", "linear", "cubic", "nearest")
_PADDING = ("zeros", "border", "reflection")


def _sampled_operands(b: Builder, schema: Schema) -> tuple[Value, ...] | None:
    """An image, and a grid that extends slightly beyond its edges."""
    x = tensor(b, schema, "X", (4, 5 if schema.since >= 20 else 4))
    if not x.type.numel:
        return None
    nd = x.type.rank - 2
    shape = (x.type.sizes[0], *(b.source.integer(1, 4) for _ in range(nd)), nd)
    domain = b.source.choice((within(-1, 1), within(-1, 1), within(-2, 2)))
    return x, b.fresh_input(TensorType(x.type.dtype, shape), Role.INPUT, domain)


def _sampled(call: Call) -> TensorType:
    """onnxruntime 1.31 takes one dtype, and images of two and three dimensions, the latter not cubic. With a border,
    the interpreter of onnx 1.23 takes the nearest pixels of cubic positions for others."""
    x, grid, mode = call["X"], call["grid"], call.text("mode")
    nd = x.rank - 2
    require(nd in ((2, 3) if call.schema.since >= 20 else (2,)), f"takes no image {x}")
    require(grid.dtype is x.dtype, f"{grid} has another dtype than {x}")
    require(grid.rank == x.rank and grid.sizes[0] == x.sizes[0] and grid.sizes[-1] == nd, f"{grid} is no grid for {x}")
    require(min(x.sizes) > 0, f"there is nothing to sample in {x}")
    reflected = call.text("padding_mode") == "reflection" and call.integer("align_corners")
    require(not reflected or min(x.sizes[2:]) > 1, f"{x} has no corners that reflect")
    old = call.schema.since < 20
    require(mode in ("nearest", *(("bilinear", "bicubic") if old else ("linear", "cubic"))), f"has no mode {mode}")
    cubic = mode in ("cubic", "bicubic")
    require(not cubic or (nd == 2 and call.text("padding_mode") != "border"), "the readers lack this cubic mode")
    return x.with_shape(*x.sizes[:2], *grid.sizes[1:-1])


def _sampled_attributes(source: ChoiceSource, call: Call) -> Attrs:
    linear, cubic = ("bilinear", "bicubic") if call.schema.since < 20 else ("linear", "cubic")
    mode = source.choice((linear, linear, "nearest", *((cubic,) if call["X"].rank == 4 else ())))
    padding = source.choice(("zeros", "reflection") if mode == cubic else _PADDING)
    single = padding == "reflection" and min(call["X"].sizes[2:]) == 1
    return {"mode": mode, "padding_mode": padding, "align_corners": 0 if single else source.choice((0, 1))}


def _maps(b: Builder, schema: Schema) -> tuple[Value, ...]:
    dtypes, nd = schema.dtypes("theta"), b.source.choice((2, 2, 3))

    def fits(t: TensorType) -> bool:
        return t.dtype in dtypes and t.rank == 3 and t.sizes[0] > 0 and t.sizes[1:] == (nd, nd + 1)

    return (b.pick(fits, lambda: TensorType(b.dtype(dtypes), (b.source.integer(1, 3), nd, nd + 1))),)


def _grid(call: Call) -> TensorType:
    """The readers disagree about where one pixel has its corners."""
    theta, size = call["theta"], call.integers("size") or ()
    nd = len(size) - 2
    require(nd in (2, 3) and min(size) > 0, f"takes a size of 4 or 5 positive numbers, not {list(size)}")
    require(theta.sizes == (size[0], nd, nd + 1), f"{theta} is no affine map for {list(size)}")
    require(not call.integer("align_corners") or min(size[2:]) > 1, "one pixel has no corners to align")
    return theta.with_shape(size[0], *size[2:], nd)


def _grid_size(source: ChoiceSource, call: Call) -> Attrs:
    batch, nd = call["theta"].sizes[:2]
    aligned = source.choice((0, 1))
    sizes = (source.integer(1 + aligned, 5) for _ in range(nd))
    return {"size": (int(batch), source.integer(1, 3), *sizes), "align_corners": aligned}


# --- regions


def _emitted(b: Builder, title: str, args: Sequence[Value], given: Attrs) -> Value:
    row = b.dialect.operator_at(title, b.opset)
    return b.emit(row, args, {**row.defaults, **given})[0]


def _corners(b: Builder, dtype: DType, count: int) -> list[Value]:
    """The first and the last corner of boxes, a few pixels apart."""
    sides = (within(-1, 2), within(3, 6))
    return [b.fresh_input(TensorType(dtype, (count, 2)), Role.INPUT, side) for side in sides]


def _one_of(b: Builder, images: Value) -> Domain:
    """The number of an image, of the fewest that an open size gives."""
    return within(0, least(b, images.type.sizes[0]) - 1)


def _pooled_operands(b: Builder, schema: Schema) -> tuple[Value, ...] | None:
    """Each region is the number of an image, and two corners."""
    x = tensor(b, schema, "X", (4, 4))
    if not x.type.numel:
        return None
    count = b.source.integer(1, 3)
    images = b.fresh_input(TensorType(DType.INT32, (count, 1)), Role.INPUT, _one_of(b, x))
    number = _emitted(b, "Cast", (images,), {"to": x.type.dtype.value})
    return x, _emitted(b, "Concat", (number, *_corners(b, x.type.dtype, count)), {"axis": 1})


def _pooled(call: Call) -> TensorType:
    x, regions, shape = call["X"], call["rois"], call.integers("pooled_shape") or ()
    require(x.rank == 4 and x.numel > 0, f"takes images of rank 4, not {x}")
    require(regions.rank == 2 and regions.sizes[1] == 5 and regions.numel > 0, f"{regions} are no regions of {x}")
    require(len(shape) == 2 and min(shape) > 0, f"pooled_shape takes 2 positive numbers, not {list(shape)}")
    require(call.number("spatial_scale") > 0, "spatial_scale must be positive")
    return x.with_shape(regions.sizes[0], x.sizes[1], *shape)


def _pooled_attributes(source: ChoiceSource, call: Call) -> Attrs:
    shape = (source.integer(1, 3), source.integer(1, 3))
    return {"pooled_shape": shape, "spatial_scale": source.choice((1.0, 0.5, 2.0, float32(0.3)))}


def _aligned_operands(b: Builder, schema: Schema) -> tuple[Value, ...] | None:
    x = tensor(b, schema, "X", (4, 4))
    if not x.type.numel:
        return None
    count = b.source.integer(1, 3)
    boxes = _emitted(b, "Concat", _corners(b, x.type.dtype, count), {"axis": 1})
    images = b.fresh_input(TensorType(DType.INT64, (count,)), Role.INPUT, _one_of(b, x))
    return x, boxes, images


def _aligned(call: Call) -> TensorType:
    """Only averages: for the mode max both readers take the largest weighted pixel, and onnxruntime 1.31 warns that
    this is wrong."""
    x, boxes, images = call["X"], call["rois"], call["batch_indices"]
    require(x.rank == 4 and x.numel > 0, f"takes images of rank 4, not {x}")
    require(boxes.rank == 2 and boxes.sizes[1] == 4 and boxes.numel > 0, f"{boxes} are no boxes")
    require(images.sizes == boxes.sizes[:1], f"{images} are no numbers of images for {boxes}")
    shape = call.integer("output_height"), call.integer("output_width")
    require(min(shape) > 0 and call.integer("sampling_ratio") >= 0, "sizes must be positive")
    require(call.number("spatial_scale") > 0, "spatial_scale must be positive")
    require(call.text("mode") == "avg", "the readers compute no maximum of samples")
    return x.with_shape(boxes.sizes[0], x.sizes[1], *shape)


def _aligned_attributes(source: ChoiceSource, call: Call) -> Attrs:
    return {
        "mode": "avg",
        "output_height": source.integer(1, 3),
        "output_width": source.integer(1, 3),
        "sampling_ratio": source.choice((0, 1, 2, 3)),
        "spatial_scale": source.choice((1.0, 0.5, 0.25)),
        "coordinate_transformation_mode": source.choice(("half_pixel", "output_half_pixel")),
    }


# --- boxes


def _boxes(b: Builder, schema: Schema) -> tuple[Value, ...]:
    """Boxes and scores of which no two are equal, so that their order is known."""
    batch, classes, count = (b.source.integer(1, most) for most in (2, 3, 6))
    boxes = b.fresh_input(TensorType(DType.FLOAT32, (batch, count, 4)), Role.INPUT, within(0, 8))
    scores = TensorType(DType.FLOAT32, (batch, classes, count))
    return boxes, b.fresh_input(scores, Role.INPUT, distinct(0, 20, 2))


THEN = ("Size", "ReduceSum")
"""What a call may do with the boxes that are left: count their indices, or add them."""


def _and_then(schema: Schema) -> Schema:
    return replace(schema, attributes={**schema.attributes, "then": Attribute("string")})


def _suppress_and_then(call: Call) -> tuple[Step, ...]:
    inputs = tuple(each.name for each in call.schema.inputs)
    last = [Step(str(then), (PREVIOUS,))] if (then := call.attrs.get("then")) else []
    return Step("NonMaxSuppression", inputs, ("center_point_box",)), *last


def _suppressed(call: Call) -> TensorType:
    """How many boxes are left depends on the boxes, unless no overlap is too large and no score too low. Otherwise the
    call computes a tensor of known size from them."""
    boxes, scores, then = call["boxes"], call["scores"], call.attrs.get("then")
    require(boxes.rank == scores.rank == 3 and boxes.sizes[2] == 4, f"{boxes} are no boxes")
    require(scores.sizes[::2] == boxes.sizes[:2] and scores.numel > 0, f"{scores} are no scores of {boxes}")
    most = call.attrs.get("max_output_boxes_per_class")
    require(most is None or (isinstance(most, int) and most >= 0), "the most boxes cannot be negative")
    if then is not None:
        return TensorType(DType.INT64, () if then == "Size" else (1, 1))
    require(call.attrs.get("iou_threshold") == 1, "with an iou_threshold below 1, the number of results is not known")
    low = call.attrs.get("score_threshold")
    require(low is None or low == -1, "with a score_threshold above -1, the number of results is not known")
    kept = min(most if isinstance(most, int) else 0, int(boxes.sizes[1]))
    return TensorType(DType.INT64, (scores.sizes[0] * scores.sizes[1] * kept, 3))


def _suppressed_attributes(source: ChoiceSource, call: Call) -> Attrs:
    """No overlap of drawn boxes is close to a threshold but equal to it, and no score is equal to one."""
    drawn: dict[str, Attr] = {
        "center_point_box": source.choice((0, 1)),
        "max_output_boxes_per_class": source.choice((1, 2, 3, 10, 10, 0)),
    }
    if source.chance(40):
        return drawn | {"iou_threshold": 1.0, "score_threshold": source.choice((None, -1.0))}
    return drawn | {
        "iou_threshold": source.choice((None, 0.0, 0.25, 0.5, 0.75, 1.0)),
        "score_threshold": source.choice((None, None, -1.0, 2.5, 9.5)),
        "then": source.choice(THEN),
    }


OPERATORS: tuple[Operator, ...] = (
    Operator(
        "GridSample",
        _sampled_operands,
        _sampled,
        _sampled_attributes,
        kinds={"mode": one_of(*_SAMPLED), "padding_mode": one_of(*_PADDING)},
        terms=lambda call: 16 if "cubic" in call.text("mode") else 2 ** (call["X"].rank - 2),
        scale=4.0,
    ),
    Operator(
        "AffineGrid",
        _maps,
        _grid,
        _grid_size,
        constants={"size": Constant(SIZES)},
        terms=lambda call: call["theta"].sizes[2],
        scale=1.0,  # coordinates are rounded like 1, even close to 0
    ),
    Operator(
        "MaxRoiPool",
        _pooled_operands,
        _pooled,
        _pooled_attributes,
    ),
    Operator(
        "RoiAlign",
        _aligned_operands,
        _aligned,
        _aligned_attributes,
        kinds={
            "mode": one_of("avg", "max"),
            "coordinate_transformation_mode": one_of("half_pixel", "output_half_pixel"),
        },
        terms=lambda call: 4 * max(1, product(call["X"].sizes[2:])),
        scale=4.0,
    ),
    Operator(
        "NonMaxSuppression",
        _boxes,
        _suppressed,
        _suppressed_attributes,
        kinds={"then": optional(one_of(*THEN))},
        steps=_suppress_and_then,
        alone=True,
        whole=_and_then,
        constants={  # lists of one number: the interpreter of onnx 1.23 takes no scalars
            "max_output_boxes_per_class": Constant(INT),
            "iou_threshold": Constant(NUMBER, DType.FLOAT32),
            "score_threshold": Constant(NUMBER, DType.FLOAT32),
        },
    ),
)
