"""Control flow in Python and in the exported program: loops and branches. Bodies keep the type of their operand."""

from __future__ import annotations

from generators.builder import Builder
from generators.choice import ChoiceSource
from generators.domain import within
from generators.graph import FLOATS, INTEGERS, Attrs, DType, Form, TensorType, Value
from generators.op import INT, Op, Types, int_of, one_of, require
from generators.shared.sizes import broadcast
from generators.symbolic import Size
from generators.torch.ops.contraction import dense
from generators.torch.ops.guard import clamped
from generators.torch.ops.operands import partner
from generators.torch.ops.rules import NUMERIC, axis_of, require_dtype

MOST = 12
"""The most iterations of a loop that Python unrolls."""

FLOAT_BODIES = {
    "tanh": "torch.tanh({x})",
    "sin": "torch.sin({x})",
    "sigmoid": "torch.sigmoid({x})",
    "relu": "F.relu({x})",
    "scaled": "{x} * 0.5 + 1.0",
    "chain": "torch.tanh(torch.sin({x}) * {x})",
    "add_scaled": "{x} * 0.5 + {y}",
    "gated": "{x} * torch.sigmoid({y})",
}
BODIES = {
    **FLOAT_BODIES,
    "negative": "-{x}",
    "increment": "{x} + 1",
    "twice": "{x} + {x}",
    "clamp": "torch.clamp({x}, 0, 3)",
    "add": "{x} + {y}",
    "sub": "{x} - {y}",
    "maximum": "torch.maximum({x}, {y})",
}
"""Expressions of x, and of y where there is one. y is never larger than x. No expression returns x itself."""

PREDICATES = {"value": "{p}", "any": "{p}.any()", "all": "{p}.all()", "sum": "{p}.sum() > 0"}
"""Only exact predicates: implementations may round floats differently, and then take another branch."""

COMPARISONS = {"gt": ">", "lt": "<", "ge": ">=", "le": "<=", "eq": "==", "ne": "!="}

LARGEST = 4
"""The largest size of a number in `assert_async`, whose assertion compares with something below -LARGEST."""

BODY = one_of(*BODIES)


def _bodies(types: Types) -> list[str]:
    """The bodies for x, or for x and y."""
    table = BODIES if types[0].dtype.is_float else {name: BODIES[name] for name in BODIES if name not in FLOAT_BODIES}
    return [name for name, text in table.items() if ("{y}" in text) <= (len(types) > 1)]


def _require_body(types: Types, *bodies: object) -> TensorType:
    require_dtype(types, *NUMERIC)
    x, *rest = types
    for y in rest:
        require(y.dtype == x.dtype, f"x and y must share one dtype, not {x} and {y}")
        require(broadcast(x.sizes, y.sizes) == x.sizes, f"{y} does not expand to {x}")
    for body in bodies:
        require(body in _bodies(types), f"{body} is no body for {', '.join(map(str, types))}")
    return x


def _text(attrs: Attrs, key: str, *names: str) -> str:
    return BODIES[str(attrs[key])].format(**dict(zip("xy", names, strict=False)))


def _values(b: Builder) -> tuple[Value, ...]:
    """x, and half of the time a y that broadcasts to it."""
    x = b.tensor(NUMERIC)
    return (x, partner(b, x.type, (x.type.dtype,))) if b.source.chance(50) else (x,)


def _static(x: TensorType) -> list[int]:
    """The dimensions whose size is known when the program is traced."""
    return [axis for axis, size in enumerate(x.sizes) if not isinstance(size, Size)]


def _signed(source: ChoiceSource, axis: int, rank: int) -> int:
    return axis - rank if source.chance(30) else axis


def _twice(types: Types, attrs: Attrs) -> int:
    return 2


# --- in Python: unrolled, or decided, when the program is traced


def _loop(types: Types, attrs: Attrs) -> TensorType:
    require(0 < int_of(attrs, "n") <= MOST, f"a loop takes 1 to {MOST} turns")
    return _require_body(types, attrs["body"])


