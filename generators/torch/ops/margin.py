"""Losses of samples: of classes, of margins, of distances."""

from __future__ import annotations

from collections.abc import Callable

from generators.builder import Builder
from generators.choice import ChoiceSource
from generators.domain import ANY, within
from generators.graph import FLOATS, INTEGERS, Attrs, DType, TensorType, Value
from generators.op import BOOL, INT, NUMBER, Op, Types, int_of, number_of, require
from generators.shared.sizes import broadcast, least
from generators.torch.ops.distance import distances, order
from generators.torch.ops.magnitude import ORDER
from generators.torch.ops.reduced import bounded_of_type, loss_row, same, weight
from generators.torch.ops.rules import (
    NUMERIC,
    SINGLE_AND_DOUBLE,
    floating,
    join,
    promote,
    require_dtype,
    require_same_dtype,
)

# --- by class


def _classes(x: TensorType) -> int:
    require(x.rank > 0, f"there are no classes in {x}")
    return x.sizes[min(1, x.rank - 1)]


def _samples(x: TensorType) -> tuple[int, ...]:
    """The shape without the classes."""
    return (*x.sizes[: min(1, x.rank - 1)], *x.sizes[2:])


def _by_index(types: Types, attrs: Attrs) -> TensorType:
    x, target, *weights = types
    require_dtype((x,), *FLOATS)
    smoothing = number_of({"label_smoothing": 0, **attrs}, "label_smoothing")
    require(0 <= smoothing <= 1, "label_smoothing goes from 0 to 1")
    byte = x.rank <= 2 and not (smoothing and weights)
    require_dtype((target,), DType.INT64, *((DType.UINT8,) if byte else ()))
    require(target.sizes == _samples(x), f"the target of {x} must be {list(_samples(x))}, not {target}")
    require(_classes(x) > 0 or target.numel == 0, f"{x} has no class to choose")
    require(all(w == x.with_shape(_classes(x)) for w in weights), f"the weight must be {x.with_shape(_classes(x))}")
    return x.with_shape(*target.sizes)


def _by_index_operands(b: Builder) -> tuple[Value, ...] | None:
    x = b.tensor(FLOATS, ranks=(1, 5))
    classes = _classes(x.type)
    last = least(b, classes) - 1
    if last < 0:
        return None
    dtype = DType.UINT8 if last < 256 and x.type.rank <= 2 and b.source.chance(15) else DType.INT64
    target = bounded_of_type(b, TensorType(dtype, _samples(x.type)), 0, last)
    return x, target, *weight(b, 35, x.type.dtype, (classes,))


def _ignored(source: ChoiceSource, types: Types) -> int:
    """A class to ignore, which some samples may have. None for few samples: the mean of no samples is NaN."""
    classes = int(_classes(types[0]))
    fair = classes > 1 and types[1].numel >= 12
    return source.integer(0, classes - 1) if fair and source.chance(50) else source.choice((-100, -100, -1, classes))


def _cross_entropy_attrs(source: ChoiceSource, types: Types) -> Attrs:
    smooth = types[1].dtype is DType.INT64 or len(types) == 2
    return {
        "ignore_index": _ignored(source, types),
        "label_smoothing": source.choice((0.0, 0.0, 0.1, 0.5, 1.0)) if smooth else 0.0,
    }


def _of_classes(types: Types, attrs: Attrs) -> int:
    return max(1, _classes(types[0]))


def _by_probability(types: Types, attrs: Attrs) -> TensorType:
    x, target, *weights = types
    require_dtype((x, target), *FLOATS)
    require(target.sizes == x.sizes, f"{target} are no probabilities of {x}")
    require(all(w.sizes == (_classes(x),) for w in weights), f"the weight must be [{_classes(x)}]")
    require(0 <= number_of(attrs, "label_smoothing") <= 1, "label_smoothing goes from 0 to 1")
    dtype = join(x.dtype, target.dtype)
    for w in weights:
        dtype = join(dtype, w.dtype)
    return TensorType(dtype, _samples(x))


def _by_probability_operands(b: Builder) -> tuple[Value, ...]:
    x = b.tensor(FLOATS, ranks=(1, 5))
    dtype = b.source.choice(FLOATS) if b.source.chance(15) else x.type.dtype
    target = bounded_of_type(b, x.type.with_dtype(dtype), 0, 1)
    return x, target, *weight(b, 35, x.type.dtype, (_classes(x.type),))


# --- by margin


def _some_classes(x: TensorType, target: TensorType) -> None:
    """For no samples, PyTorch returns uninitialized memory. For one sample without a batch dimension, its eager mode
    and its decomposition give different shapes."""
    require_dtype((x,), *SINGLE_AND_DOUBLE)
    require_dtype((target,), DType.INT64)
    require(x.rank == 2 and x.numel > 0, f"takes [samples, classes], not {x}")


