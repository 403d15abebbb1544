"""Control groups: with a folder in the place of the file system, and on the real one where it can be written."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from ending import ends

from fuzzer.system import cgroup
from fuzzer.system.cgroup import Delegated, Group

FILES = {"cgroup.controllers": "cpu memory pids\n", "cgroup.procs": f"{os.getpid()}\n", "cgroup.subtree_control": ""}


@pytest.fixture
def scope(tmp_path: Path) -> Path:
    """A folder in the place of a group that was delegated to this process."""
    path = tmp_path / "mount" / "user.slice" / "run.scope"
    path.mkdir(parents=True)
    for name, text in FILES.items():
        (path / name).write_text(text)
    (tmp_path / "mountinfo").write_text(
        "41 31 0:38 / /proc rw - proc proc rw\n"
        f"42 31 0:39 / {tmp_path}/mount rw,relatime shared:4 - cgroup2 cgroup2 rw\n"
    )
    (tmp_path / "cgroup").write_text("4:memory:/else\n0::/user.slice/run.scope\n")
    return path


def found(tmp_path: Path) -> Delegated | None:
    return cgroup.delegated(tmp_path / "mountinfo", tmp_path / "cgroup")


def test_a_delegated_group_is_used_and_this_process_moves_out_of_it(
    tmp_path: Path, scope: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make = Path.mkdir

    def with_files(path: Path) -> None:
        make(path)
        (path / "cgroup.procs").touch()

    monkeypatch.setattr(Path, "mkdir", with_files)
    assert found(tmp_path) == Delegated(scope)
    moved = scope / f"difftvm-supervisor-{os.getpid()}"
    assert (moved / "cgroup.procs").read_text() == str(os.getpid())
    assert (scope / "cgroup.subtree_control").read_text() == "+memory +pids"
    (tmp_path / "cgroup").write_text(f"0::/user.slice/run.scope/{moved.name}\n")
    assert found(tmp_path) is None, "the kernel has not passed the controllers on"
    (scope / "cgroup.subtree_control").write_text("memory pids\n")
    assert found(tmp_path) == Delegated(scope), "the next executor finds it moved"
    group = Delegated(scope).new_for(7)
    assert group is not None
    assert (group.path / "cgroup.procs").read_text() == "7"


@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("cgroup.controllers", "hugetlb\n"),
        ("cgroup.controllers", "memory\n"),
        ("cgroup.procs", "{own}\n1\n"),
        ("cgroup.procs", None),
        ("cgroup.subtree_control", None),
    ],
)
def test_a_group_that_cannot_be_used_is_left_alone(tmp_path: Path, scope: Path, file: str, text: str | None) -> None:
    if text is None:
        (scope / file).unlink()
    else:
        (scope / file).write_text(text.replace("{own}", str(os.getpid())))
    assert found(tmp_path) is None


@pytest.mark.parametrize("lacks", ["mountinfo", "cgroup"])
def test_a_system_without_version_2_has_no_groups(tmp_path: Path, scope: Path, lacks: str) -> None:
    (tmp_path / lacks).write_text("4:memory:/else\n" if lacks == "cgroup" else "41 31 0:38 / /proc rw - proc proc rw\n")
    assert found(tmp_path) is None
    (tmp_path / lacks).unlink()
    assert found(tmp_path) is None


def test_the_bounds_of_a_group(tmp_path: Path) -> None:
    names = ("memory.max", "memory.oom.group", "pids.max")
    for name in names:
        (tmp_path / name).touch()
    Group(tmp_path).bound(1 << 30, 512)
    assert [(tmp_path / name).read_text() for name in names] == ["1073741824", "1", "512"]
    assert not (tmp_path / "memory.swap.max").exists(), "a kernel without swap has none, and none is made"


@pytest.mark.parametrize(
    ("events", "was"), [("low 0\noom 3\noom_kill 0\n", False), ("oom_kill 2\n", True), (None, False)]
)
def test_whether_the_kernel_killed_a_group(tmp_path: Path, events: str | None, was: bool) -> None:
    if events is not None:
        (tmp_path / "memory.events").write_text(events)
    assert Group(tmp_path).was_out_of_memory is was


@pytest.fixture
def real() -> Path:
    """A group of the real file system. It needs no controllers."""
    path = cgroup._own_group(Path("/proc/self/mountinfo"), Path("/proc/self/cgroup"))
    if path is None or not os.access(path, os.W_OK) or not os.access(path / "cgroup.procs", os.W_OK):
        pytest.skip("no control groups of version 2 can be made here")
    return path


def test_all_of_a_real_group_ends_with_it(real: Path) -> None:
    """Also a process that has left its session and its parent."""
    sleeps = "import time; time.sleep(60)"
    leaves = (
        "import subprocess, sys; input(); "
        f"left = subprocess.Popen([sys.executable, '-c', {sleeps!r}], stdout=2, start_new_session=True); "
        f"print(left.pid, flush=True); {sleeps}"
    )
    with subprocess.Popen([sys.executable, "-c", leaves], stdin=-1, stdout=-1, text=True) as process:
        group = Delegated(real).new_for(process.pid)
        assert group is not None
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write("\n")
        process.stdin.flush()
        left = int(process.stdout.readline())
        assert set((group.path / "cgroup.procs").read_text().split()) >= {str(process.pid), str(left)}
        if not (group.path / "cgroup.kill").exists():
            process.kill()
            os.kill(left, 9)
            process.wait()
            group.close()
            pytest.skip("this kernel cannot kill a group")
        cgroup._write(group.path / "cgroup.kill", "1")
        process.wait(120)
        assert ends(left)
        group.close()
    assert not group.path.exists()
