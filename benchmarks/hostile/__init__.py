"""Hostile files, and what commands do with them. `benchmarks/hostile_files.py` is the command line.

A campaign (`base`) is changed by a row (`rows`) or at random (`at_random`). A command (`commands`) reads it in a fork
of this process or in a new one, and its end is judged (`judging`).
"""

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parents[1] / "watched"))
