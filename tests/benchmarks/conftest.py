"""Tests of benchmarks/ import its scripts by their names, as the scripts import each other."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parents[2] / "benchmarks"))  # last: its names are short
