"""Reads a node of a file as a call of a row: the inverse of `generators.onnx.source`."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass

from generators.graph import DRAWN, Array, Attr, Attrs, DType, Form, Invalid, Node, TensorType, Value
from generators.onnx import model
from generators.onnx.forms import fits_opset
from generators.onnx.operator import DTYPE_ATTRIBUTES, INPUTS, OUTPUTS, Constant, NodeForm, doubtful_defaults
from generators.onnx.rows import rows_at
from generators.onnx.schema import FIRST_KNOWN, MICROSOFT, Parameter, Schema, newest_known_opset, schemas
from generators.onnx.source import NUMBER_OF
from generators.op import Op, require

NAMES_OF_DOMAIN = {"": ("", "ai.onnx"), MICROSOFT: (MICROSOFT,)}
"""How files write the domains of rows."""

_ELEMENT_OF_NUMBER = {number: element for element, number in NUMBER_OF.items()}


@dataclass(frozen=True, slots=True)
class Known:
    """A tensor of a file whose numbers are known. `form` is the form of a node that has it as a constant input: PLAIN
    for an initializer, CONSTANT or LIST for the result of a Constant, COMPUTED for what is computed from shapes."""

    array: Array
    form: Form = Form.PLAIN


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What is known of the file that a node stands in.

    types     of the values before the node
    known     the tensors whose numbers are known
    read      the values that a node reads, or that are outputs of the file
    branched  the results of nodes that stood in both branches of an If
    """

    opset: int
    types: Mapping[str, TensorType]
    known: Mapping[str, Known]
    read: Collection[str]
    branched: Collection[str] = ()


def call_of(node: model.Node, around: Surroundings) -> Node:
    """Return the call, with the names of the file. Its results have the types that the row infers. Raise `Invalid`
    with the reason where no row has such a call."""
    row = row_of(node, around.opset)
    form = row.source
    assert isinstance(form, NodeForm)
    given = list(_inputs(node, form.schema))
    operands = [(each, value) for each, value in given if each.name not in form.constants]
    for _, value in operands:
        require(value in around.types, f"the type of {value} is unknown or not supported")
    args = tuple(value for _, value in operands)
    types = tuple(around.types[name] for name in args)
    constants = {each.name: value for each, value in given if each.name in form.constants}
    attrs: dict[str, Attr] = {**row.defaults, **_own_attributes(node, row, form.schema)}
    if form.is_open:
        attrs[INPUTS] = tuple(any(each is other for other, _ in operands) for each in form.operands)
    _require_operands(form, operands)
    attrs |= _constants(form, types, constants, around.known)
    defaults = {key: form.schema.attributes[key].default for key in doubtful_defaults(form, types)}
    attrs |= {key: default for key, default in defaults.items() if attrs.get(key) is None}
    attrs, results = _results(node, row, form, types, attrs, around.read)
    return Node(row.name, args, attrs, results, _form(node, row, types, attrs, results, constants, around))


def row_of(node: model.Node, opset: int) -> Op:
    """The row of a node's operator in the version that is in force."""
    require(
        FIRST_KNOWN <= opset <= newest_known_opset(),
        f"opset {opset} is not within {FIRST_KNOWN} to {newest_known_opset()}",
    )
    for row in rows_at(opset):
        form = row.source
        assert isinstance(form, NodeForm)
        if form.schema.name == node.op and node.domain in NAMES_OF_DOMAIN[form.schema.domain]:
            require(form.steps is None or form.alone, "a row of its name is several nodes, and these are not read back")
            return row
    for each in schemas().get(node.op, ()):
        if each.in_force(opset) and node.domain in NAMES_OF_DOMAIN[each.domain]:
            raise Invalid(f"no row has its version {each.since}")
    raise Invalid("no row of the operator table has its name")


def _inputs(node: model.Node, schema: Schema) -> Iterator[tuple[Parameter, str]]:
    """The inputs that the node has, with the file's names of their values. Empty names stand for what is left out."""
    for place, value in enumerate(node.inputs):
        if place < len(schema.inputs):
            parameter = schema.inputs[place]
        else:
            require(bool(schema.inputs) and schema.inputs[-1].variadic, f"has {len(node.inputs)} inputs")
            parameter = schema.inputs[-1]
        if value:
            yield parameter, value


def _require_operands(form: NodeForm, operands: list[tuple[Parameter, str]]) -> None:
    for each in form.operands:
        there = any(each is other for other, _ in operands)
        require(there or each.optional or each.variadic, f"its input {each.name} is missing")


# --- attributes


def _own_attributes(node: model.Node, row: Op, schema: Schema) -> dict[str, Attr]:
    """The attributes that the node has, as the row has them. One that the row does not have must be at its default."""
    found: dict[str, Attr] = {}
    for each in node.attributes:
        known = schema.attributes.get(each.name)
        require(known is not None, f"has no attribute {each.name}")
        assert known is not None
        if each.name in row.schema:
            value = _attribute(each, known.kind)
            require(row.schema[each.name].accepts(value), f"{each.name} is {value!r}, which the row does not accept")
            found[each.name] = value
        else:
            plain = each.tensor is None and each.body is None and each.value == known.default
            require(plain, f"has no attribute {each.name}={_shown(each)}")
    return found


