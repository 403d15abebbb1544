"""The file `attempts.txt` of a sighting that waits: what was done with it since it was saved.

Each event is a line with the time and a word of `Event`. After `failed` follow the lines of the error, which have no
time before them.
"""

from __future__ import annotations

import re
import time
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from fuzzer.campaign.store.layout import ASIDE
from fuzzer.system.files import open_plain, opened_folder
from fuzzer.system.secrets import blanked
from fuzzer.system.untrusted_files import free_for_file
from generators.plain_file import MOST_TEXT, read_plain

NAME = "attempts.txt"

MOST_FAILED = 3
"""A sighting is parked after this many investigations that an error of difftvm ended."""

MOST_KILLED = 10
"""A sighting is parked after this many investigations that ended with their process: it is perhaps what kills it."""


class Event(StrEnum):
    SEEN = "seen"  # another test showed the sighting
    BEGUN = "begun"  # an investigation began
    STOPPED = "stopped"  # the investigation ended with its run, and is no attempt
    FAILED = "failed"  # an error of difftvm ended the investigation
    LEFT = "left"  # the investigation had its CPU seconds, and goes on after others
    ANEW = "anew"  # the attempts before this line do not count


_LINE = re.compile(rf"\d{{4}}-\d\d-\d\d \d\d:\d\d:\d\d ({'|'.join(Event)})")


@dataclass(slots=True)
class Attempts:
    """The counts of the events of one sighting.

    tests   how many tests showed it
    begun   investigations that were begun and not stopped
    failed  those of them that an error of difftvm ended
    left    those of them that had their CPU seconds. The others ended with their process, or go on
    """

    tests: int = 1
    begun: int = 0
    failed: int = 0
    left: int = 0

    @property
    def why_used_up(self) -> str:
        """Why the sighting is parked; "" where it is not."""
        if self.failed >= MOST_FAILED:
            return f"{self.failed} investigations failed"
        killed = self.begun - self.failed - self.left
        return f"{killed} investigations ended with their process" if killed >= MOST_KILLED else ""

    def note(self, folder: Path, event: Event, error: str = "") -> None:
        """Count an event, and append it to the file. Raise `OSError` where it is counted and cannot be written."""
        self._count(event)
        lines = [f"{time.strftime('%Y-%m-%d %H:%M:%S')} {event}", *(f"  {line}" for line in error.splitlines())]
        campaign = folder.parents[1]
        with opened_folder(folder, campaign) as opened:
            free_for_file(folder / NAME, campaign / ASIDE)
            with open_plain(opened / NAME, "a") as file:
                file.write(blanked("".join(f"{line}\n" for line in lines).encode()).decode())

    def _count(self, event: Event) -> None:
        match event:
            case Event.SEEN:
                self.tests += 1
            case Event.BEGUN:
                self.begun += 1
            case Event.STOPPED:
                self.begun = max(0, self.begun - 1)
            case Event.FAILED:
                self.failed += 1
            case Event.LEFT:
                self.left += 1
            case Event.ANEW:
                self.begun = self.failed = self.left = 0


def read(folder: Path) -> Attempts:
    """The counts of the file in a folder; those of a new sighting where there is no file."""
    attempts, path = Attempts(), folder / NAME
    try:
        text = read_plain(path, MOST_TEXT).decode(errors="replace")
    except OSError:  # there is none, or something else in its place
        text = ""
    for line in text.splitlines():
        if found := _LINE.fullmatch(line):
            attempts._count(Event(found[1]))
    return attempts
