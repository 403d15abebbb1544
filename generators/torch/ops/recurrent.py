"""Recurrent layers over sequences, and their cells. Floats only: PyTorch accepts integers here only by accident."""

from __future__ import annotations

from dataclasses import dataclass

from generators.builder import Builder
from generators.choice import ChoiceSource
from generators.domain import ANY, within
from generators.graph import FLOATS, Attrs, Form, TensorType, Value
from generators.op import BOOL, INT, AttrKind, Layer, Op, Types, int_of, require
from generators.shared.draws import accepted
from generators.torch.ops.contraction import exactly
from generators.torch.ops.rules import require_dtype, require_same_dtype

WIDTHS = (1, 2, 3, 4, 5, 8)
STEPS = 12
"""The most steps of a sequence: importers unroll them, and without a bound (relu) numbers grow with each step."""


@dataclass(frozen=True, slots=True)
class Cell:
    """A kind of cell.

    name     its name in torch
    layer    its layer in torch.nn
    gates    how many gates its weights stack
    states   how many states it has
    options  further arguments of its layer
    """

    name: str
    layer: str
    gates: int
    states: int = 1
    options: str = ""


CELLS = (
    Cell("lstm", "LSTM", 4, states=2),
    Cell("gru", "GRU", 3),
    Cell("rnn_tanh", "RNN", 1),
    Cell("rnn_relu", "RNN", 1, options=', nonlinearity="relu"'),
)


@dataclass(frozen=True, slots=True)
class CellSizes:
    """The sizes of a cell. `out` is the number of its outputs: `hidden`, or fewer in a projected LSTM."""

    features: int
    hidden: int
    out: int


def _cell_count(attrs: Attrs) -> int:
    return int_of(attrs, "num_layers") * (2 if attrs["bidirectional"] else 1)


def _weights(cell: Cell, sizes: CellSizes, attrs: Attrs) -> dict[str, tuple[int, ...]]:
    """The shapes of the parameters by their names in torch.nn, in the order in which the functions take them."""
    ways = ("", "_reverse") if attrs["bidirectional"] else ("",)
    rows = cell.gates * sizes.hidden
    found: dict[str, tuple[int, ...]] = {}
    for layer in range(int_of(attrs, "num_layers")):
        features = sizes.out * len(ways) if layer else sizes.features
        for way in ways:
            end = f"l{layer}{way}"
            found |= {f"weight_ih_{end}": (rows, features), f"weight_hh_{end}": (rows, sizes.out)}
            if attrs["has_biases"]:
                found |= {f"bias_ih_{end}": (rows,), f"bias_hh_{end}": (rows,)}
            if sizes.out != sizes.hidden:
                found[f"weight_hr_{end}"] = (sizes.out, sizes.hidden)
    return found


_NAMES = tuple(
    _weights(CELLS[0], CellSizes(1, 1, 1), {"num_layers": 2, "bidirectional": True, "has_biases": True}),
)


def _params(b: Builder, cell: Cell, x: Value, shapes: list[tuple[int, ...]]) -> list[Value]:
    """Small weights for relu, and half of the time for the others: large weights saturate most gates."""
    small = cell.name == "rnn_relu" or b.source.chance(50)
    return [b.param(x.type.dtype, *shape, domain=within(-1, 1) if small else ANY) for shape in shapes]