def _attribute(each: model.Attribute, kind: str) -> Attr:
    require(each.body is None, f"{each.name} is a graph")
    if each.tensor is not None:
        require(kind == "tensor" and each.tensor.array.size == 1, f"{each.name} is a tensor")
        array = each.tensor.array
        return _dtype(each.tensor.element).value, array.reshape(-1)[0].item()
    if each.name in DTYPE_ATTRIBUTES:
        if each.value == 0:  # the number for no dtype, which stands for an attribute that is left out
            return None
        require(each.value in _ELEMENT_OF_NUMBER, f"{each.name} is the element type {each.value}")
        return _dtype(_ELEMENT_OF_NUMBER[each.value]).value  # type: ignore[index]
    return each.value


def _dtype(element: str) -> DType:
    found = DType.of(model.ELEMENTS.get(element))
    require(found in DRAWN, f"the element type {element} is not supported")
    assert found is not None
    return found


def _shown(each: model.Attribute) -> str:
    return repr(each.value) if each.tensor is None and each.body is None else "a tensor or a graph"


# --- inputs that are attributes of the row


def _constants(
    form: NodeForm, types: tuple[TensorType, ...], names: Mapping[str, str], known: Mapping[str, Known]
) -> Attrs:
    """The attributes that the constant inputs become. Their numbers must be known when the model is compiled."""
    found: dict[str, Attr] = {}
    for name, value in names.items():
        require(value in known, f"{name} is not known when the model is compiled")
        array, constant = known[value].array, form.constants[name]
        found[name] = _scalar(name, array, constant) if constant.scalar else _list(name, array, constant)
        variable = form.schema.input(name).type
        dtype = DType.of(array.dtype)
        if constant.free and variable in form.free:
            before = found.setdefault(variable, dtype and dtype.value)
            require(dtype is not None and before == dtype.value, f"{name} is {array.dtype}, not {before}")
        else:
            expected = constant.dtype or (types[0].dtype if types else None)
            require(dtype is expected, f"{name} is {array.dtype}, not {expected}")
    for variable, dtypes in form.free.items():
        found.setdefault(variable, dtypes[0].value)
    return found


def _scalar(name: str, array: Array, constant: Constant) -> Attr:
    require(array.size == 1, f"{name} has {array.size} numbers")
    number: Attr = array.reshape(-1)[0].item()
    return number if constant.kind.accepts(number) else _whole(number)  # a count may be a float


def _list(name: str, array: Array, constant: Constant) -> Attr:
    """The numbers. Where the row has a single number that it writes as a list, a file may also have a scalar."""
    if array.size == 1 and constant.kind.accepts(number := array.reshape(-1)[0].item()):
        return number  # type: ignore[no-any-return]
    require(array.ndim == 1, f"{name} is of rank {array.ndim}")
    return tuple(array.tolist())


def _whole(number: Attr) -> Attr:
    return int(number) if isinstance(number, float) and number.is_integer() else number


# --- results


def _results(
    node: model.Node, row: Op, form: NodeForm, types: tuple[TensorType, ...], attrs: Attrs, read: Collection[str]
) -> tuple[dict[str, Attr], tuple[Value, ...]]:
    """The attributes, with the one that says which results the call has, and these results. A result that does not
    exist for these attributes, or whose size depends on the data, is left out where nothing reads it."""
    names = node.outputs
    require(len(names) <= len(form.schema.outputs) or form.schema.outputs[-1].variadic, f"has {len(names)} outputs")
    require(any(names), "its output is missing")
    if OUTPUTS not in row.schema:
        require(all(names), "an output is missing")
        return _with_names(row, types, dict(attrs), names)
    if form.schema.outputs[-1].variadic:
        require(all(names), "an output is missing")
        return _with_names(row, types, {**attrs, OUTPUTS: len(names)}, names)
    padded = (*names, *("",) * (len(form.schema.outputs) - len(names)))
    named = tuple(bool(name) for name in padded)
    try:
        return _with_names(row, types, {**attrs, OUTPUTS: named}, tuple(filter(None, padded)))
    except Invalid as why:
        used = tuple(bool(name) and name in read for name in padded)
        if not any(used):
            used = tuple(bool(name) and each.optional for name, each in zip(padded, form.schema.outputs, strict=True))
        if used == named or not any(used):
            raise
        try:
            kept = tuple(name for name, is_used in zip(padded, used, strict=True) if is_used)
            return _with_names(row, types, {**attrs, OUTPUTS: used}, kept)
        except Invalid:
            raise why from None


def _with_names(
    row: Op, types: tuple[TensorType, ...], attrs: dict[str, Attr], names: tuple[str, ...]
) -> tuple[dict[str, Attr], tuple[Value, ...]]:
    inferred = row.results(types, attrs)
    require(len(inferred) == len(names), f"has {len(names)} outputs, the row {len(inferred)}")
    return attrs, tuple(Value(name, type) for name, type in zip(names, inferred, strict=True))


def _form(
    node: model.Node,
    row: Op,
    types: tuple[TensorType, ...],
    attrs: Attrs,
    results: tuple[Value, ...],
    constants: Mapping[str, str],
    around: Surroundings,
) -> Form:
    """How the file writes the node, where a form of the row is like it."""
    ways = {around.known[value].form for value in constants.values()}
    wanted: list[Form] = [form for form in (Form.COMPUTED, Form.AS_INPUT, Form.LIST, Form.CONSTANT) if form in ways]
    wanted += [Form.BRANCH] if results[0].name in around.branched else []
    wanted += [Form.EMPTY] if node.inputs and not node.inputs[-1] else []
    produced = [value.type for value in results]
    for form in wanted:
        if form in row.forms and row.expresses(form, types, attrs) and fits_opset(form, around.opset, types, produced):
            return form
    return Form.PLAIN
