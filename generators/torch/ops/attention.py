"""Attention as a function, and as the layer with its projections."""

from __future__ import annotations

from collections.abc import Sequence

from generators.builder import Builder
from generators.choice import ChoiceSource
from generators.graph import FLOATS, Attrs, DType, Form, TensorType, Value
from generators.op import BOOL, INT, NUMBER, Layer, Op, Operands, Types, int_of, optional, require
from generators.operator_class import OperatorClass
from generators.shared.draws import accepted
from generators.shared.sizes import broadcast
from generators.torch.ops.contraction import exactly
from generators.torch.ops.operands import one
from generators.torch.ops.rules import require_dtype, require_same_dtype

WIDTHS = (1, 2, 3, 4, 8, 16)

# --- scaled dot products


def _attention(types: Types, attrs: Attrs) -> TensorType:
    """Queries [..., L, E], keys [..., S, E], values [..., S, F], and perhaps a mask that broadcasts to [..., L, S].

    Stricter than the kernels, which read out of bounds or compute 0/0: there must be as many values as keys, at least
    one of each, and at least one feature. PyTorch documents as errors: causal with a mask, more heads of values than
    of keys.
    """
    q, k, v = types[:3]
    require_dtype(types[:3], *FLOATS)
    require_same_dtype(types[:3])
    require(min(t.rank for t in types[:3]) >= 2, f"attention takes ranks of 2 and more: {q}, {k}, {v}")
    require(q.sizes[-1] == k.sizes[-1] > 0, f"attention: {q} and {k} must have equal features")
    require(k.sizes[-2] == v.sizes[-2] > 0, f"attention: {k} and {v} must be of one length")
    batch = _batch(q, k, v, grouped=bool(attrs["enable_gqa"]))
    if len(types) == 4:
        mask, scores = types[3], (*batch, q.sizes[-2], k.sizes[-2])
        require(not attrs["is_causal"], "attention: a mask goes without is_causal")
        require(mask.dtype in (DType.BOOL, DType.FLOAT32, q.dtype), f"attention: {mask} is no mask for {q}")
        require(mask.rank >= 2, f"attention: the mask {mask} must have rank 2 or more")
        require(broadcast(mask.sizes, scores) == scores, f"attention: the mask {mask} does not expand to {scores}")
    return q.with_shape(*batch, q.sizes[-2], v.sizes[-1])


def _batch(q: TensorType, k: TensorType, v: TensorType, grouped: bool) -> tuple[int, ...]:
    """The dimensions before the last two. With groups, several heads of queries share one head of keys and values."""
    if not grouped:
        return broadcast(q.sizes[:-2], k.sizes[:-2], v.sizes[:-2])
    require(min(q.rank, k.rank, v.rank) >= 3, "attention: groups of heads take ranks of 3 and more")
    heads, groups = q.sizes[-3], k.sizes[-3]
    require(groups == v.sizes[-3], f"attention: {k} and {v} must have equally many heads")
    require(groups > 0 and heads % groups == 0, f"attention: {heads} heads do not split into {groups} groups")
    require(q.sizes[:-3] == k.sizes[:-3] == v.sizes[:-3], f"attention: {q}, {k}, {v} have different batches")
    return q.sizes[:-2]


def _attention_operands(b: Builder) -> tuple[Value, ...]:
    source = b.source
    query = b.tensor(FLOATS, ranks=(2, 5))
    q = query.type
    batch, (length, features) = q.sizes[:-2], q.sizes[-2:]
    if source.chance(15):
        key = value = query
    else:
        if batch and source.chance(15):
            batch = (
                *batch[:-1],
                source.choice([size for size in range(1, batch[-1] + 1) if batch[-1] % size == 0] or [0]),
            )
        elif source.chance(10):
            batch = tuple(1 if source.chance(50) else size for size in batch[source.integer(0, len(batch)) :])
        keys = length if length and source.chance(30) else source.choice(WIDTHS)
        like = q.with_shape(*batch, keys, features)
        key = exactly(b, like)
        value = exactly(b, like if source.chance(60) else q.with_shape(*batch, keys, source.choice(WIDTHS)))
    if source.chance(50):
        return query, key, value
    return query, key, value, _mask(b, q, key.type)


