"""What it costs to confine a child: the time of `fuzzer.system.confinement.enter` in new processes, and of a file that
is made and deleted before and after.

    python benchmarks/confinement.py [--processes 300]
"""

from __future__ import annotations

import argparse
import os
import statistics
import struct
import tempfile
import time
from pathlib import Path

from fuzzer.system import confinement

FILES = 20_000


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--processes", type=int, default=300)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="difftvm-") as folder:
        seconds = [_of_a_process(folder) for _ in range(arguments.processes)]
        print(confinement.in_words(confinement.version()))
        print(f"to confine a process: {1e6 * statistics.median(seconds):.0f} us (median of {len(seconds)})")
        before = _of_a_file(Path(folder))
        pid = os.fork()
        if pid == 0:
            confinement.enter([folder])
            after = _of_a_file(Path(folder))
            print(f"to make and delete a file: {1e6 * before:.1f} us, confined {1e6 * after:.1f} us", flush=True)
            os._exit(0)
        os.waitpid(pid, 0)


def _of_a_process(folder: str) -> float:
    """The seconds that one process takes to confine itself."""
    reads, writes = os.pipe()
    pid = os.fork()
    if pid == 0:
        began = time.perf_counter()
        confinement.enter([folder])
        os.write(writes, struct.pack("d", time.perf_counter() - began))
        os._exit(0)
    os.waitpid(pid, 0)
    (seconds,) = struct.unpack("d", os.read(reads, 8))
    os.close(reads)
    os.close(writes)
    return float(seconds)


def _of_a_file(folder: Path) -> float:
    began = time.perf_counter()
    for _ in range(FILES):
        os.close(os.open(folder / "file", os.O_CREAT))
        os.unlink(folder / "file")
    return (time.perf_counter() - began) / FILES


if __name__ == "__main__":
    main()
