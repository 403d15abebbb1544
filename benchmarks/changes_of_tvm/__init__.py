"""Changes of TVM that `benchmarks/planted_changes.py` plants: which ones, and the files that make them."""