def _loop_source(args: tuple[str, ...], attrs: Attrs) -> str:
    body = _text(attrs, "body", "{out}", *args[1:])
    return f"{{out}} = {args[0]}\nfor _ in range({attrs['n']}):\n    {{out}} = {body}"


def _branch(types: Types, attrs: Attrs) -> TensorType:
    require(types[0].rank > 0, "shape_branch takes ranks above 0")
    axis_of(int_of(attrs, "dim"), types[0].rank)
    return _require_body(types, attrs["then"], attrs["other"])


def _branch_attrs(source: ChoiceSource, types: Types) -> Attrs | None:
    axes, bodies = _static(types[0]), _bodies(types)
    if not axes:
        return None
    axis = source.choice(axes)
    return {
        "dim": _signed(source, axis, types[0].rank),
        "bound": types[0].sizes[axis] + source.integer(-1, 1),
        "then": source.choice(bodies),
        "other": source.choice(bodies),
    }


def _branch_source(args: tuple[str, ...], attrs: Attrs) -> str:
    then, other = _text(attrs, "then", *args), _text(attrs, "other", *args)
    condition = f"{args[0]}.shape[{attrs['dim']}] > {attrs['bound']}"
    return f"if {condition}:\n    {{out}} = {then}\nelse:\n    {{out}} = {other}"


def _parts(types: Types, attrs: Attrs) -> TensorType:
    """A sum has one dimension less."""
    x = _require_body(types, attrs["body"])
    require(x.rank > 0, "takes ranks above 0")
    axis = axis_of(int_of(attrs, "dim"), x.rank)
    require(0 < x.sizes[axis] <= MOST, f"takes 1 to {MOST} parts, not {x.sizes[axis]}")
    return x.with_shape(*x.sizes[:axis], *x.sizes[axis + 1 :]) if attrs["collect"] == "sum" else x


def _parts_operands(b: Builder) -> tuple[Value, ...]:
    def otherwise() -> TensorType:
        shape = list(b.shape(b.source.integer(1, 4)))
        shape[b.source.integer(0, len(shape) - 1)] = b.source.integer(1, 4)
        return TensorType(b.dtype(NUMERIC), tuple(shape))

    return (b.pick(lambda t: t.dtype in NUMERIC and any(0 < t.sizes[axis] <= MOST for axis in _static(t)), otherwise),)


def _parts_attrs(source: ChoiceSource, types: Types) -> Attrs | None:
    (x,) = types
    axes = [axis for axis in _static(x) if 0 < x.sizes[axis] <= MOST]
    if not axes:
        return None
    return {
        "dim": _signed(source, source.choice(axes), x.rank),
        "body": source.choice(_bodies(types)),
        "collect": source.choice(("sum", "stack")),
    }


def _parts_source(args: tuple[str, ...], attrs: Attrs) -> str:
    parts = f"[{_text(attrs, 'body', 'part')} for part in {args[0]}.unbind({attrs['dim']})]"
    return f"sum({parts})" if attrs["collect"] == "sum" else f"torch.stack({parts}, {attrs['dim']})"


# --- in the program: operands and results must have the same layout in memory


def _cond(types: Types, attrs: Attrs) -> TensorType:
    p, predicate = types[0], attrs["predicate"]
    require(p.dtype is DType.BOOL or (predicate == "sum" and p.dtype.is_integer), f"{predicate} is not exact for {p}")
    require(predicate != "value" or p.rank == 0, f"cond takes a 0-d value, not {p}")
    return _require_body(types[1:], attrs["then"], attrs["other"])


def _cond_operands(b: Builder) -> tuple[Value, ...]:
    dtypes = (DType.BOOL, DType.BOOL, DType.BOOL, *INTEGERS)
    deciding = b.tensor((DType.BOOL,), ranks=(0, 0)) if b.source.chance(40) else b.tensor(dtypes, ranks=(0, 4))
    return deciding, *_values(b)


