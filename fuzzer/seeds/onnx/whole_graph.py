"""An ONNX file as one graph with all of its nodes: calls of rows where these say the same, and otherwise the nodes as
they are in the file (`generators.onnx.unlisted`).

Nodes with a value between them that no case holds, such as a sequence, are one call. A value of a small type, such as
float8, is held in a wider dtype.

Nothing is computed before the model runs, no branch is taken, and no node is left out. The types of values come from
the file and from ONNX's own inference of types. Where these do not tell all of them, such as sizes that depend on data,
onnxruntime runs the file once, and the types are those of this run.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from fuzzer.seeds.bounds import MAX_RANK, require_sizes
from fuzzer.seeds.cut import complete
from fuzzer.seeds.domains import draw_case
from fuzzer.seeds.onnx import file as onnx_file
from fuzzer.seeds.onnx.calls import form_of, kept_numbers, role_of, why_no_version
from fuzzer.seeds.onnx.file import dtype_of, in_order, title_of, types_of
from fuzzer.seeds.onnx.graph import OPAQUE, OnnxGraph
from fuzzer.seeds.onnx.groups import groups, reads_of
from fuzzer.seeds.order import in_order as in_topological_order
from fuzzer.seeds.resolved import Resolved
from generators.choice import NumpySource
from generators.graph import Array, Input, Invalid, Node, TensorType, Value
from generators.onnx import model, unlisted
from generators.onnx.call_of import Known, Surroundings, call_of
from generators.onnx.dialect import DIALECT
from generators.onnx.several import call_of_several
from generators.onnx.small_types import SMALL_TYPES, SmallType
from generators.values import draw


def whole_file(graph: OnnxGraph, path: Path, given: Mapping[str, Array] = {}) -> Resolved:
    """Return the file with a call for each of its nodes. `given` are numbers of inputs, by name; where a run tells the
    types, others are drawn, and are among the constants of the result.

    Raise `NotHeld` where the model takes or returns a value that no case holds, and `Invalid` where the nodes are in no
    order, where onnxruntime does not run the file, and where a node is none that a case can have."""
    nodes = tuple(in_order(graph, path, graph.unchanged or graph.nodes))
    file = _File(graph, path, nodes, _held_types(graph, path), _opaque(graph))
    file.require_ends()
    calls = file.calls()
    kept = kept_numbers(graph)
    if file.untyped:
        kept = _all_numbers(file, calls, {**kept, **given})
        drawn = [name for name in graph.inputs if name not in given]
        file = file.after_run(onnx_file.types_in_run(path, kept, drawn))
        file.require_ends()
        calls = file.calls()
    return Resolved(
        path.stem,
        DIALECT.name,
        calls,
        file.types,
        len(nodes),
        len(nodes) - file.unlisted.total(),
        Counter(),
        {name: role_of(name, graph, file.types) for name in graph.owned},
        kept,
        frozenset(graph.inputs),
        graph.outputs,
        graph.opset,
        graph.open,
        unlisted=file.unlisted,
        small={name: small.name for name, small in file.small.items() if name in file.types},
    )


class NotHeld(Invalid):
    """A model takes or returns a value that no case holds. The message names it, its type, and what makes or reads
    it."""


def _held_types(graph: OnnxGraph, path: Path) -> dict[str, TensorType]:
    """The types of values as a case holds them, as far as they are known."""
    found = types_of(graph, path)
    for name, (element, sizes) in graph.types.items():
        if element in SMALL_TYPES and None not in sizes:
            found[name] = TensorType(SMALL_TYPES[element].held, tuple(size for size in sizes if size is not None))
    return found


def _opaque(graph: OnnxGraph) -> frozenset[str]:
    """The values that no case holds, as far as their types are known."""
    return frozenset(name for name, (element, _) in graph.types.items() if _is_opaque(element))


def _is_opaque(element: str) -> bool:
    return element not in ("", UNDEFINED, *SMALL_TYPES) and dtype_of(element) is None


@dataclass
class _File:
    """The nodes of a file, and the types of its values as far as they are known.

    opaque    the values that no case holds
    untyped   values whose types are not known: the nodes that make or read them have no call
    unlisted  how often a node has no row, by its title and the reason
    """

    graph: OnnxGraph
    path: Path
    nodes: tuple[model.Node, ...]
    types: dict[str, TensorType]
    opaque: frozenset[str]
    untyped: list[str] = field(default_factory=list)
    unlisted: Counter[tuple[str, str]] = field(default_factory=Counter)

    def calls(self) -> tuple[Node, ...]:
        """The calls of all nodes whose values have known types, in order."""
        found = [[self.nodes[place] for place in places] for places in groups(self.nodes, self.opaque)]
        made = [call for nodes in found if (call := self._call_of_group(nodes))]
        return tuple(in_topological_order(made))

    @property
    def small(self) -> dict[str, SmallType]:
        """The values of small types."""
        types = self.graph.types.items()
        return {name: SMALL_TYPES[element] for name, (element, _) in types if element in SMALL_TYPES}

    def require_ends(self) -> None:
        """Raise `NotHeld` where the model takes or returns what no case holds."""
        makers = {name: node for node in self.nodes for name in node.outputs if name}
        for name in (*self.graph.inputs, *self.graph.owned, *self.graph.outputs):
            if name in self.opaque:
                element = self.graph.types.get(name, ("", ()))[0]
                raise NotHeld(f"{self.path}: {_refused(name, element, makers.get(name), self._reader(name))}")

    def _reader(self, name: str) -> model.Node | None:
        return next((node for node in self.nodes if name in reads_of(node)), None)

    def _call_of_group(self, nodes: Sequence[model.Node]) -> Node | None:
        for node in nodes:
            if opaque := OPAQUE.get(node.domain):
                raise NotHeld(f"{self.path}: {_named(node)} {opaque}, which no case can hold")
        touched = {name for node in nodes for name in (*reads_of(node), *node.outputs)}
        odd = touched & (self.opaque | self.small.keys())
        return self._several(nodes, odd) if odd else self._call(nodes[0])

    def _several(self, nodes: Sequence[model.Node], odd: Collection[str]) -> Node | None:
        """One call of these nodes; None where types of its values are not known, or where it has no result that a case
        holds. `odd` are the values that cases do not have as they are."""
        elements = sorted({self.graph.types.get(name, ("", ()))[0] for name in odd})
        for node in nodes:
            self.unlisted[title_of(node), f"has values of {', '.join(map(_type_in_words, elements))}"] += 1
            self._require_known(node)
        made = {name: None for node in nodes for name in node.outputs if name}
        inside = {id(node) for node in nodes}
        outside = {name for node in self.nodes if id(node) not in inside for name in reads_of(node)}
        wanted = [name for name in made if name in outside or name in self.graph.outputs]
        wanted = wanted or [name for name in made if name not in self.opaque]
        reads = [name for node in nodes for name in reads_of(node) if name not in made]
        if not wanted or not self._are_typed([*reads, *wanted]):
            return None
        return call_of_several(nodes, wanted, self.graph.versions, self.types, self.small)

    def _call(self, node: model.Node) -> Node | None:
        try:
            call: Node | None = self._call_of_row(node)
        except Invalid as why:
            call = self._as_it_is(node, str(why))
        except (ArithmeticError, AssertionError, LookupError, TypeError, ValueError) as error:
            # rows expect operands and attributes that an exporter writes, and the file may have any
            call = self._as_it_is(node, f"its operands and attributes do not fit together ({type(error).__name__})")
        if call is not None:
            self.types |= {value.name: value.type for value in call.results}
        return call

    def _call_of_row(self, node: model.Node) -> Node:
        """The call of a row with the node's results. Raise `Invalid` where no row has it."""
        if why := why_no_version(node):
            raise Invalid(why)
        call = call_of(node, self._around)
        results = tuple(filter(None, node.outputs))
        if tuple(value.name for value in call.results) != results:
            raise Invalid("the row has fewer results")
        for value in call.results:
            known = self.types.get(value.name, value.type)
            if known != value.type or value.type.rank > MAX_RANK or min(value.type.sizes, default=0) < 0:
                raise Invalid(f"returns {known}, the row {value.type}")
        return call

    @property
    def _around(self) -> Surroundings:
        constants = self.graph.tensors.items()
        known = {name: Known(tensor.array, form_of(self.graph.written.get(name))) for name, tensor in constants}
        return Surroundings(self.graph.opset, self.types, known, ())

    def _as_it_is(self, node: model.Node, why: str) -> Node | None:
        """The node as it is, because of `why`; None where types of its values are not known."""
        self.unlisted[title_of(node), why] += 1
        self._require_known(node)
        try:
            return self._with_types(node)
        except Invalid as error:
            raise Invalid(f"{self.path}: {title_of(node)}: {error}") from None

    def _require_known(self, node: model.Node) -> None:
        try:
            unlisted.require_known(node)
        except Invalid as error:
            raise NotHeld(f"{self.path}: {title_of(node)}: {error}") from None

    def _with_types(self, node: model.Node) -> Node | None:
        if not self._are_typed([*reads_of(node), *filter(None, node.outputs)]):
            return None
        return unlisted.call_of(node, self.graph.versions.get(node.domain, 1), self.types)

    def _are_typed(self, names: Sequence[str]) -> bool:
        missing = [name for name in names if name not in self.types]
        self.untyped += missing
        return not missing

    def after_run(self, run: Mapping[str, tuple[str, tuple[int, ...]]]) -> _File:
        """The file with the types of all values: of a run, and of what no node makes. Raise `Invalid` for a value of
        which neither tells the type."""
        makers = {name: node for node in self.nodes for name in node.outputs if name}
        types = {name: type for name, type in _held_types(self.graph, self.path).items() if name not in makers}
        opaque = set(self.opaque)
        for name, node in makers.items():
            inferred = self.graph.types.get(name, ("", ()))[0]
            element, sizes = run.get(name, ("", ()))
            element = inferred if inferred == "BFLOAT16" else element  # onnxruntime computes it as float32
            dtype = SMALL_TYPES[inferred].held if inferred in SMALL_TYPES else dtype_of(element)
            if name in opaque:
                continue
            if not element:
                raise Invalid(f"{self.path}: {_refused(name, element, node)}")
            if dtype is None:
                opaque.add(name)
                continue
            require_sizes(name, sizes, str(self.path))
            types[name] = TensorType(dtype, sizes)
        return _File(self.graph, self.path, self.nodes, types, frozenset(opaque))


