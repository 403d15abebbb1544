"""Control flow: source texts, and the programs that torch.export makes."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import torch
from conformance.torch.control import BRANCH, COND, ITEM, PARTS
from eager import ones, run_case, types_of

from fuzzer.lanes.base.arrays import laid_out, to_torch
from fuzzer.lanes.torch.prepared import build_model
from generators.builder import Builder, Limits, OpenSizes
from generators.choice import NumpySource
from generators.graph import Attrs, Case, Form, Symbol
from generators.random_graph import with_values
from generators.torch.ops import TABLE, control
from generators.torch.ops.control import BODIES
from generators.torch.source import render


@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16", "float64", "int64", "int8", "uint8"])
def test_bodies_keep_the_type_and_return_a_new_tensor(dtype: str) -> None:
    types = types_of(f"{dtype}[2,3] {dtype}[3]")
    bodies, (x, y) = control._bodies(types), map(ones, types)
    assert dtype[0] in "iu" or set(bodies) == set(BODIES)
    wrong = []
    for body in bodies:
        result = eval(BODIES[body].format(x="x", y="y"), {"torch": torch, "F": torch.nn.functional, "x": x, "y": y})
        same_type = (result.dtype, result.shape) == (x.dtype, x.shape)
        if not same_type or result.data_ptr() in (x.data_ptr(), y.data_ptr()):
            wrong.append(body)
    assert wrong == []


def text(op: str, args: str, attrs: Attrs) -> list[str]:
    return TABLE[op].render(tuple(args), attrs).split("\n")


def test_source_texts() -> None:
    assert text("loop", "xy", {"n": 3, "body": "gated"}) == [
        "{out} = x",
        "for _ in range(3):",
        "    {out} = {out} * torch.sigmoid(y)",
    ]
    assert text("shape_branch", "xy", BRANCH) == [
        "if x.shape[0] > 2:",
        "    {out} = -x",
        "else:",
        "    {out} = x + y",
    ]
    assert text("parts", "x", PARTS) == ["sum([torch.sin(part) for part in x.unbind(0)])"]
    assert text("parts", "x", {**PARTS, "collect": "stack"}) == [
        "torch.stack([torch.sin(part) for part in x.unbind(0)], 0)"
    ]
    dense = "clone(memory_format=torch.contiguous_format)"
    assert text("cond", "px", COND) == [
        f"torch.cond(p.any(), lambda x: -x, lambda x: torch.tanh(x), (x.{dense},))",
    ]
    assert text("cond_item", "nx", {**ITEM, "comparison": "ne"}) == [
        f"torch.cond(n.item() != 2, lambda x: -x, lambda x: torch.tanh(x), (x.{dense},))",
    ]
    assert text("cond_size", "xy", {**ITEM, "dim": -1}) == [
        f"torch.cond(x.shape[-1] >= 2, lambda x, y: -x, lambda x, y: torch.tanh(x), (x.{dense}, y.{dense}))",
    ]
    assert text("assert_async", "x", {"low": -5}) == [
        "torch._assert_async((x > -5).all())",
        "{out} = torch.sqrt(x - (-5))",
    ]
    assert (
        TABLE["assert_async"]
        .render(("x",), {"low": -5}, Form.FUNCTION)
        .startswith("torch._assert_async((x > -5).all(), 'too small')\n")
    )
    assert text("while_loop", "ix", {"n": 3, "body": "sin"}) == [
        "_, {out} = torch._higher_order_ops.while_loop(lambda i, x: i < 3, lambda i, x: (i + 1, torch.sin(x)), "
        f"(i, x.{dense}))"
    ]


def cases(op: str, count: int) -> Iterator[Case]:
    for index in range(count):
        builder = Builder(NumpySource(3, index), Limits(max_numel=64))
        if builder.grow(TABLE[op]) and any(not item.role.is_owned for item in builder.inputs):
            yield with_values(builder)


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    "op", ["loop", "shape_branch", "parts", "cond", "cond_item", "cond_size", "assert_async", "while_loop"]
)
def test_exported_programs_compute_what_eager_pytorch_does(op: str) -> None:
    compared = 0
    for case in cases(op, 5):
        items = [item for item in case.graph.inputs if not item.role.is_owned]
        inputs = tuple(laid_out(to_torch(case.tensors[item.value.name]), item.layout) for item in items)
        with torch.no_grad():
            program = torch.export.export(build_model(render(case.bound), case.owned), inputs)
            outputs = program.run_decompositions().module()(*inputs)
        for out, expected in zip(outputs, run_case(case), strict=True):
            assert torch.allclose(out, expected, equal_nan=True), render(case.bound)
        compared += 1
    assert compared >= 3


def test_python_control_flow_does_not_depend_on_symbolic_sizes() -> None:
    for name in ("shape_branch", "parts"):
        for index in range(200):
            symbols = [Symbol("n", 1, 5)]
            builder = Builder(NumpySource(3, index), open_sizes=OpenSizes(symbols, {"n": 5}, [{"n": 1}]))
            if builder.grow(TABLE[name]):
                graph = builder.graph()
                node = graph.nodes[-1]
                dim = node.attrs["dim"]
                assert isinstance(dim, int)
                assert isinstance(graph.arg_types(node)[0].shape[dim], int)


def test_while_loops_run_zero_to_several_iterations() -> None:
    iterations = set()
    for case in cases("while_loop", 40):
        node = case.graph.nodes[-1]
        start = case.tensors[node.args[0]].item() if node.args[0] in case.tensors else 0
        iterations.add(max(0, int(node.attrs["n"]) - start))  # type: ignore[arg-type]
    assert iterations >= {0, 1, 2, 3}


@pytest.mark.slow
@pytest.mark.parametrize(("comparison", "kept"), [("gt", "gt"), ("lt", "lt"), ("ge", "ge"), ("le", "le"), ("ne", "ne")])
def test_symbolic_sizes_are_compared_when_the_program_runs(comparison: str, kept: str) -> None:
    attrs = {**ITEM, "dim": 0, "comparison": comparison}
    source = TABLE["cond_size"].render(("x",), attrs)

    class Model(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            result: torch.Tensor = eval(source, {"torch": torch, "x": x})
            return result

    model = Model()
    program = torch.export.export(model, (torch.ones(3, 2),), dynamic_shapes=({0: torch.export.Dim.DYNAMIC},))
    assert kept in {getattr(node.target, "__name__", "") for node in program.graph.nodes}
    for size in (2, 3, 5):
        x = torch.ones(size, 2)
        assert torch.equal(program.module()(x), model(x))
