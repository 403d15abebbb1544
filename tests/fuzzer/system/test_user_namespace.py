"""A process in a user namespace of its own reads the same files, and no memory of processes outside."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

CHILD = """
    import os, sys
    from pathlib import Path
    from fuzzer.system import user_namespace

    users = [Path(f"/proc/self/{file}").read_text() for file in ("uid_map", "gid_map")]
    entered = user_namespace.enter()
    assert users == [Path(f"/proc/self/{file}").read_text() for file in ("uid_map", "gid_map")]
    Path(sys.argv[2]).write_text("written")
    try:
        Path(f"/proc/{sys.argv[1]}/environ").read_bytes()
    except PermissionError:
        print("entered" if entered else "stayed", "forbidden")
    else:
        print("entered" if entered else "stayed", "read")
"""


def test_it_reads_no_memory_of_a_process_outside(tmp_path: Path) -> None:
    """The process outside has forbidden it, which is enough for users other than root."""
    outside = "from fuzzer.system.processes import forbid_reading as f; f(); print(flush=True); input()"
    with subprocess.Popen([sys.executable, "-c", outside], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as other:
        assert other.stdout is not None
        other.stdout.readline()
        written = tmp_path / "file"
        command = [sys.executable, "-c", textwrap.dedent(CHILD), str(other.pid), str(written)]
        printed = subprocess.run(command, capture_output=True, text=True, check=True, timeout=300).stdout.strip()
        other.communicate(b"\n")
    assert written.read_text() == "written"
    if os.geteuid() == 0 and printed == "stayed read":
        pytest.skip("the kernel allows no user namespace here, and root reads everything")
    assert printed == ("entered forbidden" if os.geteuid() == 0 else "stayed forbidden")
