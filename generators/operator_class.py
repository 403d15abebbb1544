"""Classes of operators that mean the same in all dialects. Code that needs one asks for its class, not for its name."""

from __future__ import annotations

from enum import Enum, auto


class OperatorClass(Enum):
    """What an operator is, in each dialect that has such a row (`Op.classes`)."""

    CONVOLUTION_2D = auto()
    """It may convolve over two dimensions."""
    MATRIX_PRODUCT = auto()
    """It may multiply two matrices, or batches of them."""
    GUARD = auto()
    """Rows of its dialect add it before their own call, so that computed values are in the range of their operand."""
    CLAMP = auto()
    """It keeps numbers between its attributes `min` and `max`; None is no bound."""
    NAN_REPLACEMENT = auto()
    SQUARE = auto()
    PRODUCT = auto()
    """It multiplies two operands, element by element."""
    ADDITION = auto()
    """It adds two operands, element by element; the second times its attribute `alpha`, if it has one."""
    NUMBER_ADDITION = auto()
    """It adds its attribute `other`."""
    SQUARE_ROOT = auto()
    SUM_OR_MEAN = auto()
    """The sum or the mean of elements of one operand."""
