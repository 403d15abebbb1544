"""Some of what documents quote comes from scripts of benchmarks/, and from what other tests are given."""

from __future__ import annotations

import sys
from pathlib import Path

for folder in ("tests/fuzzer/watching", "benchmarks"):
    sys.path.append(str(Path(__file__).parents[2] / folder))  # last: their names are short
