"""Forms of a case that reports and lanes share: symbolic sizes, the scalar that is differentiated, an ONNX file as
data, the results that a node test expects."""
