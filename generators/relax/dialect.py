"""The record of the dialect of Relax."""

from __future__ import annotations

from generators.dialect import Dialect, Words, function_of, names_in, object_of
from generators.graph import Role

DIALECT = Dialect(
    name="relax",
    title="Relax",
    words=Words(
        model="Relax module",
        reference="the definitions of the operators",
        run="TVM's checker accepts this module, and the definitions of its operators give a result",
        results="that of the definitions of the operators",
        judges="the definitions of the operators",
        eager="the definitions of the operators",
        exporter="relax source",
        exporting="writing {ops}",
        exported="The module is written in TVMScript: it should be parsed.",
        absent=("torch", "onnx", "onnxruntime"),
    ),
    rows=object_of("generators.relax.ops:TABLE"),
    drawn=object_of("generators.relax.ops:OPS"),
    families=object_of("generators.relax.ops:FAMILIES"),
    draw=function_of("generators.relax.random_graph:draw_graph"),
    check=function_of("generators.relax.check:check"),
    text=function_of("generators.relax.source:text"),
    called=lambda graph, node: function_of("generators.relax.calls:called")(node),
    written=function_of("generators.relax.source:written"),
    module=function_of("generators.relax.source:module"),
    inputs=function_of("generators.relax.source:inputs_of_module"),
    network=function_of("generators.relax.network:network"),
    has_layouts=False,
    has_empty=False,
    is_counted=False,
    none_is_left_out=False,
    plain_percent=55,
    roles={Role.INPUT: "input", Role.PARAM: "constant", Role.BUFFER: "constant"},
    flattening=names_in("""relax.clip relax.full_like relax.nn.group_norm relax.nn.log_softmax relax.nn.softmax
        relax.ones_like relax.sign relax.zeros_like"""),
)
