"""The builder that every generator uses: it picks values, makes inputs and emits nodes. The graph is always valid."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from generators.choice import ChoiceSource
from generators.dialect import Opsets, dialect_named
from generators.dialect_names import DEFAULT
from generators.domain import ANY, Bounds, Domain
from generators.formal import formal, plain_attr
from generators.graph import (
    DRAWN,
    Attrs,
    DType,
    Form,
    Graph,
    Input,
    Invalid,
    Layout,
    Node,
    Profile,
    Role,
    Symbol,
    TensorType,
    Value,
)
from generators.limits import LARGE, LONG, TILES
from generators.limits import SIZES as SIZES
from generators.limits import Limits as Limits
from generators.op import Layer, Op, Types
from generators.symbolic import Size
from generators.zero_sensitivity import unsafe_operands

LOCAL_PERCENT = 10
"""How many of the calls that could be functions of the model are: TVM reads no model that has one."""

PREFERRED_PERCENT = 60
"""How many shapes in a hundred have one of the sizes that the limits prefer."""

WINDOW = 16
"""How many values `pick` looks at. The bound keeps the cost of a node independent of the size of the graph."""


@dataclass(frozen=True, slots=True)
class OpenSizes:
    """The symbolic dimensions of a graph.

    sizes  the size of each symbol during construction
    also   other sizes of the symbols. The formulas of all result sizes must hold for them too
    """

    symbols: Sequence[Symbol] = ()
    sizes: Mapping[str, int] = field(default_factory=dict)
    also: Sequence[Mapping[str, int]] = ()


class Inferred:
    """A call, and its result types. They are inferred when they are first needed."""

    def __init__(self, op: Op, types: Types, attrs: Attrs) -> None:
        self.types, self.attrs = types, attrs
        self._op = op
        self._results: Types | None = None

    @property
    def results(self) -> Types:
        """The result types. Raise `Invalid` where the operator refuses the operands."""
        if self._results is None:
            self._results = self._op.results(self.types, self.attrs)
        return self._results


class Builder:
    """A graph under construction. Values are only added, so no `Op` row can make the graph invalid.

    source      makes the choices
    limits      bound the graph
    profile     the profile of the case; some rows draw other operands for it
    open_sizes  the symbolic dimensions. With them, sizes keep their formulas (`generators.symbolic.Size`)
    dialect     the name of the dialect of the graph
    opset       its opset; 0 where the dialect has none
    """

    def __init__(
        self,
        source: ChoiceSource,
        limits: Limits = Limits(),
        profile: Profile = Profile.NORMAL,
        open_sizes: OpenSizes = OpenSizes(),
        dialect: str = DEFAULT,
        opset: int = 0,
    ) -> None:
        self.dialect = dialect_named(dialect)
        self.opset = opset
        self.source = source
        self.limits = limits
        self.profile = profile
        self.symbols = tuple(open_sizes.symbols)
        self.sizes = dict(open_sizes.sizes)
        self.also = tuple(open_sizes.also)
        self.inputs: list[Input] = []
        self.nodes: list[Node] = []
        self._ops: list[Op] = []
        self._values: list[Value] = []  # values that may be picked
        self._types: dict[str, TensorType] = {}
        self._producers: dict[str, int] = {}  # value -> number of the node that computes it
        self._reads: dict[str, int] = {}  # value -> how many times nodes read it
        self._overwritten: set[str] = set()  # values that a node overwrites; no other node reads them
        self._dropped: set[str] = set()  # values that do not become outputs
        self._picked: set[str] = set()  # operands that the current call has picked
        self._counts = {Role.INPUT: 0, Role.PARAM: 0, Role.BUFFER: 0}
        self._results = 0
        self._bytes = self._work = 0

    # Methods that rows of the operator table call

    def pick(self, fits: Callable[[TensorType], bool], otherwise: Callable[[], TensorType]) -> Value:
        """Return a value whose type fits, preferably one that no node reads.

        If there is none, and sometimes if there is one, return a new input of type `otherwise()`.
        """
        values = self._values
        if len(values) > WINDOW:
            start = self.source.integer(0, len(values) - WINDOW)
            values = values[start : start + WINDOW]
        fitting = [v for v in values if fits(v.type) and v.name not in self._overwritten]
        if fitting:
            others = [v for v in fitting if v.name not in self._picked]
            unused = [v for v in others if not self._reads[v.name]]
            if unused and self.source.chance(80):
                return self._record_pick(self.source.choice(unused))
            if self.source.chance(70 if others else 10):
                return self._record_pick(self.source.choice(others or fitting))
        return self._record_pick(self.fresh_input(otherwise()))

    def _record_pick(self, value: Value) -> Value:
        """Note that the current call has this operand, so that it rarely picks the same one twice."""
        self._picked.add(value.name)
        return value

    def tensor(self, dtypes: Sequence[DType] = DRAWN, ranks: tuple[int, int] = (0, 5)) -> Value:
        """Pick a value of one of the dtypes, with a rank in the range (both ends included)."""
        low, high = ranks
        return self.pick(
            lambda t: t.dtype in dtypes and low <= len(t.shape) <= high,
            lambda: TensorType(self.dtype(dtypes), self.shape(self.source.integer(low, high))),
        )

    def dtype(self, dtypes: Sequence[DType]) -> DType:
        """Draw a dtype: float32 half of the time, and mostly integers in the extreme profile.

        Most models use float32. Without this preference, known failures of the other dtypes would hide bugs in float32.
        """
        if self.profile is Profile.EXTREME and self.source.chance(80):
            dtypes = [dtype for dtype in dtypes if dtype.is_integer] or dtypes
        if DType.FLOAT32 in dtypes and self.source.chance(50):
            return DType.FLOAT32
        return self.source.choice(dtypes)

    def shape(self, rank: int) -> tuple[int, ...]:
        """Draw a shape within the limit on elements.

        Most sizes are small. Sometimes one size is symbolic, 0, close to the size of a tile, or long (more than one
        block of a reduction kernel handles), or one that the limits prefer. Where they ask for it, the tensor is large.
        """
        if rank and self.limits.large_percent and self.source.chance(self.limits.large_percent):
            return self._large_shape(rank)
        shape: list[int] = []
        remaining = self.limits.max_numel
        for _ in range(rank):
            shape.append(self.source.choice([s for s in SIZES if s <= remaining] if remaining < 16 else SIZES))
            remaining //= shape[-1]
        if rank and self.symbols and self.source.chance(70):
            self._set_one_size(shape, self._draw_symbolic_size())
        elif rank and self.limits.sizes and self.source.chance(PREFERRED_PERCENT):
            self._set_one_size(shape, self.source.choice(self.limits.sizes))
        elif rank:
            percentile = self.source.integer(1, 100)
            if percentile > 92:
                self._set_one_size(shape, self.source.choice(TILES))
            elif percentile > 89:
                self._set_one_size(shape, self.source.choice(LONG))
            elif percentile > 86 and self.dialect.has_empty:
                self._set_one_size(shape, 0)
        return tuple(shape)

    def _large_shape(self, rank: int) -> tuple[int, ...]:
        """Draw a shape with the sizes of a large tensor at neighbouring axes, and sizes of 1 or 2 at the others."""
        sizes = self.source.choice([sizes for sizes in LARGE if len(sizes) <= rank])
        place = self.source.integer(0, rank - len(sizes))
        most = self.limits.max_numel // math.prod(sizes)
        others = [1] * (rank - len(sizes))
        if others and most >= 2:
            others[self.source.integer(0, len(others) - 1)] = self.source.integer(1, 2)
        return (*others[:place], *sizes, *others[place:])

    def _set_one_size(self, shape: list[int], size: int) -> None:
        """Replace the size of a drawn axis. Set other sizes to 1 where the limit on elements requires it."""
        place = self.source.integer(0, len(shape) - 1)
        remaining = self.limits.max_numel // max(int(size), 1)
        for axis, other in enumerate(shape):
            if axis != place:
                shape[axis] = other if other <= remaining else 1
                remaining //= max(shape[axis], 1)
        if size <= self.limits.max_numel:
            shape[place] = size

    def symbolic_size(self, most: int, percent: int) -> int | None:
        """Return a symbolic size in `percent` % of the calls, if it is at most `most`; else None.

        Rows that choose sizes one by one call it. In a graph without symbols it consumes no choice.
        """
        if not self.symbols or not self.source.chance(percent):
            return None
        size = self._draw_symbolic_size()
        return size if size <= most else None

    def _draw_symbolic_size(self) -> int:
        """Draw a symbol n, or a formula n + c or c * n."""
        name = self.source.choice(self.symbols).name
        size: int = Size.symbol(name, self.sizes[name])
        match self.source.integer(0, 5):
            case 0:
                return size + self.source.integer(1, 3)
            case 1:
                return size * self.source.integer(2, 3)
            case _:
                return size

    def fresh_input(self, type: TensorType, role: Role = Role.INPUT, domain: Domain = ANY) -> Value:
        value = Value(f"{_PREFIX[role]}{self._counts[role]}", type)
        self._counts[role] += 1
        self._types[value.name] = type
        self._reads[value.name] = 0
        layout = self._layout(type, domain) if role is Role.INPUT and self.dialect.has_layouts else Layout.CONTIGUOUS
        self.inputs.append(Input(value, role, domain, layout))
        if role is Role.INPUT and domain == ANY:  # only the operator that made it reads an input with a domain
            self._values.append(value)
        return value

    def _layout(self, type: TensorType, domain: Domain) -> Layout:
        if len(type.shape) > 1 and self.source.rarely(15):
            layout = self.source.choice((Layout.TRANSPOSED, Layout.STRIDED, Layout.EXPANDED))
            if layout is not Layout.EXPANDED or domain.bounds is not Bounds.DISTINCT:  # equal slices are not distinct
                return layout
        return Layout.CONTIGUOUS

    def adopt(self, item: Input) -> Value:
        """Add an input of another graph, under a new name."""
        value = self.fresh_input(item.value.type, item.role, item.domain)
        self.inputs[-1] = replace(item, value=value)
        return value

    def values(self) -> list[Value]:
        """Return the values that may be picked."""
        return [value for value in self._values if value.name not in self._overwritten]

    def results(self) -> list[Value]:
        """Return the most recent results of nodes, the latest first."""
        recent = [v for v in self._values[-WINDOW:] if v.name in self._producers and v.name not in self._overwritten]
        return recent[::-1]

    def producer(self, name: str) -> tuple[Op, Node] | None:
        """Return the operator and the node that compute a value, or None for an input."""
        number = self._producers.get(name)
        return None if number is None else (self._ops[number], self.nodes[number])

    def type_of(self, name: str) -> TensorType:
        return self._types[name]

    def param(self, dtype: DType, *shape: int, domain: Domain = ANY) -> Value:
        """Add a parameter, or sometimes return an existing one of this type, so that two operators share it."""
        type = TensorType(dtype, shape)
        if domain == ANY and self.inputs and self.source.rarely(10):
            for item in self.inputs[-WINDOW:]:
                if item.role is Role.PARAM and item.domain == ANY and item.value.type == type:
                    return item.value
        return self.fresh_input(type, Role.PARAM, domain)

    def buffer(self, dtype: DType, *shape: int, domain: Domain = ANY) -> Value:
        """Add a tensor that the module owns and does not train, such as running statistics."""
        return self.fresh_input(TensorType(dtype, shape), Role.BUFFER, domain)

    def emit(
        self,
        op: Op,
        args: Sequence[Value],
        attrs: Attrs,
        form: Form = Form.PLAIN,
        call: Inferred | None = None,
    ) -> tuple[Value, ...]:
        """Append a node and return its results. Raise `Invalid` if the operator refuses the operands, or if the
        formulas of the result sizes do not hold for other sizes of the symbols. `call` has the result types, where the
        caller has asked for them."""
        types = tuple([arg.type for arg in args])
        inferred = (call or Inferred(op, types, attrs)).results
        if op.reads_zeros and unsafe_operands(self, op, args, inferred):
            raise Invalid(f"{op.name} depends on the zeros of computed values")
        if self.symbols:
            attrs = {key: plain_attr(value) for key, value in attrs.items()}
            self._check_bindings(op, types, attrs, inferred)
        results = tuple([Value(f"v{self._results + i}", type) for i, type in enumerate(inferred)])
        self._results += len(results)
        for value in results:
            self._producers[value.name] = len(self.nodes)
            self._types[value.name] = value.type
            self._reads[value.name] = 0
        for arg in args:
            self._reads[arg.name] += 1
        self.nodes.append(Node(op.name, tuple([arg.name for arg in args]), attrs, results, form))
        self._ops.append(op)
        self._values.extend(results)
        if form is Form.INPLACE:
            self._overwritten.add(args[0].name)
        return results

    def _check_bindings(
        self, op: Op, types: Sequence[TensorType], attrs: Attrs, inferred: Sequence[TensorType]
    ) -> None:
        """Raise `Invalid` if the formulas of the result sizes do not hold for all given sizes of the symbols."""
        for sizes in (self.sizes, *self.also):
            found = op.results(tuple(t.formal().bind(sizes) for t in types), attrs)
            if found != tuple(t.formal().bind(sizes) for t in inferred):
                raise Invalid(f"{op.name}: the formula of a result size does not hold at {sizes}")

    def drop(self, value: Value) -> None:
        """Do not make this value an output, although no node reads it."""
        self._dropped.add(value.name)

    # Methods that generators call

    def grow(self, op: Op, *, connected: bool = False) -> bool:
        """Add one call of `op` and return True. If it does not fit, add nothing and return False.

        With `connected`, an earlier node must compute one of its operands: independent operators find fewer bugs.
        """
        since = len(self.nodes)

        def add_connected_call() -> bool:
            if not self._add_call(op):
                return False
            return not connected or any(
                self._producers.get(name, since) < since for node in self.nodes[since:] for name in node.args
            )

        return self.attempt(add_connected_call)

    def attempt(self, add: Callable[[], bool | None]) -> bool:
        """Call `add`, which adds to the graph, and return True. If it returns False, raises `Invalid` or exceeds the
        limits, undo what it added and return False.

        Rows may draw operands or attributes that do not fit; their type inference rejects them.
        """
        inputs, nodes, values = len(self.inputs), len(self.nodes), len(self._values)
        cost = self._bytes, self._work
        try:
            if add() is not False:
                self._bytes, self._work = cost  # a nested attempt has already counted its own nodes
                if self._add_cost(inputs, nodes):
                    return True
        except Invalid:
            pass
        self._undo(inputs, nodes, values)
        self._bytes, self._work = cost
        return False

    def _add_call(self, op: Op) -> bool:
        self._picked.clear()
        args = op.operands(self)
        if args is None:
            return False
        types = tuple([arg.type for arg in args])
        attrs = op.attrs(self.source, types)
        if attrs is None:
            return False
        for place in unsafe_operands(self, op, args, op.results(types, attrs)) if op.reads_zeros else ():
            args = (*args[:place], self.fresh_input(types[place]), *args[place + 1 :])
        inferred = Inferred(op, types, attrs)
        self.emit(op, args, attrs, self._form(op, args, inferred), inferred)
        return True

    def _form(self, op: Op, args: Sequence[Value], inferred: Inferred) -> Form:
        if not op.forms or self.source.chance(self.dialect.plain_percent):
            return Form.PLAIN
        types, attrs = inferred.types, inferred.attrs
        form = self.source.choice(tuple(op.forms))
        if form is Form.INPLACE and not self._may_work_in_place(op, args, inferred):
            return Form.PLAIN
        if form is Form.MODULE and not self._module_owns_parameters(op, args):
            return Form.PLAIN
        if form is Form.LOCAL and self.source.chance(100 - LOCAL_PERCENT):
            return Form.PLAIN
        if self.dialect.opsets and not self._fits(self.dialect.opsets, form, types, inferred.results):
            return Form.PLAIN
        return form if op.expresses(form, types, attrs) else Form.PLAIN

    def _fits(self, opsets: Opsets, form: Form, operands: Sequence[TensorType], results: Sequence[TensorType]) -> bool:
        """Whether a file of this opset can have the form. Sizes that are computed are the same for all bindings only
        where nothing is symbolic."""
        return opsets.fits(form, self.opset, operands, results) and not (form is Form.COMPUTED and self.symbols)

    def _may_work_in_place(self, op: Op, args: Sequence[Value], inferred: Inferred) -> bool:
        """Whether the call may overwrite its first operand: a node computed it, it is not a view, no other node reads
        it, and it has the type of the result."""
        name = args[0].name
        if self._reads[name] or name not in self._producers or [arg.name for arg in args].count(name) > 1:
            return False
        producer = self._ops[self._producers[name]]
        return not producer.view and not op.view and inferred.results == (inferred.types[0],)

    def _module_owns_parameters(self, op: Op, args: Sequence[Value]) -> bool:
        layer = op.forms[Form.MODULE]
        assert isinstance(layer, Layer)
        owned = {item.value.name for item in self.inputs if item.role.is_owned}
        return owned.issuperset(arg.name for arg in args[layer.inputs :])

    def require_limits(self, most_nodes: int) -> None:
        """Raise `Invalid` if the whole graph exceeds the limits. For callers that emit nodes without `attempt`."""
        self._bytes = self._work = 0
        if len(self.nodes) > most_nodes or not self._add_cost(0, 0):
            raise Invalid(f"the graph is larger than {self.limits} allow")

    def _add_cost(self, inputs: int, nodes: int) -> bool:
        """Add the cost of the inputs and nodes from these positions on. Return whether the limits are kept."""
        added = [(item.value.type, 0) for item in self.inputs[inputs:]]
        for op, node in zip(self._ops[nodes:], self.nodes[nodes:], strict=True):
            types = tuple([self._types[name] for name in node.args])
            terms = op.terms(types, node.attrs) if op.terms else 0
            added += [(value.type, terms) for value in node.results]
        limits = self.limits
        for type, terms in added:
            count = type.numel
            self._bytes += count * type.dtype.bits // 8
            self._work += count * terms
            if count > limits.max_numel or self._bytes > limits.max_bytes or self._work > limits.max_work:
                return False
        return True

    def _undo(self, inputs: int, nodes: int, values: int) -> None:
        for node in self.nodes[nodes:]:
            for name in node.args:
                self._reads[name] -= 1
            if node.form is Form.INPLACE:
                self._overwritten.remove(node.args[0])
        for node in self.nodes[nodes:]:
            self._results -= len(node.results)
            self._dropped.difference_update([value.name for value in node.results])
            for value in node.results:
                del self._producers[value.name], self._types[value.name], self._reads[value.name]
        for item in self.inputs[inputs:]:
            self._counts[item.role] -= 1
            del self._types[item.value.name], self._reads[item.value.name]
        del self.inputs[inputs:], self.nodes[nodes:], self._ops[nodes:], self._values[values:]

    def graph(self) -> Graph:
        """Return the finished graph, with the results that no node reads as outputs, and without inputs that no node
        reads. Sometimes an output is left out, or one is added: any result, an input, or an output a second time."""
        source = self.source
        results = [v.name for node in self.nodes for v in node.results if v.name not in self._overwritten]
        unread = [name for name in results if not self._reads[name]]
        outputs = [name for name in unread if name not in self._dropped] or unread
        if len(outputs) > 1 and source.rarely(15):
            outputs.remove(source.choice(outputs))
        if source.rarely(12):
            read = [item.value.name for item in self.inputs if self._reads[item.value.name]]
            match source.integer(0, 3):
                case 0 if read:
                    outputs.append(source.choice(read))
                case 1:
                    outputs.append(source.choice(outputs))
                case _:
                    outputs.append(source.choice(results))
        inputs = tuple([item for item in self.inputs if self._reads[item.value.name]])
        graph = Graph(inputs, tuple(self.nodes), tuple(outputs), self.dialect.name, opset=self.opset)
        return formal(graph, self.symbols) if self.symbols else graph


_PREFIX = {Role.INPUT: "x", Role.PARAM: "w", Role.BUFFER: "b"}
