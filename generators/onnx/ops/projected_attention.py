"""Attention of com.microsoft: one input, whose products with merged weights are the queries, keys and values."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from generators.builder import Builder
from generators.choice import ChoiceSource
from generators.domain import Domain, within
from generators.graph import Attr, Attrs, DType, Role, TensorType, Value
from generators.onnx.call import Call
from generators.onnx.operator import OUTPUTS, Operator, Results
from generators.onnx.ops.operands import FLAG, dtype_for, float32, tensor_of_model
from generators.onnx.schema import MICROSOFT, Schema
from generators.op import POSITIVE, require
from generators.shared.draws import further

_LENGTHS = (1, 2, 3, 5, 8)
_FEATURES = (1, 2, 3, 4, 8)
_HEADS = (1, 2, 2, 3, 4)


def _operands(b: Builder, schema: Schema) -> tuple[Value, ...]:
    """The bias is always there: onnxruntime 1.31 ends the process without one."""
    source, dtype = b.source, dtype_for(b, schema, "input")
    batch = b.symbolic_size(8, 50) or source.choice((1, 2, 3))
    length, features = source.choice(_LENGTHS), source.choice(_FEATURES)
    heads, width = source.choice(_HEADS), source.choice(_FEATURES)
    before = source.choice((1, 2)) if source.chance(15) else 0
    values = width if before or source.chance(60) else source.choice(_FEATURES)
    x = TensorType(dtype, (batch, length, features))
    total = heads * (2 * width + values)
    given = [b.pick(lambda other: other == x, lambda: x)]
    given += [tensor_of_model(b, dtype, features, total), tensor_of_model(b, dtype, total)]
    if source.chance(50):
        given.append(_mask(b, batch, length, before + length))
    if before:
        given.append(_like(b, TensorType(dtype, (2, batch, heads, before, width))))
    elif source.chance(40):
        lead = [1 if source.chance(30) else size for size in (batch, heads)]
        given.append(_like(b, TensorType(dtype, (*lead, length, length))))
    if source.chance(10):
        given.append(_numbers(b, within(before, before)))
    return tuple(given)


_RANKS = {"bias": (1,), "mask_index": (1, 2, 3), "past": (5,), "attention_bias": (4,), "past_sequence_length": (0,)}


def _fits(call: Call) -> bool:
    """Whether the ranks are those of the inputs."""
    return all(type.rank in _RANKS.get(name, (type.rank,)) for name, type in zip(call.names, call.types, strict=True))


def _like(b: Builder, type: TensorType) -> Value:
    return further(b, lambda other: other == type, lambda: type)


def _numbers(b: Builder, domain: Domain, *shape: int) -> Value:
    return b.fresh_input(TensorType(DType.INT32, shape), Role.INPUT, domain)


def _mask(b: Builder, batch: int, length: int, keys: int) -> Value:
    """A mask that leaves keys to each query: the scores of keys that are all masked differ by less than a float keeps
    beside -10000. It has the numbers of keys; the ends of keys and then their starts; or 1 for each visible key."""
    match b.source.choice((1, 2, 3, 3, 4, 4)):
        case 1:
            return _numbers(b, within(1, keys), batch)
        case 2:
            key = b.source.integer(0, keys - 1)  # visible
            return _joined(b, 0, _numbers(b, within(key + 1, keys), batch), _numbers(b, within(0, key), batch))
        case 3:
            lead: tuple[int, ...] = (batch,)
        case _:
            lead = (batch, length)
    first = _numbers(b, within(1, 1), *lead, 1)
    return _joined(b, len(lead), first, _numbers(b, within(0, 1), *lead, keys - 1)) if keys > 1 else first


def _joined(b: Builder, axis: int, *parts: Value) -> Value:
    concat = b.dialect.operator_at("Concat", b.opset)
    return b.emit(concat, parts, {**concat.defaults, "axis": axis})[0]


def _attention(call: Call) -> Results:
    """onnxruntime 1.31 has no kernel for CPUs with a mask of rank 4, with a buffer that past and present share, or with
    rotary embeddings. It refuses a past beside a bias of the scores."""
    x, weights, past = call["input"], call["weights"], call.get("past")
    require(x.rank == 3 and x.numel > 0, f"takes rank 3 and some elements, not {x}")
    batch, length, features = x.sizes
    heads = call.integer("num_heads")
    require(weights.rank == 2 and weights.sizes[0] == features, f"{weights} are no weights of {x}")
    require(call.get("bias") is not None, "onnxruntime 1.31 ends the process without a bias")
    require(call["bias"].sizes == weights.sizes[1:], f"bias must be {list(weights.sizes[1:])}")
    hidden, values = _hidden(call)
    width, before = hidden // heads, 0
    if past is not None:
        before = past.sizes[3] if past.rank == 5 else 0
        require(past.sizes == (2, batch, heads, before, width) and before > 0, f"{past} does not fit {x}")
        require(hidden == values, "a past needs keys and values of one size")
        require(call.get("attention_bias") is None, "onnxruntime 1.31 takes no past beside a bias of the scores")
    _require_mask(call.get("mask_index"), batch, length, before + length)
    _require_bias(call.get("attention_bias"), (batch, heads, length, length))
    given = call.get("past_sequence_length")
    require(given is None or given.numel == 1, f"{given} is not one number")
    _require_numbers(call)
    wanted = call.attrs.get(OUTPUTS)
    if isinstance(wanted, tuple):
        require(bool(wanted[0]), "the first result is needed")
        require(bool(wanted[1]) or past is None, "with a past, the present is wanted")
        require(not wanted[1] or hidden == values, "the present needs keys and values of one size")
    return x.with_shape(batch, length, values), x.with_shape(2, batch, heads, before + length, width)


def _hidden(call: Call) -> tuple[int, int]:
    """The sizes of all heads together, of queries and keys and of values."""
    heads, total, given = call.integer("num_heads"), call["weights"].sizes[1], call.integers("qkv_hidden_sizes")
    require(heads > 0, "num_heads must be positive")
    queries, keys, values = given if given and len(given) == 3 else (total // 3,) * 3
    require(given is None or len(given) == 3, "qkv_hidden_sizes has 3 sizes")
    require(queries == keys and queries + keys + values == total, f"sizes of {call['weights']} are wrong")
    require(min(keys, values) > 0 and keys % heads == values % heads == 0, f"{keys} and {values} are not {heads} heads")
    return keys, values


def _require_mask(mask: TensorType | None, batch: int, length: int, keys: int) -> None:
    if mask is not None:
        fitting = (batch,), (2 * batch,), (batch, keys), (batch, length, keys)
        require(mask.sizes in fitting, f"{mask} is no mask of {keys} keys")


def _require_bias(bias: TensorType | None, scores: Sequence[int]) -> None:
    if bias is not None:
        whole = bias.rank == 4 and all(own in (1, size) for own, size in zip(bias.sizes[:2], scores[:2], strict=True))
        require(whole and bias.sizes[2:] == tuple(scores[2:]), f"{bias} is no bias of scores {list(scores)}")


def _require_numbers(call: Call) -> None:
    for name in ("do_rotary", "past_present_share_buffer"):
        require(not call.attr(name), f"onnxruntime 1.31 has no kernel for {name}")
    require(call.attr("scale") is None or call.number("scale") > 0, "scale must be positive")


def _attributes(source: ChoiceSource, call: Call) -> Attrs:
    """TVM takes calls without most of these attributes only: they are rare."""
    heads, sizes = source.choice(list(_splits(call)) or [(1, None)])
    drawn: dict[str, Attr] = {
        "num_heads": heads,
        "qkv_hidden_sizes": sizes,
        "mask_filter_value": source.choice((None, None, -10000.0, -1.0, -1000.0)),
        "scale": source.choice((0.5, 1.0, float32(0.3))) if source.chance(10) else None,
        "unidirectional": source.choice((0, 1, 1)) if source.chance(10) else None,
    }
    for name, value in {"do_rotary": 0, "past_present_share_buffer": 0, "rotary_embedding_dim": 32}.items():
        drawn[name] = value if source.chance(6) else None
    alike = sizes is None or sizes[1] == sizes[2]
    present = call.get("past") is not None or (alike and source.chance(30))
    return {**drawn, OUTPUTS: (True, present)}


def _splits(call: Call) -> Iterator[tuple[int, tuple[int, int, int] | None]]:
    """Numbers of heads, and sizes of queries, keys and values, that fit the operands. Sizes may be left out where they
    are all one."""
    total, past, bias = int(call["weights"].sizes[1]), call.get("past"), call.get("attention_bias")
    for heads in range(1, total // 3 + 1):
        if bias is not None and bias.sizes[1] not in (1, heads):
            continue
        if past is not None and (past.sizes[2] != heads or 3 * heads * past.sizes[4] != total):
            continue
        for hidden in range(heads, total // 2, heads):
            values = total - 2 * hidden
            if values % heads == 0 and (past is None or values == hidden):
                yield heads, (hidden, hidden, values)
                if values == hidden:
                    yield heads, None


def _terms(call: Call) -> int:
    """The products of a projection and of a score, and the keys."""
    past, sizes = call.get("past"), call["input"].sizes
    keys = sizes[1] + (past.sizes[3] if past is not None else 0)
    return sizes[2] + _hidden(call)[0] // call.integer("num_heads") + keys


OPERATORS: tuple[Operator, ...] = (
    Operator(
        "Attention",
        _operands,
        _attention,
        _attributes,
        domain=MICROSOFT,
        fits=_fits,
        kinds={
            "num_heads": POSITIVE,
            "unidirectional": FLAG,
            "do_rotary": FLAG,
            "past_present_share_buffer": FLAG,
        },
        terms=_terms,
        plainer="MatMul",
    ),
)
