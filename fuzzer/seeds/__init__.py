"""`fuzz import`: subgraphs of real models as seed cases. docs/import.md follows a file through these modules:

pt2, onnx_file        what a file says, as a `Program` of calls in PyTorch's words; nothing in it is executed
pt2_file, limited     the child that reads a file, and its limits
words, onnx_words     calls that the operator table writes otherwise
rows                  the row of the operator table that makes a call
cut, shrink           pieces of the graph, small enough to run in milliseconds
domains               the numbers that go into them
harvest, command      all of it in turn, and the verb
"""
