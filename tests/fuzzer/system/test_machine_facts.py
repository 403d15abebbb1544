"""What a report says of the machine on which its failure was found."""

from __future__ import annotations

import platform
import subprocess
import sys

import pytest

from fuzzer.system.machine_facts import MachineFacts, features, processor, this_machine

X86 = (
    "processor\t: 0\nmodel\t\t: 106\nmodel name\t: Some(R) CPU @ 2.00GHz\nflags\t\t: fpu avx512_vnni sse4_2 avx2 fma\n"
    "\nmodel name\t: Another\n"
)
ARM = "processor\t: 0\nBogoMIPS\t: 50.00\nFeatures\t: fp asimd asimddp\n"


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


@pytest.mark.parametrize(
    ("cpuinfo", "expected"),
    [(X86, ("avx2", "fma", "sse4.2", "avx512vnni")), (ARM, ("neon", "dotprod")), ("", ())],
)
def test_features_have_the_names_that_llvm_gives_them(cpuinfo: str, expected: tuple[str, ...]) -> None:
    assert features(cpuinfo) == expected


def test_this_machine_is_the_operating_system_and_the_processor_and_one_thread() -> None:
    found = this_machine()
    assert found.os == platform.platform()
    assert platform.machine() in found.processor
    assert (found.threads, found.devices) == (1, ())


@pytest.mark.parametrize(
    ("machine", "line"),
    [
        (MachineFacts("Linux", "A CPU"), "Linux; A CPU; 1 thread"),
        (
            MachineFacts("Linux", "A CPU", ("avx2", "fma"), 2, ("GPU H100",)),
            "Linux; A CPU; with avx2, fma; 2 threads; GPU H100",
        ),
    ],
)
def test_a_machine_is_one_line(machine: MachineFacts, line: str) -> None:
    assert str(machine) == line


def test_no_process_is_started_for_them() -> None:
    program = (
        "import sys; from fuzzer.system.machine_facts import this_machine\n"
        "starts = ('subprocess.Popen', 'os.posix_spawn', 'os.fork')\n"
        "sys.addaudithook(lambda event, _: event in starts and sys.exit(9))\n"
        "this_machine()"
    )
    assert subprocess.run([sys.executable, "-c", program]).returncode == 0
