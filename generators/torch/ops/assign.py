"""Assignment to the elements that an index or a mask selects, in a copy or, for some forms, in place.

No position is written twice with different numbers.
"""

from __future__ import annotations

from collections.abc import Callable

from generators.builder import Builder
from generators.choice import ChoiceSource
from generators.graph import Attrs, DType, Form, TensorType, Value
from generators.op import (
    BOOL,
    NO_ZEROS,
    SCALAR,
    ZEROS_WHERE_BOOL,
    AttrKind,
    Op,
    Operands,
    Spelling,
    Terms,
    Types,
    ZeroSensitivity,
    one_of,
    one_term,
    require,
)
from generators.shared.draws import agreed
from generators.shared.numbers import require_fits
from generators.shared.sizes import broadcast, product
from generators.torch.ops.indexing import (
    INDEX,
    Region,
    agreed_places,
    castable,
    distinct_tensors,
    draw_index,
    draw_number,
    fits,
    index_of,
    index_tensors,
    region,
    subscript,
    to_index,
)
from generators.torch.ops.mask import with_mask
from generators.torch.ops.operands import partner
from generators.torch.ops.rules import ALL, category, promote, require_same_dtype

# --- x[index] = value

_COUNTS = (0, 0, 1, 1, 2)
Plan = tuple[dict[int, str], TensorType | None]


def _plan(x: TensorType, first: int) -> Plan:
    """The places of tensors in the index; or the place of a mask, and the mask's type."""
    source = agreed(x, "mask")
    if not x.rank or not source.chance(25):
        return agreed_places(x, first, _COUNTS), None
    axis = source.integer(0, x.rank - 1)
    end = source.integer(axis + 1, x.rank)
    return {axis: f"{{{first}}}", **dict.fromkeys(range(axis + 1, end), "")}, TensorType(DType.BOOL, x.shape[axis:end])


def _agreed_index(x: TensorType) -> tuple[str, ...]:
    places, mask = _plan(x, first=2)
    return draw_index(agreed(x, "index"), x, places, once=True, lists=mask is None)


def _tensors(b: Builder, x: TensorType, first: int, once: bool) -> list[Value]:
    places, mask = _plan(x, first)
    if mask is not None:
        return [b.pick(lambda t: t == mask, lambda: mask)]
    if not places:
        return []
    return (distinct_tensors if once else index_tensors)(b, x, places)


def _setitem(types: Types, attrs: Attrs) -> TensorType:
    """The value may have additional leading dimensions of size 1. PyTorch casts it, unless tensors index. For a mask
    and one number it calls masked_fill, which casts."""
    x, value = types[:2]
    target = region(types, index_of(attrs), first=2, once=True)
    lead = 0
    while lead < value.rank and value.sizes[lead] == 1:
        lead += 1
    require(fits(value.with_shape(*value.sizes[lead:]), target.shape), f"{value} does not fit {target.shape}")
    if target.by_tensor and not (target.by_mask and value.numel == 1):
        require_same_dtype((x, value))
    return x


def _setitem_operands(b: Builder) -> tuple[Value, ...]:
    x = to_index(b)
    tensors = _tensors(b, x.type, 2, once=True)
    index = _agreed_index(x.type)
    target = region((x.type, x.type, *(t.type for t in tensors)), index, first=2)
    return x, _value(b, x.type, target), *tensors


def _value(b: Builder, x: TensorType, target: Region) -> Value:
    goal = TensorType(x.dtype, target.shape)
    if target.by_mask and b.source.chance(30):
        return castable(b, b.tensor(ranks=(0, 0)), x.dtype, checked=True)
    if target.by_tensor:
        return partner(b, goal, (x.dtype,))
    return castable(b, partner(b, goal), x.dtype)


def _setitem_scalar(types: Types, attrs: Attrs) -> TensorType:
    region(types, index_of(attrs), first=1)
    require_fits(attrs["value"], types[0].dtype)
    return types[0]


def _setitem_scalar_operands(b: Builder) -> tuple[Value, ...]:
    x = to_index(b)
    return x, *_tensors(b, x.type, 1, once=False)