UNDEFINED = "UNDEFINED"
"""The element type of a value of which nothing says it."""


def _refused(name: str, element: str, maker: model.Node | None = None, reader: model.Node | None = None) -> str:
    """For example "no case holds a sequence: SequenceAt (node `first`) reads the value 's' of this type"."""
    what = f"no case holds {_type_in_words(element)}"
    if maker:
        return f"{what}: {_named(maker)} makes the value {name!r} of this type"
    if reader:
        return f"{what}: {_named(reader)} reads the value {name!r} of this type"
    return f"{what}: the value {name!r} is of this type"


_WORDS = {"SEQUENCE": "a sequence", "OPTIONAL": "an optional value", "STRING": "strings", "MAP": "a map"}


def _type_in_words(element: str) -> str:
    if not element or element == UNDEFINED:
        return "a value of an unknown type"
    return _WORDS.get(element, element.lower())


def _named(node: model.Node) -> str:
    return f"{title_of(node)} (node `{node.name}`)" if node.name else title_of(node)


# --- the numbers of a run


def _all_numbers(file: _File, calls: tuple[Node, ...], known: Mapping[str, Array]) -> dict[str, Array]:
    """Numbers for all inputs and weights: those that are known, and drawn ones that are in the domains of the calls
    that are known so far."""
    graph, types = file.graph, file.types
    if missing := [name for name in (*graph.inputs, *graph.owned) if name not in types]:
        element = graph.types.get(missing[0], ("", ()))[0]
        if dtype_of(element):
            raise Invalid(f"{file.path}: the file does not say the shape of {missing[0]!r}, as ONNX requires")
        raise Invalid(f"{file.path}: {_refused(missing[0], element)}")
    roles = {name: role_of(name, graph, types) for name in graph.owned}
    piece = complete(calls, types, roles, (), DIALECT.name, graph.opset)
    here = {own: name for own, name in piece.origins.items() if name in graph.inputs or name in roles}
    drawn = draw_case(NumpySource(0), piece.graph, {}).tensors
    found = {name: drawn[own] for own, name in here.items()}
    for name in (*graph.inputs, *graph.owned):
        if name not in found and name not in known:
            found[name] = draw(NumpySource(0), Input(Value("x0", types[name])))
    return {**found, **known}
