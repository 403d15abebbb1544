"""Cases near a given one: the same calls with other types, attributes and numbers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

import numpy as np

from fuzzer.triage.scope.drawing import one_call
from generators.check import check, retyped
from generators.choice import ChoiceSource
from generators.domain import ANY, Bounds
from generators.graph import (
    DRAWN,
    Array,
    Attrs,
    Case,
    DType,
    Form,
    Input,
    Invalid,
    Layout,
    Node,
    Profile,
    Role,
    TensorType,
    holds_floats,
)
from generators.table import TABLE
from generators.values import draw, holds

SIZES = (0, 1, 1, 2, 2, 3, 4, 5, 6, 7, 8, 9, 13, 16, 17, 24, 33, 64)
MOST_ELEMENTS = 1 << 14
MOST_RANK = 5
ATTEMPTS = 30

Change = Callable[[ChoiceSource, Case], Case | None]


def neighbour(source: ChoiceSource, case: Case) -> Case | None:
    """Return a valid case with the same calls and one to four changes, or None where none was found. A case of one call
    is sometimes drawn anew, because its operator knows which operands fit together."""
    if len(case.graph.nodes) == 1 and source.chance(40):
        return _drawn_anew(source, case)
    for _ in range(ATTEMPTS):
        changed: Case | None = case
        for _ in range(source.choice((1, 1, 2, 2, 3, 4))):
            changed = changed and source.choice(CHANGES)(source, changed)
        if changed is not None and changed.graph.nodes and is_valid(changed):
            return changed
    return None


def is_valid(case: Case) -> bool:
    try:
        check(case)
    except Invalid:
        return False
    return all(value.type.numel <= MOST_ELEMENTS for value in case.bound.values())


def _drawn_anew(source: ChoiceSource, case: Case) -> Case | None:
    (node,) = case.graph.nodes
    try:
        drawn = one_call(source, node.op, case.graph.opset)
    except Invalid:
        return None
    if len(drawn.graph.nodes) != 1 or drawn.graph.nodes[0].op != node.op:
        return None
    return drawn if is_valid(drawn) else None


def with_types(source: ChoiceSource, case: Case, types: dict[str, TensorType]) -> Case | None:
    """Return the case with other types of its inputs, whose numbers are drawn anew; None where an operator refuses
    them, and where an input becomes too large."""
    inputs = tuple(_typed(item, types.get(item.value.name, item.value.type)) for item in case.graph.inputs)
    if any(item.domain.bounds is Bounds.DISTINCT and item.domain.axis >= item.value.type.rank for item in inputs):
        return None
    if any(_numel(item) > MOST_ELEMENTS for item in inputs):
        return None
    try:
        graph = retyped(replace(case.graph, inputs=inputs))
    except Invalid:
        return None
    rng = source.rng()
    tensors = dict(case.tensors)
    for item in inputs:
        if item.value.name in types:
            tensors[item.value.name] = draw(source, item, case.profile, rng)
    return replace(case, graph=graph, tensors=tensors)


def _typed(item: Input, type: TensorType) -> Input:
    layout = item.layout if type.rank > 1 else Layout.CONTIGUOUS
    return replace(item, value=replace(item.value, type=type), layout=layout)


def _numel(item: Input) -> int:
    return item.value.type.numel


def with_attributes(case: Case, index: int, attrs: Attrs) -> Case | None:
    """Return the case with other attributes of one call; None where its operator refuses them."""
    nodes = list(case.graph.nodes)
    nodes[index] = replace(nodes[index], attrs={**nodes[index].attrs, **attrs})
    return retyped_if_valid(replace(case, graph=replace(case.graph, nodes=tuple(nodes))))


def retyped_if_valid(case: Case) -> Case | None:
    """Return the case with its result types inferred anew; None where an operator refuses its operands."""
    try:
        return replace(case, graph=retyped(case.graph))
    except Invalid:
        return None


def drawn_attributes(source: ChoiceSource, node: Node, types: Sequence[TensorType]) -> Attrs | None:
    """Draw attributes for other operands of a call; None where there are none for these operands."""
    try:
        return TABLE[node.op].attrs(source, tuple(types)) if node.attrs else None
    except Invalid:
        return None


def _some_input(source: ChoiceSource, case: Case) -> Input | None:
    free = [item for item in case.graph.inputs if item.domain == ANY] or list(case.graph.inputs)
    return source.choice(free) if free else None


def _dtype(source: ChoiceSource, case: Case) -> Case | None:
    """Change the dtype of one input, or of all that have the same one."""
    item = _some_input(source, case)
    if item is None:
        return None
    old, new = item.value.type.dtype, source.choice(DRAWN)
    together = source.chance(60)
    return with_types(
        source,
        case,
        {
            each.value.name: each.value.type.with_dtype(new)
            for each in case.graph.inputs
            if each is item or (together and each.value.type.dtype is old)
        },
    )


def _size(source: ChoiceSource, case: Case) -> Case | None:
    """Change one size of one input, or all equal sizes of all inputs."""
    item = _some_input(source, case)
    if item is None or not item.value.type.rank:
        return None
    axis, new, together = source.integer(0, item.value.type.rank - 1), source.choice(SIZES), source.chance(50)
    old = item.value.type.sizes[axis]

    def shape(each: Input) -> tuple[int, ...]:
        if each is item and not together:
            return tuple(new if place == axis else size for place, size in enumerate(each.value.type.sizes))
        return tuple(new if together and size == old else size for size in each.value.type.sizes)

    return with_types(
        source, case, {each.value.name: each.value.type.with_shape(*shape(each)) for each in case.graph.inputs}
    )


def _rank(source: ChoiceSource, case: Case) -> Case | None:
    """Add or remove a dimension of one input or of all."""
    item, together, size = _some_input(source, case), source.chance(50), source.choice(SIZES)
    if item is None:
        return None
    grows, place = source.chance(50), source.integer(0, item.value.type.rank)

    def shape(each: Input) -> tuple[int, ...]:
        sizes = list(each.value.type.sizes)
        if grows and len(sizes) < MOST_RANK:
            sizes.insert(min(place, len(sizes)), size)
        elif not grows and sizes:
            del sizes[min(place, len(sizes) - 1)]
        return tuple(sizes)

    chosen = case.graph.inputs if together else (item,)
    return with_types(source, case, {each.value.name: each.value.type.with_shape(*shape(each)) for each in chosen})


def _attributes(source: ChoiceSource, case: Case) -> Case | None:
    """Draw attributes of one call anew: all, or one that the others keep."""
    index = source.integer(0, len(case.graph.nodes) - 1)
    node = case.graph.nodes[index]
    drawn = drawn_attributes(source, node, case.graph.arg_types(node))
    if drawn is None:
        return None
    if source.chance(50):
        key = source.choice(sorted(drawn))
        drawn = (
            {key: TABLE[node.op].defaults[key]}
            if source.chance(30) and key in TABLE[node.op].defaults
            else {key: drawn[key]}
        )
    return with_attributes(case, index, drawn)


def _numbers(source: ChoiceSource, case: Case) -> Case | None:
    """Draw the numbers of one input anew, or make them all negative, positive, zero or special."""
    item = _some_input(source, case)
    if item is None:
        return None
    array = draw(
        source, item, source.choice((Profile.NORMAL, Profile.NORMAL, Profile.SPECIAL, Profile.EDGE)), source.rng()
    )
    if item.domain == ANY and array.dtype != np.bool_:
        match source.integer(0, 4):
            case 0:
                array = np.abs(array)
            case 1 if item.value.type.dtype is not DType.UINT8:
                array = -np.abs(array)
            case 2:
                array = np.zeros_like(array)
    if item.layout is Layout.EXPANDED:
        return None
    return replace(case, tensors={**case.tensors, item.value.name: array.astype(item.value.type.dtype.numpy)})


def _role(source: ChoiceSource, case: Case) -> Case | None:
    """Let the model own an input, or not own a parameter. Its name stays, although it names another role."""
    item = _some_input(source, case)
    if item is None:
        return None
    role = Role.INPUT if item.role.is_owned else Role.PARAM if item.value.type.dtype.is_float else Role.BUFFER
    return with_input(case, replace(item, role=role, layout=Layout.CONTIGUOUS))


def _layout(source: ChoiceSource, case: Case) -> Case | None:
    item = _some_input(source, case)
    if item is None or item.role.is_owned or item.value.type.rank < 2 or item.domain != ANY:
        return None
    return with_input(case, replace(item, layout=source.choice((Layout.CONTIGUOUS, Layout.TRANSPOSED, Layout.STRIDED))))


def _form(source: ChoiceSource, case: Case) -> Case | None:
    index = source.integer(0, len(case.graph.nodes) - 1)
    node = case.graph.nodes[index]
    form = source.choice((Form.PLAIN, *TABLE[node.op].forms))
    nodes = (*case.graph.nodes[:index], replace(node, form=form), *case.graph.nodes[index + 1 :])
    return replace(case, graph=replace(case.graph, nodes=nodes))


def with_input(case: Case, changed: Input) -> Case:
    inputs = tuple(changed if each.value.name == changed.value.name else each for each in case.graph.inputs)
    return replace(case, graph=replace(case.graph, inputs=inputs))


CHANGES: tuple[Change, ...] = (
    _dtype, _dtype, _size, _size, _size, _rank, _attributes, _attributes, _attributes, _numbers, _numbers, _role,
    _layout, _form,
)  # fmt: skip


def neighbours(source: ChoiceSource, cases: Sequence[Case], count: int, *, with_numbers: bool) -> Iterator[Case]:
    """Yield at most `count` neighbours of randomly chosen cases. Without `with_numbers`, all have usual numbers."""
    for _ in range(count):
        found = neighbour(source, source.choice(cases))
        if found is not None:
            yield found if with_numbers else with_usual_numbers(source, found)


def with_usual_numbers(source: ChoiceSource, case: Case) -> Case:
    """Return the case with numbers of both signs that are neither zero nor special, where the domains allow them. Where
    no such numbers are found, an input keeps its own."""
    rng = source.rng()
    usual = {item.value.name: (item, _usual(source, item, rng)) for item in case.graph.inputs}
    tensors = {name: a if holds(a, item.domain) else case.tensors[name] for name, (item, a) in usual.items()}
    return replace(case, tensors=tensors, profile=Profile.NORMAL)


def with_whole_numbers(case: Case) -> Case:
    """Return the case without fractions, where the domains allow that."""
    rounded = {name: np.trunc(array) if holds_floats(array) else array for name, array in case.tensors.items()}
    domains = {item.value.name: item.domain for item in case.graph.inputs}
    kept = {name: a if holds(a, domains[name]) else case.tensors[name] for name, a in rounded.items()}
    return replace(case, tensors=kept)


def _usual(source: ChoiceSource, item: Input, rng: np.random.Generator) -> Array:
    dtype = item.value.type.dtype
    if item.domain != ANY or item.layout is Layout.EXPANDED or dtype is DType.BOOL:
        return draw(source, item, Profile.NORMAL, rng)
    sizes = item.value.type.sizes
    numbers = rng.integers(1, 8, sizes) * (1 if dtype is DType.UINT8 else rng.choice((-1, 1), sizes))
    fractions = rng.uniform(0.1, 0.9, sizes) if dtype.is_float else 0
    return np.asarray(numbers + fractions).astype(dtype.numpy)
