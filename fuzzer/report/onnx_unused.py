"""An ONNX file without the nodes and initializers that no output needs.

An exporter leaves such nodes behind when constants are folded. TVM converts them too, so a failure may depend on one.
`own_script` shows by a run that a smaller file still fails.
"""

from __future__ import annotations

import msgspec

from generators.onnx.model import Node, OnnxModel


def without_unused(file: OnnxModel, kept: str = "") -> OnnxModel:
    """The file with what its outputs need, and with all nodes of the operator `kept`."""
    needed = {value.name for value in file.outputs}
    nodes = []
    for node in reversed(file.nodes):  # nodes are sorted: each stands after those that it reads
        if node.op == kept or needed & set(node.outputs):
            nodes.append(node)
            needed |= _read_by(node)
    initializers = {name: tensor for name, tensor in file.initializers.items() if name in needed}
    return msgspec.structs.replace(file, nodes=tuple(reversed(nodes)), initializers=initializers)


def _read_by(node: Node) -> set[str]:
    """The values that a node reads, in its subgraphs too."""
    bodies = [attribute.body for attribute in node.attributes if attribute.body]
    inner = (each for body in bodies for each in body.nodes)
    inner_outputs = (value.name for body in bodies for value in body.outputs)
    return set(node.inputs).union(inner_outputs, *map(_read_by, inner))


def operator_at_fault(file: OnnxModel | None, culprit: str) -> str:
    """The operator of the file whose converter is `culprit`, such as `Constant` of `Constant._impl_v13`; "" if the
    culprit is not the converter of one operator."""
    name = culprit.partition("._impl")[0]
    return name if file is not None and name in file.ops else ""
