"""The sweep through ONNX's node tests."""
