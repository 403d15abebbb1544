"""Rows of `item`: source texts and results. torch.export does not make the number a constant."""

from __future__ import annotations

from itertools import product

import pytest
import torch
from eager import in_torch, inferred, ones, run_case, types_of

from fuzzer.lanes.base.arrays import laid_out, to_torch
from fuzzer.lanes.torch.prepared import build_model
from generators.builder import Builder, Limits
from generators.choice import NumpySource
from generators.graph import DRAWN, DType
from generators.random_graph import with_values
from generators.torch.ops import TABLE, item
from generators.torch.ops.item import NUMBERS, STEPS, USES
from generators.torch.source import render


@pytest.mark.slow
def test_numbers_are_promoted_as_in_pytorch() -> None:
    tensors = [
        f"{dtype}{shape}" for dtype in DRAWN if dtype not in (DType.BOOL, DType.UINT8) for shape in ("[2,3]", "[]")
    ]
    kinds = [("with_item", NUMBERS, ("int64", "float32", "float16", "float64"))]
    kinds += [("with_whole_item", STEPS, ("int64", "int32", "uint8"))]
    wrong = {}
    for op, numbers, dtypes in kinds:
        for tensor, dtype, number, use in product(tensors, dtypes, numbers, USES):
            types, attrs = types_of(f"{tensor} {dtype}[]"), {"number": number, "use": use}
            found, expected = inferred(op, types, attrs), in_torch(op, types, attrs)
            if found != expected:
                wrong[op, tensor, dtype, number, use] = (found, expected)
    assert wrong == {}


def test_source_texts() -> None:
    def text(op: str, number: str, use: str) -> str:
        return TABLE[op].render(("x", "n"), {"number": number, "use": use})

    assert text("with_item", "item", "mul") == "x * (n.item())"
    assert text("with_item", "neg", "add") == "x + (-n.item())"
    assert text("with_item", "sub", "rsub") == "(n.item() - 1) - x"
    assert text("with_whole_item", "floordiv", "mul") == "x * (n.item() // 2)"
    assert text("with_whole_item", "mod", "add") == "x + (n.item() % 3)"


@pytest.mark.parametrize(("op", "number", "result"), [("with_item", "mul", 11.0), ("with_whole_item", "mod", 3.0)])
def test_results(op: str, number: str, result: float) -> None:
    scope = {"x": ones(*types_of("float32[]")), "n": torch.tensor(5)}
    assert eval(TABLE[op].render(("x", "n"), {"number": number, "use": "add"}), scope).item() == result


@pytest.mark.exhaustive
@pytest.mark.parametrize("op", [op.name for op in item.OPS])
def test_exported_programs_read_the_number_when_they_run(op: str) -> None:
    for index in range(6):
        builder = Builder(NumpySource(3, index), Limits(max_numel=64))
        assert builder.grow(TABLE[op])
        case = with_values(builder)
        items = [item for item in case.graph.inputs if not item.role.is_owned]
        inputs = tuple(laid_out(to_torch(case.tensors[item.value.name]), item.layout) for item in items)
        with torch.no_grad():
            program = torch.export.export(build_model(render(case.bound), case.owned), inputs)
            assert "item.default" in {getattr(node.target, "__name__", "") for node in program.graph.nodes}
            (output,) = program.run_decompositions().module()(*inputs)[:1]
        assert torch.allclose(output, run_case(case)[0], equal_nan=True), render(case.bound)