def _multi_margin(types: Types, attrs: Attrs) -> TensorType:
    x, target, *weights = types
    require_same_dtype((x, *weights))
    _some_classes(x, target)
    require(target.sizes == x.sizes[:-1], f"the target of {x} must be {list(x.sizes[:-1])}, not {target}")
    require(all(w.sizes == x.sizes[-1:] for w in weights), f"the weight must be [{x.sizes[-1]}]")
    require(int_of(attrs, "p") in (1, 2), "p must be 1 or 2")
    return x.with_shape(*target.sizes)


def _multi_margin_operands(b: Builder) -> tuple[Value, ...] | None:
    x = b.tensor(SINGLE_AND_DOUBLE, ranks=(2, 2))
    classes = x.type.sizes[-1]
    last = least(b, classes) - 1
    if last < 0:
        return None
    target = bounded_of_type(b, TensorType(DType.INT64, x.type.sizes[:-1]), 0, last)
    return x, target, *weight(b, 35, x.type.dtype, (classes,), ANY)


def _multilabel_margin(types: Types, attrs: Attrs) -> TensorType:
    x, target = types
    _some_classes(x, target)
    require(target.sizes == x.sizes, f"{target} is no list of classes for {x}")
    return x.with_shape(*x.sizes[:-1])


def _multilabel_margin_operands(b: Builder) -> tuple[Value, ...] | None:
    """A list of classes ends before the first -1."""
    x = b.tensor(SINGLE_AND_DOUBLE, ranks=(2, 2))
    last = least(b, x.type.sizes[-1]) - 1
    return (x, bounded_of_type(b, x.type.with_dtype(DType.INT64), -1, last)) if last >= 0 else None


def _multilabel_soft_margin(types: Types, attrs: Attrs) -> TensorType:
    x, target, *weights = types
    require(x.rank > 0, f"there are no classes in {x}")
    require_dtype((x,), *FLOATS)
    require_dtype((target,), *NUMERIC)
    loss = TensorType(promote((x, target)), broadcast(x.sizes, target.sizes))
    if weights:
        loss = TensorType(promote((loss, *weights)), broadcast(loss.sizes, weights[0].sizes))
    return loss.with_shape(*loss.sizes[: x.rank - 1], *loss.sizes[x.rank :])


def _multilabel_soft_margin_operands(b: Builder) -> tuple[Value, ...] | None:
    x = b.tensor(FLOATS, ranks=(1, 4))
    if not x.type.sizes[-1]:  # which PyTorch divides by
        return None
    dtype = b.source.choice((x.type.dtype, x.type.dtype, *INTEGERS))
    target = bounded_of_type(b, x.type.with_dtype(dtype), 0, 1)
    return x, target, *weight(b, 35, x.type.dtype, b.source.choice((x.type.sizes[-1:], x.type.sizes)), ANY)


def _margin_ranking(types: Types, attrs: Attrs) -> TensorType:
    require_dtype(types, *NUMERIC)
    require(len({t.rank for t in types}) == 1, "takes tensors of one rank")
    return TensorType(floating(promote(types)), broadcast(*(t.sizes for t in types)))


def _margin_ranking_operands(b: Builder) -> tuple[Value, ...]:
    x = b.tensor(FLOATS)
    target = x.type.with_dtype(x.type.dtype if b.source.chance(50) else DType.INT64)
    return x, same(b, x), bounded_of_type(b, target, -1, 1)


# --- by distance


def _cosine_embedding(types: Types, attrs: Attrs) -> TensorType:
    """Integers would become float32, whatever the other dtypes are."""
    x, y, target = types
    require_dtype((x, y), *FLOATS)
    require(target.rank in (0, 1), f"the target must be of rank 0 or 1, not {target}")
    require(x.rank == y.rank == target.rank + 1, f"takes tensors of rank {target.rank + 1}, not {x} and {y}")
    return TensorType(promote((x, y)), broadcast(broadcast(x.sizes, y.sizes)[:-1], target.sizes))


def _cosine_embedding_operands(b: Builder) -> tuple[Value, ...] | None:
    """PyTorch adds 1e-12, which float16 rounds to 0, and multiplies squares, which float16 cannot hold."""
    if b.source.chance(85):
        x = b.tensor(tuple(dtype for dtype in FLOATS if dtype is not DType.FLOAT16), ranks=(1, 2))
        y = same(b, x)
    else:
        fresh = TensorType(DType.FLOAT16, b.shape(b.source.integer(1, 2)))
        if not fresh.sizes[-1]:
            return None
        x, y = (b.fresh_input(fresh, domain=within(-1, 1)) for _ in range(2))
    dtype = b.source.choice((DType.INT64, DType.INT64, DType.INT32, x.type.dtype))
    return x, y, bounded_of_type(b, TensorType(dtype, x.type.sizes[:-1]), -1, 1)


