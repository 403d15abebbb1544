"""The reduced case with one thing changed at a time: what a reviewer would try."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from fuzzer.cases.attribute_class import class_of
from fuzzer.triage.scope.neighbours import (
    drawn_attributes,
    is_valid,
    with_attributes,
    with_input,
    with_types,
    with_usual_numbers,
)
from fuzzer.triage.scope.operand_count import with_operands_left_out_and_added
from fuzzer.triage.scope.table_conditions import NUMBERS_OF
from generators.choice import ChoiceSource
from generators.dialect import dialect_named
from generators.domain import ANY
from generators.graph import DRAWN, Array, Attr, Case, DType, Input, Layout, Node, Role, TensorType, holds_floats
from generators.table import TABLE, dialect_of
from generators.values import holds

RANKS = range(6)
SIZES = (0, 1, 2, 7, 17, 64)
DTYPE_OF = "dtype of "
"""How the names of some rows begin."""

MOST_GROUPS = 3
"""The dtypes of all inputs together, and of the first two alone."""

ATTRIBUTE_DRAWS = 24
"""How often attributes are drawn to find values of other classes."""

OTHER_CLASSES = 2
"""How many values of other classes than the reduced case's are tried for each attribute, besides the default."""


@dataclass(frozen=True, slots=True)
class Varied:
    """A case in which `what` is `value`, as a table shows it."""

    what: str
    value: str
    case: Case


def variations(source: ChoiceSource, case: Case, *, with_numbers: bool) -> Iterator[Varied]:
    """Yield valid cases that differ from `case` in one thing, in the order in which a table shows them. The reduced
    case itself is among them for each thing that is varied. Without `with_numbers`, all have usual numbers: a zero can
    hide a wrong result."""
    for varied in _all(source, case, with_numbers):
        if varied.case.graph.nodes and is_valid(varied.case):
            yield varied if with_numbers else replace(varied, case=with_usual_numbers(source, varied.case))


def _all(source: ChoiceSource, case: Case, with_numbers: bool) -> Iterator[Varied]:
    yield from _dtypes(source, case)
    yield from _ranks(source, case)
    yield from _sizes(source, case)
    yield from _attributes(source, case)
    for number, varied in with_operands_left_out_and_added(source, case):
        yield Varied("operands", str(number), varied)
    for item in case.graph.inputs:
        yield from _of_input(case, item, with_numbers)


def _together(case: Case) -> list[tuple[str, list[Input]]]:
    """Return the groups of inputs that are varied together, with their names: all of them, and each one."""
    names = [item.value.name for item in case.graph.inputs]
    groups = [(name, [item]) for name, item in zip(names, case.graph.inputs, strict=True)]
    return groups if len(groups) < 2 else [(" and ".join(names), list(case.graph.inputs)), *groups]


def _dtypes(source: ChoiceSource, case: Case) -> Iterator[Varied]:
    for names, items in _together(case)[:MOST_GROUPS]:
        for dtype in DRAWN:
            types = {item.value.name: item.value.type.with_dtype(dtype) for item in items}
            varied = _typed(source, case, types) if all(_may_be(item, dtype) for item in items) else None
            yield from _varied(f"{DTYPE_OF}{names}", dtype.value, varied)


def _typed(source: ChoiceSource, case: Case, types: dict[str, TensorType]) -> Case | None:
    """Return the case with other types of its inputs, None where an operator refuses them. Inputs that stay floats keep
    their numbers, special ones first."""
    varied = with_types(source, case, types)
    if varied is None:
        return None
    tensors = dict(varied.tensors)
    for item in varied.graph.inputs:
        array, type = case.tensors[item.value.name], item.value.type
        if holds_floats(array) and array.size and type.dtype.is_float:
            numbers = _in_shape(array, type)
            tensors[item.value.name] = numbers if holds(numbers, item.domain) else tensors[item.value.name]
    return replace(varied, tensors=tensors)


def _in_shape(array: Array, type: TensorType) -> Array:
    flat = array.astype(np.float64).ravel()
    numbers = flat if array.shape == type.sizes else flat[np.argsort(np.isfinite(flat), kind="stable")]
    with np.errstate(over="ignore"):
        return np.resize(numbers, type.sizes).astype(type.dtype.numpy)


def _may_be(item: Input, dtype: DType) -> bool:
    """Whether the numbers of an input may be of this dtype. Bounds on floats hold for all floats."""
    return item.domain == ANY or (item.value.type.dtype.is_float and dtype.is_float)


def _ranks(source: ChoiceSource, case: Case) -> Iterator[Varied]:
    for names, items in _together(case)[:1]:
        for rank in RANKS:
            types = {item.value.name: _with_rank(item.value.type, rank) for item in items}
            yield from _varied(f"rank of {names}", str(rank), _typed(source, case, types))


