"""Embeddings: rows of a table, and sums or means of several rows."""

from __future__ import annotations

from collections.abc import Callable

from generators.builder import Builder
from generators.choice import ChoiceSource
from generators.graph import FLOATS, Attrs, DType, Form, TensorType, Value
from generators.op import BOOL, INT, NUMBER, Arithmetic, Layer, Op, Types, int_of, one_of, optional, require
from generators.torch.ops.indexing import INDICES, index_type, indices
from generators.torch.ops.rules import require_dtype, require_same_dtype


def _padding_idx(types: Types, attrs: Attrs) -> None:
    rows, padding = types[1].sizes[0], attrs["padding_idx"]
    if padding is not None:
        require(-rows <= int_of(attrs, "padding_idx") < rows, f"padding_idx must be within the {rows} rows")


def _embedding(types: Types, attrs: Attrs) -> TensorType:
    index, weight = types
    require_dtype(types[:1], *INDICES)
    require(weight.rank == 2, f"the weight must be of rank 2, not {weight}")
    _padding_idx(types, attrs)
    require(weight.sizes[0] > 0 or index.numel == 0, "there are no rows")
    return weight.with_shape(*index.sizes, weight.sizes[1])


def _table(b: Builder, dtypes: tuple[DType, ...]) -> Value:
    """The table, a matrix: mostly a parameter."""
    if b.source.chance(25):
        return b.tensor(dtypes, (2, 2))
    return b.param(b.dtype(dtypes), b.source.integer(1, 12), b.source.choice((1, 2, 3, 4, 8, 16)))


def _embedding_operands(b: Builder) -> tuple[Value, ...]:
    weight = _table(b, (*FLOATS, *INDICES, DType.BOOL) if b.source.chance(10) else FLOATS)
    require(weight.type.sizes[0] > 0, "there are no rows")
    return indices(b, index_type(b, (0, 3)), weight.type.sizes[0], negative=False), weight


def _embedding_attrs(source: ChoiceSource, types: Types) -> Attrs:
    """Padding does not change the result, and the other attributes change only gradients: importers must drop them."""
    rows = int(types[1].sizes[0])
    return {
        "padding_idx": None if source.chance(50) else source.integer(-rows, rows - 1),
        "norm_type": source.choice((2.0, 2.0, 1.0)),
        "scale_grad_by_freq": source.chance(20),
        "sparse": source.chance(20),
    }


_EMBEDDING = {"padding_idx": optional(INT), "norm_type": NUMBER, "scale_grad_by_freq": BOOL, "sparse": BOOL}
_NO_EMBEDDING: Attrs = {"padding_idx": None, "norm_type": 2.0, "scale_grad_by_freq": False, "sparse": False}


def _layer(name: str, *keys: str) -> Callable[[Types, Attrs], str]:
    """The weight is assigned afterwards: the constructor zeroes the row padding_idx only in its own weight."""

    def make(types: Types, attrs: Attrs) -> str:
        rows, width = types[1].sizes
        given = [f"{key}={attrs[key]!r}" for key in keys if attrs[key] != _BAG_DEFAULTS[key]]
        return f"torch.nn.{name}({', '.join([str(int(rows)), str(int(width)), *given])})"

    return make


def _embedding_bag(types: Types, attrs: Attrs) -> TensorType:
    """Bags of one length: offsets would have to be sorted. PyTorch refuses length 0 ("step must be nonzero")."""
    index, weight, *scales = types
    require_dtype(types[:1], *INDICES)
    require_dtype(types[1:2], *FLOATS)
    require(weight.rank == 2, f"the weight must be of rank 2, not {weight}")
    require(index.rank == 2 and index.sizes[1] > 0, f"takes bags of rank 2, not {index}")
    _padding_idx(types, attrs)
    require(weight.sizes[0] > 0 or index.numel == 0, "there are no rows")
    if attrs["mode"] == "max":
        require(not attrs["sparse"] and not attrs["scale_grad_by_freq"], "mode max has neither gradient option")
    for scale in scales:
        require(attrs["mode"] == "sum", "per_sample_weights are for mode sum")
        require(scale.sizes == index.sizes, f"per_sample_weights must be of the shape of {index}")
        require_same_dtype((weight, scale))
    return weight.with_shape(index.sizes[0], weight.sizes[1])


def _bag_operands(b: Builder) -> tuple[Value, ...]:
    weight = _table(b, FLOATS)
    require(weight.type.sizes[0] > 0, "there are no rows")
    index = indices(b, index_type(b, (2, 2)), weight.type.sizes[0], negative=False)
    if b.source.chance(75):
        return index, weight
    scale = index.type.with_dtype(weight.type.dtype)
    return index, weight, b.pick(lambda t: t == scale, lambda: scale)


def _bag_attrs(source: ChoiceSource, types: Types) -> Attrs:
    mode = "sum" if len(types) == 3 else source.choice(("mean", "mean", "sum", "max"))
    attrs = {**_embedding_attrs(source, types), "mode": mode}
    return attrs if mode != "max" else {**attrs, "sparse": False, "scale_grad_by_freq": False}


def _bag_source(args: tuple[str, ...], attrs: Attrs) -> str:
    scale = [f"per_sample_weights={args[2]}"] if len(args) == 3 else []
    given = [f"{key}={attrs[key]!r}" for key in _BAG if attrs[key] != _BAG_DEFAULTS[key]]
    return f"F.embedding_bag({', '.join([args[0], args[1], *given, *scale])})"


_BAG = {**_EMBEDDING, "mode": one_of("mean", "sum", "max")}
_BAG_DEFAULTS: Attrs = {**_NO_EMBEDDING, "mode": "mean"}


OPS = (
    Op(
        "embedding",
        _embedding_operands,
        _embedding,
        "F.embedding({0}, {1}{more})",
        _embedding_attrs,
        _EMBEDDING,
        _NO_EMBEDDING,
        arity=(2, 2),
        forms={
            Form.MODULE: Layer(
                _layer("Embedding", *_EMBEDDING), ("weight",), when=lambda types, _: types[1].dtype.is_float
            )
        },
    ),
    Op(
        "embedding_bag",
        _bag_operands,
        _embedding_bag,
        _bag_source,
        _bag_attrs,
        _BAG,
        _BAG_DEFAULTS,
        arity=(2, 3),
        terms=lambda types, attrs: max(int(types[0].sizes[1]), 1),
        forms={Form.MODULE: Layer(_layer("EmbeddingBag", *_BAG), ("weight",))},
        arithmetic=Arithmetic.SUM,
    ),
)
