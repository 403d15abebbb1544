"""Normalisations: of batches, layers, groups, instances and neighbouring channels, and those of com.microsoft that add
before they normalise."""

from __future__ import annotations

from collections.abc import Callable

from generators.builder import Builder
from generators.choice import ChoiceSource
from generators.domain import ANY, POSITIVE, Domain, within
from generators.graph import HALVES, Attr, Attrs, DType, Role, TensorType, Value
from generators.onnx.call import Call
from generators.onnx.operator import OUTPUTS, Operator, Results
from generators.onnx.ops.axes import axis_in
from generators.onnx.ops.operands import FLAG, float32, one, tensor, tensor_of_model
from generators.onnx.schema import MICROSOFT, Schema, helpers_dtypes
from generators.op import Arithmetic, AttrKind, require
from generators.shared.draws import further
from generators.shared.sizes import broadcast, product

_EPSILON = tuple(map(float32, (1e-5, 1e-5, 1e-3, 0.1)))
"""Tiny ones make results of rounding errors, where a channel is constant."""
_TINY = (*_EPSILON, float32(1e-12))


def _owned(b: Builder, dtype: DType, *shape: int, domain: Domain = ANY) -> Value:
    """Mostly a tensor of the model; sometimes a computed value, where it may be any number."""
    if domain != ANY or b.source.chance(88):
        return tensor_of_model(b, dtype, *shape, domain=domain)
    type = TensorType(dtype, shape)
    return further(b, lambda other: other == type, lambda: type)


def _epsilon(source: ChoiceSource, call: Call) -> Attrs:
    return {"epsilon": source.choice(_EPSILON)}


def _require_params(call: Call, sizes: tuple[int, ...], *names: str) -> None:
    require(call.number("epsilon") >= 0, "epsilon must not be negative")
    for name in names:
        type = call.get(name)
        require(type is None or type.sizes == sizes, f"{name} must be {list(sizes)}")


# --- BatchNormalization


def _batch_operands(b: Builder, schema: Schema) -> tuple[Value, ...]:
    """From version 14 on, statistics may have other dtypes than the data, from 15 on the parameters too. onnxruntime
    1.31 has kernels for one dtype, but computes halves in float32."""
    source, x = b.source, tensor(b, schema, "X", (2, 5))
    dtype, names = x.type.dtype, [each.name for each in schema.inputs]
    group = (DType.FLOAT32, *HALVES) if dtype is not DType.FLOAT64 else (dtype,)
    own = {schema.inputs[0].type: dtype}
    for each in schema.inputs[1:]:
        others = [other for other in group if other in schema.dtypes(each.name)]
        own.setdefault(each.type, source.choice(others) if source.chance(20) else dtype)
    shape = x.type.sizes[1:] if schema.since < 9 and source.chance(25) else x.type.sizes[1:2]
    domains = (ANY, ANY, ANY, POSITIVE)
    types = [own[schema.input(name).type] for name in names[1:]]
    return x, *(_owned(b, each, *shape, domain=domain) for each, domain in zip(types, domains, strict=True))


