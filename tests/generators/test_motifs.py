"""Motifs fit: a rule of the builder that refuses one would go unseen, for campaigns then draw something else."""

from __future__ import annotations

import pytest

from generators.builder import Builder
from generators.choice import NumpySource
from generators.motifs import MOTIFS, Motif


@pytest.mark.parametrize("motif", MOTIFS, ids=lambda motif: motif.name)
def test_every_draw_of_a_motif_fits_an_empty_graph(motif: Motif) -> None:
    assert all(motif.grow(Builder(NumpySource(seed))) for seed in range(20))
