"""An output has memory of its own, unless PyTorch's output is a view of the same input.

Otherwise a caller that writes into the output changes the input too. Not judged: outputs that share memory with each
other (no lane records this), and inputs that PyTorch received with unusual strides. PyTorch may copy such an input
where TVM, which receives it compact, gives a view.
"""

from __future__ import annotations

from collections.abc import Iterator

from generators.graph import Case, Layout
from oracles.finding import Finding, Kind, SideEffect, component_of
from oracles.lane import is_reference
from oracles.outcome import Outcomes, Ran, Stage
from oracles.reference import eager_run


def aliased_outputs(case: Case, outcomes: Outcomes) -> Iterator[Finding]:
    eager = eager_run(outcomes)
    compact = {item.value.name for item in case.graph.inputs if item.layout is Layout.CONTIGUOUS}
    for lane, out in outcomes.items():
        if eager is None or is_reference(lane) or not isinstance(out, Ran):
            continue
        shared = tuple(pair for pair in out.facts.aliases if pair not in eager.facts.aliases and pair[1] in compact)
        if shared:
            evidence = SideEffect(aliases=shared)
            yield Finding(Kind.ALIASED_OUTPUT, component_of(lane, Stage.RUN), lane, Stage.RUN, evidence)
