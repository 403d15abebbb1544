"""The names of the dialects. Their records are in `generators/<name>/dialect.py`."""

from __future__ import annotations

NAMES = ("torch", "onnx", "relax")
"""The dialects, as cases and the command line name them. Folders of dialects have these names, and so have the engines
of their references (`oracles.lane.Engine`)."""

USUAL = ("torch", "onnx")
"""The dialects of a campaign whose user names none."""

DEFAULT = NAMES[0]
"""The dialect of a graph, or of a command, that names none."""
