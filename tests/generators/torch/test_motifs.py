"""Every motif can be built. Campaigns would not notice a motif that never fits: they would draw other operators."""

from __future__ import annotations

import pytest

from generators.builder import Builder
from generators.choice import NumpySource
from generators.torch.motif_table import MOTIFS
from generators.torch.motifs import Motif


@pytest.mark.parametrize("motif", MOTIFS, ids=lambda motif: motif.name)
def test_every_draw_of_a_motif_fits_an_empty_graph(motif: Motif) -> None:
    assert all(motif.grow(Builder(NumpySource(seed))) for seed in range(20))