def _mask(b: Builder, q: TensorType, k: TensorType) -> Value:
    """A row that allows no key is 0 in PyTorch and NaN almost everywhere else, so most masks allow the first key."""
    source = b.source
    batch = tuple(1 if source.chance(40) else size for size in q.sizes[:-2])
    shape = (*batch[source.integer(0, len(batch)) :], q.sizes[-2], k.sizes[-2])
    dtype = source.choice((DType.BOOL, q.dtype, q.dtype, DType.FLOAT32))
    mask = exactly(b, TensorType(dtype, shape))
    return b.emit(UNMASK_FIRST, (mask,), {})[0] if dtype is DType.BOOL and source.chance(95) else mask


def _attention_attrs(source: ChoiceSource, types: Types) -> Attrs:
    q, k, v = types[:3]
    grouped = min(q.rank, k.rank, v.rank) >= 3 and q.sizes[-3] != k.sizes[-3] and k.sizes[-3] != 1
    return {
        "is_causal": len(types) == 3 and source.chance(30),
        "scale": source.choice((0.5, 1.0, 0.125, 2, -1.0)) if source.chance(35) else None,
        "enable_gqa": grouped or (q.rank >= 3 and q.rank == k.rank and source.chance(15)),
    }


def _attention_terms(types: Types, attrs: Attrs) -> int:
    return types[0].sizes[-1] + types[1].sizes[-2]


def _mask_type(types: Types, attrs: Attrs) -> TensorType:
    require_dtype(types, DType.BOOL)
    require(types[0].rank > 0, "unmask_first takes ranks above 0")
    return types[0]


UNMASK_FIRST = Op(
    "unmask_first",
    one((DType.BOOL,), ranks=(1, 5)),
    _mask_type,
    "{0} | (torch.arange({0}.shape[-1], device={0}.device) == 0)",
    classes=(OperatorClass.GUARD,),
)
"""A guard: the mask, changed so that each row allows at least one key."""


# --- the layer


def _layer(types: Types, attrs: Attrs) -> TensorType | Types:
    """Queries [L, N, E] or [L, E], keys and values [S, N, E] or [S, E]; with batch_first N comes before L and S. The
    mask [L, S] or [N * heads, L, S] is added to the scores."""
    q, k, v, *mask = types[: len(types) - 4]
    features, heads = q.sizes[-1] if q.rank else 0, int_of(attrs, "num_heads")
    require_dtype(types, *FLOATS)
    require_same_dtype(types)
    require(q.rank in (2, 3), f"multi_head_attention takes rank 2 or 3, not {q}")
    require(q.rank == 3 or not attrs["batch_first"], "multi_head_attention: there is no batch to come first")
    require(k == v and k.rank == q.rank and k.sizes[-1] == features, f"multi_head_attention: {q}, {k}, {v} do not fit")
    require(
        features > 0 and heads > 0 and features % heads == 0, f"{features} features do not split into {heads} heads"
    )
    expected = ((3 * features, features), (3 * features,), (features, features), (features,))
    for found, shape in zip(types[len(types) - 4 :], expected, strict=True):
        require(found.sizes == shape, f"multi_head_attention: {found} should be {shape}")
    at, batch = (1, q.sizes[0]) if attrs["batch_first"] else (0, q.sizes[1] if q.rank == 3 else 1)
    require(q.rank == 2 or q.sizes[1 - at] == k.sizes[1 - at], f"multi_head_attention: {q} and {k} have other batches")
    length, keys = q.sizes[at], k.sizes[at]
    require(batch > 0 and length > 0 and keys > 0, "multi_head_attention of nothing")
    for found in mask:
        allowed = ((length, keys), (batch * heads, length, keys))
        require(
            found.sizes in allowed, f"multi_head_attention: the mask {found} should be {allowed[0]} or {allowed[1]}"
        )
    if not attrs["need_weights"]:
        return q
    keys += bool(attrs["add_zero_attn"])
    weights = (length, keys) if attrs["average_attn_weights"] else (heads, length, keys)
    return q, q.with_shape(*((batch,) if q.rank == 3 else ()), *weights)


def _layer_operands(masked: bool) -> Operands:
    def operands(b: Builder) -> tuple[Value, ...]:
        source = b.source
        query = b.tensor(FLOATS, ranks=(2, 3))
        q = query.type
        features, key = q.sizes[-1], query
        at = source.integer(0, q.rank - 2)
        if source.chance(60):
            sizes = list(q.sizes)
            sizes[at] = source.choice(WIDTHS)
            key = exactly(b, q.with_shape(*sizes))
        value = key if source.chance(60) else exactly(b, key.type)
        mask = [exactly(b, q.with_shape(*_mask_sizes(source, q.sizes, key.type.sizes, at)))] if masked else []
        shapes = ((3 * features, features), (3 * features,), (features, features), (features,))
        return query, key, value, *mask, *(b.param(q.dtype, *shape) for shape in shapes)

    return operands


