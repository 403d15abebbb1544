"""The table of what no framework defines serves all dialects."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path


def test_the_rows_of_pytorch_load_no_row_of_onnx() -> None:
    program = "import sys, generators.torch.dialect; print([each for each in sys.modules if 'generators.onnx' in each])"
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[3])}
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, env=environment)
    assert (done.stdout, done.returncode) == ("[]\n", 0), done.stderr
