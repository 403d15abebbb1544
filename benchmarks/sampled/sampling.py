"""Says where the threads of a process spend CPU time. `benchmarks/supervisor.py` uses it.

A thread wakes every few milliseconds. For each other thread it reads how much CPU time that has used since the last
sample (its clock, pthread_getcpuclockid(3)), and adds it to what the thread's stack shows now. In the mean over many
samples this is what each function has used; a short call is sometimes counted for its neighbour.

The process writes a file when it ends: JSON, a list of [stack, seconds]. A stack has the functions of this project, as
`fuzzer/isolate/frames.py:Frames.next`, the outermost first, each only once.
"""

from __future__ import annotations

import atexit
import json
import sys
import threading
import time
from pathlib import Path
from types import CodeType, FrameType

FILE = "DIFFTVM_SAMPLED"
"""The variable that names the file."""

EVERY_SECONDS = 0.005

SWITCH_SECONDS = 0.0005
"""After this time, a thread lets the sampler run. Python's own 5 ms would count most time for the calls that do that
by themselves, such as those of numpy that wait for a lock."""

SAMPLER = "sampler"
"""The stack of the thread that takes the samples."""

PACKAGES = ("fuzzer", "generators", "oracles")

Stack = tuple[str, ...]


class Sampler:
    def __init__(self) -> None:
        self.seconds: dict[Stack, float] = {}
        self._used: dict[int, float] = {}
        self._files: dict[str, str] = {}

    def run(self) -> None:
        while True:
            time.sleep(EVERY_SECONDS)
            self.sample()

    def sample(self) -> None:
        frames = sys._current_frames()  # a thread in it lives at least until this one lets others run
        clocks = {thread: time.clock_gettime(time.pthread_getcpuclockid(thread)) for thread in frames}
        for thread, used in clocks.items():
            spent = used - self._used.get(thread, 0.0)
            if spent > 0:
                own = thread == threading.get_ident()
                stack = (SAMPLER,) if own else self.stack(frames[thread])
                self.seconds[stack] = self.seconds.get(stack, 0.0) + spent
        self._used = clocks

    def stack(self, frame: FrameType | None) -> Stack:
        found: dict[str, None] = {}
        while frame is not None:
            if place := self.place(frame.f_code):
                found.setdefault(place)
            frame = frame.f_back
        return tuple(reversed(found))

    def place(self, code: CodeType) -> str:
        """The file of a function, from its package on, and its name; "" for functions of others."""
        file = code.co_filename
        if file not in self._files:
            parts = Path(file).parts
            places = [place for place, part in enumerate(parts) if part in PACKAGES]
            own = bool(places) and "site-packages" not in parts
            self._files[file] = "/".join(parts[places[-1] :]) if own else ""
        return f"{self._files[file]}:{code.co_qualname}" if self._files[file] else ""


def begin(file: str) -> None:
    sampler = Sampler()
    sys.setswitchinterval(SWITCH_SECONDS)
    threading.Thread(target=sampler.run, name="sampler", daemon=True).start()

    def written() -> None:
        sampler.sample()
        Path(file).write_text(json.dumps([[list(stack), seconds] for stack, seconds in dict(sampler.seconds).items()]))

    atexit.register(written)
