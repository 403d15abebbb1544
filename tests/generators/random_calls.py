"""Draws calls that a row's schema allows, most of them invalid, and compares eager PyTorch's answer with the row's."""

from __future__ import annotations

from collections import Counter
from random import Random

import torch
from eager import ones, type_text

from generators.graph import DRAWN, Attr, Attrs, Form, Invalid, TensorType
from generators.op import AttrKind, Types
from generators.torch.ops import Op

REFUSALS = (RuntimeError, IndexError, ValueError, TypeError, ArithmeticError)
SIZES = (0, 1, 1, 2, 2, 3, 4, 6)
DTYPES = DRAWN


def types(op: Op, rng: Random) -> Types:
    """Draw operand types. Later ones mostly resemble the first, so that some calls are valid."""
    drawn: list[TensorType] = []
    for _ in range(rng.randint(op.arity[0], min(op.arity[1], 4))):
        shape = [rng.choice(SIZES) for _ in range(rng.choice((0, 1, 1, 2, 2, 3, 3, 4)))]
        dtype = rng.choice(DTYPES)
        if drawn and rng.random() < 0.6:
            shape = list(drawn[0].sizes)[rng.random() < 0.2 :]
            if shape and rng.random() < 0.5:
                shape[rng.randrange(len(shape))] = rng.choice(SIZES)
            dtype = rng.choice((drawn[0].dtype, drawn[0].dtype, dtype))
        drawn.append(TensorType(dtype, tuple(shape)))
    return tuple(drawn)


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
    """Return the types of PyTorch's results on ones, or None where it refuses."""
    scope = {"torch": torch, "F": torch.nn.functional, **{f"a{i}": ones(type) for i, type in enumerate(types)}}
    try:
        text = op.render(tuple(f"a{i}" for i in range(len(types))), attrs, form)
        result = eval(text, scope)
    except (*REFUSALS, SyntaxError):
        return None
    return " ".join(map(type_text, [result] if isinstance(result, torch.Tensor) else result))


def compare_calls(op: Op, count: int) -> Counter[str]:
    """Count random calls that both accept ("accepted"), both refuse ("refused") and only the row refuses ("stricter").

    Any other difference is counted under a description of it.
    """
    rng, counts = Random(op.name), Counter[str]()
    for _ in range(count):
        operands = types(op, rng)
        attrs = {key: attribute(kind, rng) for key, kind in op.schema.items()}
        forms = [
            form for form in op.forms if form not in (Form.MODULE, Form.INPLACE) and op.expresses(form, operands, attrs)
        ]
        form = rng.choice((Form.PLAIN, *forms))
        torch_types = in_torch(op, operands, attrs, form)
        try:
            inferred_types = " ".join(map(str, op.results(operands, attrs)))
        except Invalid:
            counts["refused" if torch_types is None else "stricter"] += 1
            continue
        call = f"{op.name} {' '.join(map(str, operands))} {attrs} {form}"
        difference = f"{call}: {inferred_types}, but PyTorch {torch_types or 'refuses'}"
        counts["accepted" if inferred_types == torch_types else difference] += 1
    return counts