def _with_rank(type: TensorType, rank: int) -> TensorType:
    sizes = type.sizes
    return type.with_shape(*((2,) * max(0, rank - len(sizes))), *sizes[len(sizes) - min(rank, len(sizes)) :])


def _sizes(source: ChoiceSource, case: Case) -> Iterator[Varied]:
    """Vary each dimension of the first input, with all dimensions of the others that have the same place and size."""
    for item in case.graph.inputs[:1]:
        for axis, old in enumerate(item.value.type.sizes):
            for size in SIZES:
                types = {each.value.name: _with_size(each.value.type, axis, old, size) for each in case.graph.inputs}
                what = f"size of dimension {axis}" if item.value.type.rank > 1 else "size"
                of_input = f" of {item.value.name}" if len(case.graph.inputs) > 1 else ""
                yield from _varied(what + of_input, str(size), _typed(source, case, types))


def _with_size(type: TensorType, axis: int, old: int, new: int) -> TensorType:
    sizes = [new if place == axis and size == old else size for place, size in enumerate(type.sizes)]
    return type.with_shape(*sizes)


def _attributes(source: ChoiceSource, case: Case) -> Iterator[Varied]:
    """Vary each attribute: its default, and values of two other classes that the operator may draw."""
    for index, node in enumerate(case.graph.nodes):
        op, types = TABLE[node.op], case.graph.arg_types(node)
        drawn = [drawn_attributes(source, node, types) for _ in range(ATTRIBUTE_DRAWS)]
        for key, value in node.attrs.items():
            by_class: dict[str, Attr] = {class_of(value): value}
            if key in op.defaults:
                by_class.setdefault(class_of(op.defaults[key]), op.defaults[key])
            most = len(by_class) + OTHER_CLASSES
            for attrs in drawn:
                if attrs is not None and len(by_class) < most:
                    by_class.setdefault(class_of(attrs[key]), attrs[key])
            for each in by_class.values():
                what, text = attribute_in_words(node, key, each)
                yield from _varied(what, text, with_attributes(case, index, {key: each}))


def attribute_in_words(node: Node, key: str, value: Attr) -> tuple[str, str]:
    """What a row of the table calls an attribute of a call, and a value of it."""
    dialect, changed = dialect_of(node.op), replace(node, attrs={**node.attrs, key: value})
    if named := dialect.parts.named(changed, key) if key in dialect.parts.attributes else ():
        return dialect.parts.attributes[key], " and ".join(name for name, is_there in named if is_there) or "none"
    left_out = value is None and dialect.none_is_left_out
    return key, "left out" if left_out else _text(value)


def _text(value: Attr) -> str:
    """The value as Python writes it. A number that float32 holds has only the digits that identify a float32."""
    if isinstance(value, tuple) and value and all(isinstance(item, str) for item in value):
        return f"[{', '.join(map(str, value))}]"  # an index: [1:2, ...]
    if isinstance(value, tuple):
        return f"[{', '.join(map(_text, value))}]"
    if isinstance(value, float) and float(np.float32(value)) == value:
        return repr(float(str(np.float32(value))))
    return repr(value)


def _of_input(case: Case, item: Input, with_numbers: bool) -> Iterator[Varied]:
    name, array, free = item.value.name, case.tensors[item.value.name], item.domain == ANY
    dtype, dialect = item.value.type.dtype, dialect_named(case.graph.dialect)
    if with_numbers and free and array.size and dtype is not DType.BOOL and item.layout is not Layout.EXPANDED:
        for value, numbers in _numbers(array, dtype).items():
            yield Varied(f"{NUMBERS_OF}{name}", value, replace(case, tensors={**case.tensors, name: numbers}))
    for role in (Role.INPUT, Role.PARAM if dtype.is_float else Role.BUFFER):
        value = dialect.roles[role]
        layout = Layout.CONTIGUOUS if role.is_owned else item.layout
        yield Varied(f"role of {name}", value, with_input(case, replace(item, role=role, layout=layout)))
    has_layouts = dialect.has_layouts and not item.role.is_owned
    if free and has_layouts and item.value.type.rank > 1:
        for layout in (Layout.CONTIGUOUS, Layout.TRANSPOSED, Layout.STRIDED):
            yield Varied(f"layout of {name}", str(layout), with_input(case, replace(item, layout=layout)))


def _numbers(array: Array, dtype: DType) -> dict[str, Array]:
    some = np.resize(np.array([1, 2, 3], dtype.numpy), array.shape)
    numbers = {"zeros": np.zeros_like(array), "positive": some}
    if dtype is not DType.UINT8:
        numbers["negative"] = -some
    if dtype.is_float:
        numbers |= {"NaN": np.full_like(array, np.nan), "infinite": np.full_like(array, np.inf)}
        numbers["fractions"] = (some.astype(np.float64) / 8).astype(dtype.numpy)
    return numbers


def _varied(what: str, value: str, case: Case | None) -> Iterator[Varied]:
    if case is not None:
        yield Varied(what, value, case)