def _setitem_scalar_attrs(source: ChoiceSource, types: Types) -> Attrs:
    places, mask = _plan(types[0], 1) if len(types) > 1 else ({}, None)
    index = draw_index(source, types[0], places, lists=mask is None)
    return {"index": index, "value": draw_number(source, types[0].dtype)}


def _setitem_update(types: Types, attrs: Attrs) -> TensorType:
    """The value may raise the dtype within its category, but must not add dimensions."""
    x, value = types[:2]
    target = region(types, index_of(attrs), first=2, once=True)
    require(fits(value, target.shape), f"{value} does not fit {target.shape}")
    dtype = promote((x.with_shape(*target.shape), value))
    require(category(dtype) <= category(x.dtype), f"{dtype} cannot be cast to {x.dtype}")
    require(attrs["operator"] != "-=" or DType.BOOL not in (x.dtype, value.dtype), "bool tensors have no difference")
    return x


def _setitem_update_operands(b: Builder) -> tuple[Value, ...]:
    x = to_index(b)
    tensors = _tensors(b, x.type, 2, once=True)
    index = _agreed_index(x.type)
    target = region((x.type, x.type, *(t.type for t in tensors)), index, first=2)
    mine = category(x.type.dtype)
    dtypes = [dtype for dtype in ALL if category(dtype) <= mine and (dtype is not DType.BOOL or mine == 0)]
    return x, partner(b, TensorType(x.type.dtype, target.shape), dtypes), *tensors


def _setitem_attrs(source: ChoiceSource, types: Types) -> Attrs:
    return {"index": _agreed_index(types[0])}


def _setitem_update_attrs(source: ChoiceSource, types: Types) -> Attrs:
    operators = ("+=", "*=") if types[0].dtype is DType.BOOL else ("+=", "+=", "-=", "*=")
    return {**_setitem_attrs(source, types), "operator": source.choice(operators)}


def _written(right: Callable[[tuple[str, ...], Attrs], str], start: str) -> Callable[[tuple[str, ...], Attrs], str]:
    """Statements: the result starts as the operand followed by `start`, and then its elements are assigned."""

    def source(args: tuple[str, ...], attrs: Attrs) -> str:
        return f"{{out}} = {args[0]}{start}\n{{out}}[{subscript(args, attrs)}] {right(args, attrs)}"

    return source


# --- index_put, masked_scatter


def _put_index(types: Types) -> tuple[str, ...]:
    return tuple(f"{{{i}}}" for i in range(2, len(types)))


def _index_put(types: Types, attrs: Attrs) -> TensorType:
    x, value = types[:2]
    target = region(types, _put_index(types), first=2)
    if target.by_mask and value.numel == 1 and not attrs["accumulate"]:
        return x  # PyTorch makes a masked_fill of it: any shape, any dtype
    require_same_dtype((x, value))
    require(fits(value, target.shape), f"{value} does not fit {target.shape}")
    return x


def _adds(x: TensorType) -> bool:
    """Whether positions may repeat: then the call must accumulate."""
    return agreed(x, "repeats").chance(50)


def _index_put_operands(b: Builder) -> tuple[Value, ...]:
    x = b.tensor(ranks=(1, 5))
    source, type = b.source, x.type
    if source.chance(20):
        mask = TensorType(DType.BOOL, type.shape[: source.integer(1, type.rank)])
        tensors = [b.pick(lambda t: t == mask, lambda: mask)]
    else:
        count = source.integer(1, min(type.rank, 3))
        require(0 not in type.sizes[:count], f"{type} has no positions")
        places = dict.fromkeys(range(count), "")
        tensors = (index_tensors if _adds(type) else distinct_tensors)(b, type, places)
    types = (type, type, *(t.type for t in tensors))
    target = region(types, _put_index(types), first=2)
    return x, partner(b, TensorType(type.dtype, target.shape), (type.dtype,)), *tensors