def _cond_attrs(source: ChoiceSource, types: Types) -> Attrs:
    p, bodies = types[0], _bodies(types[1:])
    exact = ["any", "all", *(["value"] * 3 if p.rank == 0 else [])] if p.dtype is DType.BOOL else ["sum"]
    return {"predicate": source.choice(exact), "then": source.choice(bodies), "other": source.choice(bodies)}


def _cond_source(args: tuple[str, ...], attrs: Attrs) -> str:
    return _torch_cond(PREDICATES[str(attrs["predicate"])].format(p=args[0]), args[1:], attrs)


def _torch_cond(predicate: str, args: tuple[str, ...], attrs: Attrs) -> str:
    names = ("x", "y")[: len(args)]
    branches = (f"lambda {', '.join(names)}: {_text(attrs, key, *names)}" for key in ("then", "other"))
    given = ", ".join(map(dense, args)) + ("," if len(names) == 1 else "")
    return f"torch.cond({predicate}, {', '.join(branches)}, ({given}))"


def _cond_item(types: Types, attrs: Attrs) -> TensorType:
    n = types[0]
    require(n.rank == 0 and n.dtype.is_integer, f"cond_item reads a whole number, not {n}")
    return _require_body(types[1:], attrs["then"], attrs["other"])


def _cond_item_operands(b: Builder) -> tuple[Value, ...]:
    computed = [v for v in b.results() if v.type.rank == 0 and v.type.dtype.is_integer]
    if computed and b.source.chance(50):
        return b.source.choice(computed), *_values(b)
    return b.fresh_input(TensorType(b.source.choice(INTEGERS), ()), domain=within(0, 4)), *_values(b)


def _cond_item_attrs(source: ChoiceSource, types: Types) -> Attrs:
    """Bounds within the few numbers that an input may be."""
    bodies = _bodies(types[1:])
    return {
        "comparison": source.choice((*COMPARISONS, "eq", "ne")),
        "bound": source.integer(0, 4),
        "then": source.choice(bodies),
        "other": source.choice(bodies),
    }


def _cond_item_source(args: tuple[str, ...], attrs: Attrs) -> str:
    predicate = f"{args[0]}.item() {COMPARISONS[str(attrs['comparison'])]} {attrs['bound']}"
    return _torch_cond(predicate, args[1:], attrs)


def _cond_size(types: Types, attrs: Attrs) -> TensorType:
    require(types[0].rank > 0, "cond_size takes ranks above 0")
    axis_of(int_of(attrs, "dim"), types[0].rank)
    return _require_body(types, attrs["then"], attrs["other"])


def _cond_size_attrs(source: ChoiceSource, types: Types) -> Attrs | None:
    """Prefers symbolic sizes: conditions on other sizes are decided when the program is traced."""
    x, bodies = types[0], _bodies(types)
    if not x.rank:
        return None
    axis = source.choice([axis for axis in range(x.rank) if axis not in _static(x)] or list(range(x.rank)))
    return {
        "dim": _signed(source, axis, x.rank),
        "comparison": source.choice(tuple(COMPARISONS)),
        "bound": int(x.sizes[axis]) + source.integer(-1, 1),
        "then": source.choice(bodies),
        "other": source.choice(bodies),
    }


def _cond_size_source(args: tuple[str, ...], attrs: Attrs) -> str:
    predicate = f"{args[0]}.shape[{attrs['dim']}] {COMPARISONS[str(attrs['comparison'])]} {attrs['bound']}"
    return _torch_cond(predicate, args, attrs)


def _asserted(types: Types, attrs: Attrs) -> TensorType:
    """The domain of the operand guarantees that the assertion holds, with a margin for rounding."""
    require_dtype(types, *FLOATS)
    require(int_of(attrs, "low") < -LARGEST, f"numbers from -{LARGEST} on are not all above {attrs['low']}")
    return types[0]


