"""What an operator row is made of. A row is data: a person can review a family of operators on one screen."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from generators.builder import Builder
from generators.choice import ChoiceSource
from generators.graph import DTYPE_NAMES, FLOATS, Attr, Attrs, DType, Form, Invalid, TensorType, Value

Types = tuple[TensorType, ...]
Operands = Callable[[Builder], tuple[Value, ...] | None]
DrawAttrs = Callable[[ChoiceSource, Types], Attrs | None]
Infer = Callable[[Types, Attrs], TensorType | Types]
Terms = Callable[[Types, Attrs], int]
Template = str | Callable[[tuple[str, ...], Attrs], str]
When = Callable[[Types, Attrs], bool]


@dataclass(frozen=True, slots=True)
class Kind:
    """What values an attribute may take, and how they are written in Python source.

    Cases come from files: an attribute reaches the source text only through `render`, after `accepts` said yes.
    """

    says: str
    accepts: Callable[[Attr], bool]
    render: Callable[[Attr], str] = repr
    in_double: Callable[[Attr], Attr] = lambda value: value
    """What stands in its place where the graph is evaluated in double precision."""


def _is_int(value: Attr) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and -(2**63) <= value < 2**63


def _is_ints(value: Attr) -> bool:
    return isinstance(value, tuple) and all(map(_is_int, value))


def _is_sizes(value: Attr) -> bool:
    return isinstance(value, tuple) and all(_is_int(size) and isinstance(size, int) and size >= -1 for size in value)


def _is_number(value: Attr) -> bool:
    return _is_int(value) or (isinstance(value, float) and math.isfinite(value))


def number_text(value: Attr) -> str:
    """Also for numbers that have no literal."""
    if isinstance(value, float) and not math.isfinite(value):
        return f'float("{value}")'
    return repr(value)


INT = Kind("an integer", _is_int)
INTS = Kind("a list of integers", _is_ints)
SIZES = Kind("a list of sizes, or -1", _is_sizes)
BOOL = Kind("true or false", lambda v: isinstance(v, bool))
NUMBER = Kind("a finite number", _is_number)


def _double(value: Attr) -> Attr:
    return DType.FLOAT64.value if value in _FLOAT_NAMES else value


def _dtype_text(value: Attr) -> str:
    return "None" if value is None else f"torch.{value}"


_FLOAT_NAMES = tuple(dtype.value for dtype in FLOATS)
DTYPE = Kind("a dtype", lambda v: isinstance(v, str) and v in DTYPE_NAMES, _dtype_text, _double)
OPTIONAL_DTYPE = Kind("a dtype or null", lambda v: v is None or DTYPE.accepts(v), _dtype_text, _double)
SCALAR = Kind("a finite number, true or false", lambda v: isinstance(v, bool) or _is_number(v))
NUMBERS = Kind("a list of finite numbers", lambda v: isinstance(v, tuple) and all(map(_is_number, v)))


def one_of(*options: str) -> Kind:
    return Kind(f"one of {', '.join(options)}", lambda v: isinstance(v, str) and v in options)


def optional(kind: Kind) -> Kind:
    return Kind(
        f"{kind.says} or null",
        lambda v: v is None or kind.accepts(v),
        lambda v: "None" if v is None else kind.render(v),
        kind.in_double,
    )


def no_attrs(source: ChoiceSource, types: Types) -> Attrs:
    return {}


def one_term(types: Types, attrs: Attrs) -> int:
    """An operator that rounds each element of its result once."""
    return 1


def always(types: Types, attrs: Attrs) -> bool:
    return True


@dataclass(frozen=True, slots=True)
class Spelling:
    """Another way to write a call, for the operands and attributes that it can say. Written like `Op.source`."""

    source: Template
    when: When = always


@dataclass(frozen=True, slots=True)
class Layer:
    """The call as a layer of torch.nn.

    make    its construction: a template like `Op.source` (no operands), or a function of types and attributes
    params  what the operands from `inputs` on are called in the layer; they must belong to the model
    inputs  how many operands the layer is called with
    call    how it is called; {self} is the layer
    when    for which operands and attributes the layer says the same as the row
    """

    make: str | Callable[[Types, Attrs], str]
    params: tuple[str, ...] = ()
    inputs: int = 1
    call: Template = "{self}({0})"
    when: When = always


@dataclass(frozen=True, slots=True)
class Op:
    """One operator.

    name      its key in case.json; it never changes its meaning
    operands  picks or makes its operands in a builder; None where the graph offers nothing fitting
    attrs     draws attributes for operands of these types; None where none fit
    infer     result type(s); raises `Invalid` exactly where PyTorch would refuse (types are without symbols)
    source    Python: {0} {1} operands by position, {args} all of them, {key} an attribute. An expression, or, where
              {out} (for several results {out0} {out1} ...) stands in it, statements that define the results
    schema    which attributes there are and what each may be; called as PyTorch calls its keywords
    defaults  PyTorch's defaults. {more} in `source` stands for ", key=value" of all attributes that the text does not
              mention and that differ from their default
    arity     fewest and most operands
    terms     how many rounded terms go into one result element; None where the result is exact
    scale     size of numbers that may cancel inside: exp(x) - 1 rounds like 1, however small the result
    forms     other ways to write it
    view      whether a result may share memory with an operand
    lists     whether the call gives a list even of one result
    """

    name: str
    operands: Operands
    infer: Infer
    source: Template
    attrs: DrawAttrs = no_attrs
    schema: Mapping[str, Kind] = field(default_factory=dict)
    defaults: Attrs = field(default_factory=dict)
    arity: tuple[int, int] = (1, 1)
    terms: Terms | None = None
    scale: float = 0.0
    forms: Mapping[Form, str | Spelling | Layer] = field(default_factory=dict)
    view: bool = False
    lists: bool = False

    def results(self, types: Types, attrs: Attrs) -> Types:
        """Inferred result types, after checking arity and attributes; raises `Invalid`."""
        low, high = self.arity
        require(low <= len(types) <= high, f"takes {low} to {high} operands, not {len(types)}")
        if attrs.keys() != self.schema.keys():
            raise Invalid(f"takes attributes {sorted(self.schema)}, not {sorted(attrs)}")
        for key, kind in self.schema.items():
            if not kind.accepts(attrs[key]):
                raise Invalid(f"{key} must be {kind.says}, not {attrs[key]!r}")
        inferred = self.infer(types, attrs)
        return inferred if isinstance(inferred, tuple) else (inferred,)

    def says(self, form: Form, types: Types, attrs: Attrs) -> bool:
        """Whether the call can be written in this form, as far as the row alone can tell: the text mentions every
        attribute that is not at its default."""
        if form is Form.PLAIN:
            return True
        match self.forms.get(form):
            case None:
                return False
            case Layer() as layer:
                owned = len(layer.params) + layer.inputs
                return len(types) <= owned and self._tells(layer.make, attrs) and layer.when(types, attrs)
            case Spelling() as spelling:
                return self._tells(spelling.source, attrs) and spelling.when(types, attrs)
            case template:
                return self._tells(template, attrs)

    def _tells(self, template: Template | Callable[[Types, Attrs], str], attrs: Attrs) -> bool:
        if callable(template) or "{more}" in template:
            return True
        return all(f"{{{key}}}" in template or self._at_default(key, attrs) for key in self.schema)

    def _at_default(self, key: str, attrs: Attrs) -> bool:
        """1, 1.0 and True are equal to Python, and three different things to PyTorch."""
        value, default = attrs[key], self.defaults.get(key)
        return key in self.defaults and value == default and type(value) is type(default)

    def render(self, args: tuple[str, ...], attrs: Attrs, form: Form = Form.PLAIN) -> str:
        """The call as Python text, a layer's apart: an expression, or statements with {out} still open."""
        spelling = self.source if form is Form.PLAIN else self.forms[form]
        assert not isinstance(spelling, Layer), "torch_source renders layers"
        return self.fill(spelling.source if isinstance(spelling, Spelling) else spelling, args, attrs)

    def fill(self, template: Template, args: tuple[str, ...], attrs: Attrs) -> str:
        if callable(template):
            return template(args, attrs)
        literals = {key: kind.render(attrs[key]) for key, kind in self.schema.items()}
        more = "".join(
            f", {key}={text}"
            for key, text in literals.items()
            if f"{{{key}}}" not in template and not self._at_default(key, attrs)
        )
        if len(args) > 1:  # a tuple of one needs its comma, and formatters take one after several for a wish
            template = template.replace("{args},)", "{args})")
        later = {key: f"{{{key}}}" for key in ("out", "self", *(f"out{i}" for i in range(8)))}
        return template.format(*args, args=", ".join(args), more=more, **literals, **later)


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


def number_of(attrs: Attrs, key: str) -> int | float:
    value = attrs[key]
    assert isinstance(value, int | float)
    return value


def dtype_of(attrs: Attrs, key: str = "dtype") -> DType:
    return DType(str(attrs[key]))
