"""How files become cases of ONNX."""
