"""Normalisations with parameters; those without parameters are in `softmax`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from generators.builder import Builder
from generators.choice import ChoiceSource
from generators.domain import ANY, POSITIVE, Domain
from generators.graph import FLOATS, HALVES, Attrs, DType, Form, TensorType, Value
from generators.op import (
    INT,
    NUMBER,
    SIZES,
    AttrKind,
    Layer,
    Op,
    Types,
    int_of,
    ints_of,
    number_of,
    optional,
    require,
)
from generators.shared.sizes import product
from generators.torch.ops.keywords import more
from generators.torch.ops.rules import require_dtype

_EPS = (1e-5, 1e-5, 1e-5, 1e-3, 0.1, 1e-12)


# --- parameters have the input's dtype, or float32 if the input has half precision


def _dtype(b: Builder, x: Value) -> DType:
    return DType.FLOAT32 if x.type.dtype in HALVES and b.source.chance(20) else x.type.dtype


def _parameter(b: Builder, dtype: DType, shape: tuple[int, ...], domain: Domain = ANY, buffer: bool = False) -> Value:
    """Mostly a tensor of the model; sometimes an input or, where it may be any number, a computed value."""
    if b.source.chance(88):
        return (b.buffer if buffer else b.param)(dtype, *shape, domain=domain)
    type = TensorType(dtype, shape)
    if domain == ANY:
        return b.pick(lambda t: t == type, lambda: type)
    return b.fresh_input(type, domain=domain)


def _affine(b: Builder, dtype: DType, *shape: int) -> tuple[Value, ...]:
    """No parameter, a weight, or a weight and a bias."""
    return tuple(_parameter(b, dtype, shape) for _ in range(b.source.choice((0, 0, 1, 2, 2))))


def _statistics(b: Builder, dtype: DType, channels: int) -> tuple[Value, ...]:
    """Running mean and variance."""
    return _parameter(b, dtype, (channels,), buffer=True), _parameter(b, dtype, (channels,), POSITIVE, buffer=True)


def _checked(types: Types, attrs: Attrs, sizes: tuple[int, ...]) -> TensorType:
    """The input, after the checks that all normalisations with parameters share. Some of PyTorch's take a negative eps
    and return NaN."""
    x, *params = types
    require_dtype(types, *FLOATS)
    own, wide = {t.dtype for t in params} <= {x.dtype}, {t.dtype for t in params} == {DType.FLOAT32}
    require(own or (wide and x.dtype in HALVES), f"the parameters' dtypes do not go with {x}")
    require(all(t.sizes == sizes for t in params), f"takes parameters of {list(sizes)}")
    require(number_of(attrs, "eps") >= 0, "eps must not be negative")
    return x


def _numbers(source: ChoiceSource, types: Types) -> Attrs:
    """`momentum` has no effect here, because it updates the running statistics in training only."""
    return {"momentum": source.choice((0.1, 0.1, 0.0, 0.5, 1.0)), "eps": source.choice(_EPS)}


_NUMBERS = {"momentum": NUMBER, "eps": NUMBER}
_DEFAULTS: Attrs = {"momentum": 0.1, "eps": 1e-5}


def _channel_layer(name: str, running: bool) -> Layer:
    """A layer over the channels, with weight and bias or with neither. Older PyTorch has no layer with one of them."""
    statistics = ("running_mean", "running_var") if running else ()
    first = 1 + len(statistics)
    ranks = (2, 3, 4, 5) if name == "BatchNorm" else (3, 4, 5)

    def make(types: Types, attrs: Attrs) -> str:
        x = types[0]
        flags = f", affine={len(types) > first}, track_running_stats={running}"
        return f"torch.nn.{name}{max(x.rank - 2, 1)}d({x.sizes[1]}{flags}{more(attrs, _NUMBERS, _DEFAULTS)})"

    def when(types: Types, attrs: Attrs) -> bool:
        return types[0].rank in ranks and len(types) in (first, first + 2)

    return Layer(make, (*statistics, "weight", "bias"), when=when)


def _without_weight(op: Op, source: str | Callable[[tuple[str, ...], Attrs], str]) -> Op:
    """The same call with a bias but no weight."""
    most = op.arity[1] - 1

    def operands(b: Builder) -> tuple[Value, ...] | None:
        found = op.operands(b)
        return found[:most] if found and len(found) >= most else None

    return replace(
        op,
        name=f"{op.name}_bias",
        operands=operands,
        source=source,
        arity=(most, most),
        forms={},
        plainer=op.name,
    )


def _call(
    function: str, schema: Mapping[str, AttrKind], defaults: Attrs, *between: str, end: str = ""
) -> Callable[[tuple[str, ...], Attrs], str]:
    """A call with positional arguments: the input, the attributes or texts `between`, the parameters."""

    def source(args: tuple[str, ...], attrs: Attrs) -> str:
        middle = [schema[text].render(attrs[text]) if text in schema else text for text in between]
        return f"{function}({', '.join([args[0], *middle, *args[1:]])}{end}{more(attrs, schema, defaults, *between)})"

    return source


# --- batch and instance norm


def _over_channels(running: bool, instances: bool) -> Callable[[Types, Attrs], TensorType]:
    """With `instances`, each element of the batch is normalised separately."""

    def infer(types: Types, attrs: Attrs) -> TensorType:
        x = types[0]
        require(x.rank >= 2, f"takes rank 2 or more, not {x}")
        batch, channels = x.sizes[:2]
        affine = len(types) > (3 if running else 1)
        require(not affine or channels * (batch if instances else 1) > 0, f"no weight fits {x}, which has no channels")
        if not running:
            require(_length(instances)(types, attrs) != 1, f"takes more than 1 value per channel, not {x}")
            require(number_of(attrs, "eps") > 0, "eps must be positive")
        return _checked(types, attrs, (channels,))

    return infer


def _length(instances: bool) -> Callable[[Types, Attrs], int]:
    """Return a function for the number of elements that share a mean and a variance."""
    return lambda types, attrs: product(types[0].sizes[2:]) * (1 if instances else types[0].sizes[0])


def _channels(rank: int, running: bool) -> Callable[[Builder], tuple[Value, ...]]:
    def operands(b: Builder) -> tuple[Value, ...]:
        x = b.tensor(FLOATS, ranks=(rank, 5))
        dtype, channels = _dtype(b, x), x.type.sizes[1]
        statistics = _statistics(b, dtype, channels) if running else ()
        return x, *statistics, *_affine(b, dtype, channels)

    return operands


_BATCH_NORM = Op(
    "batch_norm",
    _channels(2, running=True),
    _over_channels(running=True, instances=False),
    "F.batch_norm({args}{more})",
    _numbers,
    _NUMBERS,
    _DEFAULTS,
    arity=(3, 5),
    terms=lambda types, attrs: 4,
    forms={Form.MODULE: _channel_layer("BatchNorm", running=True)},
)

BATCH_NORM_BATCH_STATS = Op(
    "batch_norm_batch_stats",
    _channels(2, running=False),
    _over_channels(running=False, instances=False),
    _call("F.batch_norm", _NUMBERS, _DEFAULTS, "None", "None", end=", training=True"),
    _numbers,
    _NUMBERS,
    _DEFAULTS,
    arity=(1, 3),
    terms=lambda types, attrs: max(1, _length(False)(types, attrs)),
    forms={Form.MODULE: _channel_layer("BatchNorm", running=False)},
)


def _trained(types: Types, attrs: Attrs) -> tuple[TensorType, ...]:
    """The running statistics are updated towards those of the batch, by the factor `momentum`."""
    x, mean, var = types[:3]
    require(
        x.rank >= 2 and x.numel > 0 and _length(False)(types, attrs) > 1,
        f"takes more than 1 value per channel, not {x}",
    )
    return _over_channels(running=True, instances=False)(types, attrs), mean, var


def _trained_source(args: tuple[str, ...], attrs: Attrs) -> str:
    given = ", ".join([args[0], "{out1}", "{out2}", *args[3:]])
    text = more(attrs, _NUMBERS, _DEFAULTS)
    moved = f"{{out1}}, {{out2}} = {args[1]}.clone(), {args[2]}.clone()"
    return f"{moved}\n{{out0}} = F.batch_norm({given}, training=True{text})"


BATCH_NORM_TRAINING = replace(
    BATCH_NORM_BATCH_STATS,
    name="batch_norm_training",
    operands=_channels(2, running=True),
    infer=_trained,
    source=_trained_source,
    arity=(3, 5),
    forms={},
)

_INSTANCE_NORM = Op(
    "instance_norm",
    _channels(3, running=False),
    _over_channels(running=False, instances=True),
    _call("F.instance_norm", _NUMBERS, _DEFAULTS, "None", "None"),
    _numbers,
    _NUMBERS,
    _DEFAULTS,
    arity=(1, 3),
    terms=lambda types, attrs: max(1, _length(True)(types, attrs)),
    forms={Form.MODULE: _channel_layer("InstanceNorm", running=False)},
)

_INSTANCE_NORM_RUNNING_STATS = replace(
    _BATCH_NORM,
    name="instance_norm_running_stats",
    infer=_over_channels(running=True, instances=True),
    source="F.instance_norm({args}, use_input_stats=False{more})",
    forms={Form.MODULE: _channel_layer("InstanceNorm", running=True)},
)


# --- layer, group and rms norm: called with one number or shape, then weight and bias


_LAYER = {"normalized_shape": SIZES, "eps": NUMBER}
_GROUP = {"num_groups": INT, "eps": NUMBER}
_RMS = {"normalized_shape": SIZES, "eps": optional(NUMBER)}
_EPS_DEFAULT: Attrs = {"eps": 1e-5}
_NO_EPS: Attrs = {"eps": None}


def _layer_norm(types: Types, attrs: Attrs) -> TensorType:
    x, shape = types[0], ints_of(attrs, "normalized_shape")
    require(0 < len(shape) <= x.rank and x.sizes[-len(shape) :] == shape, f"a norm over {shape} does not fit {x}")
    return _checked(types, attrs, shape)


def _layer_norm_operands(b: Builder) -> tuple[Value, ...]:
    x = b.tensor(FLOATS, ranks=(1, 5))
    return x, *_affine(b, _dtype(b, x), *x.type.sizes[-b.source.integer(1, min(x.type.rank, 3)) :])


def _normalized_shape(source: ChoiceSource, types: Types) -> tuple[int, ...]:
    x, *affine = types
    return affine[0].sizes if affine else x.sizes[-source.integer(1, min(x.rank, 3)) :]


def _layer_norm_attrs(source: ChoiceSource, types: Types) -> Attrs:
    return {"normalized_shape": _normalized_shape(source, types), "eps": source.choice(_EPS)}


def _normalized_terms(types: Types, attrs: Attrs) -> int:
    return max(1, product(ints_of(attrs, "normalized_shape")))


def _layer_norm_layer(name: str, schema: Mapping[str, AttrKind], defaults: Attrs) -> Layer:
    def make(types: Types, attrs: Attrs) -> str:
        plain = ", elementwise_affine=False" if len(types) == 1 else ""
        no_bias = ", bias=False" if name == "LayerNorm" and len(types) == 2 else ""
        text = more(attrs, schema, defaults, "normalized_shape")
        return f"torch.nn.{name}({attrs['normalized_shape']!r}{plain}{no_bias}{text})"

    return Layer(make, ("weight", "bias"))


def _rms_norm(types: Types, attrs: Attrs) -> TensorType:
    """Without eps, PyTorch uses the epsilon of the input's dtype, so the evaluation in double precision would compute
    another function."""
    x, *weight = types
    require_dtype(types, *FLOATS)
    require(attrs["eps"] is not None or x.dtype is DType.FLOAT64, "rms_norm takes an eps, for all but float64")
    return _layer_norm((x, *(t.with_dtype(x.dtype) for t in weight)), {**attrs, "eps": attrs["eps"] or 0})


def _rms_norm_operands(b: Builder) -> tuple[Value, ...]:
    """The weight may have another dtype: only its shape must fit."""
    x, *weight = _layer_norm_operands(b)[:2]
    if weight and b.source.chance(15):
        weight = [b.param(b.source.choice(FLOATS), *weight[0].type.sizes)]
    return x, *weight


def _rms_norm_attrs(source: ChoiceSource, types: Types) -> Attrs:
    without = types[0].dtype is DType.FLOAT64 and source.chance(60)
    return {"normalized_shape": _normalized_shape(source, types), "eps": None if without else source.choice(_EPS)}


def _group_norm(types: Types, attrs: Attrs) -> TensorType:
    x, groups = types[0], int_of(attrs, "num_groups")
    require(x.rank >= 2, f"group_norm takes rank 2 or more, not {x}")
    require(groups > 0 and x.sizes[1] % groups == 0, f"{x.sizes[1]} channels do not split into {groups} groups")
    count = x.sizes[0] * x.sizes[1] // groups * product(x.sizes[2:])
    require(count != 1, f"group_norm takes more than 1 value, not {x} in {groups} groups")
    return _checked(types, attrs, x.sizes[1:2])


def _group_norm_operands(b: Builder) -> tuple[Value, ...]:
    x = b.tensor(FLOATS, ranks=(2, 5))
    return x, *_affine(b, _dtype(b, x), x.type.sizes[1])


def _group_norm_attrs(source: ChoiceSource, types: Types) -> Attrs:
    channels = types[0].sizes[1]
    groups = [g for g in range(1, channels + 1) if channels % g == 0]
    return {"num_groups": source.choice(groups or [1, 2]), "eps": source.choice(_EPS)}


def _group_norm_layer(types: Types, attrs: Attrs) -> str:
    plain = "" if len(types) > 1 else ", affine=False"
    text = more(attrs, _GROUP, _EPS_DEFAULT, "num_groups")
    return f"torch.nn.GroupNorm({attrs['num_groups']!r}, {types[0].sizes[1]}{plain}{text})"


LAYER_NORM = Op(
    "layer_norm",
    _layer_norm_operands,
    _layer_norm,
    _call("F.layer_norm", _LAYER, _EPS_DEFAULT, "normalized_shape"),
    _layer_norm_attrs,
    _LAYER,
    _EPS_DEFAULT,
    arity=(1, 3),
    terms=_normalized_terms,
    forms={Form.MODULE: _layer_norm_layer("LayerNorm", _LAYER, _EPS_DEFAULT)},
)

GROUP_NORM = Op(
    "group_norm",
    _group_norm_operands,
    _group_norm,
    _call("F.group_norm", _GROUP, _EPS_DEFAULT, "num_groups"),
    _group_norm_attrs,
    _GROUP,
    _EPS_DEFAULT,
    arity=(1, 3),
    terms=lambda types, attrs: max(1, product(types[0].sizes[1:]) // int_of(attrs, "num_groups")),
    forms={Form.MODULE: Layer(_group_norm_layer, ("weight", "bias"), when=lambda types, attrs: len(types) != 2)},
)

_RMS_NORM = Op(
    "rms_norm",
    _rms_norm_operands,
    _rms_norm,
    _call("F.rms_norm", _RMS, _NO_EPS, "normalized_shape"),
    _rms_norm_attrs,
    _RMS,
    _NO_EPS,
    arity=(1, 2),
    terms=_normalized_terms,
    forms={Form.MODULE: _layer_norm_layer("RMSNorm", _RMS, _NO_EPS)},
)


OPS = (
    _BATCH_NORM,
    _without_weight(_BATCH_NORM, "F.batch_norm({0}, {1}, {2}, None, {3}{more})"),
    BATCH_NORM_BATCH_STATS,
    BATCH_NORM_TRAINING,
    _INSTANCE_NORM,
    _INSTANCE_NORM_RUNNING_STATS,
    LAYER_NORM,
    _without_weight(LAYER_NORM, _call("F.layer_norm", _LAYER, _EPS_DEFAULT, "normalized_shape", "None")),
    GROUP_NORM,
    _without_weight(GROUP_NORM, _call("F.group_norm", _GROUP, _EPS_DEFAULT, "num_groups", "None")),
    _RMS_NORM,
)
