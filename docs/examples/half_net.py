"""Writes half_net.onnx for docs/import.md: layers in float16 with a Selu, as no exporter of PyTorch writes them."""

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

LAYERS, WIDTH = 40, 8
nodes, tensors, value = [], [], "x"
for layer in range(LAYERS):
    weights = np.random.default_rng(layer).standard_normal((WIDTH, WIDTH)) / WIDTH
    tensors.append(numpy_helper.from_array(weights.astype(np.float16), f"w{layer}"))
    function = "Selu" if layer == LAYERS // 2 else "Relu"
    nodes.append(helper.make_node("Gemm", [value, f"w{layer}"], [f"a{layer}"], transB=1))
    nodes.append(helper.make_node(function, [f"a{layer}"], [f"b{layer}"]))
    nodes.append(helper.make_node("Softmax", [f"b{layer}"], [f"c{layer}"], axis=-1))
    nodes.append(helper.make_node("Add", [value, f"c{layer}"], [f"d{layer}"]))
    value = f"d{layer}"

x = helper.make_tensor_value_info("x", TensorProto.FLOAT16, [3, WIDTH])
y = helper.make_tensor_value_info(value, TensorProto.FLOAT16, [3, WIDTH])
graph = helper.make_graph(nodes, "half_net", [x], [y], tensors)
onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), "half_net.onnx")
