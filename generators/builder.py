"""How every generator builds a graph: pick a value, make a fresh input, emit a node. Valid after each step."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from generators.choice import ChoiceSource
from generators.graph import Attrs, Domain, DType, Graph, Input, Node, Role, TensorType, Value

if TYPE_CHECKING:  # the table's rows import this module
    from generators.ops.base import Op

SIZES = (1, 1, 2, 2, 3, 3, 4, 4, 5, 6, 7, 8, 9, 13, 16)


@dataclass(frozen=True, slots=True)
class Limits:
    """How large a generated graph may become."""

    max_nodes: int = 8
    max_numel: int = 4096


class Builder:
    """A graph under construction. Its values only grow, so that an `Op` row can never break what stands."""

    def __init__(self, source: ChoiceSource, limits: Limits = Limits()) -> None:
        self.source = source
        self.limits = limits
        self.inputs: list[Input] = []
        self.nodes: list[Node] = []
        self._values: list[Value] = []
        self._used: set[str] = set()

    # What rows call

    def pick(self, fits: Callable[[TensorType], bool], otherwise: Callable[[], TensorType]) -> Value:
        """A value whose type fits, rather one that nobody uses yet; else a fresh input of the type `otherwise`."""
        fitting = [v for v in self._values if fits(v.type)]
        unused = [v for v in fitting if v.name not in self._used]
        if unused and self.source.chance(80):
            return self.source.choice(unused)
        if fitting and self.source.chance(70):
            return self.source.choice(fitting)
        return self.fresh_input(otherwise())

    def tensor(self, dtypes: Sequence[DType] = tuple(DType), ranks: tuple[int, int] = (0, 5)) -> Value:
        """A value of one of the dtypes, with a rank in the range (both ends included)."""
        low, high = ranks
        return self.pick(
            lambda t: t.dtype in dtypes and low <= t.rank <= high,
            lambda: TensorType(self._dtype(dtypes), self.shape(self.source.integer(low, high))),
        )

    def _dtype(self, dtypes: Sequence[DType]) -> DType:
        """float32 half of the time: what people use, and what other dtypes' known gaps must not bury."""
        if DType.FLOAT32 in dtypes and self.source.chance(50):
            return DType.FLOAT32
        return self.source.choice(dtypes)

    def shape(self, rank: int) -> tuple[int, ...]:
        """A shape within the limit on elements."""
        shape: list[int] = []
        room = self.limits.max_numel
        for _ in range(rank):
            shape.append(self.source.choice([size for size in SIZES if size <= room]))
            room //= shape[-1]
        return tuple(self.source.shuffled(shape))

    def fresh_input(self, type: TensorType, role: Role = Role.INPUT, domain: Domain = Domain.ANY) -> Value:
        prefix = "x" if role is Role.INPUT else "w"
        value = Value(f"{prefix}{sum(item.role is role for item in self.inputs)}", type)
        self.inputs.append(Input(value, role, domain))
        if role is Role.INPUT:  # parameters belong to the operator that asked for them
            self._values.append(value)
        return value

    def param(self, dtype: DType, *shape: int, domain: Domain = Domain.ANY) -> Value:
        return self.fresh_input(TensorType(dtype, shape), Role.PARAM, domain)

    def emit(self, op: Op, args: Sequence[Value], attrs: Attrs) -> tuple[Value, ...]:
        """Append a node; raises `Invalid` where the operator refuses these operands."""
        types = op.results(tuple(arg.type for arg in args), attrs)
        first = sum(len(node.results) for node in self.nodes)
        results = tuple(Value(f"v{first + i}", type) for i, type in enumerate(types))
        self.nodes.append(Node(op.name, tuple(arg.name for arg in args), attrs, results))
        self._values.extend(results)
        self._used.update(arg.name for arg in args)
        return results

    # What generators call

    def grow(self, op: Op, *, connected: bool = False) -> bool:
        """Add one call of `op`; False, and nothing added, where it does not fit here.

        `connected` asks for an operand that an earlier node computed: graphs whose operators never meet find less.
        """
        mark = len(self.inputs), len(self.nodes), len(self._values), set(self._used)
        args = op.operands(self)
        if args is not None:
            types = tuple(arg.type for arg in args)
            attrs = op.attrs(self.source, types)
            made = [item.value.type for item in self.inputs[mark[0] :]]
            if attrs is not None and all(t.numel <= self.limits.max_numel for t in (*made, *op.results(types, attrs))):
                self.emit(op, args, attrs)
                if not connected or self._reads_a_result(mark[1]):
                    return True
        del self.inputs[mark[0] :], self.nodes[mark[1] :], self._values[mark[2] :]
        self._used = mark[3]
        return False

    def _reads_a_result(self, since: int) -> bool:
        computed = {value.name for node in self.nodes[:since] for value in node.results}
        return any(name in computed for node in self.nodes[since:] for name in node.args)

    def graph(self) -> Graph:
        """Everything that no node consumes is an output; inputs that nobody uses are left out."""
        outputs = tuple(v.name for node in self.nodes for v in node.results if v.name not in self._used)
        used = {name for node in self.nodes for name in node.args}
        return Graph(tuple(i for i in self.inputs if i.value.name in used), tuple(self.nodes), outputs)
