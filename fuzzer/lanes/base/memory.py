"""The memory that a lane uses, the inputs that it changes, and the outputs that share memory with an input."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from fuzzer.lanes.base.step import Step
from generators.graph import Array

Span = tuple[int, int]
"""The address of a tensor's first byte, and the address after its last byte."""

_STATUS = Path("/proc/self/status")
_CLEAR = Path("/proc/self/clear_refs")


@contextmanager
def peak_noted(step: Step) -> Iterator[None]:
    """Record by how many bytes the process grew at its peak.

    Pages of libraries that were used for the first time do not count (90 MB in the first lane after a fork). Memory
    that an earlier lane freed and this one uses again does not show."""
    try:
        _CLEAR.write_text("5", encoding="utf-8")  # proc(5): reset the peak to the current resident size
        before = _resident()
    except (OSError, KeyError):  # not Linux, or no permission: nothing is recorded
        yield
        return
    try:
        yield
    finally:
        after = _resident()
        grown = after["VmHWM"] - before["VmHWM"] - (after["RssFile"] - before["RssFile"])
        step.note(peak_bytes=max(0, grown) << 10)


def _resident() -> dict[str, int]:
    """Return the peak resident size and the resident pages of files, in kilobytes."""
    lines = dict(line.split(":", 1) for line in _STATUS.read_text(encoding="utf-8").splitlines())
    return {key: int(lines[key].split()[0]) for key in ("VmHWM", "RssFile")}


def modified(before: Mapping[str, Array], after: Mapping[str, Array]) -> tuple[str, ...]:
    """Return the names of the inputs whose bytes changed."""
    return tuple(name for name, array in before.items() if after[name].tobytes() != array.tobytes())


def shared(outputs: Sequence[Span], inputs: Mapping[str, Span]) -> tuple[tuple[int, str], ...]:
    """Return the outputs, by position, that share a byte with an input, and the names of these inputs."""
    return tuple(
        (position, name)
        for position, (first, end) in enumerate(outputs)
        for name, (start, stop) in inputs.items()
        if max(first, start) < min(end, stop)
    )
