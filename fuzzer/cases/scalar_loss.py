"""The scalar whose gradients lanes compare: a weighted sum of a model's float outputs, as a function of its numbers.

Parameters and buffers are arguments beside the inputs, and each call is written in its plain form: what is
differentiated is then the same function of the same arguments in every lane. Loads no compiler: reports say it too.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from generators.graph import Array, Case, DType, Form, Role

DIFFERENTIATED = (DType.FLOAT32, DType.FLOAT64)


def why_not(case: Case) -> str | None:
    if not leaves(case):
        return "no argument of the model is a float32 or float64"
    if not any(type.dtype in DIFFERENTIATED and type.numel for type in case.bound.output_types):
        return "no output of the model is a float32 or float64"
    return None


def leaves(case: Case) -> list[str]:
    """The arguments that gradients are taken for, in the order of the function's. Not buffers: PyTorch has no gradient
    for running statistics."""
    values = [item.value for item in case.bound.inputs if item.role is not Role.BUFFER]
    return [value.name for value in values if value.type.dtype in DIFFERENTIATED and value.type.numel]


def as_function(case: Case) -> Case:
    """Static, without parameters, each call in its plain form."""
    graph = case.bound
    items = tuple(replace(item, role=Role.INPUT) for item in graph.inputs)
    nodes = tuple(replace(node, form=Form.PLAIN) for node in graph.nodes)
    return Case(replace(graph, inputs=items, nodes=nodes), case.tensors, profile=case.profile, origin=case.origin)


def weights(case: Case) -> list[Array | None]:
    """One number per element of each output that counts: between 0.5 and 1.5, of either sign, the same in all lanes."""
    made: list[Array | None] = []
    for position, type in enumerate(case.bound.output_types):
        random = np.random.RandomState(position)
        numbers = random.uniform(0.5, 1.5, type.sizes) * random.choice([-1.0, 1.0], type.sizes)
        counts = type.dtype in DIFFERENTIATED and type.numel
        made.append(np.asarray(numbers, type.dtype.numpy) if counts else None)
    return made
