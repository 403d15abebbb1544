"""Calls drawn without sense, from what a row's schema lets pass: eager PyTorch and the row judge each alike."""

from __future__ import annotations

from collections import Counter
from random import Random

import eager
import pytest
import torch
from eager import inferred, ones, type_text

from generators.graph import Attr, Attrs, DType, Form, Invalid, TensorType
from generators.ops import Op
from generators.ops.base import AttrKind, Types

REFUSALS = (RuntimeError, IndexError, ValueError, TypeError, ArithmeticError)
SIZES = (0, 1, 1, 2, 2, 3, 4, 6)
DTYPES = tuple(DType)


def refused_by_both(op: str, types: Types, attrs: Attrs, message: str, count: int = 1) -> None:
    """PyTorch refuses the call, and inference does, for the reason `message`. `count` is of PyTorch's results."""
    with pytest.raises(REFUSALS):
        eager.in_torch(op, types, attrs, count=count)
    with pytest.raises(Invalid) as error:
        inferred(op, types, attrs)
    assert message in str(error.value)


def types(op: Op, rng: Random) -> Types:
    """Operands that resemble the first one, more or less."""
    made: list[TensorType] = []
    for _ in range(rng.randint(op.arity[0], min(op.arity[1], 4))):
        shape = [rng.choice(SIZES) for _ in range(rng.choice((0, 1, 1, 2, 2, 3, 3, 4)))]
        dtype = rng.choice(DTYPES)
        if made and rng.random() < 0.6:
            shape = list(made[0].sizes)[rng.random() < 0.2 :]
            if shape and rng.random() < 0.5:
                shape[rng.randrange(len(shape))] = rng.choice(SIZES)
            dtype = rng.choice((made[0].dtype, made[0].dtype, dtype))
        made.append(TensorType(dtype, tuple(shape)))
    return tuple(made)


def attribute(kind: AttrKind, rng: Random) -> Attr:
    while True:
        drawn: Attr = rng.choice(
            (
                None,
                rng.random() < 0.5,
                rng.randint(-4, 5),
                rng.randint(0, 3),
                rng.randint(-6, 12) / 4,
                tuple(rng.randint(-2, 4) for _ in range(rng.randint(0, 4))),
                tuple(rng.randint(0, 3) for _ in range(rng.randint(0, 3))),
                tuple(rng.choice((True, 1, -2, 0.5, 300)) for _ in range(rng.randint(0, 3))),
                rng.choice(DTYPES).value,
                rng.choice(("ij", "xy")),
                rng.choice((300, -300, 1e6, 300.5)),
            )
        )
        if kind.accepts(drawn):
            return drawn


def in_torch(op: Op, types: Types, attrs: Attrs, form: Form) -> str | None:
    """The result types on ones, or None where PyTorch refuses."""
    scope = {"torch": torch, "F": torch.nn.functional, **{f"a{i}": ones(type) for i, type in enumerate(types)}}
    try:
        text = op.render(tuple(f"a{i}" for i in range(len(types))), attrs, form)
        result = eval(text, scope)
    except (*REFUSALS, SyntaxError):
        return None
    return " ".join(map(type_text, [result] if isinstance(result, torch.Tensor) else result))


def compare_calls(op: Op, count: int) -> Counter[str]:
    """How often both accept, both refuse, the row alone refuses; what it is wrong about is spelled out."""
    rng, seen = Random(op.name), Counter[str]()
    for _ in range(count):
        operands = types(op, rng)
        attrs = {key: attribute(kind, rng) for key, kind in op.schema.items()}
        forms = [
            form for form in op.forms if form not in (Form.MODULE, Form.INPLACE) and op.expresses(form, operands, attrs)
        ]
        form = rng.choice((Form.PLAIN, *forms))
        theirs = in_torch(op, operands, attrs, form)
        try:
            mine = " ".join(map(str, op.results(operands, attrs)))
        except Invalid:
            seen["refused" if theirs is None else "stricter"] += 1
            continue
        call = f"{op.name} {' '.join(map(str, operands))} {attrs} {form}"
        seen["accepted" if mine == theirs else f"{call}: {mine}, but PyTorch {theirs or 'refuses'}"] += 1
    return seen
