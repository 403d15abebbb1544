"""How a command ended, and what is wrong with it."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

import watching

from fuzzer.commands.file import Exit as FileExit
from fuzzer.system.exit_codes import Exit
from hostile.place import SECRET, Place

MOST_CPU, MOST_WALL, MOST_MEGABYTES, MOST_CHARACTERS = 10.0, 30.0, 500.0, 300
CODES = frozenset(map(int, (*Exit, *FileExit))) - {Exit.WORSE, Exit.NOT_REACHED} | {watching.STARTED}
"""The documented exit codes, without those of `fuzz diff` alone: 1 is also how Python ends after a traceback."""

REFUSED = (Exit.BAD_INPUT, Exit.ENVIRONMENT)
_MOST_PRINTED = 20 << 20

_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")


@dataclass
class Ended:
    """How a command ended. `events` are the lines of the watcher."""

    code: int
    out: str
    err: str
    cpu: float
    wall: float
    megabytes: float
    events: list[str] = field(default_factory=list)


@dataclass
class Report:
    """One run, and its faults. `again` makes it again."""

    verb: str
    kind: str
    code: int
    faults: list[str]
    again: str
    cpu: float
    wall: float
    megabytes: float

    @property
    def sort(self) -> str:
        if self.faults:
            return "faults"
        return "refused" if self.code in REFUSED else "started" if self.code == watching.STARTED else "accepted"


def report_of(verb: str, kind: str, ended: Ended, faults: list[str], again: str) -> Report:
    return Report(verb, kind, ended.code, faults, again, ended.cpu, ended.wall, ended.megabytes)


def printed(place: Place) -> tuple[str, str]:
    """What a command has written into the files `stdout` and `stderr` of its place."""
    with (place.root / "stdout").open("rb") as out, (place.root / "stderr").open("rb") as err:
        first, second = (file.read(_MOST_PRINTED).decode(errors="replace") for file in (out, err))
    return first, second


def faults_of(ended: Ended, place: Place) -> list[str]:
    """What is wrong with how a command ended, in one line each."""
    found = [f"it {event}" for event in dict.fromkeys(ended.events)]
    lines = ended.err.splitlines()
    if ended.code not in CODES:
        found.append(f"exit code {ended.code}: {' / '.join(lines[-3:])[-300:]}")
    if "Traceback (most recent call last)" in ended.err and ended.code != watching.STARTED:
        found.append(f"a traceback: {' / '.join(lines[-3:])[-300:]}")
    if ended.code in REFUSED:
        sentences = [line for line in lines if line.startswith("fuzz: ")]
        if len(sentences) != 1 and not (sentences and "/models/" in ended.err):  # an import has one for each model
            found.append(f"it is refused with {len(sentences)} sentences: {ended.err[-300:]!r}")
    if long := [line for line in lines if len(line) > MOST_CHARACTERS]:
        found.append(f"a line of {len(long[0])} characters: {long[0][:200]}")
    for name, text in (("stdout", ended.out), ("stderr", ended.err)):
        if control := _CONTROL.search(text):
            found.append(f"{name} has the character {control[0]!r}")
        if SECRET in text:
            found.append(f"{name} has what is in a file outside")
    if ended.cpu > MOST_CPU or ended.wall > MOST_WALL:
        found.append(f"{ended.cpu:.1f} s of CPU, {ended.wall:.1f} s in all")
    if ended.megabytes > MOST_MEGABYTES and ended.code != watching.STARTED:  # a compiler takes more
        found.append(f"{ended.megabytes:.0f} MB")
    return found + _changes_outside(place)


def _changes_outside(place: Place) -> list[str]:
    """Whether a file outside has changed, or come into a file that was written."""
    found = []
    secret = place.outside / "secret"
    if not secret.exists() or secret.read_text() != SECRET:
        found.append("it changed a file outside")
    for path in place.out.rglob("*"):
        if path.is_file() and not path.is_symlink() and SECRET.encode() in path.read_bytes():
            found.append(f"{path.name} has what is in a file outside")
    return found
