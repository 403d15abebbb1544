"""The gradients of TVM's `Gradient` pass equal those of torch.autograd, within the tolerance that results have."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from generators.graph import Case
from oracles.compare import judge
from oracles.finding import Component, Finding, Kind
from oracles.lane import Engine, returns_gradients
from oracles.outcome import Outcomes, Ran, Stage
from oracles.reference import GRADIENT, expected

AUTOGRAD = "torch.autograd"
VALUE = 0
"""The position of the output that is differentiated. The outputs after it are its gradients."""


def gradient_equals_autograd(case: Case, outcomes: Outcomes) -> Iterator[Finding]:
    right = expected(outcomes, GRADIENT)
    for lane, out in outcomes.items():
        if right is None or lane.engine is not Engine.TVM or not returns_gradients(lane) or not isinstance(out, Ran):
            continue
        if found := judge(out.outputs, right):
            kind, evidence = found
            if evidence.output == VALUE and kind is not Kind.WRONG_ARITY:
                continue  # these are gradients of another function: the oracles that judge results find that
            yield Finding(kind, Component.TVM, lane, Stage.RUN, replace(evidence, against=AUTOGRAD))
