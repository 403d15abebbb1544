"""A graph that was drawn, before the values of its inputs are."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ParamSpec

from generators.graph import Case, Graph

P = ParamSpec("P")


@dataclass(frozen=True, slots=True)
class DrawnGraph:
    """`case` draws the values, and returns the case. It goes on with the choices of the graph, so it is called at most
    once. A campaign draws many graphs for each test, and runs one of them: the values of the others would be a third
    of the work."""

    graph: Graph
    case: Callable[[], Case]

    @classmethod
    def of(cls, case: Case) -> DrawnGraph:
        """The graph of a case that has its values."""
        return cls(case.graph, lambda: case)

    def then(self, change: Callable[[Case], Case]) -> DrawnGraph:
        """The same graph. Its case is changed when its values are drawn: its calls and their types stay the same."""
        return DrawnGraph(self.graph, lambda: change(self.case()))


def cases_of(draw: Callable[P, DrawnGraph]) -> Callable[P, Case]:
    """A function that draws a case: its graph as `draw` does, with the same arguments, and then its values."""

    def generate(*arguments: P.args, **keywords: P.kwargs) -> Case:
        return draw(*arguments, **keywords).case()

    return generate
