"""What an operator row is made of. A row is data: a person can review a family of operators on one screen."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from generators.builder import Builder
from generators.choice import ChoiceSource
from generators.graph import DTYPE_NAMES, Attr, Attrs, DType, Invalid, TensorType, Value

Types = tuple[TensorType, ...]
Operands = Callable[[Builder], tuple[Value, ...] | None]
DrawAttrs = Callable[[ChoiceSource, Types], Attrs | None]
Infer = Callable[[Types, Attrs], TensorType | Types]
Terms = Callable[[Types, Attrs], int]


@dataclass(frozen=True, slots=True)
class Kind:
    """What values an attribute may take, and how they are written in Python source.

    Cases come from files: an attribute reaches the source text only through `render`, after `accepts` said yes.
    """

    says: str
    accepts: Callable[[Attr], bool]
    render: Callable[[Attr], str] = repr


def _is_int(value: Attr) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and -(2**63) <= value < 2**63


def _is_ints(value: Attr) -> bool:
    return isinstance(value, tuple) and all(map(_is_int, value))


def _is_sizes(value: Attr) -> bool:
    return isinstance(value, tuple) and all(_is_int(size) and isinstance(size, int) and size >= -1 for size in value)


def _is_number(value: Attr) -> bool:
    return _is_int(value) or (isinstance(value, float) and math.isfinite(value))


INT = Kind("an integer", _is_int)
INTS = Kind("a list of integers", _is_ints)
SIZES = Kind("a list of sizes, or -1", _is_sizes)
BOOL = Kind("true or false", lambda v: isinstance(v, bool))
NUMBER = Kind("a finite number", _is_number)
DTYPE = Kind("a dtype", lambda v: v in DTYPE_NAMES, lambda v: f"torch.{v}")


def one_of(*options: str) -> Kind:
    return Kind(f"one of {', '.join(options)}", lambda v: v in options)


def optional(kind: Kind) -> Kind:
    return Kind(
        f"{kind.says} or null",
        lambda v: v is None or kind.accepts(v),
        lambda v: "None" if v is None else kind.render(v),
    )


def no_attrs(source: ChoiceSource, types: Types) -> Attrs:
    return {}


def one_term(types: Types, attrs: Attrs) -> int:
    """An operator that rounds each element of its result once."""
    return 1


@dataclass(frozen=True, slots=True)
class Op:
    """One operator.

    name      its key in case.json; it never changes its meaning
    operands  picks or makes its operands in a builder; None where the graph offers nothing fitting
    attrs     draws attributes for operands of these types; None where none fit
    infer     result type(s); raises `Invalid` exactly where PyTorch would refuse (types are without symbols)
    source    Python expression: {0} {1} operands by position, {args} all of them, {key} an attribute
    schema    which attributes there are and what each may be
    arity     fewest and most operands
    terms     how many rounded terms go into one result element; None where the result is exact
    scale     size of numbers that may cancel inside: exp(x) - 1 rounds like 1, however small the result
    """

    name: str
    operands: Operands
    infer: Infer
    source: str | Callable[[tuple[str, ...], Attrs], str]
    attrs: DrawAttrs = no_attrs
    schema: Mapping[str, Kind] = field(default_factory=dict)
    arity: tuple[int, int] = (1, 1)
    terms: Terms | None = None
    scale: float = 0.0

    def results(self, types: Types, attrs: Attrs) -> Types:
        """Inferred result types, after checking arity and attributes; raises `Invalid`."""
        low, high = self.arity
        require(low <= len(types) <= high, f"takes {low} to {high} operands, not {len(types)}")
        require(set(attrs) == set(self.schema), f"takes attributes {sorted(self.schema)}, not {sorted(attrs)}")
        for key, kind in self.schema.items():
            require(kind.accepts(attrs[key]), f"{key} must be {kind.says}, not {attrs[key]!r}")
        inferred = self.infer(types, attrs)
        return inferred if isinstance(inferred, tuple) else (inferred,)

    def render(self, args: tuple[str, ...], attrs: Attrs) -> str:
        """The call as a Python expression."""
        if callable(self.source):
            return self.source(args, attrs)
        literals = {key: kind.render(attrs[key]) for key, kind in self.schema.items()}
        return self.source.format(*args, args=", ".join(args), **literals)


def require(condition: bool, message: str) -> None:
    if not condition:
        raise Invalid(message)


# Typed access to attributes. The schema has vouched for the kind by the time a row's functions run.


def int_of(attrs: Attrs, key: str) -> int:
    value = attrs[key]
    assert isinstance(value, int)
    return value


def ints_of(attrs: Attrs, key: str) -> tuple[int, ...]:
    value = attrs[key]
    assert isinstance(value, tuple)
    return tuple(item for item in value if isinstance(item, int))


def dtype_of(attrs: Attrs, key: str = "dtype") -> DType:
    return DType(str(attrs[key]))
