"""What a report says of the machine on which its failure was found."""

from __future__ import annotations

import platform
import subprocess
import sys

import pytest

from fuzzer.system.machine_facts import machine_facts, processor

X86 = "processor\t: 0\nmodel\t\t: 106\nmodel name\t: Some(R) CPU @ 2.00GHz\nflags\t\t: fpu\n\nmodel name\t: Another\n"
ARM = "processor\t: 0\nBogoMIPS\t: 50.00\nFeatures\t: fp asimd\n"


@pytest.mark.parametrize(
    ("cpuinfo", "architecture", "expected"),
    [
        (X86, "x86_64", "Some(R) CPU @ 2.00GHz (x86_64)"),
        (ARM, "aarch64", "aarch64"),
        ("", "x86_64", "x86_64"),
    ],
)
def test_the_processor_is_its_model_and_its_architecture(cpuinfo: str, architecture: str, expected: str) -> None:
    assert processor(cpuinfo, architecture) == expected


def test_the_facts_are_the_operating_system_and_the_processor() -> None:
    facts = machine_facts()
    assert facts["os"] == platform.platform()
    assert platform.machine() in facts["processor"]
    assert len(facts) == 2


def test_no_process_is_started_for_them() -> None:
    program = (
        "import sys; from fuzzer.system.machine_facts import machine_facts\n"
        "starts = ('subprocess.Popen', 'os.posix_spawn', 'os.fork')\n"
        "sys.addaudithook(lambda event, _: event in starts and sys.exit(9))\n"
        "machine_facts()"
    )
    assert subprocess.run([sys.executable, "-c", program]).returncode == 0
