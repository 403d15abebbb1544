"""How every generator builds a graph: pick a value, make a fresh input, emit a node. Valid after each step."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from generators.choice import ChoiceSource
from generators.domain import ANY, Bounds, Domain
from generators.formal import formal, plain_attr
from generators.graph import (
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
from generators.limits import LONG, TILES
from generators.limits import SIZES as SIZES
from generators.limits import Limits as Limits
from generators.sure import unsafe_operands
from generators.symbolic import Size

if TYPE_CHECKING:  # the table's rows import this module
    from generators.ops.base import Op

WINDOW = 16
"""How many values `pick` looks at: a bound, so that the cost of a node does not grow with the graph."""


class Builder:
    """A graph under construction. Its values only grow, so that an `Op` row can never break what stands.

    With `symbols`, sizes remember their formulas, and each node is inferred for every binding of `also` as well.
    """

    def __init__(
        self,
        source: ChoiceSource,
        limits: Limits = Limits(),
        profile: Profile = Profile.NORMAL,
        symbols: Sequence[Symbol] = (),
        sizes: Mapping[str, int] | None = None,
        also: Sequence[Mapping[str, int]] = (),
    ) -> None:
        self.source = source
        self.limits = limits
        self.profile = profile
        self.symbols = tuple(symbols)
        self.sizes = dict(sizes or {})
        self.also = tuple(also)
        self.inputs: list[Input] = []
        self.nodes: list[Node] = []
        self._ops: list[Op] = []
        self._values: list[Value] = []  # what may be picked
        self._types: dict[str, TensorType] = {}
        self._made: dict[str, int] = {}  # value -> number of the node that made it
        self._reads: dict[str, int] = {}  # value -> how many operands it is
        self._gone: set[str] = set()  # changed in place by their only reader
        self._dropped: set[str] = set()
        self._taken: set[str] = set()  # operands that the call in the making has picked
        self._counts = {Role.INPUT: 0, Role.PARAM: 0, Role.BUFFER: 0}
        self._results = 0
        self._bytes = self._work = 0

    # What rows call

    def pick(self, fits: Callable[[TensorType], bool], otherwise: Callable[[], TensorType]) -> Value:
        """A value whose type fits, rather one that nobody uses yet; else a fresh input of the type `otherwise`."""
        values = self._values
        if len(values) > WINDOW:
            start = self.source.integer(0, len(values) - WINDOW)
            values = values[start : start + WINDOW]
        fitting = [v for v in values if fits(v.type) and v.name not in self._gone]
        if fitting:
            others = [v for v in fitting if v.name not in self._taken]
            unused = [v for v in others if not self._reads[v.name]]
            if unused and self.source.chance(80):
                return self._take(self.source.choice(unused))
            if self.source.chance(70 if others else 10):
                return self._take(self.source.choice(others or fitting))
        return self._take(self.fresh_input(otherwise()))

    def _take(self, value: Value) -> Value:
        """Remember an operand of the call in the making: x op x shall not be the rule."""
        self._taken.add(value.name)
        return value

    def tensor(self, dtypes: Sequence[DType] = tuple(DType), ranks: tuple[int, int] = (0, 5)) -> Value:
        """A value of one of the dtypes, with a rank in the range (both ends included)."""
        low, high = ranks
        return self.pick(
            lambda t: t.dtype in dtypes and low <= len(t.shape) <= high,
            lambda: TensorType(self.dtype(dtypes), self.shape(self.source.integer(low, high))),
        )

    def dtype(self, dtypes: Sequence[DType]) -> DType:
        """float32 half of the time: what people use, and what other dtypes' known gaps must not bury. Integers, where
        it is them that the profile is about."""
        if self.profile is Profile.EXTREME and self.source.chance(80):
            dtypes = [dtype for dtype in dtypes if dtype.is_integer] or dtypes
        if DType.FLOAT32 in dtypes and self.source.chance(50):
            return DType.FLOAT32
        return self.source.choice(dtypes)

    def shape(self, rank: int) -> tuple[int, ...]:
        """A shape within the limit on elements: small sizes; now and then a symbol, a size next to a tile's, a long one
        (past what one reduction block takes) or an empty one."""
        shape: list[int] = []
        room = self.limits.max_numel
        for _ in range(rank):
            shape.append(self.source.choice([size for size in SIZES if size <= room] if room < 16 else SIZES))
            room //= shape[-1]
        if rank and self.symbols and self.source.chance(70):
            self._put(shape, self._symbolic())
        elif rank:
            odd = self.source.integer(1, 100)
            if odd > 92:
                self._put(shape, self.source.choice(TILES))
            elif odd > 89:
                self._put(shape, self.source.choice(LONG))
            elif odd > 86:
                self._put(shape, 0)
        return tuple(shape)

    def _put(self, shape: list[int], size: int) -> None:
        """Replace one size, and shrink the others to 1 where that is needed for the limit on elements."""
        place = self.source.integer(0, len(shape) - 1)
        rest = self.limits.max_numel // max(int(size), 1)
        for axis, other in enumerate(shape):
            if axis != place:
                shape[axis] = other if other <= rest else 1
                rest //= max(shape[axis], 1)
        if size <= self.limits.max_numel:
            shape[place] = size

    def symbolic_size(self, most: int, percent: int) -> int | None:
        """For rows that choose sizes one by one: in graphs with symbols, so often a symbolic size that is not too
        large. Draws nothing in other graphs."""
        if not self.symbols or not self.source.chance(percent):
            return None
        size = self._symbolic()
        return size if size <= most else None

    def _symbolic(self) -> int:
        """A symbol, or plain arithmetic on one."""
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
        layout = self._layout(type, domain) if role is Role.INPUT else Layout.CONTIGUOUS
        self.inputs.append(Input(value, role, domain, layout))
        if role is Role.INPUT and domain == ANY:  # others belong to the operator that asked for them
            self._values.append(value)
        return value

    def _layout(self, type: TensorType, domain: Domain) -> Layout:
        if len(type.shape) > 1 and self.source.rarely(15):
            layout = self.source.choice((Layout.TRANSPOSED, Layout.STRIDED, Layout.EXPANDED))
            if layout is not Layout.EXPANDED or domain.bounds is not Bounds.DISTINCT:  # equal slices are not distinct
                return layout
        return Layout.CONTIGUOUS

    def adopt(self, item: Input) -> Value:
        """An input of another graph, under a name of this one."""
        value = self.fresh_input(item.value.type, item.role, item.domain)
        self.inputs[-1] = replace(item, value=value)
        return value

    def values(self) -> list[Value]:
        """What may be picked."""
        return [value for value in self._values if value.name not in self._gone]

    def results(self) -> list[Value]:
        """What earlier nodes computed, the latest first: some of it."""
        recent = [v for v in self._values[-WINDOW:] if v.name in self._made and v.name not in self._gone]
        return recent[::-1]

    def maker(self, name: str) -> tuple[Op, Node] | None:
        """The call that a value is a result of; None of an input."""
        number = self._made.get(name)
        return None if number is None else (self._ops[number], self.nodes[number])

    def type_of(self, name: str) -> TensorType:
        return self._types[name]

    def param(self, dtype: DType, *shape: int, domain: Domain = ANY) -> Value:
        """A parameter; now and then one that another operator has already: shared."""
        type = TensorType(dtype, shape)
        if domain == ANY and self.inputs and self.source.rarely(10):
            for item in self.inputs[-WINDOW:]:
                if item.role is Role.PARAM and item.domain == ANY and item.value.type == type:
                    return item.value
        return self.fresh_input(type, Role.PARAM, domain)

    def buffer(self, dtype: DType, *shape: int, domain: Domain = ANY) -> Value:
        """A tensor that the module owns and does not train: running statistics, tables."""
        return self.fresh_input(TensorType(dtype, shape), Role.BUFFER, domain)

    def emit(self, op: Op, args: Sequence[Value], attrs: Attrs, form: Form = Form.PLAIN) -> tuple[Value, ...]:
        """Append a node; raises `Invalid` where the operator refuses these operands, for whichever binding."""
        types = tuple([arg.type for arg in args])
        inferred = op.results(types, attrs)
        if op.reads_zeros and unsafe_operands(self, op, args, inferred):
            raise Invalid(f"{op.name} reads the zeros of what was computed")
        if self.symbols:
            attrs = {key: plain_attr(value) for key, value in attrs.items()}
            self._check_bindings(op, types, attrs, inferred)
        results = tuple([Value(f"v{self._results + i}", type) for i, type in enumerate(inferred)])
        self._results += len(results)
        for value in results:
            self._made[value.name] = len(self.nodes)
            self._types[value.name] = value.type
            self._reads[value.name] = 0
        for arg in args:
            self._reads[arg.name] += 1
        self.nodes.append(Node(op.name, tuple([arg.name for arg in args]), attrs, results, form))
        self._ops.append(op)
        self._values.extend(results)
        if form is Form.INPLACE:
            self._gone.add(args[0].name)
        return results

    def _check_bindings(
        self, op: Op, types: Sequence[TensorType], attrs: Attrs, inferred: Sequence[TensorType]
    ) -> None:
        for sizes in (self.sizes, *self.also):
            found = op.results(tuple(t.formal().bind(sizes) for t in types), attrs)
            if found != tuple(t.formal().bind(sizes) for t in inferred):
                raise Invalid(f"{op.name} gives another formula at {sizes}")

    def drop(self, value: Value) -> None:
        """Let a value that nobody reads be no output."""
        self._dropped.add(value.name)

    # What generators call

    def grow(self, op: Op, *, connected: bool = False) -> bool:
        """Add one call of `op`; False, and nothing added, where it does not fit here.

        `connected` asks for an operand that an earlier node computed: graphs whose operators never meet find less.
        """
        since = len(self.nodes)

        def grown() -> bool:
            if not self._grown(op):
                return False
            return not connected or any(
                self._made.get(name, since) < since for node in self.nodes[since:] for name in node.args
            )

        return self.attempt(grown)

    def attempt(self, add: Callable[[], bool | None]) -> bool:
        """Run what adds to the graph; where it says False, raises `Invalid` or breaks the limits, nothing is added.

        Rows may draw what does not fit: their inference is the judge.
        """
        inputs, nodes, values = len(self.inputs), len(self.nodes), len(self._values)
        cost = self._bytes, self._work
        try:
            if add() is not False:
                self._bytes, self._work = cost  # an attempt within this one has counted its part already
                if self._affordable(inputs, nodes):
                    return True
        except Invalid:
            pass
        self._undo(inputs, nodes, values)
        self._bytes, self._work = cost
        return False

    def _grown(self, op: Op) -> bool:
        self._taken.clear()
        args = op.operands(self)
        if args is None:
            return False
        types = tuple([arg.type for arg in args])
        attrs = op.attrs(self.source, types)
        if attrs is None:
            return False
        for place in unsafe_operands(self, op, args, op.results(types, attrs)) if op.reads_zeros else ():
            args = (*args[:place], self.fresh_input(types[place]), *args[place + 1 :])
        self.emit(op, args, attrs, self._form(op, args, types, attrs))
        return True

    def _form(self, op: Op, args: Sequence[Value], types: tuple[TensorType, ...], attrs: Attrs) -> Form:
        if not op.forms or self.source.chance(40):
            return Form.PLAIN
        form = self.source.choice(tuple(op.forms))
        if form is Form.INPLACE and not self._may_change(op, args, types, attrs):
            return Form.PLAIN
        if form is Form.MODULE and not self._owned(op, args):
            return Form.PLAIN
        return form if op.says(form, types, attrs) else Form.PLAIN

    def _may_change(self, op: Op, args: Sequence[Value], types: tuple[TensorType, ...], attrs: Attrs) -> bool:
        """Whether the first operand is a fresh result that nobody else reads, of the type that the call gives."""
        name = args[0].name
        if self._reads[name] or name not in self._made or [arg.name for arg in args].count(name) > 1:
            return False
        maker = self._ops[self._made[name]]
        return not maker.view and not op.view and op.results(types, attrs) == (types[0],)

    def _owned(self, op: Op, args: Sequence[Value]) -> bool:
        from generators.ops.base import Layer

        layer = op.forms[Form.MODULE]
        assert isinstance(layer, Layer)
        return all(arg.name[0] in "wb" for arg in args[layer.inputs :])

    def require_limits(self, most_nodes: int) -> None:
        """Raise `Invalid` where the whole graph is over the limits: for those who emit without `attempt`."""
        self._bytes = self._work = 0
        if len(self.nodes) > most_nodes or not self._affordable(0, 0):
            raise Invalid(f"the graph is larger than {self.limits} allow")

    def _affordable(self, inputs: int, nodes: int) -> bool:
        """Whether what stands from there on is within the limits; keeps the books."""
        made = [(item.value.type, 0) for item in self.inputs[inputs:]]
        for op, node in zip(self._ops[nodes:], self.nodes[nodes:], strict=True):
            types = tuple([self._types[name] for name in node.args])
            terms = op.terms(types, node.attrs) if op.terms else 0
            made += [(value.type, terms) for value in node.results]
        limits = self.limits
        for type, terms in made:
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
                self._gone.remove(node.args[0])
        for node in self.nodes[nodes:]:
            self._results -= len(node.results)
            self._dropped.difference_update([value.name for value in node.results])
            for value in node.results:
                del self._made[value.name], self._types[value.name], self._reads[value.name]
        for item in self.inputs[inputs:]:
            self._counts[item.role] -= 1
            del self._types[item.value.name], self._reads[item.value.name]
        del self.inputs[inputs:], self.nodes[nodes:], self._ops[nodes:], self._values[values:]

    def graph(self) -> Graph:
        """What no node reads is an output. Now and then one of those is dropped, or there is an output more: a value
        that others read too, an input, the same value twice. Inputs that are of no use are left out."""
        source = self.source
        made = [v.name for node in self.nodes for v in node.results if v.name not in self._gone]
        free = [name for name in made if not self._reads[name]]
        outputs = [name for name in free if name not in self._dropped] or free
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
                    outputs.append(source.choice(made))
        inputs = tuple([item for item in self.inputs if self._reads[item.value.name]])
        graph = Graph(inputs, tuple(self.nodes), tuple(outputs))
        return formal(graph, self.symbols) if self.symbols else graph


_PREFIX = {Role.INPUT: "x", Role.PARAM: "w", Role.BUFFER: "b"}
