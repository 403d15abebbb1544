"""Rows of `random`, and dropout in training."""

from __future__ import annotations

from conformance import Table
from generators.graph import Attrs

NONE: Attrs = {"dtype": None}


NOT_ASKED: Table = [
    ("bernoulli", "float32[2]", {"p": 0.5}, "the result is random unless p is 0 or 1"),
    ("dropout_training", "float32[2]", {"p": 0.5}, "the result is random unless p is 0 or 1"),
    ("dropout_training", "int64[2]", {"p": 1.0}, "is not defined for int64"),
    ("dropout_inplace", "float32[2]", {"p": 1.5}, "p must be a probability"),
    ("add_noise", "int64[2]", NONE, "there is no such noise in int64"),
    ("no_noise", "", {"size": (2,), "dtype": "int8"}, "there is no such noise in int8"),
    ("no_noise", "", {"size": (-1,), "dtype": None}, "sizes [-1] must not be negative"),
    ("exponential_sign", "float32[2]", {"lambd": 0.0, **NONE}, "lambd must be positive"),
]
