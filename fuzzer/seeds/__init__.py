"""Pieces of real models as seed cases (`fuzz import`).

docs/import.md follows a file through these modules:

torch.pt2, onnx.file         read a file as data; nothing of the file is executed
torch.pt2_file, onnx.reader  the children that read a file, with the limits of `bounded_child`; `bounds` says what a
                             file may have
torch.exported_steps         the steps of an exported program, which `torch.exported` has as data
torch.exact_call, unlisted   for a model that is checked whole: calls of operators without a row
torch.from_onnx, aten_names  translate functions that the operator table has in another form
torch.row_of_call, resolve   find the row of the operator table for each call
onnx.calls                   find the rows of ONNX for the nodes of a file
cut, shrink                  cut the graph into pieces that run in milliseconds
domains                      choose values for the inputs
extract, imported            all of this in order
"""
