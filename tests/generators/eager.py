"""A graph's rendered source, run by PyTorch itself: what inference is held against."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from generators.graph import Case, Graph, Input, Role, TensorType
from generators.torch_source import render

torch.set_num_threads(1)


def run(graph: Graph, tensor: Callable[[Input], torch.Tensor], *, float64: bool = False) -> tuple[torch.Tensor, ...]:
    """The outputs of the graph on the tensors that `tensor` makes for its inputs and parameters; with `float64` in
    double precision, as the truth is computed."""
    scope: dict[str, Any] = {}
    exec(compile(render(graph, float64=float64), "<rendered>", "exec"), scope)
    params, inputs = ([tensor(item) for item in graph.inputs if item.role is role] for role in (Role.PARAM, Role.INPUT))
    before = torch.get_default_dtype()
    torch.set_default_dtype(torch.float64 if float64 else torch.float32)
    try:
        with torch.no_grad():
            outputs: tuple[torch.Tensor, ...] = scope["Model"](*params).eval()(*inputs)
    finally:
        torch.set_default_dtype(before)
    return outputs


def run_case(case: Case) -> tuple[torch.Tensor, ...]:
    return run(case.bound, lambda item: torch.from_numpy(np.array(case.tensors[item.value.name])))


def empty(item: Input, device: str = "meta") -> torch.Tensor:
    """A tensor without values, of the input's type."""
    return torch.empty(item.value.type.sizes, dtype=torch_dtype(item.value.type), device=device)


def ones(type: TensorType) -> torch.Tensor:
    return torch.ones(type.sizes, dtype=torch_dtype(type))


def torch_dtype(type: TensorType) -> torch.dtype:
    dtype: torch.dtype = getattr(torch, type.dtype.value)
    return dtype


def type_text(tensor: torch.Tensor) -> str:
    """The tensor's type as graphs write it: float32[2,3]."""
    return f"{str(tensor.dtype).removeprefix('torch.')}[{','.join(map(str, tensor.shape))}]"
