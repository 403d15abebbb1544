"""Fresh cases near a change: of the operators that run it, with the numbers that stand in its code."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace

from fuzzer.campaign.cases.guidance import Guidance
from fuzzer.campaign.plan.streams import Stream, choices
from fuzzer.campaign.store.features import of_case
from fuzzer.difference.focus import Focus
from generators.aimed_choice import AimedSource
from generators.builder import Limits
from generators.choice import ChoiceSource
from generators.dialect import Dialect, dialect_named
from generators.drawn_graph import DrawnGraph
from generators.graph import Case, Graph, Invalid
from generators.op import Op
from generators.table import dialect_of
from generators.torch.random_graph import draw_graph

CANDIDATES = 8

FEW_NODES = 3
"""The most calls of a case made of such operators: the failure of one operator hides those of the others."""

SINGLE_PERCENT = 60
"""How many of these cases in a hundred have a single call."""

OF_A_DTYPE = 4.0
"""A case with a dtype that the changed code names is worth this many times as much."""


@dataclass(slots=True)
class NearCases:
    """Draws cases for a focus. Not thread-safe.

    classes  the features of the focus' rows that candidates had: dtypes and ranks, classes of attributes, forms
    """

    seed: int
    guidance: Guidance
    focus: Focus
    classes: set[str] = field(default_factory=set)

    def single(self, op: Op, number: int) -> Case | None:
        """A case with one call of an operator; None where it needs another one before it."""
        source = choices(self.seed, number, Stream.DIFF_OPERATOR)
        with suppress(Invalid):
            return self._drawn(source, [op], limits_of(1), f"the operator {op.name}", symbolic=False).case()
        return None

    def near(self, source: ChoiceSource, ops: Sequence[Op], index: int) -> Case | None:
        """The newest of some cases made of these operators; None where none can be made."""
        op = source.choice(ops)
        beside = [each for each in ops if dialect_of(each.name) is dialect_of(op.name)]
        candidates: list[DrawnGraph] = []
        for number in range(CANDIDATES):
            drawing = AimedSource(choices(self.seed, index, Stream.DIFF_CANDIDATE, number), self.focus.numbers)
            single = drawing.chance(SINGLE_PERCENT)
            with suppress(Invalid):
                rows, limits = ([op], limits_of(1)) if single else (beside, limits_of(FEW_NODES))
                limits = replace(limits, sizes=self.focus.sizes)
                candidates.append(self._drawn(drawing, rows, limits, f"seed {self.seed} test {index}"))
        self.classes.update(*(self._classes(candidate.graph) for candidate in candidates))
        newest = max(candidates, key=lambda candidate: self._worth(candidate.graph), default=None)
        return newest.case() if newest else None

    def for_a_pass(self, index: int) -> Case | None:
        """A case that begins with a motif that a changed pass rewrites; None where no motif is known."""
        if not self.focus.motifs:
            return None
        source = AimedSource(choices(self.seed, index, Stream.DIFF_CANDIDATE), self.focus.numbers)
        limits = replace(Limits(), sizes=self.focus.sizes)
        origin = f"seed {self.seed} test {index}"
        return draw_graph(source, limits, origin=origin, motifs=self.focus.motifs, motif_percent=100).case()

    def _drawn(
        self, source: ChoiceSource, ops: Sequence[Op], limits: Limits, origin: str, symbolic: bool | None = None
    ) -> DrawnGraph:
        dialect = dialect_of(ops[0].name)
        return dialect.draw(source, limits, ops, origin, symbolic=symbolic, opset=opset_of(dialect, source, ops))

    def _worth(self, graph: Graph) -> float:
        worth = self.guidance.worth(graph)
        named = any(type.dtype in self.focus.dtypes for type in graph.types.values())
        return worth * OF_A_DTYPE if named else worth

    def _classes(self, graph: Graph) -> Iterator[str]:
        names = self.focus.names
        return (name for name in of_case(graph) if name.split(" ")[1] in names)


def limits_of(nodes: int) -> Limits:
    return replace(Limits(), max_nodes=nodes)


def opset_of(dialect: Dialect, source: ChoiceSource, ops: Sequence[Op]) -> int | None:
    """An opset at which one of the operators may be drawn; None in a dialect without opsets."""
    if dialect.opsets is None:
        return None
    op = source.choice(ops)
    possible = [opset for opset in dialect.opsets.drawn() if dialect.has(op.name, opset)]
    return source.choice(possible) if possible else None


def families_of(ops: Sequence[Op]) -> tuple[Op, ...]:
    """The operators of the files of these rows: their neighbours."""
    found = (each for op in ops for each in dialect_named(dialect_of(op.name).name).families()[op.name])
    return tuple({op.name: op for op in found}.values())
