"""The scalar whose gradients the lanes compare: a weighted sum of a model's float outputs, as a function of its inputs.

Parameters and buffers become arguments too, and each call is written in its plain form. So each lane differentiates the
same function of the same arguments. This module loads no compiler, because reports use it too.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from generators.graph import Array, Case, DType, Form, Role

DIFFERENTIATED = (DType.FLOAT32, DType.FLOAT64)


def why_not(case: Case) -> str | None:
    """Why the case has no gradients to compare; None where it has."""
    if not leaves(case):
        return "no argument of the model is a float32 or float64"
    if not any(type.dtype in DIFFERENTIATED and type.numel for type in case.bound.output_types):
        return "no output of the model is a float32 or float64"
    return None


def leaves(case: Case) -> list[str]:
    """The names of the arguments that gradients are computed for, in the order of the function's arguments. Buffers are
    left out: PyTorch has no gradient for running statistics."""
    values = [item.value for item in case.bound.inputs if item.role is not Role.BUFFER]
    return [value.name for value in values if value.type.dtype in DIFFERENTIATED and value.type.numel]


def as_function(case: Case) -> Case:
    """The case with static sizes, with inputs instead of parameters, and with each call in its plain form."""
    graph = case.bound
    items = tuple(replace(item, role=Role.INPUT) for item in graph.inputs)
    nodes = tuple(replace(node, form=Form.PLAIN) for node in graph.nodes)
    return Case(replace(graph, inputs=items, nodes=nodes), case.tensors, profile=case.profile, origin=case.origin)


def weights(case: Case) -> list[Array | None]:
    """The weights of each output, one for each element; None for an output that is not differentiated. Absolute values
    lie between 0.5 and 1.5, the signs are drawn, and all lanes get the same weights."""
    made: list[Array | None] = []
    for position, type in enumerate(case.bound.output_types):
        random = np.random.RandomState(position)
        numbers = random.uniform(0.5, 1.5, type.sizes) * random.choice([-1.0, 1.0], type.sizes)
        counts = type.dtype in DIFFERENTIATED and type.numel
        made.append(np.asarray(numbers, type.dtype.numpy) if counts else None)
    return made
