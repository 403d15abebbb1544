"""Tests whose case is drawn for a pass: some passes rewrite only patterns that random graphs seldom have."""

from __future__ import annotations

import functools
from dataclasses import dataclass, replace

from fuzzer.campaign.plan.streams import Stream, choices
from generators.builder import Builder
from generators.choice import NumpySource
from generators.op import Op
from generators.table import TABLE
from generators.torch.motif_table import MOTIFS
from generators.torch.motifs import Motif
from generators.torch.ops import OPS
from generators.torch.varied_motifs import VARIED_MOTIFS
from oracles.transforms import TRANSFORMS, Transform

PERCENT = 5
"""The percentage of tests whose case is drawn for a pass."""


OPEN_PERCENT = 25
"""The percentage of these cases whose sizes stay open in the module, if the pass has a motif that draws open sizes, or
has no motif."""

DRAWS = 8
"""How many draws of a motif say which operators it always has."""


@dataclass(frozen=True, slots=True)
class PassTest:
    """A pass, and what wakes it: motifs; or, where no motif is known for it, operators. `open_sizes` says whether the
    case has symbolic sizes: then its motifs are those that draw such sizes."""

    row: Transform
    motifs: tuple[Motif, ...]
    ops: tuple[Op, ...]
    open_sizes: bool = False

    def may_act_on(self, ops: frozenset[str]) -> bool:
        """Whether a case with these rows has one that the pass rewrites, or all that one of its motifs has. A case
        may lack them: it comes from the corpus, or the user said which operators are drawn."""
        return any(self.row.rewrites(TABLE[op]) for op in ops) or any(_operators(motif) <= ops for motif in self.motifs)


@functools.cache
def _operators(motif: Motif) -> frozenset[str]:
    """The operators that the motif has in every draw."""
    builders = [Builder(NumpySource(seed)) for seed in range(DRAWS)]
    for builder in builders:
        motif.grow(builder)
    return frozenset.intersection(*(frozenset(node.op for node in builder.nodes) for builder in builders))


def _pass_test(row: Transform) -> PassTest:
    motifs = tuple(motif for motif in MOTIFS if row.pass_name in motif.triggers)
    return PassTest(row, motifs, tuple(op for op in OPS if row.rewrites(op)))


PASS_TESTS = tuple(test for test in map(_pass_test, TRANSFORMS) if test.motifs or test.ops)
"""The passes that need some pattern or operator. All other passes have something to do in every case."""


@functools.lru_cache(64)
def pass_test(seed: int, index: int) -> PassTest | None:
    """The pass that the case of a test is drawn for; None for most tests. It depends on the arguments alone."""
    source = choices(seed, index, Stream.PASS)
    if not source.rarely(PERCENT):
        return None
    drawn = source.choice(PASS_TESTS)
    varied = tuple(motif for motif in drawn.motifs if motif in VARIED_MOTIFS)
    if not source.rarely(OPEN_PERCENT) or (drawn.motifs and not varied):
        return drawn
    return replace(drawn, motifs=varied, open_sizes=True)
