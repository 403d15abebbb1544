"""Pad."""

from __future__ import annotations

from conformance import Table

REFUSED: Table = [
    ("Pad-2", "float32[2,3]", {"pads": (1, 0)}, "2 pads do not fit 2 axes"),
    ("Pad-2", "float32[2]", {"pads": (-2, -1)}, "remove more than 2"),
    (
        "Pad-13",
        "float32[3]",
        {"pads": (3, 0), "mode": "reflect", "inputs": (True, False)},
        "too few elements",
    ),
    ("Pad-13", "float32[0]", {"pads": (1, 0), "mode": "edge", "inputs": (True, False)}, "too few elements"),
    ("Pad-18", "float32[3]", {"pads": (1, 0), "mode": "wrap", "inputs": (True, False)}, "does not wrap"),
    ("Pad-18", "float32[3]", {"pads": (1, 0), "axes": (1,), "inputs": (True, False)}, "out of range"),
    ("Pad-11", "float32[3] float64[]", {"pads": (1, 0), "inputs": (True, True)}, "must be float32"),
]

RESULTS: Table = [
    ("Pad-2", "float32[2,3]", {"pads": (1, 0, 0, 2)}, "float32[3,5]"),
    ("Pad-11", "int8[2,3] int8[]", {"pads": (-1, 0, 0, -3), "inputs": (True, True)}, "int8[1,0]"),
    ("Pad-13", "float32[3]", {"pads": (2, 2), "mode": "reflect", "inputs": (True, False)}, "float32[7]"),
    ("Pad-18", "float32[2,3]", {"pads": (1, 1), "axes": (-2,), "inputs": (True, False)}, "float32[4,3]"),
    ("Pad-19", "float32[2]", {"pads": (5, 0), "mode": "wrap", "inputs": (True, False)}, "float32[7]"),
    ("Pad-25", "float32[0]", {"pads": (2, 1), "inputs": (True, False)}, "float32[3]"),
]