def _assert_operands(b: Builder) -> tuple[Value, ...]:
    type = TensorType(b.dtype(FLOATS), b.shape(b.source.integer(0, 4)))
    return (b.fresh_input(type, domain=within(-LARGEST, LARGEST)),)


def _assert_source(message: str) -> str:
    check = f"torch._assert_async(({{0}} > {{low}}).all(){message})"
    return f"{check}\n{{out}} = torch.sqrt({{0}} - ({{low}}))"


def _while_loop(types: Types, attrs: Attrs) -> TensorType:
    """The loop counts from an input; the domain of this input, -2 to 4, bounds the iterations."""
    require(types[0] == TensorType(DType.INT64, ()), f"while_loop counts in int64[], not {types[0]}")
    require(abs(int_of(attrs, "n")) <= MOST, f"while_loop counts to {MOST} at most")
    return _require_body(types[1:], attrs["body"])


def _while_operands(b: Builder) -> tuple[Value, ...]:
    counter = TensorType(DType.INT64, ())
    computed = [v for v in b.results() if v.type == counter]
    if computed and b.source.chance(30):
        start = clamped(b, b.source.choice(computed), -2, 4)
    else:
        start = b.fresh_input(counter, domain=within(-2, 4))
    return start, b.tensor(NUMERIC)


def _while_source(args: tuple[str, ...], attrs: Attrs) -> str:
    body = _text(attrs, "body", "x")
    functions = f"lambda i, x: i < {attrs['n']}, lambda i, x: (i + 1, {body})"
    return f"_, {{out}} = torch._higher_order_ops.while_loop({functions}, ({args[0]}, {dense(args[1])}))"


OPS = (
    Op(
        "loop",
        _values,
        _loop,
        _loop_source,
        lambda source, types: {"n": source.integer(1, 4), "body": source.choice(_bodies(types))},
        {"n": INT, "body": BODY},
        arity=(1, 2),
        terms=lambda types, attrs: 2 * int_of(attrs, "n"),
    ),
    Op(
        "shape_branch",
        _values,
        _branch,
        _branch_source,
        _branch_attrs,
        {"dim": INT, "bound": INT, "then": BODY, "other": BODY},
        arity=(1, 2),
        terms=_twice,
    ),
    Op(
        "parts",
        _parts_operands,
        _parts,
        _parts_source,
        _parts_attrs,
        {"dim": INT, "body": BODY, "collect": one_of("sum", "stack")},
        terms=lambda types, attrs: 1 + MOST,
    ),
    Op(
        "cond",
        _cond_operands,
        _cond,
        _cond_source,
        _cond_attrs,
        {"predicate": one_of(*PREDICATES), "then": BODY, "other": BODY},
        arity=(2, 3),
        terms=_twice,
    ),
    Op(
        "cond_item",
        _cond_item_operands,
        _cond_item,
        _cond_item_source,
        _cond_item_attrs,
        {"comparison": one_of(*COMPARISONS), "bound": INT, "then": BODY, "other": BODY},
        arity=(2, 3),
        terms=_twice,
    ),
    Op(
        "cond_size",
        _values,
        _cond_size,
        _cond_size_source,
        _cond_size_attrs,
        {"dim": INT, "comparison": one_of(*COMPARISONS), "bound": INT, "then": BODY, "other": BODY},
        arity=(1, 2),
        terms=_twice,
    ),
    Op(
        "assert_async",
        _assert_operands,
        _asserted,
        _assert_source(""),
        lambda source, types: {"low": source.integer(-9, -5)},
        {"low": INT},
        terms=_twice,
        forms={Form.FUNCTION: _assert_source(", 'too small'")},
    ),
    Op(
        "while_loop",
        _while_operands,
        _while_loop,
        _while_source,
        lambda source, types: {"n": source.integer(1, 4), "body": source.choice(_bodies(types[1:]))},
        {"n": INT, "body": BODY},
        arity=(2, 2),
        terms=lambda types, attrs: 2 * (int_of(attrs, "n") + 2),
    ),
)
