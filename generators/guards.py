"""Operators that rows add before their own call, so that a computed value is in the range that it is defined for."""

from __future__ import annotations

import math

from generators.domain import ANY, MAX_BOUND, Domain, within
from generators.graph import Node
from generators.operator_class import OperatorClass
from generators.table import TABLE


def is_guard(op: str) -> bool:
    """Whether rows of its dialect add this operator before their own call."""
    return OperatorClass.GUARD in TABLE[op].classes


def range_of(node: Node) -> Domain:
    """The integers between the bounds of a clamp; any numbers for other operators, and where it has one bound only."""
    low, high = node.attrs.get("min"), node.attrs.get("max")
    is_clamp = OperatorClass.CLAMP in TABLE[node.op].classes
    if not is_clamp or not isinstance(low, int | float) or not isinstance(high, int | float):
        return ANY
    first, last = math.ceil(low), min(math.floor(high), MAX_BOUND)
    return within(first, last) if first <= last else ANY
