"""Tests of benchmarks/ import its scripts by their names, as the scripts import each other."""

from __future__ import annotations

import sys
from pathlib import Path

for folder in ("benchmarks", "benchmarks/watched", "benchmarks/sampled"):
    sys.path.append(str(Path(__file__).parents[2] / folder))  # last: their names are short
