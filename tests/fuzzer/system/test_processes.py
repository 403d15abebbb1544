"""What Linux says of processes, and does for them."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from fuzzer.system.processes import give_back_memory, resident_bytes


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
