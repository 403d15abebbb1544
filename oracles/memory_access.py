"""Accesses to memory that a compiled model must not make."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Access(StrEnum):
    """The most harmful one stands first."""

    WRITE = "write"
    READ = "read"


class Side(StrEnum):
    """Where the accessed memory lies, seen from the tensor."""

    BEFORE = "before"
    AFTER = "after"
    INSIDE = "inside"  # elements of the tensor that nothing has written yet


@dataclass(frozen=True, slots=True)
class MemoryAccess:
    """One access outside a tensor, or to elements that have no value yet.

    tensor    the nearest tensor: "input x0", "output 0", "a constant", "an intermediate tensor"
    distance  how many elements the nearest accessed element is from the tensor: 1 is the next one. 0 for `INSIDE`
    dtype     the dtype of these elements, as TVM writes it
    """

    access: Access
    tensor: str
    side: Side
    distance: int
    dtype: str

    @property
    def does(self) -> str:
        """What the model does: "reads out of bounds, 2 elements before input x0"."""
        if self.side is Side.INSIDE:
            return f"uses elements of {self.tensor} that nothing has written"
        far = "1 element" if self.distance == 1 else f"{self.distance} elements"
        return f"{self.access}s out of bounds, {far} {self.side} {self.tensor}"
