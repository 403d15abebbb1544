"""All that `make docs` writes."""

from __future__ import annotations

import campaign_recorded
import corpus_counted
import families_scored
import findings_shown
import golden_texts
import lanes_listed
import lines_counted
import operators_counted
import outputs_shown
import packages_drawn
import pages_quoted
import planted_counted
import programs_listed
import tables_shown
import upstream_listed
from written_text import Written

ROWS: tuple[Written, ...] = (
    *packages_drawn.ROWS,
    *lanes_listed.ROWS,
    *operators_counted.ROWS,
    *outputs_shown.ROWS,
    *tables_shown.ROWS,
    *findings_shown.ROWS,
    *pages_quoted.ROWS,
    *campaign_recorded.ROWS,
    *corpus_counted.ROWS,
    *families_scored.ROWS,
    *planted_counted.ROWS,
    *upstream_listed.ROWS,
    *lines_counted.ROWS,
    *programs_listed.ROWS,
    *golden_texts.ROWS,
)
