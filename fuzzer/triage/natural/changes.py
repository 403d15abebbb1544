"""Changes that make a case more like what people write. Each proposes cases; they may be invalid, or no less odd."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import replace

from fuzzer.triage.natural.oddity import oddity, usual_rank
from fuzzer.triage.reducers.plain_values import counted
from fuzzer.triage.scope.neighbours import is_valid, with_attributes, with_types, with_usual_numbers
from fuzzer.triage.scope.statement import is_number
from generators.choice import ChoiceSource
from generators.domain import ANY
from generators.graph import Case, DType, Form, Input, Layout, TensorType
from generators.table import TABLE

Change = Callable[[ChoiceSource, Case], Iterator[Case | None]]

FIRST_SIZES = (2, 3, 4, 5, 6, 7)
"""The sizes of the first input, which tell its dimensions apart."""


def changed(source: ChoiceSource, case: Case) -> Case:
    """Return the case after all changes that leave it valid and make it less odd."""
    for change in CHANGES:
        case = next(less_odd(source, change, case), case)
    return case


def less_odd(source: ChoiceSource, change: Change, case: Case) -> Iterator[Case]:
    """Yield the valid proposals of a change that are less odd than the case."""
    for proposal in change(source, case):
        if proposal is not None and oddity(proposal) < oddity(case) and is_valid(proposal):
            yield proposal


def _typed(source: ChoiceSource, case: Case, types: Mapping[str, TensorType]) -> Case | None:
    """Return the case with these types of its inputs, whose numbers follow a rule; None where an operator refuses
    them."""
    typed = with_types(source, case, dict(types))
    return typed and with_counted(typed, types)


def with_counted(case: Case, names: Collection[str]) -> Case:
    """Return the case with 1, -2, 3, -4, ... in these inputs, where their domains allow any number."""
    tensors = {item.value.name: case.tensors[item.value.name] for item in case.graph.inputs}
    for item in case.graph.inputs:
        if item.value.name in names and item.domain == ANY and item.value.type.dtype is not DType.BOOL:
            tensors[item.value.name] = counted(item, tensors[item.value.name])
    return replace(case, tensors=tensors)


def _float32(source: ChoiceSource, case: Case) -> Iterator[Case | None]:
    """Propose float32 for all inputs, for those of each dtype, and for each one."""
    free = [item for item in case.graph.inputs if item.domain == ANY or item.value.type.dtype.is_float]
    odd = [item for item in free if item.value.type.dtype is not DType.FLOAT32]
    groups = [
        odd,
        *([each for each in odd if each.value.type.dtype is dtype] for dtype in DType),
        *([each] for each in odd),
    ]
    for names in dict.fromkeys(tuple(item.value.name for item in group) for group in groups if group):
        types = {item.value.name: item.value.type.with_dtype(DType.FLOAT32) for item in odd if item.value.name in names}
        yield _typed(source, case, types)


def _rank(source: ChoiceSource, case: Case) -> Iterator[Case | None]:
    """Propose a batch for the first operand of each call whose name says its rank; else rank 2 for all inputs."""
    inputs = {item.value.name: item for item in case.graph.inputs}
    for node in case.graph.nodes:
        first, usual = inputs.get(node.args[0]) if node.args else None, usual_rank(node)
        if first is not None and usual is not None and first.value.type.rank == usual - 1:
            type = first.value.type
            yield _typed(source, case, {first.value.name: type.with_shape(2, *type.sizes)})
    for least in (2, 1):
        types = {name: _with_rank(item.value.type, least) for name, item in inputs.items()}
        yield _typed(source, case, types)
        for name, type in types.items():
            yield _typed(source, case, {name: type})


def _with_rank(type: TensorType, least: int) -> TensorType:
    return type.with_shape(*(2,) * (least - type.rank), *type.sizes)


def _sizes(source: ChoiceSource, case: Case) -> Iterator[Case | None]:
    """Propose sizes that differ: for the first input, with those of the others that are at the same place from the end
    and equal; then for each dimension alone."""
    for item in case.graph.inputs:
        rank = item.value.type.rank
        for chosen in (FIRST_SIZES[:rank], FIRST_SIZES[:rank][::-1]):
            yield from _resized(source, case, item, dict(enumerate(chosen)))
    for item in case.graph.inputs:
        for axis in range(item.value.type.rank):
            for size in FIRST_SIZES[:3]:
                yield from _resized(source, case, item, {axis: size})


def _resized(source: ChoiceSource, case: Case, item: Input, wanted: Mapping[int, int]) -> Iterator[Case | None]:
    """Propose these sizes of the item, by axis: for all inputs that have its size at that place, and for it alone."""
    types = {each.value.name: _with_sizes(each.value.type, item.value.type, wanted) for each in case.graph.inputs}
    yield _typed(source, case, types)
    yield _typed(source, case, {item.value.name: types[item.value.name]})


def _with_sizes(type: TensorType, first: TensorType, wanted: Mapping[int, int]) -> TensorType:
    """Return the type with the wanted sizes of `first` where both have the same size, counted from the end."""
    sizes = list(type.sizes)
    for axis, size in wanted.items():
        place = axis - first.rank + type.rank
        if place >= 0 and sizes[place] == first.sizes[axis]:
            sizes[place] = size
    return type.with_shape(*sizes)


def _defaults(source: ChoiceSource, case: Case) -> Iterator[Case | None]:
    """Propose the defaults of all attributes of a call, and of each one."""
    for index, node in enumerate(case.graph.nodes):
        defaults = {key: value for key, value in TABLE[node.op].defaults.items() if key in node.attrs}
        yield with_attributes(case, index, defaults)
        for key, value in defaults.items():
            yield with_attributes(case, index, {key: value})


def _small_attributes(source: ChoiceSource, case: Case) -> Iterator[Case | None]:
    """Propose 2 for each attribute that is another number."""
    for index, node in enumerate(case.graph.nodes):
        for key, value in node.attrs.items():
            if key in TABLE[node.op].defaults and is_number(value):
                yield with_attributes(case, index, {key: 2})


def _numbers(source: ChoiceSource, case: Case) -> Iterator[Case | None]:
    """Propose 1, -2, 3, -4, ..., which a report writes as a rule; else numbers of both signs."""
    yield with_counted(case, case.tensors.keys())
    yield with_usual_numbers(source, case)


def _writing(source: ChoiceSource, case: Case) -> Iterator[Case | None]:
    """Propose contiguous inputs, and calls in their plain form."""
    inputs = tuple(replace(item, layout=Layout.CONTIGUOUS) for item in case.graph.inputs)
    yield replace(case, graph=replace(case.graph, inputs=inputs))
    nodes = tuple(replace(node, form=Form.PLAIN) for node in case.graph.nodes)
    yield replace(case, graph=replace(case.graph, nodes=nodes))


CHANGES: tuple[Change, ...] = (_float32, _rank, _sizes, _defaults, _small_attributes, _writing, _numbers)
"""What a reader misses most comes first. Sizes and dtypes draw numbers, so numbers come last."""
