"""For every call in a file, a row infers types or raises Invalid."""

from random import Random

import pytest

from generators.builder import Builder, Limits
from generators.choice import NumpySource
from generators.graph import (
    Attr,
    DType,
    Invalid,
    TensorType,
)
from generators.op import Op
from generators.torch.ops import TABLE

NUMBERS: tuple[Attr, ...] = (
    0,
    1,
    -1,
    2,
    -2,
    3,
    7,
    64,
    2**31,
    2**62,
    2**63 - 1,
    -(2**63),
    0.0,
    0.5,
    -0.5,
    1e308,
    5e-324,
)
LISTS: tuple[Attr, ...] = (
    *((), (0,), (1,), (-1,), (1, 1), (0, 1), (1, 0), (2, 2), (-1, -1), (0, 0), (1, 2, 3), (1, 1, 1, 1)),
    *((2**62,), (2**62, 2), (-(2**63),), (0.5,), (0.5, 2.0), (None,), (None, 2), (True,)),
    *(("0",), ("...",), ("{1}",), ("{1}", "{2}"), ("None", "0"), ("[0, -1]",), ("::2",), ("-9",)),
)
WORDS: tuple[Attr, ...] = (
    *("", "->", "ab", "i,i->", "ij,jk->ik", "...i->...", "same", "valid", "none", "mean", "sum", "fro", "inf", "-inf"),
    *(dtype.value for dtype in DType),
)
NONSENSE: tuple[Attr, ...] = (None, True, False, *NUMBERS, *LISTS, *WORDS)


def call_of(op: Op) -> tuple[list[TensorType], dict[str, Attr]]:
    builder = next(b for b in (Builder(NumpySource(5, i), Limits(max_numel=256)) for i in range(100)) if b.grow(op))
    node = builder.nodes[-1]
    return [builder.graph().types[name] for name in node.args], dict(node.attrs)


def with_wrong_operand(types: list[TensorType], rng: Random) -> list[TensorType]:
    """Return the operands with one of them changed, repeated or removed."""
    if not types or rng.random() < 0.1:
        return types[:-1] if rng.random() < 0.5 else [*types, TensorType(DType.FLOAT32, (2,))]
    place, shape = rng.randrange(len(types)), tuple(rng.choice((0, 1, 2, 3, 1 << 26)) for _ in range(rng.randint(0, 5)))
    now = types[place]
    other = rng.choice(
        (now.with_dtype(rng.choice(tuple(DType))), now.with_shape(*now.shape[1:]), now.with_shape(*shape))
    )
    return [*types[:place], other, *types[place + 1 :]]


@pytest.mark.slow
@pytest.mark.parametrize("half", [0, 1])
def test_nonsensical_calls_give_types_or_raise_invalid(half: int) -> None:
    rng, refused, accepted = Random(half), 0, 0
    for op in list(TABLE.values())[half::2]:
        if op.name == "torch_call":  # never drawn: tests/fuzzer/evaluation/test_sample_calls.py
            continue
        types, attrs = call_of(op)
        fitting = {key: [attrs[key], *filter(kind.accepts, NONSENSE)] for key, kind in op.schema.items()}
        for _ in range(60):
            changed = {key: rng.choice(fitting[key]) for key in op.schema if rng.random() < 0.4}
            operands = tuple(with_wrong_operand(types, rng) if rng.random() < 0.5 else types)
            try:
                results = op.results(operands, {**attrs, **changed})
            except Invalid:
                refused += 1
                continue
            accepted += 1
            assert all(size >= 0 for type in results for size in type.sizes), (op.name, operands, changed)
            for form in op.forms:
                op.expresses(form, operands, {**attrs, **changed})
    assert refused > 3000
    assert accepted > 3000
