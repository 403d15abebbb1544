"""The call of a sample: what it may say, and which functions of PyTorch are listed."""

from __future__ import annotations

from contextlib import suppress
from itertools import islice
from typing import Any

import pytest

from generators.graph import Attrs, Invalid, Node, TensorType, Value
from generators.table import TABLE
from generators.torch.ops.functions import FUNCTIONS
from generators.torch.source import statements

ROW = TABLE["torch_call"]
F32 = TensorType.parse("float32[2]")


def attrs(call: str, *types: str) -> Attrs:
    return {"call": call, "types": types or ("float32[2]",)}


@pytest.mark.parametrize(
    "call",
    [
        "torch.sin(a0)",
        "torch.add(a0, a1, alpha=-2)",
        "torch.cat([a0, a1], dim=0)",
        "torch.nn.functional.pad(a0, (1, -1), 'constant', float('nan'))",
        "torch.softmax(a0, dim=-1, dtype=torch.float64)",
        "torch.clamp(a0, None, 0.5)",
    ],
)
def test_calls_on_literals_are_taken(call: str) -> None:
    operands = (F32,) * (2 if "a1" in call else 1)
    assert ROW.results(operands, attrs(call)) == (F32,)


@pytest.mark.parametrize(
    "call",
    [
        "torch.load('x')",
        "torch.save(a0, 'x')",
        "torch.hub.load('x', 'y')",
        "os.system('true')",
        "__import__('os').abort()",
        "torch.sin(__import__('os').abort())",
        "torch.sin(a0).numpy().tofile('x')",
        "torch.sin(*a0)",
        "torch.sin(**a0)",
        "torch.sin(x0)",
        "torch.sin(a0 + a0)",
        "torch.sin(a0, f'{a0}')",
        "torch.sin(a0, dtype=torch.os)",
        "torch.sin([x for x in a0])",
        "torch.sin(a0); import os",
        "lambda: torch.sin(a0)",
        "torch.sin",
        "",
        "torch.sin(" + "(" * 2000,
        "torch" + ".a" * 1990 + "(a0)",
        "torch.sin(" + "-" * 1900 + "1)",
        "torch.abs(a0, out=a0)",
        "torch.randn(a0)",
        "torch.normal(a0, a0)",
        "torch.bernoulli(a0)",
        "torch.Tensor.resize_(a0, (1,))",
        "torch.zero_(a0)",
        "torch.nn.functional.scaled_dot_product_attention(a0, a0, a0, dropout_p=0.5)",
        "torch.nn.functional.scaled_dot_product_attention(a0, a0, a0, None, 0.5)",
    ],
)
def test_other_calls_are_refused(call: str) -> None:
    with pytest.raises(Invalid, match=r"^call must be "):
        ROW.results((F32,), attrs(call))


@pytest.mark.parametrize(
    "call",
    ["torch.\\\nabs(a0)", "(torch.abs)(a0)", "torch.abs( a0)", "torch.abs(a0) ", "torch.abs(a00)", "torch.abs(a0,)"],
)
def test_a_call_is_written_in_one_way_only(call: str) -> None:
    """Its text goes into titles and reports."""
    assert ROW.results((F32,), attrs("torch.abs(a0)")) == (F32,)
    with pytest.raises(Invalid, match=r"^call must be "):
        ROW.results((F32,), attrs(call))


def test_attention_without_dropout_is_certain() -> None:
    call = "torch.nn.functional.scaled_dot_product_attention(a0, a0, a0, dropout_p=0.0)"
    assert ROW.results((F32,), attrs(call)) == (F32,)


def test_operands_are_names_not_text() -> None:
    """What stands in a string is no operand; what stands behind one is."""
    call = """torch.sin(a0, "it's", a7, '')"""
    with pytest.raises(Invalid, match=r"^the call reads operands \[0, 7\], there are 1$"):
        ROW.results((F32,), attrs(call))


def test_operands_are_counted() -> None:
    with pytest.raises(Invalid, match=r"^the call reads operands \[0\], there are 2$"):
        ROW.results((F32, F32), attrs("torch.sin(a0)"))
    assert ROW.results((F32,), attrs("torch.einsum('a1,b', a0)")) == (F32,)


def test_text_and_double_precision() -> None:
    node = Node("torch_call", ("x0",), attrs("torch.softmax(a0, dim=-1, dtype=torch.float16)"), (Value("v0", F32),))
    assert statements(node, ("self.w0",)) == ["v0 = torch.softmax(self.w0, dim=-1, dtype=torch.float16)"]
    assert statements(node, ("y",), float64=True) == ["v0 = torch.softmax(y, dim=-1, dtype=torch.float64)"]


def test_no_listed_function_changes_its_operand() -> None:
    names = [name.rpartition(".")[2] for name in FUNCTIONS]
    assert [name for name in names if name.endswith("_") and not name.startswith("__")] == []


@pytest.mark.exhaustive
def test_no_listed_function_draws_random_numbers() -> None:
    import torch
    from torch.testing._internal.common_methods_invocations import op_db

    for op in op_db:
        for name in {f"torch.{op.name}", f"torch.Tensor.{op.name}"} & FUNCTIONS - {ATTENTION}:
            function: Any = torch
            for part in name.split(".")[1:]:
                function = getattr(function, part)
            state = torch.get_rng_state()
            for sample in first_samples(op):
                torch.set_rng_state(state)
                with suppress(Exception), torch.no_grad():  # a method may refuse what the function accepts
                    function(sample.input.clone(), *sample.args, **sample.kwargs)
                assert torch.equal(torch.get_rng_state(), state), name


ATTENTION = "torch.nn.functional.scaled_dot_product_attention"
"""Random where its dropout is not 0, which is refused."""


def first_samples(op: Any) -> list[Any]:
    import torch

    from fuzzer.children.samples import sample_inputs

    try:
        return list(islice(sample_inputs(op, torch.float32), 6))
    except Exception:  # their own code
        return []


@pytest.mark.slow
def test_every_listed_function_is_public_and_has_samples() -> None:
    import torch
    from torch.testing._internal.common_methods_invocations import op_db

    names = {op.name for op in op_db}
    for function in FUNCTIONS:
        found: object = torch
        for part in function.split(".")[1:]:
            found = getattr(found, part)
        assert callable(found), function
        assert function.removeprefix("torch.Tensor.").removeprefix("torch.") in names, function
