"""The rows of the toy that a change of TVM reaches."""
