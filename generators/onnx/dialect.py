"""The record of the dialect of ONNX."""

from __future__ import annotations

from generators.dialect import Dialect, Opsets, Words, function_of, names_in, object_of
from generators.graph import Role
from generators.optional_parts import OptionalParts


def usual() -> tuple[int, ...]:
    """The newest opset, and two that most published models have."""
    from generators.onnx.schema import newest_opset

    return newest_opset(), 17, 13


def drawn_opsets() -> range:
    from generators.onnx.schema import OLDEST, newest_opset

    return range(OLDEST, newest_opset() + 1)


DIALECT = Dialect(
    name="onnx",
    title="ONNX",
    words=Words(
        model="ONNX model",
        reference="onnxruntime",
        run="onnxruntime and the reference evaluator of the onnx package run this model",
        results="that of onnxruntime, and of the reference evaluator of the onnx package",
        judges="onnxruntime or the interpreter",
        eager="onnxruntime",
        exporter="onnx",
        exporting="converting {ops} to opset {opset}",
        exported="The model is valid by the checker of the onnx package: it should be converted and run.",
        absent=("torch",),
    ),
    rows=object_of("generators.onnx.rows:ROWS"),
    drawn=object_of("generators.onnx.rows:OPS"),
    families=object_of("generators.onnx.rows:FAMILIES"),
    draw=function_of("generators.onnx.random_graph:draw_graph"),
    check=function_of("generators.onnx.check:check_file"),
    check_given=lambda model: None,  # processes of lanes check it: a parser in C++ reads the file
    cut_given=function_of("generators.onnx.cut_given:cut_given"),
    calls_of_given=function_of("generators.onnx.calls_of_given:calls_of_given"),
    text=function_of("generators.onnx.written:text"),
    called=lambda graph, node: node.title,
    written=function_of("generators.onnx.written:written"),
    result=function_of("generators.onnx.written:result"),
    inputs=function_of("generators.onnx.source:inputs_of_file"),
    network=function_of("generators.onnx.network:network"),
    words_of=function_of("generators.onnx.kernels:words_of"),
    parts=OptionalParts(
        attributes={"inputs": "optional inputs", "outputs": "optional outputs"},
        named=function_of("generators.onnx.optional_parts:named"),
        first=function_of("generators.onnx.optional_parts:first"),
        fewer=function_of("generators.onnx.optional_parts:fewer"),
    ),
    opsets=Opsets(
        usual=usual,
        drawn=drawn_opsets,
        rows_at=function_of("generators.onnx.rows:rows_at"),
        row_at=function_of("generators.onnx.rows:version_at"),
        operator_at=function_of("generators.onnx.rows:at_opset"),
        node_at=function_of("generators.onnx.rows:node_at"),
        fits=function_of("generators.onnx.forms:fits_opset"),
    ),
    has_layouts=False,
    is_counted=False,
    none_is_left_out=True,
    plain_percent=70,
    roles={Role.INPUT: "input", Role.PARAM: "initializer", Role.BUFFER: "Constant"},
    indexed_writes=function_of("generators.onnx.rows:indexed_writes"),
    flattening=names_in("Clip HardSigmoid Hardmax LogSoftmax MaxRoiPool Sign Softmax"),
)
