"""What a campaign draws where it draws all operators of PyTorch."""

from __future__ import annotations

from functools import partial

from fuzzer.campaign.cases.mixes import Mixes
from fuzzer.campaign.cases.torch.pass_tests import pass_test
from fuzzer.campaign.plan.unsupported_operators import UNSUPPORTED
from fuzzer.cases.open_sizes import at_each_size
from generators.choice import ChoiceSource
from generators.drawn_graph import DrawnGraph
from generators.limits import Limits
from generators.op import Op
from generators.torch.motif_table import MOTIFS
from generators.torch.ops import OPS
from generators.torch.random_graph import draw_graph
from oracles.importers import Importer


def _taken_by(*importers: Importer) -> tuple[Op, ...]:
    return tuple(op for op in OPS if not UNSUPPORTED.get(op.name, frozenset()) & set(importers))


_MIXES: tuple[tuple[int, tuple[Op, ...]], ...] = (
    (50, _taken_by(Importer.EXPORT, Importer.ONNX)),
    (75, _taken_by(Importer.EXPORT)),
    (85, _taken_by(Importer.EXPORT, Importer.FX)),
    (95, _taken_by(Importer.ONNX)),
    (100, OPS),
)
"""(limit, operators): a case whose random percentage is at most the limit is drawn from these operators."""


def operators(source: ChoiceSource) -> tuple[Op, ...]:
    """Draw the operators that a case may have: mostly those that several routes support, sometimes all."""
    percent = source.integer(1, 100)
    return next(ops for limit, ops in _MIXES if percent <= limit)


def for_pass(source: ChoiceSource, seed: int, index: int, limits: Limits, origin: str) -> DrawnGraph | None:
    """Draw a graph that begins with a motif that the pass rewrites, or that is made of operators that it rewrites. In
    some of these tests, it has symbolic sizes."""
    wanted = pass_test(seed, index)
    if wanted is None:
        return None
    ops, opened = wanted.ops or operators(source), wanted.open_sizes
    drawn = draw_graph(source, limits, ops, origin, symbolic=opened, motifs=wanted.motifs, motif_percent=100)
    return drawn.then(lambda case: source.choice(at_each_size(case))) if opened else drawn


def is_for_pass(seed: int, index: int) -> bool:
    return pass_test(seed, index) is not None


MIXES = Mixes(mix=operators, draw=partial(draw_graph, motifs=MOTIFS), for_pass=for_pass, is_for_pass=is_for_pass)
