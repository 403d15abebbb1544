"""Neighbours of a case: one change, and a valid case again.

A mutation replays the graph node by node into a fresh builder and does something else on the way; what follows is
inferred anew. Where that does not work out, another mutation is tried; new values always work.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from generators.builder import Builder, Limits
from generators.check import check
from generators.choice import ChoiceSource
from generators.domain import ANY
from generators.graph import Array, Case, DType, Form, Graph, Input, Invalid, Layout, Node, Profile, TensorType, Value
from generators.ops import OPS, TABLE, Op
from generators.ops.guard import GUARDS
from generators.values import draw, draw_profile, may_be_extreme

ATTEMPTS = 20


def mutate(
    source: ChoiceSource, case: Case, limits: Limits = Limits(), ops: Sequence[Op] = OPS, donor: Case | None = None
) -> Case:
    """A case next to `case`; `donor` is what may be spliced into it. Symbolic dimensions stay only where nothing but
    values change; everything else works on the graph at its sizes."""
    static = case.at(case.sizes) if case.sizes else case
    for _ in range(ATTEMPTS):
        change = source.choice(MUTATIONS)
        try:
            changed = change(_Task(source, static, limits, ops, donor))
            if changed is not None and (changed.graph != static.graph):
                check(changed)
                return replace(changed, origin=_origin(change.__name__, case))
        except Invalid:
            continue
    return replace(_other_values(source, case), origin=_origin("values", case))


def _origin(change: str, case: Case) -> str:
    """Only the last change is told: chains of them grow long."""
    return f"{change.strip('_')} of {case.origin.rpartition(' of ')[2]}"


@dataclass(frozen=True, slots=True)
class _Task:
    source: ChoiceSource
    case: Case
    limits: Limits
    ops: Sequence[Op]
    donor: Case | None

    @property
    def graph(self) -> Graph:
        return self.case.graph

    def some_node(self) -> int:
        return self.source.integer(0, len(self.graph.nodes) - 1)

    def replay(self) -> _Replay:
        """A fresh builder that has the inputs, and is ready for the nodes."""
        replayed = _Replay(Builder(self.source, self.limits, self.case.profile), self.graph)
        for item in self.graph.inputs:
            replayed.take(item, self.case.tensors[item.value.name])
        return replayed


Mutation = Callable[[_Task], Case | None]


def most_nodes(limits: Limits) -> int:
    """Room for two whole graphs, so that splices fit; chains of mutations grow no further."""
    return 2 * limits.max_nodes


class _Replay:
    """A graph on its way into a builder: which name of old stands for which value now."""

    def __init__(self, builder: Builder, graph: Graph) -> None:
        self.builder = builder
        self.names: dict[str, Value] = {}
        self.tensors: dict[str, Array] = {}
        self._types = graph.types
        self._own: dict[str, str] = {}  # what each name stood for when it was defined
        chosen = {item.value.name for item in graph.inputs if item.domain != ANY}
        read = {name for node in graph.nodes for name in node.args}
        made = {value.name for node in graph.nodes if node.op in GUARDS for value in node.results}
        self.guarded = chosen | (made & read)

    def take(self, item: Input, array: Array) -> None:
        value = self.builder.adopt(item)
        self._define(item.value.name, value)
        self.tensors[value.name] = array

    def add(self, node: Node) -> None:
        """The node on today's values; raises `Invalid` where its operator refuses them.

        What was chosen to suit an operator (an index within its dimension, a divisor that is not zero) stays with it,
        and with operands of the same types: nothing else says that it suits.
        """
        args = [self.names[name] for name in node.args]
        if not self.guarded.isdisjoint(node.args):
            for name, arg in zip(node.args, args, strict=True):
                if arg.type != self._types[name] or (name in self.guarded and arg.name != self._own.get(name)):
                    raise Invalid(f"{node.op}: its operand {name} was chosen for it")
        results = self.builder.emit(TABLE[node.op], args, node.attrs, node.form)
        if len(results) != len(node.results):
            raise Invalid(f"{node.op} has another number of results")
        for old, new in zip(node.results, results, strict=True):
            self._define(old.name, new)

    def _define(self, name: str, value: Value) -> None:
        self.names[name] = value
        self._own[name] = value.name

    def stand_in(self, node: Node, results: Sequence[Value]) -> None:
        for old, new in zip(node.results, results, strict=True):
            self.names[old.name] = new

    def like(self, value: Value, among: Sequence[Value]) -> Value:
        """A value of the same type: one of those, or an input."""
        fitting = [other for other in among if other.type == value.type]
        if fitting and self.builder.source.chance(80):
            return self.builder.source.choice(fitting)
        return self.builder.fresh_input(value.type)

    def finish(self, case: Case, outputs: Sequence[str]) -> Case:
        """The outputs of old, where they are still values, and what nobody reads; fresh inputs get fresh numbers.
        Raises `Invalid` where the whole is over the limits: what was replayed has been counted by nobody."""
        builder = self.builder
        builder.require_limits(max(most_nodes(builder.limits), len(case.graph.nodes)))
        read = {name for node in builder.nodes for name in node.args}
        changed = {node.args[0] for node in builder.nodes if node.form is Form.INPLACE}
        wanted = [self.names[name].name for name in outputs if name in self.names]
        wanted += [v.name for node in builder.nodes for v in node.results if v.name not in read]
        kept = tuple(dict.fromkeys(name for name in wanted if name not in changed))
        inputs = tuple(item for item in builder.inputs if item.value.name in read or item.value.name in kept)
        rng = builder.source.rng()
        tensors = {}
        for item in inputs:
            old = self.tensors.get(item.value.name)
            tensors[item.value.name] = draw(builder.source, item, case.profile, rng) if old is None else old
        graph = replace(case.graph, inputs=inputs, nodes=tuple(builder.nodes), outputs=kept)
        lost = case.profile is Profile.EXTREME and not may_be_extreme(graph)
        return Case(graph, tensors, {}, (), Profile.NORMAL if lost else case.profile)


def _insert(task: _Task) -> Case | None:
    """A new call somewhere; from there on its result may stand in for a value of its type."""
    if len(task.graph.nodes) >= most_nodes(task.limits):
        return None
    replayed, place = task.replay(), task.some_node()
    for index, node in enumerate(task.graph.nodes):
        replayed.add(node)
        if index == place:
            if not replayed.builder.grow(task.source.choice(task.ops), connected=True):
                return None
            made = replayed.builder.nodes[-1].results[0]
            for name, value in replayed.names.items():
                if value.type == made.type and task.source.chance(50):
                    replayed.names[name] = made
    return replayed.finish(task.case, task.graph.outputs)


def _delete(task: _Task) -> Case | None:
    if len(task.graph.nodes) < 2:
        return None
    replayed, gone = task.replay(), task.graph.nodes[task.some_node()]
    for node in task.graph.nodes:
        if node is gone:
            among = [replayed.names[name] for name in node.args]
            replayed.stand_in(node, [replayed.like(value, among) for value in node.results])
        else:
            replayed.add(node)
    return replayed.finish(task.case, [name for name in task.graph.outputs if name not in _names(gone)])


def _replace(task: _Task) -> Case | None:
    """Another operator in the place of one; its results stand in where the types fit."""
    replayed, gone = task.replay(), task.graph.nodes[task.some_node()]
    for node in task.graph.nodes:
        if node is not gone:
            replayed.add(node)
            continue
        if not replayed.builder.grow(task.source.choice(task.ops)):
            return None
        among = replayed.builder.nodes[-1].results
        replayed.stand_in(node, [replayed.like(value, among) for value in node.results])
    return replayed.finish(task.case, task.graph.outputs)


def _rewire(task: _Task) -> Case | None:
    """One operand of one node becomes another value of its type."""
    replayed, place = task.replay(), task.some_node()
    for index, node in enumerate(task.graph.nodes):
        if index != place or not node.args:
            replayed.add(node)
            continue
        slot = task.source.integer(0, len(node.args) - 1)
        now = replayed.names[node.args[slot]]
        free = [v for v in replayed.builder.values() if v.type == now.type and v.name != now.name]
        if not free:
            return None
        held, replayed.names[node.args[slot]] = now, task.source.choice(free)
        replayed.add(node)
        replayed.names[node.args[slot]] = held
    return replayed.finish(task.case, task.graph.outputs)


def _attributes(task: _Task) -> Case | None:
    """Attributes drawn again; what depends on the result's type follows."""
    replayed, place = task.replay(), task.some_node()
    for index, node in enumerate(task.graph.nodes):
        if index == place:
            if not replayed.guarded.isdisjoint((*node.args, *_names(node))):
                return None
            types = tuple(replayed.names[name].type for name in node.args)
            drawn = TABLE[node.op].attrs(task.source, types)
            if drawn is None:
                return None
            node = replace(node, attrs=drawn)
        replayed.add(node)
    return replayed.finish(task.case, task.graph.outputs)


