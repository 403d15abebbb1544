"""The operators of aten whose usual function gives one of their results only: torch.native_*.

The normalisations also give the mean and 1 / sqrt(variance + eps), and dropout the mask of what it keeps.

native_batch_norm without training is left out: it computes no statistics, and PyTorch's devices do not agree about the
shape of the two results in their place.
"""

from __future__ import annotations

from dataclasses import replace

from generators.choice import ChoiceSource
from generators.graph import FLOATS, Attrs, DType, TensorType
from generators.op import INT, NUMBER, Infer, Op, Template, Types, int_of, ints_of, number_of, require
from generators.torch.ops.norm import (
    BATCH_NORM_BATCH_STATS,
    BATCH_NORM_TRAINING,
    GROUP_NORM,
    LAYER_NORM,
)
from generators.torch.ops.operands import one
from generators.torch.ops.rules import require_dtype


def _statistics(x: TensorType, params: Types, *shape: int) -> Types:
    """Mean and 1 / sqrt(variance + eps), in the parameters' dtype where there are some."""
    require(x.numel > 0, f"no mean is defined for {x}")
    return (TensorType(params[0].dtype if params else x.dtype, shape),) * 2


# --- over channels: the operands are the input, the running mean and variance, the weight and the bias


def _weights(args: tuple[str, ...]) -> str:
    weight, bias = (*args, "None", "None")[:2]
    return f"{weight}, {bias}"


def _batch_stats(types: Types, attrs: Attrs) -> Types:
    x, *params = types
    return (*BATCH_NORM_BATCH_STATS.results(types, attrs), *_statistics(x, tuple(params), x.sizes[1]))


def _batch_stats_source(args: tuple[str, ...], attrs: Attrs) -> str:
    numbers = f"{attrs['momentum']}, {attrs['eps']}"
    return f"torch.native_batch_norm({args[0]}, {_weights(args[1:])}, None, None, True, {numbers})"


def _training(types: Types, attrs: Attrs) -> Types:
    """The result, the statistics of the batch, and the running ones, which are updated."""
    x, *params = types
    y, *running = BATCH_NORM_TRAINING.results(types, attrs)
    return (y, *_statistics(x, tuple(params), x.sizes[1]), *running)


def _training_source(args: tuple[str, ...], attrs: Attrs) -> str:
    x, mean, var, *params = args
    numbers = f"{attrs['momentum']}, {attrs['eps']}"
    given = f"{x}, {_weights(tuple(params))}, {{out3}}, {{out4}}, True, {numbers}"
    copied = f"{{out3}}, {{out4}} = {mean}.clone(), {var}.clone()"
    return f"{copied}\n{{out0}}, {{out1}}, {{out2}} = torch.native_batch_norm({given})"


# --- over the last dimensions, and over groups of channels


def _layer(types: Types, attrs: Attrs) -> Types:
    """The statistics keep the dimensions that they are computed over, with size 1."""
    x, *params = types
    over = len(ints_of(attrs, "normalized_shape"))
    kept = x.sizes[: x.rank - over]
    return (*LAYER_NORM.results(types, attrs), *_statistics(x, tuple(params), *kept, *(1,) * over))


def _layer_source(args: tuple[str, ...], attrs: Attrs) -> str:
    return f"torch.native_layer_norm({args[0]}, {attrs['normalized_shape']}, {_weights(args[1:])}, {attrs['eps']})"


def _as_group_norm(attrs: Attrs) -> Attrs:
    return {"num_groups": attrs["group"], "eps": attrs["eps"]}


def _group(types: Types, attrs: Attrs) -> Types:
    x, *params = types
    (y,) = GROUP_NORM.results(types, _as_group_norm(attrs))
    return (y, *_statistics(x, tuple(params), x.sizes[0], int_of(attrs, "group")))


def _group_source(args: tuple[str, ...], attrs: Attrs) -> str:
    """N, C and the number of positions are computed from the sizes of the input, which must be contiguous."""
    x = args[0]
    sizes = f"{x}.size(0), {x}.size(1), {x}.numel() // ({x}.size(0) * {x}.size(1))"
    return f"torch.native_group_norm({x}.contiguous(), {_weights(args[1:])}, {sizes}, {attrs['group']}, {attrs['eps']})"


def _group_attrs(source: ChoiceSource, types: Types) -> Attrs | None:
    drawn = GROUP_NORM.attrs(source, types)
    return drawn and {"group": drawn["num_groups"], "eps": drawn["eps"]}


def _group_terms(types: Types, attrs: Attrs) -> int:
    assert GROUP_NORM.terms
    return GROUP_NORM.terms(types, _as_group_norm(attrs))


# --- dropout


def _dropout(types: Types, attrs: Attrs) -> Types:
    """PyTorch gives a mask of the input's dtype where there are no elements."""
    require_dtype(types, *FLOATS)
    require(types[0].numel > 0, f"no mask is defined for {types[0]}")
    require(0 <= number_of(attrs, "p") <= 1, "p must be a probability")
    return types[0], types[0].with_dtype(DType.BOOL)


def _all_or_nothing(types: Types, attrs: Attrs) -> Types:
    require(attrs["p"] in (0, 1), "the result is random unless p is 0 or 1")
    return _dropout(types, attrs)


def _native(op: Op, infer: Infer, source: Template) -> Op:
    return replace(op, name=f"native_{op.name}", infer=infer, source=source, defaults={}, forms={}, plainer=None)


OPS = (
    _native(BATCH_NORM_BATCH_STATS, _batch_stats, _batch_stats_source),
    _native(BATCH_NORM_TRAINING, _training, _training_source),
    _native(LAYER_NORM, _layer, _layer_source),
    replace(
        _native(GROUP_NORM, _group, _group_source),
        attrs=_group_attrs,
        schema={"group": INT, "eps": NUMBER},
        terms=_group_terms,
    ),
    Op(
        "native_dropout",
        one(FLOATS),
        _dropout,
        "torch.native_dropout({0}, {p}, False)",
        lambda source, types: {"p": source.choice((0.5, 0.1, 0.0, 1.0))},
        {"p": NUMBER},
    ),
    Op(
        "native_dropout_training",
        one(FLOATS),
        _all_or_nothing,
        "torch.native_dropout({0}, {p}, True)",
        lambda source, types: {"p": source.choice((1.0, 1.0, 0.0))},
        {"p": NUMBER},
        multiplies_by_zero=lambda types, attrs: attrs["p"] == 1,
        plainer="native_dropout",
    ),
)
