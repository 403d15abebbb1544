"""How far the operands and results of a node are pushed: what its row says of its rounding, as numbers."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from generators.graph import FLOATS, HALVES, DType, Node
from generators.op import Arithmetic, Types
from generators.table import TABLE

FUNCTION_UNITS = 4.0
"""The largest error of math libraries and of vectorised functions, in units in the last place (docs/tolerance.md)."""

MANY_TERMS = 1000


@dataclass(frozen=True, slots=True)
class Sizes:
    """How far to push the numbers of one node, relative to their magnitude; 0 where nothing is rounded.

    operands  for each operand
    results   for each result
    terms     how many rounded terms go into one element of a result; 0 where the node is exact
    is_sum    whether the node is a sum
    """

    operands: tuple[float, ...]
    results: tuple[float, ...]
    terms: int
    is_sum: bool = False

    @property
    def is_long_sum(self) -> bool:
        """Whether the node adds so many terms that their rounding alone may decide a quotient of two such sums."""
        return self.is_sum and self.terms >= MANY_TERMS

    @property
    def exact(self) -> bool:
        return not any(self.operands) and not any(self.results)


def sizes_of(node: Node, types: Types) -> Sizes:
    op = TABLE[node.op]
    count = op.terms(types, node.attrs) if op.terms else 0
    count += count > 0 and op.arithmetic.is_sum and len(types) > 2  # a bias, or a tensor that the sum is added to
    dtypes = [result.type.dtype for result in node.results]
    results = [result_size(op.arithmetic, dtype, count) if count and dtype in FLOATS else 0.0 for dtype in dtypes]
    operands = [0.0] * len(types)
    if count > 1:
        coarsest = max([dtype.eps for dtype in dtypes if dtype in FLOATS], default=0.0)
        operands = [
            operand_size(op.arithmetic, type.dtype, coarsest, count) if type.dtype in FLOATS else 0.0 for type in types
        ]
    return Sizes(tuple(operands), tuple(results), count, op.arithmetic.is_sum)


def rounding_of_a_sum(eps: float, terms: int) -> float:
    """Return the error of a sum relative to its terms. Half precision accumulates in float32."""
    return min(eps, float(np.finfo(np.float32).eps)) * math.sqrt(terms)


def result_size(arithmetic: Arithmetic, dtype: DType, count: int) -> float:
    """How far to push a result, relative to its magnitude. A function that divides by a sum, or by its root, has at
    least half the relative error of the sum."""
    one_unit = not arithmetic.is_function or dtype in HALVES
    own = dtype.eps * (1.0 if one_unit else FUNCTION_UNITS)
    return own if arithmetic.is_sum else max(own, rounding_of_a_sum(dtype.eps, count) / 2)


def operand_size(arithmetic: Arithmetic, dtype: DType, coarsest: float, count: int) -> float:
    """How far to push an operand, relative to its magnitude.

    `coarsest` is the largest epsilon of the results. Operands of a finer dtype may be cast to that dtype first.
    """
    eps = max(dtype.eps, coarsest)
    cast = coarsest if coarsest > dtype.eps else 0.0
    steps = 0.0 if arithmetic is Arithmetic.SUM else eps  # intermediate results are rounded too
    if arithmetic.has_open_precision and dtype in HALVES:
        steps *= max(1.0, math.sqrt(count) / 2)  # so are the partial sums, each by half a unit at most
    return max(rounding_of_a_sum(eps, count), cast, steps)