def _form(task: _Task) -> Case | None:
    """Another way to write one call."""
    place = task.some_node()
    node = task.graph.nodes[place]
    forms = [form for form in (Form.PLAIN, *TABLE[node.op].forms) if form is not node.form]
    if not forms:
        return None
    changed = replace(node, form=task.source.choice(forms))
    nodes = (*task.graph.nodes[:place], changed, *task.graph.nodes[place + 1 :])
    return replace(task.case, graph=replace(task.graph, nodes=nodes))


def _dtype(task: _Task) -> Case | None:
    """Another dtype of one input; the numbers stay as far as it can hold them."""
    wanted = task.source.choice(tuple(DType))
    return _with_input(task, lambda item: replace(item, value=_typed(item.value, item.value.type.with_dtype(wanted))))


def _shape(task: _Task) -> Case | None:
    """One size becomes another wherever an input has it."""
    sizes = sorted({size for item in task.graph.inputs for size in item.value.type.sizes})
    if not sizes:
        return None
    old, new = task.source.choice(sizes), task.source.choice((0, 1, 2, 3, 5, 8, 17))

    def resized(item: Input) -> Input:
        shape = tuple(new if size == old else size for size in item.value.type.sizes)
        return replace(item, value=_typed(item.value, item.value.type.with_shape(*shape)))

    return _with_inputs(task, tuple(map(resized, task.graph.inputs)))


