"""One call of an operator of ONNX, as the functions of its row see it: operands by name, attributes with defaults."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from generators.graph import Attr, Attrs, TensorType
from generators.onnx.schema import Schema
from generators.op import Types, require


@dataclass(frozen=True, slots=True)
class Call:
    """A call.

    schema  the version of the operator
    names   the input that each operand is; operands of a variadic input all have its name
    types   the types of the operands
    attrs   the attributes of the node; None stands for one that is left out
    """

    schema: Schema
    names: Sequence[str]
    types: Types
    attrs: Attrs

    def __getitem__(self, name: str) -> TensorType:
        """The type of an operand that every call has."""
        return self.types[self.names.index(name)]

    def get(self, name: str) -> TensorType | None:
        """The type of an operand, or None where it is left out."""
        return self.types[self.names.index(name)] if name in self.names else None

    @property
    def first(self) -> TensorType:
        return self.types[0]

    def has(self, name: str) -> bool:
        """Whether this version has such an attribute or input."""
        return name in self.schema.attributes or self.schema.has_input(name)

    def attr(self, name: str) -> Attr:
        """The value of an attribute, or of an input that is given as a number; the default where it is left out."""
        value = self.attrs.get(name)
        if value is None and name in self.schema.attributes:
            default: Attr = self.schema.attributes[name].default
            return default
        return value

    def integer(self, name: str) -> int:
        value = self.attr(name)
        require(isinstance(value, int), f"{name} is needed")
        assert isinstance(value, int)
        return value

    def integers(self, name: str) -> tuple[int, ...] | None:
        """A list of integers, or None where it is left out."""
        value = self.attr(name)
        return tuple(item for item in value if isinstance(item, int)) if isinstance(value, tuple) else None

    def number(self, name: str) -> float:
        value = self.attr(name)
        require(isinstance(value, int | float), f"{name} is needed")
        assert isinstance(value, int | float)
        return float(value)

    def text(self, name: str) -> str:
        return str(self.attr(name))
