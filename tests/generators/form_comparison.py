"""Compares the forms of a call with its plain form.

The results must be the same numbers. Results with rounded terms may differ slightly: PyTorch adds the terms in another
order where the result lies elsewhere in memory.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Any

import torch
from eager import run_case

from generators.builder import Builder, Limits
from generators.choice import NumpySource
from generators.graph import Form, Node, TensorType
from generators.random_graph import with_values
from generators.torch.ops import Op
from generators.torch.source import constructor, statements

Tensors = tuple[torch.Tensor, ...]


def compare_forms(op: Op, count: int) -> tuple[Counter[Form], list[str]]:
    """Return how often each form was compared with the plain one on drawn calls, and which calls gave other results."""
    compared: Counter[Form] = Counter()
    wrong = []
    for index in range(count):
        builder = Builder(NumpySource(9, index), Limits(max_numel=256))
        if not builder.grow(op):
            continue
        case, node = with_values(builder), builder.nodes[-1]
        graph = replace(case.graph, nodes=case.graph.nodes[:-1], outputs=node.args)
        operands = run_case(replace(case, graph=graph)) if node.args else ()
        types = case.graph.arg_types(node)
        plain = computed(node, Form.PLAIN, operands, types)
        for form in op.forms:
            if not op.expresses(form, types, node.attrs) or (
                form is Form.INPLACE and [result.type for result in node.results] != [types[0]]
            ):
                continue
            compared[form] += 1
            same = identical if op.terms is None else close
            if not all(map(same, computed(node, form, operands, types), plain)):
                wrong.append(f"{form} of {types} {dict(node.attrs)}")
    return compared, wrong


def computed(node: Node, form: Form, operands: Tensors, types: tuple[TensorType, ...]) -> Tensors:
    names = tuple(f"a{i}" for i in range(len(operands)))
    scope: dict[str, Any] = {"torch": torch, "F": torch.nn.functional}
    scope |= {name: operand.clone() for name, operand in zip(names, operands, strict=True)}
    node = replace(node, form=form)
    parameters = tuple(f"torch.nn.Parameter({n})" if scope[n].is_floating_point() else n for n in names)
    lines = constructor(node, parameters, types, "layer")
    if lines:
        lines.append("layer.eval()")
    with torch.no_grad():
        exec("\n".join([*lines, *statements(node, names, "layer")]), scope)
    return tuple(scope[value.name] for value in node.results)


def identical(a: torch.Tensor, b: torch.Tensor) -> bool:
    return a.dtype == b.dtype and a.shape == b.shape and torch.equal(a.nan_to_num(), b.nan_to_num())


def close(a: torch.Tensor, b: torch.Tensor) -> bool:
    if not a.is_floating_point() or a.dtype != b.dtype or a.shape != b.shape:
        return identical(a, b)
    eps = torch.finfo(a.dtype).eps
    a, b = a.double().nan_to_num(posinf=1e300, neginf=-1e300), b.double().nan_to_num(posinf=1e300, neginf=-1e300)
    largest = max([1.0, *a.abs().reshape(-1).tolist()])
    return bool(((a - b).abs() <= 4 * eps * largest).all())
