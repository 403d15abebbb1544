"""Attention: queries, keys and values with heads as a dimension (rank 4) or within the features (rank 3)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from generators.builder import Builder
from generators.choice import ChoiceSource
from generators.domain import within
from generators.graph import Attr, Attrs, DType, TensorType, Value
from generators.onnx.call import Call
from generators.onnx.operator import OUTPUTS, Operator, Results
from generators.onnx.ops.operands import float32
from generators.onnx.schema import Schema
from generators.op import AttrKind, require
from generators.shared.draws import further
from generators.shared.sizes import broadcast

_WIDTHS = (1, 2, 3, 4, 8)
_LENGTHS = (1, 2, 3, 5, 8)


def _like(b: Builder, type: TensorType) -> Value:
    return further(b, lambda other: other == type, lambda: type)


def _operands(b: Builder, schema: Schema) -> tuple[Value, ...]:
    """Queries of some heads, and keys and values of as many or of a divisor of them."""
    source = b.source
    dtype = b.dtype([dtype for dtype in schema.dtypes("Q") if dtype is not DType.FLOAT64])
    batch, groups, times = source.choice((1, 2, 3)), source.choice((1, 1, 2, 3)), source.choice((1, 1, 1, 2))
    length, keys, width = source.choice(_LENGTHS), source.choice(_LENGTHS), source.choice(_WIDTHS)
    values = width if source.chance(60) else source.choice(_WIDTHS)

    def shaped(heads: int, size: int, features: int) -> TensorType:
        split = (batch, heads, size, features)
        return TensorType(dtype, split if four else (batch, size, heads * features))

    four = source.chance(60)
    query = shaped(groups * times, length, width)
    given = [b.pick(lambda other: other == query, lambda: query)]
    given += [_like(b, shaped(groups, keys, width)), _like(b, shaped(groups, keys, values))]
    before = source.choice((0, 0, 0, 1, 2))
    if source.chance(50):
        given.append(_mask(b, dtype, (batch, groups * times, length, keys + before)))
    if before:
        given += [_like(b, TensorType(dtype, (batch, groups, before, size))) for size in (width, values)]
    elif schema.has_input("nonpad_kv_seqlen") and source.chance(20):
        given.append(b.fresh_input(TensorType(DType.INT64, (batch,)), domain=within(1, keys)))
    return tuple(given)


def _mask(b: Builder, dtype: DType, scores: Sequence[int]) -> Value:
    lead = [1 if b.source.chance(40) else size for size in scores[:2]]
    shape = (*lead[b.source.integer(0, 2) :], *scores[2:])
    return _like(b, TensorType(b.source.choice((DType.BOOL, dtype)), shape))


def _heads(call: Call, name: str, count: str) -> tuple[int, int, int, int]:
    """Batch, heads, length and features of an operand."""
    type = call[name]
    require(type.rank in (3, 4) and type.numel > 0, f"takes rank 3 or 4 and some elements, not {type}")
    if type.rank == 4:
        require(call.attr(count) is None, f"{count} is for rank 3")
        batch, heads, length, features = type.sizes
        return batch, heads, length, features
    heads = call.integer(count)
    require(heads > 0 and type.sizes[2] % heads == 0, f"{type} does not split into {heads} heads")
    return type.sizes[0], heads, type.sizes[1], type.sizes[2] // heads


def _attention(call: Call) -> Results:
    """onnxruntime 1.31 takes values and masks of numbers of the dtype of the queries, masks of all keys, and no
    windows. It has kernels up to version 24. It expands version 25 as a function, which is wrong in float64: types do
    not match with a softcap, and where all keys are masked the result is NaN."""
    q, k, v = call["Q"], call["K"], call["V"]
    require(q.dtype is not DType.FLOAT64, "onnxruntime 1.31 computes no attention in float64")
    require(q.rank == k.rank == v.rank and q.dtype is v.dtype, f"{q}, {k} and {v} do not fit")
    batch, heads, length, width = _heads(call, "Q", "q_num_heads")
    key_batch, groups, keys, key_width = _heads(call, "K", "kv_num_heads")
    value_batch, value_groups, value_keys, features = _heads(call, "V", "kv_num_heads")
    fits = batch == key_batch == value_batch and width == key_width and keys == value_keys
    require(fits and groups == value_groups and heads % groups == 0, f"{q}, {k} and {v} do not fit")
    past_key, past_value = call.get("past_key"), call.get("past_value")
    require((past_key is None) == (past_value is None), "past keys need past values")
    before = 0
    if past_key is not None and past_value is not None:
        before = past_key.sizes[2] if past_key.rank == 4 else 0
        require(past_key.sizes == (batch, groups, before, width) and before > 0, f"{past_key} does not fit {k}")
        require(past_value.sizes == (batch, groups, before, features), f"{past_value} does not fit {v}")
    scores = (batch, heads, length, keys + before)
    mask = call.get("attn_mask")
    _require_mask(mask, scores)
    require(mask is None or mask.dtype in (DType.BOOL, q.dtype), f"{mask} has another dtype than {q}")
    together = mask is not None and past_key is not None and call.integer("is_causal")
    require(not together, "onnxruntime 1.31 forgets the past where it is causal and has a mask")
    lengths = call.get("nonpad_kv_seqlen")
    require(lengths is None or (past_key is None and lengths.sizes == (batch,)), f"{lengths} are no lengths of {k}")
    _require_numbers(call)
    found = (batch, heads, length, features) if q.rank == 4 else (batch, length, heads * features)
    present = q.with_shape(batch, groups, keys + before, width), q.with_shape(batch, groups, keys + before, features)
    return q.with_shape(*found), *present, q.with_shape(*scores)


def _require_mask(mask: TensorType | None, scores: tuple[int, ...]) -> None:
    if mask is not None:
        whole = 2 <= mask.rank <= 4 and mask.sizes[-2:] == scores[2:]
        require(whole and broadcast(mask.sizes, scores) == scores, f"{mask} is no mask for {list(scores)}")


def _require_numbers(call: Call) -> None:
    require(call.attr("scale") is None or call.number("scale") > 0, "scale must be positive")
    require(call.number("softcap") >= 0, "softcap must not be negative")
    for name in ("left_window_size", "right_window_size"):
        require(not call.has(name) or call.attrs.get(name) is None, f"onnxruntime 1.31 does not know {name}")
    wanted = call.attrs.get(OUTPUTS)
    if isinstance(wanted, tuple):
        require(wanted[1] == wanted[2], "present keys and values are wanted together")
        require(bool(wanted[1]) or call.get("past_key") is None, "with a past, the present is wanted")
        require(not wanted[1] or call.get("nonpad_kv_seqlen") is None, "lengths and the present exclude each other")
        require(not wanted[3] or _agreed(call), "the readers disagree about these products")


def _agreed(call: Call) -> bool:
    """Whether both readers give the same products of queries and keys. With a softcap, the interpreter of onnx 1.23
    does not give those before it, and onnxruntime 1.31 has a finite number in place of -inf where a key is masked."""
    mask, mode = call.get("attn_mask"), call.integer("qk_matmul_output_mode")
    if mode == 0:
        return call.number("softcap") == 0
    masked = call.integer("is_causal") or call.get("nonpad_kv_seqlen") or (mask and mask.dtype is DType.BOOL)
    return mode != 2 or not masked


def _attributes(source: ChoiceSource, call: Call) -> Attrs:
    drawn: dict[str, Attr] = {
        "is_causal": int(source.chance(35) and not {"attn_mask", "past_key"} <= set(call.names)),
        "scale": source.choice((None, None, 0.5, 1.0, float32(0.3))),
        "softcap": source.choice((0.0, 0.0, 1.5, 10.0)),
        "softmax_precision": source.choice((None, None, 1)),
        "qk_matmul_output_mode": source.integer(0, 3),
    }
    if call["Q"].rank == 3:
        drawn |= _split(source, call)
    past, lengths = (call.get(name) is not None for name in ("past_key", "nonpad_kv_seqlen"))
    present = past or (not lengths and source.chance(40))
    products = source.chance(40) and _agreed(replace(call, attrs={**call.attrs, **drawn}))
    return {**drawn, OUTPUTS: (True, present, present, products)}


def _split(source: ChoiceSource, call: Call) -> dict[str, Attr]:
    """Numbers of heads that fit the features, the past and the mask."""
    q, k, v = (call[name].sizes[2] for name in "QKV")
    past = call.get("past_key")
    options = []
    for groups in range(1, int(min(k, v)) + 1):
        width = k // groups
        if k % groups or v % groups or q % width or (past is not None and past.sizes[1] != groups):
            continue
        if (q // width) % groups == 0 and _mask_fits(call, q // width):
            options.append((q // width, groups))
    heads, groups = source.choice(options or [(1, 1)])
    return {"q_num_heads": int(heads), "kv_num_heads": int(groups)}


def _mask_fits(call: Call, heads: int) -> bool:
    mask = call.get("attn_mask")
    return mask is None or mask.rank < 3 or mask.sizes[-3] in (1, heads)


def _terms(call: Call) -> int:
    """The products of a score, and the keys."""
    keys = call["K"].sizes[-2] if call["K"].rank == 4 else call["K"].sizes[1]
    past = call.get("past_key")
    return call["Q"].sizes[-1] + keys + (past.sizes[2] if past is not None else 0)


_PRECISION = AttrKind("1 for float32", lambda v: v == 1 and isinstance(v, int) and not isinstance(v, bool))

OPERATORS: tuple[Operator, ...] = (
    Operator(
        "Attention",
        _operands,
        _attention,
        _attributes,
        kinds={"softmax_precision": _PRECISION},
        terms=_terms,
    ),
)
