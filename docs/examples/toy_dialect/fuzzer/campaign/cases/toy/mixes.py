"""What a campaign draws where it draws all operators of the toy: these."""

from __future__ import annotations

from fuzzer.campaign.cases.mixes import Mixes
from generators.toy.dialect import DIALECT

MIXES = Mixes(mix=lambda source: DIALECT.drawn(), draw=DIALECT.draw)