def _mask_sizes(source: ChoiceSource, q: Sequence[int], k: Sequence[int], at: int) -> tuple[int, ...]:
    scores = q[at], k[at]
    batch = q[1 - at] if len(q) == 3 else 1
    return (batch * source.choice(_divisors(q[-1])), *scores) if source.chance(40) else scores


def _divisors(size: int) -> list[int]:
    return [n for n in range(1, int(size) + 1) if size % n == 0] or [1]


def _layer_attrs(source: ChoiceSource, types: Types) -> Attrs | None:
    flags = {
        "add_zero_attn": source.chance(20),
        "need_weights": source.chance(60),
        "average_attn_weights": source.chance(60),
    }
    heads = _divisors(types[0].sizes[-1])
    options: list[Attrs] = [{"num_heads": n, "batch_first": first, **flags} for n in heads for first in (False, True)]
    fitting = accepted(_layer, types, options)
    return source.choice(fitting) if fitting else None


def _layer_source(args: tuple[str, ...], attrs: Attrs) -> str:
    """The function has no batch_first: the layer transposes the batch as well."""
    first = ".transpose(0, 1)" if attrs["batch_first"] else ""
    q, k, v, *mask = args[:-4]
    weight, bias, out_weight, out_bias = args[-4:]
    call = (
        f"F.multi_head_attention_forward({q}{first}, {k}{first}, {v}{first}, {q}.shape[-1], {attrs['num_heads']}, "
        f"{weight}, {bias}, None, None, {attrs['add_zero_attn']}, 0.0, {out_weight}, {out_bias}, training=False"
        f"{_options(mask, attrs)})"
    )
    if not attrs["need_weights"]:
        return f"{call}[0]{first}"
    return f"{{out0}}, {{out1}} = {call}" + (f"\n{{out0}} = {{out0}}{first}" if first else "")


def _layer_call(args: tuple[str, ...], attrs: Attrs) -> str:
    q, k, v, *mask = args[:-4]
    return f"{{self}}({q}, {k}, {v}{_options(mask, attrs)})" + ("" if attrs["need_weights"] else "[0]")


def _options(mask: Sequence[str], attrs: Attrs) -> str:
    given = [f"attn_mask={name}" for name in mask]
    given += [f"{key}=False" for key in ("need_weights", "average_attn_weights") if not attrs[key]]
    return "".join(f", {text}" for text in given)


def _layer_make(types: Types, attrs: Attrs) -> str:
    flags = "".join(f", {key}=True" for key in ("add_zero_attn", "batch_first") if attrs[key])
    return f"torch.nn.MultiheadAttention({types[0].sizes[-1]}, {attrs['num_heads']}{flags})"


def _layer_terms(types: Types, attrs: Attrs) -> int:
    return 2 * types[0].sizes[-1] + max(types[1].sizes[:-1])


def _layer_row(name: str, masked: bool) -> Op:
    inputs = 4 if masked else 3
    params = ("in_proj_weight", "in_proj_bias", "out_proj.weight", "out_proj.bias")
    return Op(
        name,
        _layer_operands(masked),
        _layer,
        _layer_source,
        _layer_attrs,
        {
            "num_heads": INT,
            "batch_first": BOOL,
            "add_zero_attn": BOOL,
            "need_weights": BOOL,
            "average_attn_weights": BOOL,
        },
        arity=(inputs + 4, inputs + 4),
        terms=_layer_terms,
        forms={Form.MODULE: Layer(_layer_make, params, inputs, _layer_call)},
    )


OPS = (
    UNMASK_FIRST,
    Op(
        "scaled_dot_product_attention",
        _attention_operands,
        _attention,
        "F.scaled_dot_product_attention({args}{more})",
        _attention_attrs,
        {"is_causal": BOOL, "scale": optional(NUMBER), "enable_gqa": BOOL},
        {"is_causal": False, "scale": None, "enable_gqa": False},
        arity=(3, 4),
        terms=_attention_terms,
    ),
    _layer_row("multi_head_attention", masked=False),
    _layer_row("multi_head_attention_mask", masked=True),
)
