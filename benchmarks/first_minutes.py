"""What a new user sees in the first minutes: `make fuzz` in a fresh clone, recorded second by second.

    python benchmarks/first_minutes.py CLONE [--seconds 120] [--record FILE] [--output FILE]

CLONE is a clone without `.venv`. The command runs in a terminal of 100 columns and 32 lines. `--record` gets a line for
each second, `--output` all that the terminal got. Prints the load of the machine, and a table:
the seconds to the first sign of life, to the first frame of the tests, to the first new failure with a name, to the
first confirmed finding, and to the end; and the longest time in which nothing was written. Exit code: that of `make`.
"""

from __future__ import annotations

import argparse
import os
import re
import sys
from dataclasses import dataclass, field
from pathlib import Path

from in_a_terminal import FRAME, written

ESCAPE = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")

EVENTS = {
    "first sign of life": re.compile(r"\S"),
    "installed": re.compile(r"^3\. ", re.MULTILINE),
    "first test begins": re.compile(r"^fuzzing ", re.MULTILINE),
    "first new failure with a name": re.compile(r"^not confirmed yet: .*\n +\S", re.MULTILINE),
    "first confirmed finding": re.compile(r"^new  +\d", re.MULTILINE),
}
"""What a line on the terminal shows, in the order in which it happens."""


@dataclass
class Recording:
    """`at` has the second of each event, `lines` a line for each second: the last one on the terminal, or what the
    live screen counts. `silence` is the longest time without output, and `silent_from` when it began."""

    at: dict[str, float] = field(default_factory=dict)
    lines: list[str] = field(default_factory=list)
    silence: float = 0.0
    silent_from: float = 0.0
    _last: float = 0.0
    _tail: bytes = b""

    def add(self, second: float, part: bytes) -> None:
        if part:
            if second - self._last > self.silence:
                self.silence, self.silent_from = second - self._last, self._last
            self._last = second
            *frames, self._tail = FRAME.split(self._tail + part)
            for frame in (*frames, self._tail):
                self._look_at(frame, second)
            self._tail = self._tail[-20_000:]
        if second >= len(self.lines):
            self.lines.append(f"{second:6.0f}  {summary(plain(self._tail))}")

    def _look_at(self, frame: bytes, second: float) -> None:
        text = plain(frame)
        for name, pattern in EVENTS.items():
            if name not in self.at and pattern.search(text):
                self.at[name] = second


COUNTING = re.compile(r"(warm-up|fuzzing|triage|finishing|new|not confirmed yet:|tests) ")
"""The lines of the live screen that count."""


def plain(part: bytes) -> str:
    return ESCAPE.sub("", part.decode(errors="replace")).replace("\r\n", "\n").replace("\r", "\n")


def summary(text: str) -> str:
    """The lines of the live screen that count, or the last line."""
    lines = [line.rstrip() for line in text.splitlines() if line.strip()]
    counting = [line for line in lines if COUNTING.match(line)]
    return " | ".join(re.sub(r" {2,}", " ", line)[:60] for line in counting) or (lines[-1][:110] if lines else "")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("clone", type=Path, metavar="CLONE")
    parser.add_argument("--seconds", type=int, default=120)
    parser.add_argument("--record", type=Path, metavar="FILE")
    parser.add_argument("--output", type=Path, metavar="FILE")
    arguments = parser.parse_args()
    before, recording, output = os.getloadavg()[0], Recording(), b""
    for second, part in written(
        ["make", "fuzz", f"SECONDS={arguments.seconds}"], arguments.clone, os.environ, joins_output=True
    ):
        recording.add(second, part)
        output += part
    if arguments.record:
        arguments.record.write_text("\n".join(recording.lines) + "\n")
    if arguments.output:
        arguments.output.write_bytes(output)
    print(f"{os.cpu_count()} cores, load {before:.1f} before and {os.getloadavg()[0]:.1f} after")
    for name in EVENTS:
        print(f"{name:32}{recording.at[name]:8.0f} s" if name in recording.at else f"{name:32}   never")
    print(f"{'end':32}{second:8.0f} s")
    print(f"{'longest silence':32}{recording.silence:8.0f} s, from {recording.silent_from:.0f} s on")
    sys.exit(0 if b"the campaign has" in output else 1)


if __name__ == "__main__":
    main()
