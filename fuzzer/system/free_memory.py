"""The memory of the machine that is available to processes.

What a process keeps in the kernel, such as files without a name (memfd_create(2)) and buffers of sockets, counts as
memory of no process. So the bound of a process does not bound it, and only the machine shows it.
"""

from __future__ import annotations

from fuzzer.system.processes import text_of

MIB = 1 << 20
RESERVE = 512 * MIB
"""Bytes that must stay available: what a process can take between two checks."""


def available_bytes() -> int | None:
    """The bytes that processes can still get without swapping (proc(5), MemAvailable); None where the kernel does not
    say."""
    lines = text_of("/proc/meminfo").splitlines()
    return next((int(line.split()[1]) << 10 for line in lines if line.startswith("MemAvailable:")), None)


class FreeMemory:
    """Watches whether something leaves fewer than `reserve` bytes of the machine's memory available; where fewer are
    from the start, half of those."""

    def __init__(self, reserve: int = RESERVE) -> None:
        free = available_bytes()
        self._least = reserve if free is None or free >= reserve else free // 2

    def why_short(self) -> str:
        """Why what runs must end; "" where enough is available."""
        free = available_bytes()
        short = free is not None and free < self._least
        return f"less than {self._least // MIB} MiB of the memory are available" if short else ""
