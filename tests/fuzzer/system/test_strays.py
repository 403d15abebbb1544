"""Processes that have left the tree of their command, and those that stay."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import time
from pathlib import Path

import pytest
from ending import ends

from fuzzer.system import strays

LEAVE = """
    import subprocess, sys
    input()  # until this process is marked
    alone = {"env": {}, "start_new_session": True, "cwd": "/", "stdout": 2}
    print(subprocess.Popen(["/bin/sleep", "60"], **alone).pid, flush=True)
"""


def leaves(scratch: Path) -> int:
    """A process with an empty environment and a session of its own, whose marked parent has ended; its pid."""
    code = "\n".join(line.strip() for line in LEAVE.splitlines())
    with subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as parent:
        strays.mark(parent.pid, scratch)
        out, _ = parent.communicate(b"\n")
    return int(out)


@pytest.mark.slow
@pytest.mark.parametrize("depth", [0, 1])
def test_a_process_without_an_environment_is_found_by_its_mark(tmp_path: Path, depth: int) -> None:
    """Also by a later run of the campaign, which knows only the folder above."""
    scratch = tmp_path / "scratch" / "host"
    stray, other = leaves(scratch), leaves(tmp_path / "scratch-2" / "host")
    try:
        assert strays.kill_strays(scratch.parent if depth else scratch, os.getpid()) == [stray]
        assert ends(stray)
        assert not ends(other, 0.2)
    finally:
        assert strays.kill_strays(tmp_path / "scratch-2" / "host", os.getpid()) == [other]


def test_a_mark_is_no_limit_in_practice_and_cannot_be_removed(tmp_path: Path) -> None:
    code = "import resource, sys; print(*resource.getrlimit(resource.RLIMIT_RTTIME)); input()"
    with subprocess.Popen([sys.executable, "-c", f"input(); {code}"], stdin=-1, stdout=-1, text=True) as process:
        strays.mark(process.pid, tmp_path)
        soft, hard = resource.prlimit(process.pid, resource.RLIMIT_RTTIME)
        out, _ = process.communicate("\n\n")
    assert soft == hard
    assert [int(each) for each in out.split()] == [soft, hard]
    assert hard > 10**18


def test_strays_are_those_outside_the_tree_that_work_in_the_folder(tmp_path: Path) -> None:
    with_folder = {**os.environ, "TMPDIR": str(tmp_path)}
    inside = subprocess.Popen(["sleep", "60"], env=with_folder)
    double = "import subprocess; print(subprocess.Popen(['sleep', '60'], start_new_session=True, stdout=2).pid)"
    done = subprocess.run([sys.executable, "-c", double], env=with_folder, stdout=subprocess.PIPE, check=True)
    stray = int(done.stdout)
    while not Path(f"/proc/{stray}/environ").read_bytes():  # the kernel is still starting its program
        time.sleep(0.01)
    other = subprocess.Popen(
        ["sleep", "60"], env={"PATH": os.environ["PATH"], "TMPDIR": f"{tmp_path}-2", "MY_TMPDIR": str(tmp_path)}
    )
    try:
        assert strays.kill_strays(tmp_path, os.getpid()) == [stray]
        assert ends(stray)
        assert inside.poll() is None
        assert other.poll() is None
    finally:
        for process in (inside, other):
            process.kill()
            process.wait()


ADOPTS = """
import os, subprocess, sys
from pathlib import Path
from fuzzer.system import process_tree, strays
process_tree.adopt_orphans()
scratch = Path(sys.argv[1])
leave = "input(); import subprocess; print(subprocess.Popen(['sleep', '60'], env={}, stdout=2).pid, flush=True)"
with subprocess.Popen([sys.executable, "-c", leave], stdin=-1, stdout=-1) as parent:
    strays.mark(parent.pid, scratch)
    orphan = int(parent.communicate(b"\\n")[0])
assert process_tree.children(os.getpid()) == [orphan]
assert strays.kill_strays(scratch, os.getpid()) == [], "it may be one that works"
assert strays.kill_strays(scratch) == [orphan]
assert process_tree.children(os.getpid()) == [], "not even a zombie"
"""


@pytest.mark.slow
def test_a_process_that_was_adopted_ends_too_where_none_is_to_live(tmp_path: Path) -> None:
    done = subprocess.run([sys.executable, "-c", ADOPTS, str(tmp_path)], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
