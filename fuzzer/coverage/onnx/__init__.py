"""The coverage of cases of ONNX."""
