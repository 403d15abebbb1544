"""The numbers that files of a campaign may have."""

from __future__ import annotations

from typing import Annotated

import msgspec

Count = Annotated[int, msgspec.Meta(ge=0, le=1 << 53)]
Seconds = Annotated[float, msgspec.Meta(ge=0.0, le=1e15)]
"""Larger numbers in a file are no counts of a campaign: sums of them would be no numbers of SQLite."""
