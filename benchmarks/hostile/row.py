"""A row: one thing that is hostile in a campaign; and what several rows need."""

from __future__ import annotations

import json
import os
import socket
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from fuzzer.findings import finding_file
from generators import case_file
from generators.graph import Invalid
from hostile.commands import KINDS, VERBS, Verb
from hostile.place import Place

Make = Callable[[Place], object]

ESCAPES = "\x1b[2J\x1b]52;c;ZXZpbA==\x07\x9b31m‮--> </script>@everyone #1 ```\r\n<img src=x onerror=alert(1)>"
"""What terminals, pages and trackers react to."""

INJECTED = "x0 = __import__('os').system('touch /tmp/executed-by-difftvm')"


@dataclass(frozen=True, slots=True)
class Row:
    """A hostile folder.

    kinds  every command that reads one of these is run
    verbs  further commands, which read what no kind describes
    """

    name: str
    make: Make
    kinds: frozenset[str] = frozenset()
    verbs: dict[str, Verb] = field(default_factory=dict)

    @property
    def kind(self) -> str:
        """The kind of file that its name begins with."""
        return self.name.partition(":")[0] if ":" in self.name else "folders"

    @property
    def commands(self) -> dict[str, Verb]:
        return {name: verb for name, verb in VERBS.items() if verb.reads & self.kinds} | self.verbs


def resign(place: Place) -> None:
    """Write the digest of a changed case into its finding, as somebody would who wants it to be read."""
    for folder in (place.finding, place.onnx_finding, *(place.campaign / "waiting").glob("*")):
        try:
            document = json.loads((folder / finding_file.NAME).read_bytes())
            document["case_sha256"] = case_file.digest(case_file.read(folder))
            (folder / finding_file.NAME).write_text(json.dumps(document))
        except (Invalid, OSError, ValueError, KeyError, TypeError, RecursionError):
            continue


def with_contents(kind: str, contents: Callable[[bytes], bytes]) -> Make:
    def make(place: Place) -> None:
        path = KINDS[kind].path(place)
        path.write_bytes(contents(path.read_bytes()))

    return make


def _socket(path: Path, place: Place) -> None:
    here = os.getcwd()
    os.chdir(path.parent)  # the path of a socket may have 107 bytes
    try:
        with socket.socket(socket.AF_UNIX) as made:
            made.bind(path.name)
    finally:
        os.chdir(here)


def _sparse(path: Path, place: Place) -> None:
    with path.open("wb") as file:
        file.truncate(20 << 30)


THINGS: dict[str, Callable[[Path, Place], object]] = {
    "a link to a file outside": lambda path, place: path.symlink_to(place.outside / "secret"),
    "a link to itself": lambda path, place: path.symlink_to(path.name),
    "a link to /dev/zero": lambda path, place: path.symlink_to("/dev/zero"),
    "a directory": lambda path, place: path.mkdir(),
    "a pipe": lambda path, place: os.mkfifo(path),
    "a socket": _socket,
    "20 GB without contents": _sparse,
    "an empty file": lambda path, place: path.touch(),
}
