"""An operator of ONNX as data: what its schema does not say. `rows_of` makes a row for each of its versions."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import combinations

import numpy as np

from generators.builder import Builder
from generators.choice import ChoiceSource
from generators.graph import Attr, Attrs, DType, Form, Invalid, TensorType, Value
from generators.onnx.call import Call
from generators.onnx.forms import WIDER
from generators.onnx.schema import Parameter, Schema, newest_opset, schemas
from generators.op import (
    DTYPE,
    INT,
    INTS,
    NO_ZEROS,
    NUMBER,
    NUMBERS,
    Arithmetic,
    AttrKind,
    CallForm,
    Op,
    Types,
    When,
    Writing,
    ZeroSensitivity,
    always,
    never,
    one_of,
    optional,
    require,
)
from generators.operator_class import OperatorClass
from generators.types import DTYPE_NAMES

Results = TensorType | tuple[TensorType | None, ...]

INPUTS, OUTPUTS = "inputs", "outputs"
"""Attributes of rows that are none of ONNX. `inputs` says which operands a call has, where some may be left out, and
`outputs` which results it has; where the number of results is open, `outputs` is that number."""

PATTERN = AttrKind("a list of true and false", lambda v: isinstance(v, tuple) and all(isinstance(i, bool) for i in v))
COUNT = AttrKind("a number from 1 to 64", lambda v: INT.accepts(v) and isinstance(v, int) and 0 < v <= 64)
_KINDS = {"int": INT, "ints": INTS, "float": NUMBER, "floats": NUMBERS}
DTYPE_ATTRIBUTES = ("to", "dtype", "output_dtype")
"""Attributes whose number in a file stands for a dtype. In a case they hold its name."""
ELEMENT_TYPE_ATTRIBUTES = (*DTYPE_ATTRIBUTES, "stash_type", "precision", "softmax_precision")
"""These, and those that hold such a number in a case, too."""


@dataclass(frozen=True, slots=True)
class Constant:
    """An input that needs a number when the model is compiled, such as the shape of Reshape: an attribute of the row.

    kind    the values that it may take
    dtype   its dtype; None: that of the first operand
    scalar  whether it is a 0-d tensor, and not a list
    free    whether its dtype is drawn, among those that its type variable may be. Then the row has an attribute of the
            variable's name, such as Tind, which holds it; constants of one variable share it. The operator's own
            `draw` gets it, and may return another one
    """

    kind: AttrKind = INTS
    dtype: DType | None = DType.INT64
    scalar: bool = False
    free: bool = False


PREVIOUS = "previous"
"""The input of a step that is the result of the step before it."""


@dataclass(frozen=True, slots=True)
class Step:
    """One node of a call that is written as several nodes in a row.

    op          its operator, of ONNX's own domain
    inputs      inputs of the call by name, or PREVIOUS; all operands of a variadic input
    attributes  the attributes of the row that this node has
    """

    op: str
    inputs: tuple[str, ...]
    attributes: tuple[str, ...] = ()


Steps = Callable[[Call], Sequence[Step]]


@dataclass(frozen=True, slots=True)
class Operator:
    """What a schema does not say of an operator. The functions get the version, and serve all versions.

    name       in ONNX
    operands   picks or makes the operands in a builder, in the order of the inputs, without those that are left out
    infer      the types of all outputs; None for one that does not exist for these attributes, or whose sizes depend on
               the data: no case reads it. Raises `Invalid` where the operands or attributes do not fit
    draw       draws attributes, and inputs that are numbers. What it leaves out is left out of the node. It may draw
               `outputs`, where not every choice of optional results is legal
    constants  the inputs that are attributes of the row
    kinds      the values of attributes that the schema does not tell: strings, tensors, lists of some length
    domain     that of ONNX is empty
    fits       whether operands may be these inputs, where some may be left out and dtypes do not tell which they are
    unwritten  forms that one of the readers cannot read
    steps      None: a call is a node of this operator. Otherwise it is several nodes in a row, between which there are
               values that a case cannot type: sequences, and tensors whose size depends on the data
    alone      whether a call with `steps` may be one node, too. A file's nodes are only read as such calls
    whole      the schema of all these nodes together, whose inputs and outputs are tensors

    The other fields are those of `Op`; `terms`, `multiplies_by_zero` and `when` get the call.
    """

    name: str
    operands: Callable[[Builder, Schema], Sequence[Value] | None]
    infer: Callable[[Call], Results]
    draw: Callable[[ChoiceSource, Call], Attrs | None] = lambda source, call: {}
    constants: Mapping[str, Constant] = field(default_factory=dict)
    kinds: Mapping[str, AttrKind] = field(default_factory=dict)
    domain: str = ""
    fits: Callable[[Call], bool] = lambda call: True
    unwritten: tuple[Form, ...] = ()
    steps: Steps | None = None
    alone: bool = False
    whole: Callable[[Schema], Schema] = lambda schema: schema
    terms: Callable[[Call], int] | None = None
    arithmetic: Arithmetic = Arithmetic.FUNCTION
    scale: float = 0.0
    multiplies_by_zero: Callable[[Call], bool] | None = None
    zero_sensitivity: ZeroSensitivity = NO_ZEROS
    moves: bool = False
    plainer: str | None = None
    classes: tuple[OperatorClass, ...] = ()

    def of_class(self, *classes: OperatorClass) -> Operator:
        return replace(self, classes=classes)


@dataclass(frozen=True, slots=True)
class NodeForm(CallForm):
    """How a call of a row becomes a node of a file.

    schema     the version
    operands   the inputs that are operands of the row
    constants  the inputs that are attributes of the row, by name
    steps      the nodes, where these are several
    alone      whether they may be one node, too
    is_open    whether operands may be left out, so that the attribute `inputs` says which are there
    free       the dtypes that constants may have, for each type variable whose dtype is drawn
    """

    schema: Schema
    operands: tuple[Parameter, ...]
    constants: Mapping[str, Constant]
    steps: Steps | None = None
    alone: bool = False
    is_open: bool = field(init=False, compare=False)
    free: Mapping[str, tuple[DType, ...]] = field(init=False, compare=False)

    def __post_init__(self) -> None:
        inputs = [self.schema.input(name) for name, constant in self.constants.items() if constant.free]
        drawn = {each.type: self.schema.dtypes(each.name) for each in inputs if each.type not in DTYPE_NAMES}
        object.__setattr__(self, "is_open", any(each.optional for each in self.operands))
        object.__setattr__(self, "free", drawn)

    def dtype_of(self, name: str, types: Types, attrs: Attrs) -> DType:
        """The dtype of a constant in a call."""
        constant, variable = self.constants[name], self.schema.input(name).type
        if constant.free and variable in attrs:
            return DType(str(attrs[variable]))
        return constant.dtype or types[0].dtype

    def call(self, types: Types, attrs: Attrs) -> Call:
        return Call(self.schema, self.names(len(types), attrs), types, attrs)

    def names(self, count: int, attrs: Attrs) -> tuple[str, ...]:
        """The inputs that this many operands are. Raise `Invalid` where their number does not fit the attributes."""
        names, given = [each.name for each in self.operands], attrs.get(INPUTS)
        if self.is_open and isinstance(given, tuple):
            names = [name for name, is_given in zip(names, given, strict=False) if is_given]
        if self.operands and self.operands[-1].variadic and names:
            names += [names[-1]] * (count - len(names))
        if len(names) != count:
            raise Invalid(f"has {count} operands, not {len(names)}")
        return tuple(names)

    def patterns(self, count: int) -> Iterator[tuple[bool, ...]]:
        """All choices of operands of this number, those that leave out the last ones first."""
        needed = [place for place, each in enumerate(self.operands) if not each.optional]
        free = [place for place, each in enumerate(self.operands) if each.optional]
        for chosen in combinations(free, count - len(needed)) if count >= len(needed) else ():
            yield tuple(place in needed or place in chosen for place in range(len(self.operands)))


def rows_of(operator: Operator) -> tuple[Op, ...]:
    """The rows of an operator, the oldest version first. Versions that onnxruntime cannot run, or that are in force
    only after the newest opset, have none."""
    own = [each for each in schemas()[operator.name] if each.domain == operator.domain]
    return tuple(_row(operator, operator.whole(each)) for each in own if _has_row(each))


def _row(operator: Operator, schema: Schema) -> Op:
    constants = {name: each for name, each in operator.constants.items() if schema.has_input(name)}
    operands = tuple(each for each in schema.inputs if each.name not in constants)
    form = NodeForm(schema, operands, constants, operator.steps, operator.alone)
    kinds = _attribute_kinds(operator, form)
    least = sum(not each.optional and not each.variadic for each in form.operands)
    open_ended = bool(form.operands) and form.operands[-1].variadic
    return Op(
        schema.row,
        partial(_operands, operator, schema),
        partial(_infer, operator, form),
        form,
        partial(_draw, operator, form, kinds),
        kinds,
        {key: None for key, kind in kinds.items() if kind.accepts(None)},
        (least + open_ended, 64 if open_ended else len(form.operands)),
        partial(_terms, operator, form) if operator.terms else None,
        operator.scale,
        {way: writing for way, writing in _forms(form).items() if way not in operator.unwritten},
        operator.moves,
        arithmetic=operator.arithmetic,
        multiplies_by_zero=partial(_multiplies_by_zero, operator, form) if operator.multiplies_by_zero else never,
        zero_sensitivity=operator.zero_sensitivity,
        plainer=_plainer(operator),
        classes=operator.classes,
    )


def _plainer(operator: Operator) -> str | None:
    """The newest version of the plainer operator. `row_at` of the dialect gives that of an opset."""
    versions = schemas()[operator.plainer] if operator.plainer else ()
    return next((each.row for each in reversed(versions) if _has_row(each)), None)


def _has_row(schema: Schema) -> bool:
    return schema.runs and schema.since <= newest_opset()


def _attribute_kinds(operator: Operator, form: NodeForm) -> dict[str, AttrKind]:
    kinds: dict[str, AttrKind] = {}
    for name, attribute in form.schema.attributes.items():
        kind = operator.kinds.get(name) or (DTYPE if name in DTYPE_ATTRIBUTES else _KINDS.get(attribute.kind))
        if kind is not None:  # an attribute of a kind that no function of the operator draws is always left out
            kinds[name] = kind if attribute.required else optional(kind)
    for name, constant in form.constants.items():
        needed = not form.schema.input(name).optional
        kinds[name] = constant.kind if needed else optional(constant.kind)
    for variable, dtypes in form.free.items():
        kinds[variable] = one_of(*dtypes)
    if form.is_open:
        kinds[INPUTS] = PATTERN
    outputs = form.schema.outputs
    if outputs[-1].variadic:
        kinds[OUTPUTS] = COUNT
    elif any(each.optional for each in outputs):
        kinds[OUTPUTS] = PATTERN
    return kinds


def _forms(form: NodeForm) -> dict[Form, Writing]:
    def some_constant(types: Types, attrs: Attrs) -> bool:
        return any(attrs[name] is not None for name in form.constants)

    def integers(types: Types, attrs: Attrs) -> bool:
        given = [name for name in form.constants if attrs[name] is not None]
        return any(form.dtype_of(name, types, attrs) is DType.INT64 for name in given)

    def ends_early(types: Types, attrs: Attrs) -> bool:
        return bool(_left_out(form, len(types), attrs))

    ways: dict[Form, When] = {Form.BRANCH: always}
    if not form.schema.domain:  # onnx cannot infer what types a function gives whose operators it does not know
        ways[Form.LOCAL] = always
    if form.operands:
        ways[Form.IDENTITY] = lambda types, attrs: bool(types)
        ways[Form.CAST] = lambda types, attrs: bool(types) and types[0].dtype in WIDER
    if form.constants:
        ways |= {Form.CONSTANT: some_constant, Form.LIST: some_constant, Form.AS_INPUT: some_constant}
        ways |= {Form.COMPUTED: lambda types, attrs: bool(types) and integers(types, attrs)}
    if any(each.optional for each in form.schema.inputs):
        ways[Form.EMPTY] = ends_early
    return {way: Writing(when) for way, when in ways.items()}


def _left_out(form: NodeForm, count: int, attrs: Attrs) -> list[str]:
    """The last inputs of the schema that the call leaves out."""
    given = {*form.names(count, attrs), *(name for name in form.constants if attrs[name] is not None)}
    missing = []
    for each in reversed(form.schema.inputs):
        if each.name in given:
            break
        missing.append(each.name)
    return missing


def _operands(operator: Operator, schema: Schema, b: Builder) -> tuple[Value, ...] | None:
    drawn = operator.operands(b, schema)
    return None if drawn is None else tuple(drawn)


def _infer(operator: Operator, form: NodeForm, types: Types, attrs: Attrs) -> Types:
    call = form.call(types, attrs)
    _require_dtypes(call)
    _require_pattern(form, attrs)
    for key in doubtful_defaults(form, types):
        require(attrs.get(key) is not None, f"the default of {key} has another value in float64 than in float32")
    return _wanted(operator.infer(call), attrs)


def _require_pattern(form: NodeForm, attrs: Attrs) -> None:
    """Check that the attribute that says which results are wanted is about all of them, before an operator reads it."""
    wanted, count = attrs.get(OUTPUTS), len(form.schema.outputs)
    require(not isinstance(wanted, tuple) or len(wanted) == count, f"has {count} results, of which some are needed")


def doubtful_defaults(form: NodeForm, types: Types) -> tuple[str, ...]:
    """The attributes that must be written where a tensor is float64. ONNX documents their defaults as decimals, such as
    0.00001, and says that they are float32: readers take either number."""
    if all(type.dtype is not DType.FLOAT64 for type in types):
        return ()
    floats = ((key, each.default) for key, each in form.schema.attributes.items() if isinstance(each.default, float))
    return tuple(key for key, default in floats if float(str(np.float32(default))) != default)


def _wanted(found: Results, attrs: Attrs) -> Types:
    """The types of the results that the call has."""
    full = found if isinstance(found, tuple) else (found,)
    wanted = attrs.get(OUTPUTS)
    if isinstance(wanted, tuple):
        require(len(wanted) == len(full) and any(wanted), f"has {len(full)} results, of which some are needed")
        full = tuple(each for each, is_wanted in zip(full, wanted, strict=True) if is_wanted)
    kept = tuple(each for each in full if each is not None)
    require(len(kept) == len(full), "a result does not exist for these attributes")
    return kept


def _require_dtypes(call: Call) -> None:
    """Check the dtypes of the operands against the schema: operands of one type variable share a dtype, but for those
    of a variadic input of several types."""
    bound: dict[str, DType] = {}
    for name, type in zip(call.names, call.types, strict=True):
        variable = call.schema.input(name).type
        if type.dtype not in call.schema.dtypes(name):
            raise Invalid(f"{name} cannot be {type.dtype}")
        if variable not in DTYPE_NAMES and bound.setdefault(variable, type.dtype) is not type.dtype:
            raise Invalid(f"{name} must be {bound[variable]}")


def _draw(
    operator: Operator, form: NodeForm, kinds: Mapping[str, AttrKind], source: ChoiceSource, types: Types
) -> Attrs | None:
    """Draw the attributes of a call: first which operands it has and the dtypes of constants, then the operator's own,
    then which results."""
    fixed: dict[str, Attr] = {INPUTS: _pattern(operator, form, source, types)} if form.is_open else {}
    for variable, dtypes in form.free.items():
        fixed[variable] = source.choice(dtypes).value
    own = operator.draw(source, form.call(types, fixed))
    if own is None:
        return None
    fixed |= {variable: own[variable] for variable in form.free if own.get(variable) is not None}
    doubtful = doubtful_defaults(form, types)
    attrs = {key: _written(source, form, key, own.get(key), key in doubtful) for key in kinds} | fixed
    if kinds.get(OUTPUTS) is PATTERN:
        attrs[OUTPUTS] = own.get(OUTPUTS) or _some_results(operator.infer(form.call(types, attrs)), form, source)
    return attrs


def _written(source: ChoiceSource, form: NodeForm, key: str, value: Attr, always: bool) -> Attr:
    """The value, or None in half of the cases where it is the default: a file may write it or leave it out. With
    `always`, the default where an operator draws none."""
    attribute = form.schema.attributes.get(key)
    if always:
        return value if value is not None or attribute is None else attribute.default
    if attribute and not attribute.required and value == attribute.default and source.chance(50):
        return None
    return value


def _pattern(operator: Operator, form: NodeForm, source: ChoiceSource, types: Types) -> tuple[bool, ...]:
    """Choose which operands the call has: mostly those that leave out the last ones, where their dtypes fit."""
    fitting = []
    for pattern in form.patterns(len(types)):
        call = form.call(types, {INPUTS: pattern})
        try:
            _require_dtypes(call)
        except Invalid:
            continue
        if operator.fits(call):
            fitting.append(pattern)
    require(bool(fitting), "no choice of inputs fits these operands")
    return fitting[0] if source.chance(50) else source.choice(fitting)


def _some_results(found: Results, form: NodeForm, source: ChoiceSource) -> tuple[bool, ...]:
    full = found if isinstance(found, tuple) else (found,)
    places = zip(full, form.schema.outputs, strict=True)
    wanted = tuple(type is not None and (not each.optional or source.chance(50)) for type, each in places)
    return wanted if any(wanted) else tuple(type is not None for type in full)


def _terms(operator: Operator, form: NodeForm, types: Types, attrs: Attrs) -> int:
    assert operator.terms is not None
    return operator.terms(form.call(types, attrs))


def _multiplies_by_zero(operator: Operator, form: NodeForm, types: Types, attrs: Attrs) -> bool:
    assert operator.multiplies_by_zero is not None
    return operator.multiplies_by_zero(form.call(types, attrs))
