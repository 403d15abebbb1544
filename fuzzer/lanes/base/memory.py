"""What a lane does to memory: how much it takes, which inputs it changes, which outputs lie in an input's place."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from fuzzer.lanes.base.bench import Step
from generators.graph import Array

Span = tuple[int, int]
"""Where a tensor lies: its first byte, and the byte after its last."""

_STATUS = Path("/proc/self/status")
_CLEAR = Path("/proc/self/clear_refs")


@contextmanager
def peak_noted(step: Step) -> Iterator[None]:
    """Note by how much the process grew at most, less the pages of libraries that it touched for the first time (90 MB
    in the first lane after a fork). Memory that an earlier lane gave back is taken again unseen."""
    try:
        _CLEAR.write_text("5")  # proc(5): the peak starts anew from what is resident now
        before = _resident()
    except (OSError, KeyError):  # not Linux, or a locked-down one: nothing is noted
        yield
        return
    try:
        yield
    finally:
        after = _resident()
        grown = after["VmHWM"] - before["VmHWM"] - (after["RssFile"] - before["RssFile"])
        step.note(peak_bytes=max(0, grown) << 10)


def _resident() -> dict[str, int]:
    """Kilobytes."""
    lines = dict(line.split(":", 1) for line in _STATUS.read_text().splitlines())
    return {key: int(lines[key].split()[0]) for key in ("VmHWM", "RssFile")}


def modified(before: Mapping[str, Array], after: Mapping[str, Array]) -> tuple[str, ...]:
    """The inputs whose bytes are not what they were."""
    return tuple(name for name, array in before.items() if after[name].tobytes() != array.tobytes())


def shared(outputs: Sequence[Span], inputs: Mapping[str, Span]) -> tuple[tuple[int, str], ...]:
    """Outputs that share a byte with an input."""
    return tuple(
        (position, name)
        for position, (first, end) in enumerate(outputs)
        for name, (start, stop) in inputs.items()
        if max(first, start) < min(end, stop)
    )
