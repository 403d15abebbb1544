"""What Linux says of processes, and does for them."""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from fuzzer.system import processes
from fuzzer.system.processes import MOST_FILE_BYTES, give_back_memory, resident_bytes


def test_what_was_freed_goes_back_to_the_system() -> None:
    blocks = [bytes([1]) * 100_000 for _ in range(600)]  # less than malloc maps by itself
    last = blocks[-1]
    before = resident_bytes(os.getpid())
    del blocks
    give_back_memory()
    assert resident_bytes(os.getpid()) < before - 30_000_000
    assert len(last) == 100_000


HEAPS = """
import ctypes, sys, threading
from fuzzer.system.processes import keep_memory_tight

if sys.argv[1] == "tight":
    keep_memory_tight()
together = threading.Barrier(4)

def work():
    together.wait()
    held = [bytes(1000) for _ in range(1000)]
    together.wait()

threads = [threading.Thread(target=work) for _ in range(4)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
libc = ctypes.CDLL(None)
libc.fopen.restype = ctypes.c_void_p
file = ctypes.c_void_p(libc.fopen(sys.argv[2].encode(), b"w"))
libc.malloc_info(0, file)
libc.fclose(file)
"""


def heaps(how: str, path: Path) -> int:
    subprocess.run([sys.executable, "-c", HEAPS, how, str(path)], check=True)
    return path.read_text().count("<heap nr=")


def test_threads_share_one_heap(tmp_path: Path) -> None:
    assert heaps("tight", tmp_path / "tight") == 1
    assert heaps("as it is", tmp_path / "loose") > 1


LIMITED = "from fuzzer.system.processes import limit_files; limit_files(); import os, subprocess, sys\n"
AS_OTHER_PROGRAMS = (
    "import os, signal; signal.signal(signal.SIGXFSZ, signal.SIG_DFL);"  # Python ignores it
    f" os.truncate('file', {MOST_FILE_BYTES + 1})"
)


@pytest.mark.parametrize(
    ("does", "expected"),
    [
        (f"os.truncate('file', {MOST_FILE_BYTES})", ""),
        (f"os.truncate('file', {MOST_FILE_BYTES + 1})", "File too large"),
        (f"subprocess.run([sys.executable, '-c', {AS_OTHER_PROGRAMS!r}], check=True)", "SIGXFSZ"),
        ("import resource; assert resource.getrlimit(resource.RLIMIT_CORE) == (0, 0)", ""),
    ],
)
def test_no_file_is_larger_than_the_limit(tmp_path: Path, does: str, expected: str) -> None:
    """The files are sparse: they take no space."""
    (tmp_path / "file").touch()
    done = subprocess.run([sys.executable, "-c", LIMITED + does], cwd=tmp_path, capture_output=True, text=True)
    assert expected in done.stderr
    assert (done.returncode == 0) == (not expected), done.stderr
    assert (tmp_path / "file").stat().st_size <= MOST_FILE_BYTES


def test_a_lower_limit_of_the_user_stays() -> None:
    lower = f"import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, 1 << 20))\n{LIMITED}"
    program = f"{lower}print(resource.getrlimit(resource.RLIMIT_FSIZE)[1])"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.stdout == f"{1 << 20}\n", done.stderr


TAKES = """
import sys, time
print(flush=True)
input()
kept = []
try:
    for _ in range(8):
        kept.append(bytearray(32 << 20))
except MemoryError:
    pass
print(len(kept), flush=True)
while sys.argv[1:]:
    pass
"""


def bounded(*arguments: str) -> tuple[str, int]:
    """What a process prints, and its exit code, that may take 64 MiB and half a CPU second from now on."""
    with subprocess.Popen([sys.executable, "-c", TAKES, *arguments], stdin=-1, stdout=-1, text=True) as process:
        assert process.stdout is not None
        process.stdout.readline()
        processes.bound_by_kernel(process.pid, 64 << 20, 0.5)
        hard = [resource.prlimit(process.pid, kind)[1] for kind in (resource.RLIMIT_DATA, resource.RLIMIT_CPU)]
        assert hard == [resource.getrlimit(kind)[1] for kind in (resource.RLIMIT_DATA, resource.RLIMIT_CPU)]
        out, _ = process.communicate("\n")
    return out.strip(), process.returncode


def test_the_kernel_refuses_a_process_twice_its_memory() -> None:
    assert bounded() == ("3", 0), "128 MiB are not enough for four pieces of 32 MiB and a page"


@pytest.mark.slow
def test_the_kernel_ends_a_process_after_twice_its_time() -> None:
    assert bounded("spin") == ("3", -signal.SIGXCPU)


def test_a_process_that_has_ended_is_not_bounded() -> None:
    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait()
    processes.bound_by_kernel(gone.pid, 1, 1.0)
