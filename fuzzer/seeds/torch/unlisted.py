"""Steps of a program without a row of their own as nodes of the row `torch_call`, with the types of the program.

A graph holds tensors of the usual dtypes. Steps that make or read other values (complex, sparse and quantized tensors,
numbers) become one node together, with all steps between them. A complex value that the program is given or returns is
held as its real view.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from fuzzer.seeds.components import components
from fuzzer.seeds.torch.program import Program, Step
from generators import syntax_tree
from generators.graph import Attrs, Node, TensorType, Value
from generators.torch.ops.aten import PREFIX, RANDOM
from generators.torch.ops.calls import HIGHER_ORDER, calls_in, written
from generators.torch.ops.sample import MOST_OPERANDS, MOST_RESULTS, NAME

TO_COMPLEX, TO_REAL = f"{PREFIX}view_as_complex.default", f"{PREFIX}view_as_real.default"
NO_VIEW = f"{PREFIX}resolve_conj.default"


class NoCall(Exception):
    """Steps are no node. The message gives the reason."""


@dataclass(frozen=True, slots=True)
class Regions:
    """The steps of a program that become nodes of `torch_call`, by their places.

    groups  each is one node; the places are in order
    lost    the other steps without a row, each with the reason
    """

    groups: tuple[tuple[int, ...], ...]
    lost: Mapping[int, str]


def regions(program: Program, lacking: Mapping[int, str]) -> Regions:
    """Find the nodes. `lacking` has the places of the steps without a row, each with the reason."""
    return _Grouping(program, lacking).done()


class _Grouping:
    def __init__(self, program: Program, lacking: Mapping[int, str]) -> None:
        self._steps, self._types, self._as_real = program.steps, program.types, program.as_real
        self._maker = {name: place for place, step in enumerate(program.steps) for name in step.results}
        self._reads = [reads_of(step) for step in program.steps]
        self._lacking = lacking
        self._lost: dict[int, str] = {}
        self._group = {place: {place} for place in lacking}  # shared by its members

    def done(self) -> Regions:
        for place, why in self._lacking.items():
            self._look_at(place, why)
        self._join()
        groups = []
        for group in _distinct(self._group.values()):
            if why := self._why_lost(group):
                self._lost |= {place: self._lost.get(place, why) for place in group & self._lacking.keys()}
            else:
                groups.append(tuple(sorted(group)))
        return Regions(tuple(sorted(groups)), self._lost)

    def _look_at(self, place: int, why: str) -> None:
        """Lose a step that cannot be called, or that reads what no case can hold."""
        step = self._steps[place]
        given = (name for name in self._reads[place] if name not in self._maker and name not in self._types)
        if not _can_be_called(step):
            self._lost[place] = _why_no_call(step, why)
        elif missing := next((name for name in given if name not in self._as_real), ""):
            self._lost[place] = f"reads {missing}, which no case can hold"

    def _why_lost(self, group: Collection[int]) -> str:
        """Why a group is no node: a step of it is lost, or cannot be called."""
        for place in sorted(group):
            step = self._steps[place]
            if place in self._lost or not _can_be_called(step):
                why = self._lost.get(place) or _why_no_call(step, "it cannot be called")
                return f"its values are no tensors of a case, and {step.title}: {why}"
        return ""

    def _join(self) -> None:
        """Join the steps that share a value that a graph cannot hold, and take in the steps between them: those on a
        way from one of them to another one."""
        for place in self._lacking:
            for name in self._reads[place]:
                if name in self._maker and name not in self._types:
                    self._unite({place, self._maker[name]})
        first = {place: min(self._group.get(place, {place})) for place in range(len(self._steps))}
        edges: dict[int, set[int]] = {name: set() for name in first.values()}
        for place, reads in enumerate(self._reads):
            for name in reads:
                if name in self._maker:
                    edges[first[self._maker[name]]].add(first[place])
        for joined in components(edges):
            if len(joined) > 1:
                self._unite(joined)

    def _unite(self, places: set[int]) -> None:
        """Make one group of those of these steps."""
        groups = _distinct([self._group.get(place, {place}) for place in places])
        largest = max(groups, key=len)
        for group in groups:
            if group is not largest:
                largest |= group
                self._group |= dict.fromkeys(group, largest)
        self._group |= dict.fromkeys(places, largest)


def _distinct(groups: Iterable[set[int]]) -> list[set[int]]:
    return list({id(group): group for group in groups}.values())


def reads_of(step: Step) -> tuple[str, ...]:
    """The values that a step reads, each once."""
    if step.exact:
        return step.exact.operands
    return tuple(dict.fromkeys(name for call in step.calls for name in call.operands))


def _why_no_call(step: Step, why: str) -> str:
    exact = step.exact
    if step.title.startswith(HIGHER_ORDER):
        return "a part of the model is a program of its own, which difftvm does not read"
    if exact is None:
        return why
    if exact.function in RANDOM:
        return "it draws random numbers, so that no two results can be compared"
    if not exact.function.startswith(PREFIX):
        return "is not a function of PyTorch's own"
    return f"{why}, and {exact.function} is not among the operators that a case may call"


def _can_be_called(step: Step) -> bool:
    exact = step.exact
    if exact is None or len(exact.places or step.results) != len(step.results):
        return False
    return calls_in("\n".join([*exact.branches, exact.call])) is not None


# --- one node


@dataclass(slots=True)
class _Text:
    """The calls of a node while they are written.

    names  what stands for each value
    """

    as_real: Mapping[str, TensorType]
    operands: list[str] = field(default_factory=list)
    branches: list[str] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)
    names: dict[str, str] = field(default_factory=dict)

    def call(self, text: str) -> str:
        name = f"t{len(self.lines)}"
        self.lines.append(f"{name} = {text}")
        return name

    def name_of(self, value: str, types: Mapping[str, TensorType]) -> str:
        if value not in self.names:
            name = f"a{len(self.operands)}"
            self.operands.append(value)
            self.names[value] = name if value in types else self.call(f"{TO_COMPLEX}({name})")
        return self.names[value]

    def add(self, step: Step, types: Mapping[str, TensorType]) -> None:
        exact = step.exact
        assert exact is not None
        operands = {f"a{index}": self.name_of(name, types) for index, name in enumerate(exact.operands)}
        branches = {f"f{index}": f"f{len(self.branches) + index}" for index in range(len(exact.branches))}
        self.branches += [_renamed(text, branches) for text in exact.branches]
        name = self.call(_renamed(exact.call, {**operands, **branches}))
        places = exact.places
        for index, result in enumerate(step.results):
            self.names[result] = name if places is None else f"{name}[{places[index]}]"

    def result(self, value: str, types: Mapping[str, TensorType]) -> str:
        if value in types:
            return self.names[value]
        return self.call(f"{TO_REAL}({self.call(f'{NO_VIEW}({self.names[value]})')})")


def node_of_steps(steps: Sequence[Step], wanted: Collection[str], program: Program) -> Node:
    """One node that computes the steps. `wanted` are the values that others read or that the program returns; where
    there is none, the node gives all values that a graph can hold. Raise `NoCall`."""
    types, text = program.types, _Text(program.as_real)
    try:
        for step in steps:
            text.add(step, types)
    except SyntaxError:
        raise NoCall("its calls cannot be read") from None
    held = {**program.as_real, **types}
    made = [name for step in steps for name in step.results if name in held]
    results = [name for name in made if name in wanted] or [name for name in made if name in types]
    if not results:
        raise NoCall("no case can hold its values, and what reads them is cut out")
    if len(results) > MOST_RESULTS or len(text.operands) > MOST_OPERANDS:
        counts = f"{len(results)} results and {len(text.operands)} operands"
        raise NoCall(f"has {counts}: a case takes {MOST_RESULTS} and {MOST_OPERANDS}")
    whole = len(steps) == len(text.lines) == 1 and _gives(steps[0], results)
    parts = [text.result(name, types) for name in results]
    *before, last = text.lines
    if whole or (len(parts) == 1 and last.startswith(f"{parts[0]} = ")):
        lines = [*before, last.partition(" = ")[2]]
    else:
        lines = [*text.lines, f"({', '.join(parts)})" if len(parts) > 1 else parts[0]]
    call = written(syntax_tree.parse("\n".join([*text.branches, *lines])))
    if calls_in(call) is None:
        raise NoCall("its calls are too long for a case")
    attrs: Attrs = {"call": call, "types": tuple(str(held[name]) for name in results)}
    values = tuple(Value(name, held[name]) for name in results)
    return Node(NAME, tuple(text.operands), attrs, values)


def _gives(step: Step, results: Sequence[str]) -> bool:
    """Whether the step's call gives these results, all of them and in this order."""
    assert step.exact is not None
    places = step.exact.places
    return list(step.results) == list(results) and (places is None or (len(places) > 1 and places == _first(places)))


def _first(places: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(range(len(places)))


def _renamed(text: str, names: Mapping[str, str]) -> str:
    """The text with other names; what stands in strings is no name."""

    class Renamed(ast.NodeTransformer):
        def visit_Name(self, node: ast.Name) -> ast.expr:
            return syntax_tree.parse_expression(names[node.id]).body if node.id in names else node

        def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
            node.name = names.get(node.name, node.name)
            return self.generic_visit(node)

    return written(Renamed().visit(syntax_tree.parse(text)))
