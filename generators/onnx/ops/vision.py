"""TITLE vision"""

from __future__ import annotations

from generators.onnx.operator import Operator

OPERATORS: tuple[Operator, ...] = ()