def _index_put_attrs(source: ChoiceSource, types: Types) -> Attrs:
    return {"accumulate": _adds(types[0]) or source.chance(50)}


def _index_put_terms(types: Types, attrs: Attrs) -> int:
    joint = broadcast(*((1,) if t.dtype is DType.BOOL else t.sizes for t in types[2:]))
    return product(joint) + 1 if attrs["accumulate"] else 1


def _index_put_source(call: str) -> Callable[[tuple[str, ...], Attrs], str]:
    def source(args: tuple[str, ...], attrs: Attrs) -> str:
        more = ", accumulate=True" if attrs["accumulate"] else ""
        return f"{call.format(args[0])}({', '.join(args[2:])},), {args[1]}{more})"

    return source


def _masked_scatter(types: Types, attrs: Attrs) -> TensorType:
    """PyTorch requires as many elements as the mask has ones, which is at most all."""
    x, mask, src = types
    require(mask.dtype is DType.BOOL, f"the mask must be bool, not {mask.dtype}")
    require_same_dtype((x, src))
    shape = broadcast(x.sizes, mask.sizes)
    require(src.numel >= product(shape), f"{src} may have too few elements")
    return x.with_shape(*shape)


def _masked_scatter_operands(b: Builder) -> tuple[Value, ...]:
    x, mask = with_mask(b)
    type = x.type.with_shape(*broadcast(x.type.sizes, mask.type.sizes))
    if b.source.chance(25):
        type = type.with_shape(type.numel + b.source.integer(0, 3))
    return x, mask, b.pick(lambda t: t == type, lambda: type)


# --- rows


def _assignment(
    name: str,
    operands: Operands,
    infer: Callable[[Types, Attrs], TensorType],
    attrs: Callable[[ChoiceSource, Types], Attrs],
    right: Callable[[tuple[str, ...], Attrs], str],
    arity: tuple[int, int],
    terms: Terms | None = None,
    zero_sensitivity: ZeroSensitivity = NO_ZEROS,
    **schema: AttrKind,
) -> Op:
    return Op(
        name,
        operands,
        infer,
        _written(right, ".clone()"),
        attrs,
        {"index": INDEX, **schema},
        arity=arity,
        terms=terms,
        forms={Form.INPLACE: Spelling(_written(right, ""))},
        zero_sensitivity=zero_sensitivity,
    )


OPS = (
    _assignment(
        "setitem",
        _setitem_operands,
        _setitem,
        _setitem_attrs,
        lambda args, attrs: f"= {args[1]}",
        (2, 9),
        zero_sensitivity=ZEROS_WHERE_BOOL,
    ),
    _assignment(
        "setitem_scalar",
        _setitem_scalar_operands,
        _setitem_scalar,
        _setitem_scalar_attrs,
        lambda args, attrs: f"= {attrs['value']!r}",
        (1, 9),
        value=SCALAR,
    ),
    _assignment(
        "setitem_update",
        _setitem_update_operands,
        _setitem_update,
        _setitem_update_attrs,
        lambda args, attrs: f"{attrs['operator']} {args[1]}",
        (2, 9),
        one_term,
        operator=one_of("+=", "-=", "*="),
    ),
    Op(
        "index_put",
        _index_put_operands,
        _index_put,
        _index_put_source("torch.index_put({0}, "),
        _index_put_attrs,
        {"accumulate": BOOL},
        {"accumulate": False},
        arity=(3, 9),
        terms=_index_put_terms,
        forms={
            Form.METHOD: Spelling(_index_put_source("{0}.index_put(")),
            Form.INPLACE: Spelling(_index_put_source("{0}.index_put_(")),
        },
        zero_sensitivity=ZEROS_WHERE_BOOL,
    ),
    Op(
        "masked_scatter",
        _masked_scatter_operands,
        _masked_scatter,
        "torch.masked_scatter({0}, {1}, {2})",
        arity=(3, 3),
        forms={Form.METHOD: "{0}.masked_scatter({1}, {2})", Form.INPLACE: "{0}.masked_scatter_({1}, {2})"},
    ),
)
