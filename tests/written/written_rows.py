"""All that `make docs` writes."""

from __future__ import annotations

import findings_shown
import golden_texts
import operators_counted
import packages_drawn
import pages_quoted
from written_text import Written

ROWS: tuple[Written, ...] = (
    *packages_drawn.ROWS,
    *operators_counted.ROWS,
    *findings_shown.ROWS,
    *pages_quoted.ROWS,
    *golden_texts.ROWS,
)
