"""The families of ONNX."""
