"""The record of the dialect of PyTorch."""

from __future__ import annotations

from generators.dialect import Dialect, Words, function_of, names_in, object_of
from generators.graph import Graph, Invalid, Node, Role
from generators.optional_parts import OptionalParts


def check(graph: Graph) -> None:
    if graph.opset:
        raise Invalid("opset: only graphs of ONNX have one")


def text(node: Node) -> list[str]:
    from generators.torch.source import statements

    return statements(node, node.args, "layer")


DIALECT = Dialect(
    name="torch",
    title="PyTorch",
    words=Words(
        model="PyTorch model",
        reference="PyTorch",
        run="Eager PyTorch runs this model",
        results="PyTorch's",
        judges="PyTorch",
        eager="eager PyTorch",
        exporter="torch export",
        exporting="exporting {ops}",
        exported="Eager PyTorch runs this model; what is exported of it should run too.",
    ),
    rows=object_of("generators.torch.ops:TABLE"),
    drawn=object_of("generators.torch.ops:OPS"),
    families=object_of("generators.torch.ops:FAMILIES"),
    draw=function_of("generators.torch.random_graph:draw"),
    check=check,
    check_given=function_of("generators.torch.given:check_given"),
    cut_given=function_of("generators.torch.cut_given:cut_given"),
    text=text,
    called=function_of("generators.torch.source:called"),
    source=function_of("generators.torch.source:render"),
    inputs=lambda case: case.inputs,
    network=function_of("generators.torch.network:network"),
    parts=OptionalParts(fewer=function_of("generators.torch.optional_parts:fewer")),
    has_layouts=True,
    is_counted=True,
    none_is_left_out=False,
    plain_percent=40,
    roles={Role.INPUT: "input", Role.PARAM: "parameter", Role.BUFFER: "parameter"},
    indexed_writes=object_of("generators.torch.ops:INDEXED_WRITES"),
    flattening=names_in("""adaptive_avg_pool3d batch_norm clamp cosine_similarity empty_like empty_shape expand_as
        eye_size fill fill_tensor full_like full_size heaviside index_fill index_fill_tensor log_softmax masked_fill
        masked_fill_tensor new_full new_zeros ones_like ones_shape over_size plus_size sign softmax zeros_like"""),
)