@dataclass(frozen=True, slots=True)
class SequenceRow:
    """One row for a layer over sequences.

    has_states  whether the initial states are operands; otherwise they are zeros
    batched     whether there is a batch of sequences; otherwise there is one sequence
    """

    cell: Cell
    has_states: bool
    batched: bool

    @property
    def states(self) -> int:
        """The number of operands that are initial states."""
        return self.cell.states if self.has_states else 0

    def row(self) -> Op:
        cell, states = self.cell, self.states
        suffix = "" if self.has_states else "_zero_state" if self.batched else "_unbatched"
        schema: dict[str, AttrKind] = {"has_biases": BOOL, "num_layers": INT, "bidirectional": BOOL}
        if self.batched:
            schema["batch_first"] = BOOL
        start = ("", ", {1}", ", ({1}, {2})")[states]
        end = "({out1}, {out2})" if cell.states > 1 else "{out1}"
        call = f"{{out0}}, {end} = {{self}}({{0}}{start})"
        return Op(
            cell.name + suffix,
            self.operands,
            self.infer,
            self.plain,
            self.attrs,
            schema,
            arity=(3 + states, 1 + states + len(_NAMES) + 4),
            terms=self.terms,
            scale=1.0,  # 1 - z of a gate
            forms={Form.MODULE: Layer(self.layer, _NAMES, 1 + states, call, when=self.is_layer)},
        )

    def sizes(self, types: Types) -> CellSizes:
        """The sizes, from the weights of the first cell: its second weight has a column for each output."""
        name, gates = self.cell.name, self.cell.gates
        first, second = types[1 + self.states : 3 + self.states]
        require(first.rank == second.rank == 2, f"{name}: weights must be matrices, not {first} and {second}")
        require(first.sizes[0] % gates == 0, f"{name}: the weight {first} must stack {gates} gates")
        sizes = CellSizes(first.sizes[1], first.sizes[0] // gates, second.sizes[1])
        projected = sizes.out < sizes.hidden and self.cell.states == 2
        require(sizes.out > 0 and (projected or sizes.out == sizes.hidden), f"{name}: {first} and {second} do not fit")
        return sizes

    def infer(self, types: Types, attrs: Attrs) -> Types:
        require_dtype(types, *FLOATS)
        require_same_dtype(types)
        name, x, sizes = self.cell.name, types[0], self.sizes(types)
        require(0 < int_of(attrs, "num_layers") <= len(types), f"{name}: the weights are for other layers")
        require(x.rank == 2 + self.batched, f"{name} takes rank {2 + self.batched}, not {x}")
        require(x.sizes[-1] == sizes.features, f"{name}: {x} does not fit the weights")
        steps, *batch = self.steps(x, bool(attrs.get("batch_first")))
        require(steps > 0, f"{name} takes at least one step, not {x}")
        found = [t.sizes for t in types[1 + self.states :]]
        wanted = list(_weights(self.cell, sizes, attrs).values())
        require(found == wanted, f"{name}: the weights are {found}, not {wanted}")
        ends = [
            x.with_shape(_cell_count(attrs), *batch, size) for size in (sizes.out, sizes.hidden)[: self.cell.states]
        ]
        require(not self.has_states or list(types[1 : 1 + self.states]) == ends, f"{name}: the states are not {ends}")
        return x.with_shape(*x.sizes[:-1], sizes.out * (2 if attrs["bidirectional"] else 1)), *ends

    @staticmethod
    def steps(x: TensorType, batch_first: bool) -> tuple[int, ...]:
        """The number of steps and, for a batch, the number of sequences."""
        return x.sizes[:-1][:: -1 if batch_first else 1]

    def operands(self, b: Builder) -> tuple[Value, ...]:
        source, cell = b.source, self.cell
        attrs: Attrs = {
            "num_layers": source.choice((1, 1, 2)),
            "bidirectional": source.chance(35),
            "has_biases": source.chance(75),
        }
        batch_first = self.batched and source.chance(40)
        x = self.sequence(b, axis=1 if batch_first else 0)
        hidden = source.choice(WIDTHS)
        projected = cell.states == 2 and hidden > 1 and source.chance(20)
        sizes = CellSizes(x.type.sizes[-1], hidden, source.integer(1, hidden - 1) if projected else hidden)
        _, *batch = self.steps(x.type, batch_first)
        widths = (sizes.out, sizes.hidden)[: self.states]
        starts = [exactly(b, x.type.with_shape(_cell_count(attrs), *batch, width)) for width in widths]
        return x, *starts, *_params(b, cell, x, list(_weights(cell, sizes, attrs).values()))

    def sequence(self, b: Builder, axis: int) -> Value:
        rank = 2 + self.batched

        def otherwise() -> TensorType:
            shape = list(b.shape(rank))
            if not 0 < shape[axis] <= STEPS:
                shape[axis] = b.source.integer(1, 4)
            return TensorType(b.dtype(FLOATS), tuple(shape))

        return b.pick(lambda t: t.dtype in FLOATS and t.rank == rank and 0 < t.sizes[axis] <= STEPS, otherwise)

    def attrs(self, source: ChoiceSource, types: Types) -> Attrs | None:
        """Draw attributes that fit the operands. Weights may fit two layers or directions, and the batch either dim."""
        flags = (False, True)
        options: list[Attrs] = [
            {"has_biases": biases, "num_layers": layers, "bidirectional": both}
            for biases in flags
            for layers in (1, 2)
            for both in flags
        ]
        if self.batched:
            options = [{**attrs, "batch_first": first} for attrs in options for first in flags]
        fitting = accepted(self.infer, types, options)
        return source.choice(fitting) if fitting else None

    def plain(self, args: tuple[str, ...], attrs: Attrs) -> str:
        """The functions need initial states and a batch, so the source makes them where the layers need none."""
        cell, x, starts, weights = self.cell, args[0], args[1 : 1 + self.states], args[1 + self.states :]
        if not self.has_states:
            batch = f"{x}.shape[{0 if attrs['batch_first'] else 1}]" if self.batched else "1"
            sizes = f"{weights[1]}.shape[1]", f"{weights[1]}.shape[0] // {cell.gates}"
            starts = tuple([f"{x}.new_zeros({_cell_count(attrs)}, {batch}, {size})" for size in sizes[: cell.states]])
        start = f"({', '.join(starts)})" if cell.states > 1 else starts[0]
        flags = f"{attrs['has_biases']}, {attrs['num_layers']}, 0.0, False, {attrs['bidirectional']}"
        call = (
            f"torch.{cell.name}({x}{'' if self.batched else '.unsqueeze(1)'}, {start}, [{', '.join(weights)}], "
            f"{flags}, {attrs.get('batch_first', False)})"
        )
        if self.batched:
            return call
        outs = [f"{{out{i}}}" for i in range(1 + cell.states)]
        return f"{', '.join(outs)} = {call}\n{', '.join(outs)} = {', '.join(f'{out}.squeeze(1)' for out in outs)}"

    def layer(self, types: Types, attrs: Attrs) -> str:
        sizes, options = self.sizes(types), self.cell.options
        if attrs["num_layers"] != 1:
            options += f", num_layers={attrs['num_layers']}"
        if not attrs["has_biases"]:
            options += ", bias=False"
        options += "".join(f", {key}=True" for key in ("batch_first", "bidirectional") if attrs.get(key))
        if sizes.out != sizes.hidden:
            options += f", proj_size={sizes.out}"
        return f"torch.nn.{self.cell.layer}({sizes.features}, {sizes.hidden}{options})"

    def is_layer(self, types: Types, attrs: Attrs) -> bool:
        """Only with biases and in both directions: a `Layer` has one order of parameter names."""
        sizes = self.sizes(types)
        names = tuple(_weights(self.cell, sizes, attrs))
        return sizes.features > 0 and names == _NAMES[: len(names)]

    def terms(self, types: Types, attrs: Attrs) -> int:
        sizes = self.sizes(types)
        return (sizes.features + sizes.out) * max(types[0].sizes[:-1])


# --- single steps


def _cell_row(cell: Cell) -> Op:
    inputs = 1 + cell.states

    def infer(types: Types, attrs: Attrs) -> TensorType | Types:
        require_dtype(types, *FLOATS)
        require_same_dtype(types)
        x, state, *rest = types
        require(x.rank == state.rank == 2, f"{cell.name}_cell takes rank 2, not {x} and {state}")
        require(state.sizes == (x.sizes[0], state.sizes[1]), f"{cell.name}_cell: {x} and {state} differ in batch")
        require(cell.states == 1 or rest.pop(0) == state, f"{cell.name}_cell: the states differ")
        rows = cell.gates * state.sizes[1]
        wanted = [(rows, x.sizes[1]), (rows, state.sizes[1]), (rows,), (rows,)]
        found = [t.sizes for t in rest]
        require(found in (wanted, wanted[:2]), f"{cell.name}_cell: the weights are {found}, not {wanted}")
        return (state,) * cell.states if cell.states > 1 else state

    def operands(b: Builder) -> tuple[Value, ...]:
        x = b.tensor(FLOATS, ranks=(2, 2))
        (batch, features), hidden = x.type.sizes, b.source.choice(WIDTHS)
        starts = [exactly(b, x.type.with_shape(batch, hidden)) for _ in range(cell.states)]
        rows = cell.gates * hidden
        shapes = [(rows, features), (rows, hidden), *([(rows,)] * 2 if b.source.chance(75) else [])]
        return x, *starts, *_params(b, cell, x, shapes)

    def plain(args: tuple[str, ...], attrs: Attrs) -> str:
        return f"torch.{cell.name}_cell({_start(args)}, {', '.join(args[inputs:])})"

    def call(args: tuple[str, ...], attrs: Attrs) -> str:
        return f"{{self}}({_start(args)})"

    def _start(args: tuple[str, ...]) -> str:
        return f"{args[0]}, ({args[1]}, {args[2]})" if cell.states > 1 else f"{args[0]}, {args[1]}"

    def layer(types: Types, attrs: Attrs) -> str:
        bias = "" if len(types) > inputs + 2 else ", bias=False"
        return f"torch.nn.{cell.layer}Cell({types[0].sizes[1]}, {types[1].sizes[1]}{bias}{cell.options})"

    return Op(
        f"{cell.name}_cell",
        operands,
        infer,
        plain,
        arity=(inputs + 2, inputs + 4),
        terms=lambda types, attrs: types[0].sizes[1] + types[1].sizes[1],
        scale=1.0,
        forms={Form.MODULE: Layer(layer, ("weight_ih", "weight_hh", "bias_ih", "bias_hh"), inputs, call)},
    )


OPS = (
    *(SequenceRow(cell, has_states=True, batched=True).row() for cell in CELLS),
    *(SequenceRow(cell, has_states=False, batched=True).row() for cell in CELLS),
    *(SequenceRow(cell, has_states=False, batched=False).row() for cell in CELLS),
    *map(_cell_row, CELLS),
)