def _layout(task: _Task) -> Case | None:
    """Another order in memory of one input."""
    wanted = task.source.choice(tuple(Layout))

    def laid_out(item: Input) -> Input:
        if item.role.is_owned or item.value.type.rank < 2 or item.domain != ANY:
            return item
        return replace(item, layout=wanted)

    return _with_input(task, laid_out)


def _splice(task: _Task) -> Case | None:
    """The donor's nodes behind the case's: its inputs become values of ours where the types fit."""
    if task.donor is None:
        return None
    donor = task.donor.at(task.donor.sizes) if task.donor.sizes else task.donor
    if len(task.graph.nodes) + len(donor.graph.nodes) > most_nodes(task.limits):
        return None
    replayed = task.replay()
    for node in task.graph.nodes:
        replayed.add(node)
    ours = replayed.builder.values()
    second = _Replay(replayed.builder, donor.graph)
    for item in donor.graph.inputs:
        fitting = [v for v in ours if v.type == item.value.type]
        if fitting and item.domain == ANY and not item.role.is_owned and task.source.chance(70):
            second.names[item.value.name] = task.source.choice(fitting)
        else:
            second.take(item, donor.tensors[item.value.name])
    for node in donor.graph.nodes:
        second.add(node)
    replayed.tensors |= second.tensors
    return replayed.finish(task.case, task.graph.outputs)


MUTATIONS: tuple[Mutation, ...] = (
    _insert,
    _insert,
    _delete,
    _replace,
    _rewire,
    _attributes,
    _attributes,
    _form,
    _dtype,
    _shape,
    _layout,
    _splice,
)


def _other_values(source: ChoiceSource, case: Case) -> Case:
    """New numbers in every input, perhaps of another profile."""
    profile = draw_profile(source)
    bound, rng = case.bound, source.rng()
    if profile is Profile.EXTREME and not may_be_extreme(bound):
        profile = Profile.NORMAL
    return replace(case, tensors={i.value.name: draw(source, i, profile, rng) for i in bound.inputs}, profile=profile)


def _names(node: Node) -> set[str]:
    return {value.name for value in node.results}


def _typed(value: Value, type: TensorType) -> Value:
    return Value(value.name, type)


def _with_input(task: _Task, change: Callable[[Input], Input]) -> Case | None:
    if not task.graph.inputs:
        return None
    place = task.source.integer(0, len(task.graph.inputs) - 1)
    inputs = list(task.graph.inputs)
    inputs[place] = change(inputs[place])
    return _with_inputs(task, tuple(inputs))


def _with_inputs(task: _Task, inputs: Sequence[Input]) -> Case | None:
    """The graph on inputs of other types: arrays that no longer fit are drawn anew."""
    replayed = _Replay(Builder(task.source, task.limits, task.case.profile), task.graph)
    rng = task.source.rng()
    for old, new in zip(task.graph.inputs, inputs, strict=True):
        if new.value.type.numel > task.limits.max_numel:
            return None
        kept = task.case.tensors[old.value.name] if old == new else draw(task.source, new, task.case.profile, rng)
        replayed.take(new, kept)
    for node in task.graph.nodes:
        replayed.add(node)
    return replayed.finish(task.case, task.graph.outputs)
