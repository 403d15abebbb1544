"""What holds where a container or an older kernel refuses the system calls that confine a process, and that it is said.

A filter of system calls takes them away here, with the errors that such systems give."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from fuzzer.system import confinement

pytestmark = pytest.mark.skipif(
    os.uname().machine != "x86_64" or confinement.version() == 0, reason="the numbers are of x86_64, with Landlock"
)

DENIED = """
import ctypes, struct, sys

def deny(number, error, argument=None, value=0):
    step = lambda code, value, yes=0, no=0: struct.pack("HBBI", code, yes, no, value)
    also = [] if argument is None else [step(0x20, 16 + 8 * argument), step(0x15, value, 0, 1)]
    refuse, allow = step(6, 0x50000 | error), step(6, 0x7FFF0000)
    program = [step(0x20, 0), step(0x15, number, 0, len(also) + 1), *also, refuse, allow]
    text = b"".join(program)
    code, libc = ctypes.create_string_buffer(text, len(text)), ctypes.CDLL(None)
    assert libc.prctl(38, 1, 0, 0, 0) == 0
    assert libc.prctl(22, 2, struct.pack("HP", len(program), ctypes.addressof(code)), 0, 0) == 0
"""
TRIES = f"""
{DENIED}
import json, os, socket
from fuzzer.commands import doctor
from fuzzer.system import confinement, no_network

for each in json.loads(sys.argv[2]):
    deny(*each)
found = {{"confinement": doctor._confinement(), "without network": doctor._lanes_are_without_network()}}
found["entered"] = [confinement.enter([]), no_network.enter()]
for name, attempt in (("writes", lambda: open(sys.argv[1], "w")), ("connects", lambda: socket.socket(socket.AF_INET))):
    try:
        attempt()
        found[name] = True
    except OSError:
        found[name] = False
print(json.dumps(found))
"""
EPERM, EINVAL, ENOSYS = 1, 22, 38
LANDLOCK, SECCOMP = (444, 445, 446), 317
USED = f"Landlock {confinement.version()}: lanes write in their own folders only, and signal no other process"
FREE = "lanes may write where you may, and signal your processes"
UNUSABLE = f"Landlock {confinement.version()} cannot be used here: {FREE}"
ABSENT = f"the kernel has no Landlock: {FREE}"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("denied", "words", "confined", "without_network"),
    [
        ([], USED, True, True),
        ([(number, ENOSYS) for number in LANDLOCK], ABSENT, False, True),
        ([(LANDLOCK[0], EPERM)], ABSENT, False, True),
        ([(LANDLOCK[2], EPERM)], UNUSABLE, False, True),
        ([(SECCOMP, ENOSYS)], USED, True, False),
        ([(SECCOMP, EPERM)], USED, True, False),
        ([(SECCOMP, EINVAL, 1, 5)], USED, True, True),
    ],
)
def test_what_confines_a_process_and_what_doctor_says_of_it(
    denied: list[tuple[int, ...]], words: str, confined: bool, without_network: bool, tmp_path: Path
) -> None:
    """The last one refuses a flag of seccomp(2) that older kernels lack."""
    if confinement.version() < confinement.SIGNALS:
        pytest.skip("the words are those of a newer Landlock")
    command = [sys.executable, "-c", TRIES, str(tmp_path / "elsewhere"), json.dumps(denied)]
    found = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    assert found == {
        "confinement": words,
        "without network": without_network,
        "entered": [confined, without_network],
        "writes": not confined,
        "connects": not without_network,
    }
