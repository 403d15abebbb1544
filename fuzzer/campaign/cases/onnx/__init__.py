"""What campaigns draw of ONNX."""
