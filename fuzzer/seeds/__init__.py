"""Pieces of real models as seed cases (`fuzz import`).

docs/import.md follows a file through these modules:

pt2, onnx.file               read a file as a `Program` of PyTorch calls; nothing of the file is executed
exported, exported_steps     an exported program as data, and the steps of it
exact_call, unlisted         for a model that is checked whole: calls of operators without a row
pt2_file, bounded_child      the child that reads a file, and its limits
aten_names, onnx_to_torch    translate functions that the operator table has in another form
row_of_call, resolve         find the row of the operator table for each call
cut, shrink                  cut the graph into pieces that run in milliseconds
domains                      choose values for the inputs
extract, imported            all of this in order
"""
