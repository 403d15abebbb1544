"""Tensors as Python numbers: a program reads a number with `.item()`, computes with it, and uses the result."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from generators.builder import Builder
from generators.domain import within
from generators.graph import INTEGERS, Attrs, DType, TensorType, Value
from generators.op import Op, Types, one_of, require
from generators.torch.ops.guard import clamped
from generators.torch.ops.rules import NUMERIC, promote, require_dtype

LEAST, MOST = -2, 6

NUMBERS = {
    "item": "{n}.item()",
    "neg": "-{n}.item()",
    "mul": "{n}.item() * 2",
    "add": "{n}.item() + 1",
    "sub": "{n}.item() - 1",
}
STEPS = {"floordiv": "{n}.item() // 2", "mod": "{n}.item() % 3"}
"""For integers only: for floats, rounding would decide on which side of a step the number is."""

USES = {"mul": "{x} * ({number})", "add": "{x} + ({number})", "rsub": "({number}) - {x}"}
"""The uses of the number."""

_SIGNED = tuple(dtype for dtype in NUMERIC if dtype is not DType.UINT8)


def _row(name: str, numbers: Mapping[str, str], dtypes: Sequence[DType]) -> Op:
    def operands(b: Builder) -> tuple[Value, ...]:
        """The number is an input or, sometimes, a computed value."""
        x = b.tensor(_SIGNED)
        if b.source.chance(40):
            computed = [v for v in b.results() if v.type.rank == 0 and v.type.dtype in dtypes]
            if computed:
                n = b.source.choice(computed)
                return x, clamped(b, n, _least(n.type.dtype), MOST)
        dtype = b.source.choice(dtypes)
        return x, b.fresh_input(TensorType(dtype, ()), domain=within(_least(dtype), MOST))

    def infer(types: Types, attrs: Attrs) -> TensorType:
        """The number promotes like all Python numbers. A negative one would wrap around in uint8, so x is not uint8."""
        x, n = types
        require_dtype((x,), *_SIGNED)
        require_dtype((n,), *dtypes)
        require(n.rank == 0, f"one number is read, not {n}")
        return x.with_dtype(promote((x,), 1.0 if n.dtype.is_float else 1))

    def source(args: tuple[str, ...], attrs: Attrs) -> str:
        number = numbers[str(attrs["number"])].format(n=args[1])
        return USES[str(attrs["use"])].format(x=args[0], number=number)

    return Op(
        name,
        operands,
        infer,
        source,
        lambda source, types: {"number": source.choice(tuple(numbers)), "use": source.choice(tuple(USES))},
        {"number": one_of(*numbers), "use": one_of(*USES)},
        arity=(2, 2),
        terms=lambda types, attrs: 2,
    )


def _least(dtype: DType) -> int:
    return 0 if dtype is DType.UINT8 else LEAST


OPS = (_row("with_item", NUMBERS, NUMERIC), _row("with_whole_item", STEPS, INTEGERS))
