"""Rows of `item`: source texts, refused calls and results. torch.export does not make the number a constant."""

from __future__ import annotations

import pytest
import torch
from eager import in_torch, inferred, ones, run_case, types_of

from fuzzer.lanes.base.prepared_case import build_model, laid_out, to_torch
from generators.builder import Builder, Limits
from generators.choice import NumpySource
from generators.graph import Attrs, DType, Invalid
from generators.random_graph import with_values
from generators.torch.ops import TABLE, item
from generators.torch.ops.item import NUMBERS, STEPS, USES
from generators.torch.source import render

ADDED: Attrs = {"number": "item", "use": "add"}
HALVED: Attrs = {"number": "floordiv", "use": "mul"}


@pytest.mark.parametrize(
    ("op", "types", "attrs", "message"),
    [
        ("with_item", "uint8[2] int64[]", ADDED, "is not defined for uint8"),
        ("with_item", "bool[2] int64[]", ADDED, "is not defined for bool"),
        ("with_item", "float32[2] bool[]", ADDED, "is not defined for bool"),
        ("with_item", "float32[2] int64[1]", ADDED, "one number is read, not int64[1]"),
        ("with_item", "float32[2] int64[]", HALVED, "number must be one of"),
        ("with_whole_item", "float32[2] float32[]", HALVED, "is not defined for float32"),
    ],
)
def test_inference_refuses(op: str, types: str, attrs: Attrs, message: str) -> None:
    with pytest.raises(Invalid) as error:
        inferred(op, types_of(types), attrs)
    assert message in str(error.value)


@pytest.mark.parametrize("use", USES)
@pytest.mark.parametrize("number", [*NUMBERS, *STEPS])
@pytest.mark.parametrize("dtype", [d for d in DType if d not in (DType.BOOL, DType.UINT8)])
def test_numbers_are_promoted_as_in_pytorch(dtype: DType, number: str, use: str) -> None:
    op = "with_whole_item" if number in STEPS else "with_item"
    for n in ("int64", "int32", "uint8") if number in STEPS else ("int64", "float32", "float16", "float64"):
        for shape in ("[2,3]", "[]"):
            types = types_of(f"{dtype}{shape} {n}[]")
            attrs: Attrs = {"number": number, "use": use}
            assert inferred(op, types, attrs) == in_torch(op, types, attrs), (types, attrs)


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
