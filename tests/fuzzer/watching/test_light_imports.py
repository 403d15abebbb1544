"""`fuzz status` and `fuzz triage` answer fast: they load no array library, no lane, no operator and none of the
campaign's machinery."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

HEAVY = {
    "fuzzer.campaign.run.loop",
    "fuzzer.campaign.store.store",
    "fuzzer.isolate.protocol",
    "fuzzer.lanes",
    "fuzzer.report.repro",
    "fuzzer.triage.investigate",
    "generators.torch.ops",
    "jinja2",
    "ml_dtypes",
    "multiprocess",
    "numpy",
    "oracles.judge",
    "rich",
    "torch",
    "tvm",
}


@pytest.mark.slow
@pytest.mark.parametrize("verb", ["status", "triage"])
def test_a_verb_that_only_reads_loads_no_module_that_runs_lanes(verb: str, saved: Path, tmp_path: Path) -> None:
    program = "import atexit, sys; atexit.register(lambda: print(*sys.modules, file=sys.stderr))"
    program += f"; sys.argv = ['fuzz', *{[verb, '--campaign', str(tmp_path)]}]; from fuzzer import cli; cli.main()"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    loaded = set(done.stderr.split())
    assert {"status": "1 confirmed cause", "triage": saved.name}[verb] in done.stdout
    assert f"fuzzer.commands.{verb}" in loaded
    assert sorted(loaded & HEAVY) == []
