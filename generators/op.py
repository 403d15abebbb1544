"""The parts of an operator row. A row is data: a person can review a family of operators on one screen."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum, auto
from typing import TypedDict

from generators.choice import ChoiceSource
from generators.graph import DRAWN, FLOATS, Attr, Attrs, DType, Form, Invalid, TensorType, Value
from generators.operator_class import OperatorClass

Types = tuple[TensorType, ...]
Operands = Callable[..., tuple[Value, ...] | None]
"""A function of a `generators.builder.Builder`, and of nothing else."""

DrawAttrs = Callable[[ChoiceSource, Types], Attrs | None]
Infer = Callable[[Types, Attrs], TensorType | Types]
Terms = Callable[[Types, Attrs], int]
Template = str | Callable[[tuple[str, ...], Attrs], str]


class CallForm:
    """How a dialect whose models are no text writes a call. Each such dialect has a class of its own."""

    __slots__ = ()


Source = Template | CallForm
"""How a call is written: a text in Python for PyTorch, `generators.onnx.operator.NodeForm` for ONNX."""

When = Callable[[Types, Attrs], bool]


@dataclass(frozen=True, slots=True)
class AttrKind:
    """The values that an attribute may take, and how Python source writes them.

    Cases come from files, so an attribute reaches the source text only through `render`, and only if `accepts` is true.
    """

    description: str
    accepts: Callable[[Attr], bool]
    render: Callable[[Attr], str] = repr
    in_double: Callable[[Attr], Attr] = lambda value: value
    """The value that replaces it where the graph is evaluated in double precision."""
    types: bool = False
    """Whether a value is a list of the types of operands or results."""


def _is_int(value: Attr) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and -(2**63) <= value < 2**63


def _is_ints(value: Attr) -> bool:
    return isinstance(value, tuple) and all(map(_is_int, value))


def _is_sizes(value: Attr) -> bool:
    return isinstance(value, tuple) and all(_is_int(size) and isinstance(size, int) and size >= -1 for size in value)


def _is_number(value: Attr) -> bool:
    return _is_int(value) or (isinstance(value, float) and math.isfinite(value))


def number_text(value: Attr) -> str:
    """A Python expression for the number. Infinities and NaN have no literal."""
    if isinstance(value, float) and not math.isfinite(value):
        return f'float("{value}")'
    return repr(value)


INT = AttrKind("an integer", _is_int)
POSITIVE = AttrKind("a positive number", lambda v: _is_int(v) and isinstance(v, int) and v > 0)
INTS = AttrKind("a list of integers", _is_ints)
SIZES = AttrKind("a list of sizes, or -1", _is_sizes)
BOOL = AttrKind("true or false", lambda v: isinstance(v, bool))
NUMBER = AttrKind("a finite number", _is_number)


def _double(value: Attr) -> Attr:
    return DType.FLOAT64.value if value in _FLOAT_NAMES else value


def _dtype_text(value: Attr) -> str:
    return "None" if value is None else f"torch.{value}"


_DRAWN_NAMES = frozenset(dtype.value for dtype in DRAWN)
_FLOAT_NAMES = tuple(dtype.value for dtype in FLOATS)
DTYPE = AttrKind("a dtype", lambda v: isinstance(v, str) and v in _DRAWN_NAMES, _dtype_text, _double)
OPTIONAL_DTYPE = AttrKind("a dtype or null", lambda v: v is None or DTYPE.accepts(v), _dtype_text, _double)
SCALAR = AttrKind("a finite number, true or false", lambda v: isinstance(v, bool) or _is_number(v))
NUMBERS = AttrKind("a list of finite numbers", lambda v: isinstance(v, tuple) and all(map(_is_number, v)))


def one_of(*options: str) -> AttrKind:
    return AttrKind(f"one of {', '.join(options)}", lambda v: isinstance(v, str) and v in options)


def optional(kind: AttrKind) -> AttrKind:
    return AttrKind(
        f"{kind.description} or null",
        lambda v: v is None or kind.accepts(v),
        lambda v: "None" if v is None else kind.render(v),
        kind.in_double,
    )


def no_attrs(source: ChoiceSource, types: Types) -> Attrs:
    return {}


def one_term(types: Types, attrs: Attrs) -> int:
    """The operator rounds each element of its result once."""
    return 1


def always(types: Types, attrs: Attrs) -> bool:
    return True


def never(types: Types, attrs: Attrs) -> bool:
    return False


class Arithmetic(Enum):
    """How an operator computes a result that it rounds. It decides how far correct implementations may differ.

    The envelope (`fuzzer/lanes/envelope/`) turns this into numbers, and docs/tolerance.md gives the
    measurements. An operator without `terms` is exact: its arithmetic does not matter.
    """

    FUNCTION = auto()
    """A function of a library, or a formula of several rounded steps. IEEE 754-2019 only recommends (section 9.2) that
    exp, sin and their like are rounded correctly, and math libraries do not: 4 units in the last place."""

    FUNCTION_IN_ANY = auto()
    """A formula of ONNX that contains a sum. No document says in which precision it adds: see `SUM_IN_ANY`."""

    ONE_STEP = auto()
    """One operation per element that IEEE 754-2019 (section 5.4) rounds correctly, but that some implementations
    replace by two: a quotient by a product with the reciprocal, for example."""

    EXACT_WHERE_HELD = auto()
    """One operation per element that IEEE 754-2019 (section 5.4) rounds correctly, and that all implementations compute
    directly. A result that its dtype can hold is therefore the same number everywhere."""

    SUM = auto()
    """A sum of numbers or products that is rounded once. Half precision accumulates in float32, as PyTorch documents
    (notes/numerical_accuracy). The error grows with the terms, not with the result: Higham, Accuracy and Stability of
    Numerical Algorithms, chapter 4."""

    SUM_IN_HALF = auto()
    """Such a sum that correct implementations accumulate in half precision. PyTorch does for some operators: measured
    in float16, they are off by 1.3 to 32 units, where the others are off by half a unit."""

    SUM_IN_ANY = auto()
    """A sum of ONNX. No document says in which precision an operator adds, and the onnx package's evaluator adds Conv,
    CumSum, Gemm and Sum in half precision. Then each partial sum is rounded, by half a unit at most."""

    @property
    def is_sum(self) -> bool:
        return self in (Arithmetic.SUM, Arithmetic.SUM_IN_HALF, Arithmetic.SUM_IN_ANY)

    @property
    def is_function(self) -> bool:
        return self in (Arithmetic.FUNCTION, Arithmetic.FUNCTION_IN_ANY)

    @property
    def has_open_precision(self) -> bool:
        """Whether nothing says in which precision the operator adds."""
        return self in (Arithmetic.SUM_IN_ANY, Arithmetic.FUNCTION_IN_ANY)


@dataclass(frozen=True, slots=True)
class ZeroSensitivity:
    """The operands whose zeros decide about the result: the sign of a zero, or whether a number is exactly zero.

    operands  their positions; None for all operands
    when      for which types of the operands and of the results
    """

    operands: tuple[int, ...] | None
    when: Callable[[Types, Types], bool] = lambda types, results: True

    def places(self, types: Types, results: Types) -> Sequence[int]:
        """The positions of these operands in a call."""
        if not self.when(types, results):
            return ()
        return range(len(types)) if self.operands is None else self.operands


def zeros_of(*operands: int) -> ZeroSensitivity:
    return ZeroSensitivity(operands)


NO_ZEROS = ZeroSensitivity(())
"""The operator treats a zero like the small numbers next to it, and 0.0 like -0.0."""

ZEROS_WHERE_BOOL = ZeroSensitivity(None, lambda types, results: results[0].dtype is DType.BOOL)
"""A conversion to bool tests whether a number is zero."""

ZEROS_OF_BASE = ZeroSensitivity((0,), lambda types, results: types[1].dtype.is_float)
"""A power of a negative exponent divides by the base. Integer exponents are not negative here."""


class NumericFacts(TypedDict, total=False):
    """Numeric facts of a row, which a function that makes similar rows takes and passes on to `Op`."""

    arithmetic: Arithmetic
    zero_sensitivity: ZeroSensitivity


class RowFacts(NumericFacts, total=False):
    """Facts in which a row differs from similar ones. A function that makes such rows passes them on to `Op`."""

    arity: tuple[int, int]
    terms: Terms | None
    scale: float
    plainer: str | None


@dataclass(frozen=True, slots=True)
class Spelling:
    """Another way to write a call, for the operands and attributes that it can express; in the form of `Op.source`."""

    source: Template
    when: When = always


@dataclass(frozen=True, slots=True)
class Writing:
    """Another way to write a node in a file, which needs no text of its own."""

    when: When = always


@dataclass(frozen=True, slots=True)
class Layer:
    """The call as a layer of torch.nn.

    make    its construction: a template like `Op.source` (no operands), or a function of types and attributes
    params  the layer's names for the operands from number `inputs` on; these operands must belong to the model
    inputs  how many operands the call of the layer takes
    call    the call; {self} is the layer
    when    for which operands and attributes the layer means the same as the row
    """

    make: str | Callable[[Types, Attrs], str]
    params: tuple[str, ...] = ()
    inputs: int = 1
    call: Template = "{self}({0})"
    when: When = always


@dataclass(frozen=True, slots=True)
class Op:
    """One operator.

    name      its key in case.json; the meaning of a name never changes
    operands  picks or makes its operands in a builder; None where the graph offers nothing that fits
    attrs     draws attributes for operands of these types; None where none fit
    infer     result type(s); raises `Invalid` exactly where PyTorch would refuse (the types have no symbols)
    source    for ONNX the form of the node. For PyTorch text in Python: {0} {1} are operands by position, {args} all
              operands, {key} an attribute. An expression or, where it contains {out} (for several results {out0}
              {out1} ...), statements that define the results
    schema    its attributes, under PyTorch's keywords, and the values that each may take
    defaults  PyTorch's defaults. {more} in `source` stands for ", key=value" of all attributes that the text does not
              mention and that differ from their default
    arity     fewest and most operands
    forms     other ways to write it
    view      whether a result may share memory with an operand
    lists     whether the call gives a list even of one result
    unlisted  whether it holds calls of what has no row, as data. Its result types are declared, and nothing changes its
              attributes
    classes   what it is in all dialects

    Numeric facts, which the envelope of correct results reads:

    terms               how many rounded terms go into one result element: 0 where a call is exact, None where all are
    arithmetic          how these terms become a result
    scale               size of numbers that may cancel inside: exp(x) - 1 rounds like 1, however small the result is
    multiplies_by_zero  for which operands and attributes it may multiply operands by zeros that are not in the case (a
                        padding): an implementation may skip these products, and then NaN x 0 does not occur. What it
                        computes then is in `fuzzer/lanes/torch/skipped_padding.py`
    zero_sensitivity    the operands whose zeros decide about the result

    For the reduction of a failing case:

    plainer   the next plainer operator that may replace it: one that takes the same first operands. The plainer one may
              have a plainer one itself. None: it is the plainest
    """

    name: str
    operands: Operands
    infer: Infer
    source: Source
    attrs: DrawAttrs = no_attrs
    schema: Mapping[str, AttrKind] = field(default_factory=dict)
    defaults: Attrs = field(default_factory=dict)
    arity: tuple[int, int] = (1, 1)
    terms: Terms | None = None
    scale: float = 0.0
    forms: Mapping[Form, str | Spelling | Layer | Writing] = field(default_factory=dict)
    view: bool = False
    lists: bool = False
    unlisted: bool = False
    arithmetic: Arithmetic = Arithmetic.FUNCTION
    multiplies_by_zero: When = never
    zero_sensitivity: ZeroSensitivity = NO_ZEROS
    plainer: str | None = None
    classes: tuple[OperatorClass, ...] = ()

    def of_class(self, *classes: OperatorClass) -> Op:
        return replace(self, classes=classes)

    @property
    def reads_zeros(self) -> bool:
        """Whether there are operands whose zeros may decide about the result."""
        return self.zero_sensitivity.operands != ()

    @property
    def only_moves(self) -> bool:
        """Whether the results hold the very numbers of the operands."""
        return self.view and self.terms is None and self.multiplies_by_zero is never

    def results(self, types: Types, attrs: Attrs) -> Types:
        """Inferred result types, after checking arity and attributes; raises `Invalid`."""
        low, high = self.arity
        if not low <= len(types) <= high:
            raise Invalid(f"takes {low} to {high} operands, not {len(types)}")
        if attrs.keys() != self.schema.keys():
            raise Invalid(f"takes attributes {sorted(self.schema)}, not {sorted(attrs)}")
        for key, kind in self.schema.items():
            if not kind.accepts(attrs[key]):
                raise Invalid(f"{key} must be {kind.description}, not {attrs[key]!r}")
        inferred = self.infer(types, attrs)
        return inferred if isinstance(inferred, tuple) else (inferred,)

    def expresses(self, form: Form, types: Types, attrs: Attrs) -> bool:
        """Whether this form can express the call, as far as the row alone can decide: the text must mention every
        attribute that differs from its default."""
        if form is Form.PLAIN:
            return True
        match self.forms.get(form):
            case None:
                return False
            case Layer() as layer:
                owned = len(layer.params) + layer.inputs
                return len(types) <= owned and self._template_expresses(layer.make, attrs) and layer.when(types, attrs)
            case Writing() as writing:
                return writing.when(types, attrs)
            case Spelling() as spelling:
                return self._template_expresses(spelling.source, attrs) and spelling.when(types, attrs)
            case template:
                return self._template_expresses(template, attrs)

    def _template_expresses(self, template: Template | Callable[[Types, Attrs], str], attrs: Attrs) -> bool:
        if callable(template) or "{more}" in template:
            return True
        return all(f"{{{key}}}" in template or self._at_default(key, attrs) for key in self.schema)

    def _at_default(self, key: str, attrs: Attrs) -> bool:
        """1, 1.0 and True are equal in Python, but PyTorch treats them differently."""
        value, default = attrs[key], self.defaults.get(key)
        return key in self.defaults and value == default and type(value) is type(default)

    def render(self, args: tuple[str, ...], attrs: Attrs, form: Form = Form.PLAIN) -> str:
        """The call as Python text: an expression, or statements with {out} still open. Not for the form of a layer."""
        spelling = self.source if form is Form.PLAIN else self.forms[form]
        text = spelling.source if isinstance(spelling, Spelling) else spelling
        assert isinstance(text, str) or callable(text), "generators.torch.source renders layers, and ONNX has no text"
        return self.fill(text, args, attrs)

    def fill(self, template: Template, args: tuple[str, ...], attrs: Attrs) -> str:
        if callable(template):
            return template(args, attrs)
        literals = {key: kind.render(attrs[key]) for key, kind in self.schema.items()}
        more = "".join(
            f", {key}={text}"
            for key, text in literals.items()
            if f"{{{key}}}" not in template and not self._at_default(key, attrs)
        )
        if len(args) > 1:  # a tuple of one needs its comma; after several, a formatter would break the line there
            template = template.replace("{args},)", "{args})")
        later = {key: f"{{{key}}}" for key in ("out", "self", *(f"out{i}" for i in range(8)))}
        return template.format(*args, args=", ".join(args), more=more, **literals, **later)


def require(condition: bool, message: str) -> None:
    if not condition:
        raise Invalid(message)


# Typed access to attributes. `results` has checked them against the schema before a row's functions run.


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
