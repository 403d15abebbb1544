"""Mutants of the code, and which of them the tests notice. `benchmarks/mutants.py` is the command."""