def _triplet(types: Types, attrs: Attrs) -> TensorType:
    anchor, positive, negative = types
    require_dtype(types, *FLOATS)
    require(len({t.rank for t in types}) == 1, "takes tensors of one rank")
    require(number_of(attrs, "margin") > 0, "margin must be positive")
    near, far = (distances(anchor, other, attrs) for other in (positive, negative))
    if attrs["swap"]:
        broadcast(distances(positive, negative, attrs).sizes[:-1], far.sizes[:-1])
    return TensorType(promote(types), broadcast(near.sizes[:-1], far.sizes[:-1]))


def _triplet_operands(b: Builder) -> tuple[Value, ...]:
    anchor = b.tensor(FLOATS, ranks=(1, 4))
    return anchor, same(b, anchor), same(b, anchor)


def _triplet_attrs(source: ChoiceSource, types: Types) -> Attrs:
    return {
        "margin": source.choice((1.0, 1.0, 0.5, 3)),
        "p": order(source, promote(types)),
        "eps": source.choice((1e-6, 1e-6, 1e-3, 0)),
        "swap": source.chance(40),
    }


def _last(types: Types, attrs: Attrs) -> int:
    return 2 + types[0].sizes[-1] if types[0].rank else 3


def _margins(*values: float) -> Callable[[ChoiceSource, Types], Attrs]:
    return lambda source, types: {"margin": source.choice(values)}


OPS: tuple[Op, ...] = (
    loss_row(
        "cross_entropy",
        _by_index_operands,
        _by_index,
        "CrossEntropyLoss",
        _cross_entropy_attrs,
        {"ignore_index": INT, "label_smoothing": NUMBER},
        {"ignore_index": -100, "label_smoothing": 0.0},
        given=("weight",),
        each=_of_classes,
        scale=1.0,
    ),
    loss_row(
        "cross_entropy_probabilities",
        _by_probability_operands,
        _by_probability,
        "CrossEntropyLoss",
        lambda source, types: {"label_smoothing": source.choice((0.0, 0.0, 0.1, 0.5, 1.0))},
        {"label_smoothing": NUMBER},
        {"label_smoothing": 0.0},
        given=("weight",),
        each=_of_classes,
        scale=1.0,
        function="cross_entropy",
    ),
    loss_row(
        "nll_loss",
        _by_index_operands,
        _by_index,
        "NLLLoss",
        lambda source, types: {"ignore_index": _ignored(source, types)},
        {"ignore_index": INT},
        {"ignore_index": -100},
        given=("weight",),
    ),
    loss_row(
        "multi_margin_loss",
        _multi_margin_operands,
        _multi_margin,
        "MultiMarginLoss",
        lambda source, types: {"p": source.choice((1, 1, 2)), "margin": source.choice((1.0, 1.0, 0.5, 2, -1.0))},
        {"p": INT, "margin": NUMBER},
        {"p": 1, "margin": 1.0},
        given=("weight",),
        each=_of_classes,
    ),
    loss_row(
        "multilabel_margin_loss",
        _multilabel_margin_operands,
        _multilabel_margin,
        "MultiLabelMarginLoss",
        each=_of_classes,
    ),
    loss_row(
        "multilabel_soft_margin_loss",
        _multilabel_soft_margin_operands,
        _multilabel_soft_margin,
        "MultiLabelSoftMarginLoss",
        given=("weight",),
        each=lambda types, attrs: 1 + types[0].sizes[-1],
        scale=1.0,
    ),
    loss_row(
        "margin_ranking_loss",
        _margin_ranking_operands,
        _margin_ranking,
        "MarginRankingLoss",
        _margins(0.0, 0.0, 0.5, 2, -1.0),
        {"margin": NUMBER},
        {"margin": 0.0},
        inputs=3,
        each=lambda types, attrs: 3,
    ),
    loss_row(
        "cosine_embedding_loss",
        _cosine_embedding_operands,
        _cosine_embedding,
        "CosineEmbeddingLoss",
        _margins(0.0, 0.0, 0.5, -0.5),
        {"margin": NUMBER},
        {"margin": 0.0},
        inputs=3,
        each=_last,
        scale=1.0,
    ),
    loss_row(
        "triplet_margin_loss",
        _triplet_operands,
        _triplet,
        "TripletMarginLoss",
        _triplet_attrs,
        {"margin": NUMBER, "p": ORDER, "eps": NUMBER, "swap": BOOL},
        {"margin": 1.0, "p": 2.0, "eps": 1e-6, "swap": False},
        inputs=3,
        each=_last,
    ),
)