def _batch(call: Call) -> Results:
    """In training the statistics are those of the batch, and the given ones move towards them. Older versions have
    such results too, but onnxruntime does not compute them."""
    x, scale, mean = call.types[0], call.types[1], call.types[3]
    require(x.rank >= 2, f"takes rank 2 or more, not {x}")
    spatial = not call.has("spatial") or call.integer("spatial") == 1
    sizes = x.sizes[1:2] if spatial else x.sizes[1:]
    _require_params(call, sizes, *call.names[1:])
    require(scale.numel > 0, f"{x} has no channels")
    if not call.has("training_mode"):
        return (x, *(None,) * (len(call.schema.outputs) - 1))
    if not call.integer("training_mode"):
        return x, None, None
    require(x.numel // x.sizes[1] > 1, f"takes more than 1 value per channel in training, not {x}")
    wanted = call.attrs.get(OUTPUTS)
    require(not isinstance(wanted, tuple) or all(wanted), "has all results in training")
    return x, mean, mean


def _batch_attributes(source: ChoiceSource, call: Call) -> Attrs:
    x, scale = call.types[:2]
    drawn: dict[str, Attr] = {**_epsilon(source, call), "momentum": source.choice((float32(0.9), 0.0, 0.5, 1.0))}
    drawn["spatial"] = int(scale.rank == 1 and (x.rank > 2 or source.chance(50)))
    drawn["training_mode"] = int(x.numel // max(1, x.sizes[1]) > 1 and source.chance(40))
    if call.has("training_mode") and drawn["training_mode"]:
        drawn[OUTPUTS] = (True, True, True)
    return drawn


def _batch_terms(call: Call) -> int:
    trained = call.has("training_mode") and call.integer("training_mode")
    return max(4, call.first.numel // max(1, call.first.sizes[1])) if trained else 4


# --- over the last dimensions


_STASH = AttrKind("1 for float32, or 11 for float64", lambda v: v in (1, 11) and isinstance(v, int))
"""The dtype of the first stage, as a number of onnx.TensorProto."""


def _layer_operands(scale: str, bias: str | None) -> Callable[[Builder, Schema], tuple[Value, ...]]:
    """Parameters of the last one to three sizes, sometimes with some sizes of 1. Without float64 where the first stage
    would be in float32: float64 results of float32 precision would be right."""

    def operands(b: Builder, schema: Schema) -> tuple[Value, ...]:
        name = schema.inputs[0].name
        narrow = [dtype for dtype in schema.dtypes(name) if dtype is not DType.FLOAT64 or not bias]
        x = b.tensor(narrow, (1, 5))
        shape = x.type.sizes[-b.source.integer(1, min(x.type.rank, 3)) :]
        if b.source.chance(10):
            shape = tuple(1 if b.source.chance(50) else size for size in shape)
        count = 1 + (bias is not None and b.source.chance(60))
        return x, *(_owned(b, x.type.dtype, *shape) for _ in range(count))

    return operands


def _require_layer(call: Call, scale: str, bias: str | None = None) -> int:
    """Check the parameters, and return the first dimension that is normalised."""
    x, first = call.first, axis_in(call)
    require(x.rank > 0 and product(x.sizes[first:]) > 0, f"there is nothing to normalise in {x}")
    require(call.number("epsilon") >= 0, "epsilon must not be negative")
    for name in (scale, bias):
        type = call.get(name) if name else None
        fits = type is None or (
            type.rank <= x.rank - first and broadcast(type.sizes, x.sizes[first:]) == x.sizes[first:]
        )
        require(fits, f"{type} does not fit the last sizes of {x}")
    return first


def _layer(call: Call) -> Results:
    x, first = call.first, _require_layer(call, "Scale", "B")
    require(x.dtype is not DType.FLOAT64, "the first stage of a norm of float64 would be in float32")
    require(call.integer("stash_type") == 1, "the readers compute the first stage in float32")
    statistics = x.with_shape(*x.sizes[:first], *(1,) * (x.rank - first)).with_dtype(DType.FLOAT32)
    return x, statistics, statistics


def _rms(call: Call) -> TensorType:
    """onnxruntime 1.31 takes no scale of another dtype."""
    _require_layer(call, "scale")
    require(call["scale"].dtype is call.first.dtype, f"the scale of {call.first} has another dtype")
    _require_stash(call)
    return call.first


def _require_stash(call: Call) -> None:
    wide = 11 if call.first.dtype is DType.FLOAT64 else 1
    require(
        call.integer("stash_type") == wide, f"the first stage of a norm of {call.first.dtype} has stash_type {wide}"
    )


def _layer_attributes(source: ChoiceSource, call: Call) -> Attrs:
    """The axis of the parameters, or another one before it."""
    x, scale = call.types[:2]
    last = x.rank - scale.rank
    first = last if source.chance(80) else source.integer(0, last)
    stash = 11 if x.dtype is DType.FLOAT64 else 1
    return {**_epsilon(source, call), "axis": source.choice((first, first - x.rank)), "stash_type": stash}


def _layer_terms(call: Call) -> int:
    return max(1, product(call.first.sizes[axis_in(call) :]))


# --- over channels


def _channel_operands(ranks: tuple[int, int]) -> Callable[[Builder, Schema], tuple[Value, ...]]:
    def operands(b: Builder, schema: Schema) -> tuple[Value, ...]:
        x = tensor(b, schema, schema.inputs[0].name, ranks)
        return x, *(_owned(b, x.type.dtype, x.type.sizes[1]) for _ in range(2))

    return operands


def _group(call: Call) -> TensorType:
    x, groups = call.first, call.integer("num_groups")
    require(x.rank >= 2 and x.numel > 0, f"takes rank 2 or more and some elements, not {x}")
    require(groups > 0 and x.sizes[1] % groups == 0, f"{x.sizes[1]} channels do not split into {groups} groups")
    _require_params(call, x.sizes[1:2], "scale", "bias")
    _require_stash(call)
    return x


def _group_attributes(source: ChoiceSource, call: Call) -> Attrs:
    channels = call.first.sizes[1]
    groups = [g for g in range(1, int(channels) + 1) if channels % g == 0]
    stash = 11 if call.first.dtype is DType.FLOAT64 else 1
    return {**_epsilon(source, call), "num_groups": source.choice(groups or [1]), "stash_type": stash}


def _group_terms(call: Call) -> int:
    return max(1, product(call.first.sizes[1:]) // call.integer("num_groups"))


def _instance(call: Call) -> TensorType:
    """onnxruntime 1.31 takes rank 3 or more. Its mean of one number is another number, by rounding."""
    x = call.first
    require(x.rank >= 3 and product(x.sizes[2:]) > 1 and x.sizes[1] > 0, f"takes rank 3 or more, not {x}")
    _require_params(call, x.sizes[1:2], "scale", "B")
    return x


def _fresh(b: Builder, schema: Schema) -> tuple[Value, ...]:
    """No computed value: onnxruntime 1.31 computes variances in one pass, and gives NaN where numbers are equal."""
    return (b.fresh_input(TensorType(DType.FLOAT32, b.shape(b.source.integer(1, 5)))),)


def _mean_variance(call: Call) -> TensorType:
    """The shape inference of onnx 1.23 knows float32 only, and needs the axes. onnxruntime 1.31 gives NaN for variances
    of one number."""
    require(call.first.dtype is DType.FLOAT32, f"is not defined for {call.first.dtype}")
    require(call.attrs["axes"] is not None, "axes must be given")
    x, axes = call.first, call.integers("axes") or ()
    found = {each % x.rank for each in axes if x.rank and -x.rank <= each < x.rank}
    require(len(found) == len(axes) > 0, f"axes {list(axes)} are no different dimensions of {x}")
    count = product([x.sizes[each] for each in found])
    require(x.numel > 0 and count > 1, f"there is nothing to normalise in {x} over {list(axes)}")
    return x


def _some_axes(source: ChoiceSource, call: Call) -> Attrs:
    rank = call.first.rank
    if rank == 4 and source.chance(30):
        return {"axes": source.choice(((0, 2, -1), (3, 2, 0), (0, -2, 3)))}  # the default could be left out
    axes = source.some(range(rank), 1, rank)
    if product([call.first.sizes[each] for each in axes]) < 4:  # few numbers are often equal
        axes = list(range(rank))
    return {"axes": tuple(each - rank if source.chance(30) else each for each in axes)}


def _mean_variance_terms(call: Call) -> int:
    return max(1, product([call.first.sizes[each] for each in call.integers("axes") or ()]))


def _neighbours(call: Call) -> TensorType:
    """onnxruntime 1.31 takes rank 4 and an odd size."""
    x, size = call.first, call.integer("size")
    require(x.rank == 4, f"takes rank 4, not {x}")
    require(size > 0 and size % 2 == 1, f"size {size} is not odd")
    require(call.number("bias") > 0 and call.number("alpha") >= 0, "bias must be positive, and alpha not negative")
    return x


def _neighbour_attributes(source: ChoiceSource, call: Call) -> Attrs:
    return {
        "size": source.choice((1, 3, 3, 5, 7)),
        "alpha": source.choice((float32(1e-4), 0.5, 1.0, float32(0.1))),
        "beta": source.choice((0.75, 0.5, 1.0, 2.0)),
        "bias": source.choice((1.0, 2.0, 0.5)),
    }


# --- com.microsoft


def _skip_operands(b: Builder, schema: Schema) -> tuple[Value, ...]:
    source, known = b.source, helpers_dtypes("Identity", b.opset)
    x = b.tensor([dtype for dtype in schema.dtypes("input") if dtype in known], (2, 3))
    sizes = x.type.sizes
    if x.type.rank == 3 and source.chance(20):
        skipped = x.type.with_shape(*source.choice(((1, *sizes[1:]), sizes[1:])))
    else:
        skipped = x.type
    skip = further(b, lambda other: other == skipped, lambda: skipped)
    return x, skip, *(_owned(b, x.type.dtype, sizes[-1]) for _ in range(source.choice((1, 2, 2, 3, 3))))


def _skip(call: Call) -> Results:
    x, skip = call["input"], call["skip"]
    require(x.rank in (2, 3) and x.numel > 0, f"takes rank 2 or 3 and some elements, not {x}")
    fitting = (x.sizes, *(((1, *x.sizes[1:]), x.sizes[1:]) if x.rank == 3 else ()))
    require(skip.sizes in fitting, f"{skip} does not fit {x}")
    _require_params(call, x.sizes[-1:], "gamma", "beta", "bias")
    statistics = x.with_shape(*x.sizes[:-1], 1).with_dtype(DType.FLOAT32)
    return x, statistics, statistics, x


def _embed_operands(b: Builder, schema: Schema) -> tuple[Value, ...]:
    source = b.source
    batch, length, width = (source.choice(sizes) for sizes in ((1, 2, 3), (1, 2, 5, 8), (1, 3, 4, 8, 16)))
    words, places, segments = source.choice((1, 2, 9)), length + source.choice((1, 3)), source.choice((1, 2))
    dtype = b.dtype(schema.dtypes("word_embedding"))

    def numbers(rows: int, below: int) -> Value:
        return b.fresh_input(TensorType(DType.INT32, (rows, length)), Role.INPUT, within(0, below - 1))

    ids = numbers(batch, words)
    with_segments = source.chance(60)
    first = (ids, numbers(batch, segments)) if with_segments else (ids,)
    tables = [_owned(b, dtype, words, width), _owned(b, dtype, places, width)]
    if with_segments:
        tables.append(_owned(b, dtype, segments, width))
    params = [_owned(b, dtype, width) for _ in range(2)]
    mask = [numbers(batch, 2)] if source.chance(50) else []
    below = places if mask else 2  # one of them alone may be either: their types do not differ
    positions = [numbers(source.choice((1, batch)), below)] if source.chance(40) else []
    return *first, *tables, *params, *mask, *positions


def _embed(call: Call) -> Results:
    """The mean of the embeddings of words, positions and segments. `mask_index` counts the ones of each mask."""
    ids, words, places = call["input_ids"], call["word_embedding"], call["position_embedding"]
    require(ids.rank == 2 and ids.numel > 0, f"takes ids of rank 2, not {ids}")
    require(words.rank == 2 and places.rank == 2 and min(words.numel, places.numel) > 0, "takes tables of rank 2")
    width = words.sizes[1]
    require(places.sizes[1] == width and places.sizes[0] >= ids.sizes[1], f"{places} is no table of positions")
    segments, table = call.get("segment_ids"), call.get("segment_embedding")
    require((segments is None) == (table is None), "segments need ids and a table")
    require(segments is None or segments == ids, f"{segments} are no segments of {ids}")
    require(
        table is None or (table.rank == 2 and table.sizes[0] > 0 and table.sizes[1] == width), f"{table} is no table"
    )
    _require_params(call, (width,), "gamma", "beta")
    mask, positions = call.get("mask"), call.get("position_ids")
    require(mask is None or mask == ids, f"{mask} is no mask of {ids}")
    allowed = (ids.sizes, (1, ids.sizes[1]))
    require(positions is None or positions.sizes in allowed, f"{positions} are no positions of {ids}")
    kind, wanted = call.attr("mask_index_type"), call.attrs.get(OUTPUTS)
    has_index = kind == 0 or not isinstance(wanted, tuple) or wanted[1]
    require(bool(has_index), "has the result mask_index unless mask_index_type is 0")
    found = words.with_shape(*ids.sizes, width)
    return found, ids.with_shape(ids.sizes[0]), found


def _embed_attributes(source: ChoiceSource, call: Call) -> Attrs:
    kind = source.choice((None, 0, 1))
    return {
        "epsilon": source.choice(_TINY),
        "mask_index_type": kind,
        OUTPUTS: (True, kind != 0 or source.chance(50), source.chance(40)),
    }


OPERATORS: tuple[Operator, ...] = (
    Operator("BatchNormalization", _batch_operands, _batch, _batch_attributes, terms=_batch_terms),
    Operator(
        "LayerNormalization",
        _layer_operands("Scale", "B"),
        _layer,
        _layer_attributes,
        kinds={"stash_type": _STASH},
        terms=_layer_terms,
    ),
    Operator(
        "RMSNormalization",
        _layer_operands("scale", None),
        _rms,
        _layer_attributes,
        kinds={"stash_type": _STASH},
        terms=_layer_terms,
    ),
    Operator(
        "GroupNormalization",
        _channel_operands((2, 5)),
        _group,
        _group_attributes,
        kinds={"stash_type": _STASH},
        terms=_group_terms,
    ),
    Operator(
        "InstanceNormalization",
        _channel_operands((3, 5)),
        _instance,
        _epsilon,
        terms=lambda call: max(1, product(call.first.sizes[2:])),
        arithmetic=Arithmetic.FUNCTION_IN_ANY,
    ),
    Operator(
        "MeanVarianceNormalization",
        _fresh,
        _mean_variance,
        _some_axes,
        terms=_mean_variance_terms,
        arithmetic=Arithmetic.FUNCTION_IN_ANY,
    ),
    Operator(
        "LRN",
        one((4, 4)),
        _neighbours,
        _neighbour_attributes,
        terms=lambda call: call.integer("size") + 3,
        arithmetic=Arithmetic.FUNCTION_IN_ANY,
    ),
    Operator(
        "SkipLayerNormalization",
        _skip_operands,
        _skip,
        lambda source, call: {"epsilon": source.choice(_TINY)},
        domain=MICROSOFT,
        terms=lambda call: max(3, call.first.sizes[-1]),
        plainer="Add",
    ),
    Operator(
        "EmbedLayerNormalization",
        _embed_operands,
        _embed,
        _embed_attributes,
        domain=MICROSOFT,
        kinds={"mask_index_type": FLAG},
        terms=lambda call: max(3, call["word_embedding"].sizes[1]),
    ),
)
