"""`fuzz status` and `fuzz triage` answer fast: they load no lane, no operator and none of the campaign's machinery."""

from __future__ import annotations

import subprocess
import sys

import pytest

HEAVY = {
    "fuzzer.campaign.loop",
    "fuzzer.campaign.store",
    "fuzzer.isolate.protocol",
    "fuzzer.lanes",
    "fuzzer.report.repro",
    "fuzzer.triage.investigate",
    "generators.ops",
    "jinja2",
    "multiprocess",
    "rich",
    "torch",
    "tvm",
}


@pytest.mark.parametrize("verb", ["status", "triage"])
def test_a_verb_that_only_reads_loads_no_module_that_runs_lanes(verb: str) -> None:
    program = f"import sys, fuzzer.commands.{verb}; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    loaded = set(done.stdout.split())
    assert f"fuzzer.commands.{verb}" in loaded
    assert sorted(loaded & HEAVY) == []
