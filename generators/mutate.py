"""Mutates a case: it makes one change, and the result is a valid case.

A mutation replays the graph node by node into a new builder, and differs from it in one place. The types of later nodes
are inferred again. Where one of them refuses its operands, another mutation is tried. New values always fit.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from generators.builder import Builder, Limits
from generators.check import check
from generators.choice import ChoiceSource
from generators.dialect import dialect_named
from generators.domain import ANY
from generators.graph import DRAWN, Array, Case, Form, Graph, Input, Invalid, Layout, Node, Profile, TensorType, Value
from generators.guards import is_guard
from generators.op import Op
from generators.table import TABLE
from generators.values import draw, draw_profile, may_be_extreme

ATTEMPTS = 20


def mutate(
    source: ChoiceSource,
    case: Case,
    limits: Limits = Limits(),
    ops: Sequence[Op] | None = None,
    donor: Case | None = None,
    changes: Sequence[Mutation] | None = None,
) -> Case:
    """Return a mutated case. `ops` are the operators that are inserted; None means all that its dialect has. `donor` is
    a case of the same dialect whose nodes may be appended to it. `changes` are those that are tried; None means all.

    A mutation that changes only values keeps symbolic dimensions. The others work on the graph bound to its sizes.
    """
    static = case.at(case.sizes) if case.sizes else case
    for _ in range(ATTEMPTS):
        change = source.choice(changes or MUTATIONS)
        try:
            changed = change(_Task(source, static, limits, ops or _rows(static.graph), donor))
            if changed is not None and (changed.graph != static.graph):
                check(changed)
                return replace(changed, origin=_origin(change.__name__, case))
        except Invalid:
            continue
    return replace(_other_values(source, case), origin=_origin("values", case))


def _rows(graph: Graph) -> Sequence[Op]:
    """The rows that a graph may have."""
    return dialect_named(graph.dialect).rows_at(graph.opset)


def _origin(change: str, case: Case) -> str:
    """The origin names only the last mutation, because chains of mutations grow long."""
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
        """Return a replay whose builder has the inputs, but no nodes yet."""
        replayed = _Replay(_builder(self), self.graph)
        for item in self.graph.inputs:
            replayed.add_input(item, self.case.tensors[item.value.name])
        return replayed


def _builder(task: _Task) -> Builder:
    dialect, opset = task.graph.dialect, task.graph.opset
    return Builder(task.source, task.limits, task.case.profile, dialect=dialect, opset=opset)


Mutation = Callable[[_Task], Case | None]


def most_nodes(limits: Limits) -> int:
    """The most nodes of a mutated graph: those of two whole graphs, so that splices fit. Chains of mutations cannot
    make larger ones."""
    return 2 * limits.max_nodes


class _Replay:
    """Adds the nodes of a graph to a builder.

    names    the value in the builder that replaces each name of the graph
    tensors  the arrays of the replayed inputs, by their names in the builder
    guarded  values of the graph that were made for one operator: inputs with a domain, and results of guards
    """

    def __init__(self, builder: Builder, graph: Graph) -> None:
        self.builder = builder
        self.names: dict[str, Value] = {}
        self.tensors: dict[str, Array] = {}
        self._types = graph.types
        self._originals: dict[str, str] = {}  # for each name, the value in the builder that was defined for it
        with_domain = {item.value.name for item in graph.inputs if item.domain != ANY}
        read = {name for node in graph.nodes for name in node.args}
        by_guards = {value.name for node in graph.nodes if is_guard(node.op) for value in node.results}
        self.guarded = with_domain | (by_guards & read)

    def add_input(self, item: Input, array: Array) -> None:
        value = self.builder.adopt(item)
        self._define(item.value.name, value)
        self.tensors[value.name] = array

    def add(self, node: Node) -> None:
        """Add the node on the current values. Raise `Invalid` where its operator refuses them.

        A guarded operand (an index within its dimension, a divisor that is not zero) must still be the original value,
        and the types of all operands must be the same. Otherwise it may be outside the domain of the operator.
        """
        args = [self.names[name] for name in node.args]
        if not self.guarded.isdisjoint(node.args):
            for name, arg in zip(node.args, args, strict=True):
                if arg.type != self._types[name] or (name in self.guarded and arg.name != self._originals.get(name)):
                    raise Invalid(f"{node.op}: operand {name} may be outside the operator's domain")
        results = self.builder.emit(TABLE[node.op], args, node.attrs, node.form)
        if len(results) != len(node.results):
            raise Invalid(f"{node.op} has another number of results")
        for old, new in zip(node.results, results, strict=True):
            self._define(old.name, new)

    def _define(self, name: str, value: Value) -> None:
        self.names[name] = value
        self._originals[name] = value.name

    def replace_results(self, node: Node, results: Sequence[Value]) -> None:
        for old, new in zip(node.results, results, strict=True):
            self.names[old.name] = new

    def value_like(self, value: Value, candidates: Sequence[Value]) -> Value:
        """Return a value of the same type: one of the candidates, or a new input."""
        fitting = [other for other in candidates if other.type == value.type]
        if fitting and self.builder.source.chance(80):
            return self.builder.source.choice(fitting)
        return self.builder.fresh_input(value.type)

    def finish(self, case: Case, outputs: Sequence[str]) -> Case:
        """Return the case that the builder now holds.

        Its outputs are the values that replace `outputs`, and the results that no node reads. New inputs get new
        numbers. Raises `Invalid` where the graph exceeds the limits, which `emit` does not check.
        """
        builder = self.builder
        builder.require_limits(max(most_nodes(builder.limits), len(case.graph.nodes)))
        read = {name for node in builder.nodes for name in node.args}
        overwritten = {node.args[0] for node in builder.nodes if node.form is Form.INPLACE}
        candidates = [self.names[name].name for name in outputs if name in self.names]
        candidates += [v.name for node in builder.nodes for v in node.results if v.name not in read]
        kept = tuple(dict.fromkeys(name for name in candidates if name not in overwritten))
        inputs = tuple(item for item in builder.inputs if item.value.name in read or item.value.name in kept)
        rng = builder.source.rng()
        tensors = {}
        for item in inputs:
            old = self.tensors.get(item.value.name)
            tensors[item.value.name] = draw(builder.source, item, case.profile, rng) if old is None else old
        graph = replace(case.graph, inputs=inputs, nodes=tuple(builder.nodes), outputs=kept)
        no_longer_extreme = case.profile is Profile.EXTREME and not may_be_extreme(graph)
        return Case(graph, tensors, {}, (), Profile.NORMAL if no_longer_extreme else case.profile)


def _insert(task: _Task) -> Case | None:
    """Insert a call. Its result may replace each value of its type in later nodes."""
    if len(task.graph.nodes) >= most_nodes(task.limits):
        return None
    replayed, place = task.replay(), task.some_node()
    for index, node in enumerate(task.graph.nodes):
        replayed.add(node)
        if index == place:
            if not replayed.builder.grow(task.source.choice(task.ops), connected=True):
                return None
            result = replayed.builder.nodes[-1].results[0]
            for name, value in replayed.names.items():
                if value.type == result.type and task.source.chance(50):
                    replayed.names[name] = result
    return replayed.finish(task.case, task.graph.outputs)


def _delete(task: _Task) -> Case | None:
    """Delete a call. Its operands or new inputs replace its results."""
    if len(task.graph.nodes) < 2:
        return None
    replayed, deleted = task.replay(), task.graph.nodes[task.some_node()]
    for node in task.graph.nodes:
        if node is deleted:
            operands = [replayed.names[name] for name in node.args]
            replayed.replace_results(node, [replayed.value_like(value, operands) for value in node.results])
        else:
            replayed.add(node)
    return replayed.finish(task.case, [name for name in task.graph.outputs if name not in _names(deleted)])


def _replace(task: _Task) -> Case | None:
    """Replace a call by one of another operator. Where a result has another type, a new input replaces the old one."""
    replayed, replaced = task.replay(), task.graph.nodes[task.some_node()]
    for node in task.graph.nodes:
        if node is not replaced:
            replayed.add(node)
            continue
        if not replayed.builder.grow(task.source.choice(task.ops)):
            return None
        results = replayed.builder.nodes[-1].results
        replayed.replace_results(node, [replayed.value_like(value, results) for value in node.results])
    return replayed.finish(task.case, task.graph.outputs)


def _rewire(task: _Task) -> Case | None:
    """Replace one operand of one node by another value of its type."""
    replayed, place = task.replay(), task.some_node()
    for index, node in enumerate(task.graph.nodes):
        if index != place or not node.args:
            replayed.add(node)
            continue
        operand = node.args[task.source.integer(0, len(node.args) - 1)]
        current = replayed.names[operand]
        others = [v for v in replayed.builder.values() if v.type == current.type and v.name != current.name]
        if not others:
            return None
        replayed.names[operand] = task.source.choice(others)
        replayed.add(node)
        replayed.names[operand] = current
    return replayed.finish(task.case, task.graph.outputs)


def _attributes(task: _Task) -> Case | None:
    """Draw the attributes of one node again."""
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
    """Write one call in another form."""
    place = task.some_node()
    node = task.graph.nodes[place]
    forms = [form for form in (Form.PLAIN, *TABLE[node.op].forms) if form is not node.form]
    if not forms:
        return None
    changed = replace(node, form=task.source.choice(forms))
    nodes = (*task.graph.nodes[:place], changed, *task.graph.nodes[place + 1 :])
    return replace(task.case, graph=replace(task.graph, nodes=nodes))


def _dtype(task: _Task) -> Case | None:
    """Change the dtype of one input, and draw its numbers again."""
    dtype = task.source.choice(DRAWN)
    return _with_input(task, lambda item: replace(item, value=_typed(item.value, item.value.type.with_dtype(dtype))))


def _shape(task: _Task) -> Case | None:
    """Replace one size by another in all inputs that have it."""
    sizes = sorted({size for item in task.graph.inputs for size in item.value.type.sizes})
    if not sizes:
        return None
    old, new = task.source.choice(sizes), task.source.choice((0, 1, 2, 3, 5, 8, 17))

    def resized(item: Input) -> Input:
        shape = tuple(new if size == old else size for size in item.value.type.sizes)
        return replace(item, value=_typed(item.value, item.value.type.with_shape(*shape)))

    return _with_inputs(task, tuple(map(resized, task.graph.inputs)))


def _layout(task: _Task) -> Case | None:
    """Change the layout of one input. A file of ONNX has no layouts."""
    if not dialect_named(task.graph.dialect).has_layouts:
        return None
    layout = task.source.choice(tuple(Layout))

    def laid_out(item: Input) -> Input:
        if item.role.is_owned or item.value.type.rank < 2 or item.domain != ANY:
            return item
        return replace(item, layout=layout)

    return _with_input(task, laid_out)


def _splice(task: _Task) -> Case | None:
    """Append the donor's nodes. Values of the case replace some of the donor's inputs of the same type."""
    if task.donor is None:
        return None
    donor = task.donor.at(task.donor.sizes) if task.donor.sizes else task.donor
    if len(task.graph.nodes) + len(donor.graph.nodes) > most_nodes(task.limits):
        return None
    if not _may_join(task.graph, donor.graph):
        return None
    replayed = task.replay()
    for node in task.graph.nodes:
        replayed.add(node)
    available = replayed.builder.values()
    appended = _Replay(replayed.builder, donor.graph)
    for item in donor.graph.inputs:
        fitting = [v for v in available if v.type == item.value.type]
        if fitting and item.domain == ANY and not item.role.is_owned and task.source.chance(70):
            appended.names[item.value.name] = task.source.choice(fitting)
        else:
            appended.add_input(item, donor.tensors[item.value.name])
    for node in donor.graph.nodes:
        appended.add(node)
    replayed.tensors |= appended.tensors
    return replayed.finish(task.case, task.graph.outputs)


def _may_join(graph: Graph, donor: Graph) -> bool:
    """Whether the graph may have the donor's calls: each version of an operator must be in force at its opset."""
    allowed = {row.name for row in _rows(graph)}
    return graph.dialect == donor.dialect and all(node.op in allowed for node in donor.nodes)


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


TYPES: tuple[Mutation, ...] = (_shape, _shape, _dtype, _layout)
"""The mutations that keep the calls of a graph, and change the types and layouts of its inputs."""


def _other_values(source: ChoiceSource, case: Case) -> Case:
    """Draw a profile, and new numbers for every input."""
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
    """Return the case with these inputs in place of its own. The numbers of changed inputs are drawn again."""
    replayed = _Replay(_builder(task), task.graph)
    rng = task.source.rng()
    for old, new in zip(task.graph.inputs, inputs, strict=True):
        if new.value.type.numel > task.limits.max_numel:
            return None
        kept = task.case.tensors[old.value.name] if old == new else draw(task.source, new, task.case.profile, rng)
        replayed.add_input(new, kept)
    for node in task.graph.nodes:
        replayed.add(node)
    return replayed.finish(task.case, task.graph.outputs)
