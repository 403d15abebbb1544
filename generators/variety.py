"""Which floats of a graph differ, as far as types and operators tell.

Where all judged numbers of a case are equal, a wrong index, order or axis cannot show (`oracles/judged_elements.py`).
Graphs are drawn so that few are like that.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from generators.graph import Form, Graph, Layout, TensorType

LEAST = 3
"""Tensors with fewer elements do not count: one or two of them are easily equal, or not judged."""

_OF_TORCH = """adaptive_avg_pool3d batch_norm clamp cosine_similarity empty_like empty_shape expand_as eye_size fill
    fill_tensor full_like full_size heaviside index_fill index_fill_tensor log_softmax masked_fill masked_fill_tensor
    new_full new_zeros ones_like ones_shape over_size plus_size sign softmax zeros_like"""
_OF_ONNX = "Clip HardSigmoid Hardmax LogSoftmax MaxRoiPool Sign Softmax"
_OF_RELAX = """relax.clip relax.full_like relax.nn.group_norm relax.nn.log_softmax relax.nn.softmax relax.ones_like
    relax.sign relax.zeros_like"""
FLATTENING = frozenset(name for names in (_OF_TORCH, _OF_ONNX, _OF_RELAX) for name in names.split())
"""Operators whose results are often equal, or always, although their operands are not."""


def may_differ(graph: Graph) -> frozenset[str]:
    """The floats of a graph without symbols that differ, unless numbers meet by chance."""
    found = {
        item.value.name
        for item in graph.inputs
        if _is_large(item.value.type, item.value.type.sizes[0] if item.layout is Layout.EXPANDED else 1)
    }
    for node in graph.nodes:
        if node.title not in FLATTENING and not found.isdisjoint(node.args):
            found.update(value.name for value in node.results if _is_large(value.type))
    return frozenset(found)


def _is_large(type: TensorType, copies: int = 1) -> bool:
    return type.dtype.is_float and type.numel >= LEAST * copies


def shows_little(graph: Graph) -> bool:
    """Whether a graph without symbols has floats in its outputs, and none of them that differ."""
    types, differ = graph.types, may_differ(graph)
    floats = [name for name in graph.outputs if types[name].dtype.is_float]
    return bool(floats) and differ.isdisjoint(floats)


def with_output_that_shows(graph: Graph, bound: Graph) -> Graph:
    """The graph; where it shows little, with one more output: the last result on the way that shows more, if one does.
    `bound` is the graph without its symbols."""
    last = list(_on_the_way(bound))[-1:] if shows_little(bound) else []
    return replace(graph, outputs=(*graph.outputs, *last))


def _on_the_way(graph: Graph) -> Iterator[str]:
    """The floats that differ, that a node reads, and that none overwrites. A value that nothing reads was left out of
    the outputs on purpose."""
    differ = may_differ(graph)
    read = {name for node in graph.nodes for name in node.args}
    overwritten = {node.args[0] for node in graph.nodes if node.form is Form.INPLACE}
    for node in graph.nodes:
        for value in node.results:
            if value.type.dtype.is_float and value.name in (differ & read) - overwritten:
                yield value.name
