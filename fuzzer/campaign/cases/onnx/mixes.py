"""What a campaign draws where it draws all operators of ONNX: nothing but these."""

from __future__ import annotations

from collections.abc import Sequence

from fuzzer.campaign.cases.mixes import Mixes
from generators.choice import ChoiceSource
from generators.onnx.dialect import DIALECT
from generators.op import Op


def mix(_: ChoiceSource) -> Sequence[Op]:
    return DIALECT.drawn()


MIXES = Mixes(mix=mix, draw=DIALECT.draw)
