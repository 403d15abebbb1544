"""The dialect of ONNX: the operators that TVM's importer of ONNX has, each in the versions of all opsets from 7 on."""
