"""Runs the rendered source of a graph in eager PyTorch, which is the reference for type inference."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from fuzzer.lanes.base.arrays import laid_out, to_torch
from generators.graph import Attrs, Case, DType, Form, Graph, Input, Node, TensorType, Value
from generators.op import Types
from generators.table import TABLE
from generators.torch.source import constructor, render, statements

torch.set_num_threads(1)


def run(graph: Graph, tensor: Callable[[Input], torch.Tensor], *, float64: bool = False) -> tuple[torch.Tensor, ...]:
    """Return the outputs of the graph on the tensors that `tensor` makes for its inputs and parameters.

    With `float64`, it runs in double precision, as the reference does.
    """
    scope: dict[str, Any] = {}
    exec(compile(render(graph, float64=float64), "<rendered>", "exec"), scope)
    owned = [tensor(item) for item in graph.inputs if item.role.is_owned]
    inputs = [tensor(item) for item in graph.inputs if not item.role.is_owned]
    before = torch.get_default_dtype()
    torch.set_default_dtype(torch.float64 if float64 else torch.float32)
    try:
        with torch.no_grad():
            outputs: tuple[torch.Tensor, ...] = scope["Model"](*owned).eval()(*inputs)
    finally:
        torch.set_default_dtype(before)
    return outputs


def types_of(text: str) -> Types:
    return tuple(map(TensorType.parse, text.split()))


def in_torch(op: str, types: Types, attrs: Attrs, form: Form = Form.PLAIN, count: int = 1, *, number: int = 1) -> str:
    """Return the types of the `count` results that eager PyTorch computes on tensors of one number. Raise what PyTorch
    raises."""
    names = tuple(f"a{i}" for i in range(len(types)))
    tensors = [torch.full(type.sizes, number, dtype=torch_dtype(type)) for type in types]
    scope: dict[str, Any] = {"torch": torch, "F": torch.nn.functional, **dict(zip(names, tensors, strict=True))}
    node = Node(op, names, attrs, tuple(Value(f"v{i}", TensorType(DType.FLOAT32, ())) for i in range(count)), form)
    owned = tuple(
        f"torch.nn.Parameter({n})" if type.dtype.is_float else n for n, type in zip(names, types, strict=True)
    )
    with torch.no_grad():
        exec("\n".join(constructor(node, owned, types, "layer") + statements(node, names, "layer")), scope)
    return " ".join(type_text(scope[value.name]) for value in node.results)


def inferred(op: str, types: Types, attrs: Attrs) -> str:
    """Return the types that the row infers, in the format of `in_torch`. Raise `Invalid` where it refuses."""
    return " ".join(map(str, TABLE[op].results(types, attrs)))


def run_case(case: Case) -> tuple[torch.Tensor, ...]:
    """Return the case's outputs in eager PyTorch, on inputs with their layouts."""
    return run(case.bound, lambda item: laid_out(to_torch(case.tensors[item.value.name]), item.layout))


def empty(item: Input, device: str = "meta") -> torch.Tensor:
    """Return a tensor of the input's type, without values."""
    return torch.empty(item.value.type.sizes, dtype=torch_dtype(item.value.type), device=device)


def ones(type: TensorType) -> torch.Tensor:
    return torch.ones(type.sizes, dtype=torch_dtype(type))


def torch_dtype(type: TensorType) -> torch.dtype:
    dtype: torch.dtype = getattr(torch, type.dtype.value)
    return dtype


def type_text(tensor: torch.Tensor) -> str:
    """Return the tensor's type as text, such as float32[2,3]."""
    return f"{str(tensor.dtype).removeprefix('torch.')}[{','.join(map(str, tensor.shape))}]"
