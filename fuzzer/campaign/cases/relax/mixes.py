"""What a campaign draws where it draws all operators of Relax: nothing but these."""

from __future__ import annotations

from collections.abc import Sequence

from fuzzer.campaign.cases.mixes import Mixes
from generators.choice import ChoiceSource
from generators.op import Op
from generators.relax.dialect import DIALECT


def mix(_: ChoiceSource) -> Sequence[Op]:
    return DIALECT.drawn()


MIXES = Mixes(mix=mix, draw=DIALECT.draw)
