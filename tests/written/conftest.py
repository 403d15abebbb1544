"""Scripts of benchmarks/ draw and count some of what documents quote."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parents[2] / "benchmarks"))  # last: their names are short
