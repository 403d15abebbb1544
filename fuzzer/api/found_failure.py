"""One failure that a function of this package found."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from oracles.finding import Component


@dataclass(frozen=True, slots=True)
class FoundFailure:
    """One failure of a model, reduced and saved.

    slug       the name of its folder
    title      what is wrong with this model, in one line
    kind       the kind of failure, such as `wrong-value`
    operators  the operators of the reduced model
    folder     the folder, with `issue.md`, `finding.json` and the case
    repro      a script in this folder that shows the failure
    replay     the command that runs the finding again
    component  who is at fault, such as `tvm`
    nodes      the numbers of the model's nodes that the reduced model has, from 0, in the order of its graph. Nothing
               where the model is no graph of difftvm's
    known_as   the name of the finding that was there before with the same failure, perhaps of another model, to which
               the folder, the script and the command belong; "" where the failure is new
    lanes      the lanes in which this model shows it
    inputs     the inputs of each run that showed it, such as "x [2, 4]". It was reduced once
    """

    slug: str
    title: str
    kind: str
    operators: tuple[str, ...]
    folder: Path
    repro: Path
    replay: str
    component: str = Component.TVM
    nodes: tuple[int, ...] = ()
    known_as: str = ""
    lanes: tuple[str, ...] = ()
    inputs: tuple[str, ...] = ()

    @property
    def line(self) -> str:
        """What is wrong. It says so where the failure is known, and with which inputs where there are several."""
        with_inputs = f"; with {some_of(self.inputs, ', with ')}" if len(self.inputs) > 1 else ""
        if not self.known_as:
            return f"{self.title}{with_inputs}"
        return f"the same failure as {self.known_as}, here at {self._place}: {self.title}{with_inputs}"

    @property
    def _place(self) -> str:
        """Its operators and nodes in the model: "`clamp` (node 7)"."""
        names = some_of([f"`{name}`" for name in dict.fromkeys(self.operators)], " + ")
        word = "node" if len(self.nodes) == 1 else "nodes"
        return f"{names} ({word} {some_of(list(map(str, self.nodes)), ', ')})" if self.nodes else names


SHOWN = 3
"""How many operators and nodes are shown."""


def some_of(words: Sequence[str], between: str) -> str:
    """The first words, and how many more there are."""
    more = len(words) - SHOWN
    return between.join(words[:SHOWN]) + (f" and {more} more" if more > 0 else "")
