"""Graphs of the toy: three operators."""
