"""Rows: something else in the place of a file, and contents that are no document."""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Callable, Iterator
from pathlib import Path

from hostile.commands import KINDS
from hostile.place import Place
from hostile.row import ESCAPES, THINGS, Make, Row, with_contents


def _replaced(kind: str, by: Callable[[Path, Place], object]) -> Make:
    def make(place: Place) -> None:
        path = KINDS[kind].path(place)
        path.unlink()
        by(path, place)

    return make


def _device(path: Path, place: Place) -> None:
    os.mknod(path, 0o666 | stat.S_IFCHR, os.makedev(1, 5))  # /dev/zero


def something_else_in_its_place() -> Iterator[Row]:
    for kind in KINDS:
        for name, thing in THINGS.items():
            yield Row(f"{kind}: {name}", _replaced(kind, thing), frozenset({kind}))
    if os.getuid() == 0:
        for kind in ("finding.json", "case.json", "index.sqlite"):
            yield Row(f"{kind}: a device", _replaced(kind, _device), frozenset({kind}))
    else:
        for kind in ("finding.json", "index.sqlite"):  # root may read everything
            yield Row(
                f"{kind}: without permission",
                lambda place, kind=kind: KINDS[kind].path(place).chmod(0),
                frozenset({kind}),
            )


def _listing(name: str) -> Make:
    """The list that was shown last has one folder, which is in the campaign."""
    return lambda place: place.shown.write_text(json.dumps([f"{place.campaign}/{name}"]))


_CONTENTS: dict[str, Callable[[bytes], bytes]] = {
    "the first half": lambda data: data[: len(data) // 2],
    "a byte-order mark": lambda data: b"\xef\xbb\xbf" + data,
    "invalid UTF-8": lambda data: data.replace(b'"', b'"\xff\xed\xa0\x80', 1),
    "nested 200,000 deep": lambda data: b"[" * 200_000,
    "90 MB of empty lists": lambda data: b"[" + b"[]," * 30_000_000 + b"[]]",
    "60 MB of spaces": lambda data: b" " * (60 << 20),
    "a number with 100,000 digits": lambda data: b"1" * 100_000,
    "twice after each other": lambda data: data * 2,
}


def other_contents() -> Iterator[Row]:
    for kind in ("finding.json", "case.json", "natural.json", "onnx.json", "campaign.json", "merged.json"):
        for name, contents in _CONTENTS.items():
            yield Row(f"{kind}: {name}", with_contents(kind, contents), frozenset({kind}))
    small = ("filing.json", "waiting/finding.json", "corpus/case.json", "corpus/expect.json", "toolchain.json")
    newer = ("last-run.json", "last-list.json", "diff/case.json", "net.py", "preload.py", "inputs.npz", "input_0.pb")
    for kind in (*small, *newer, "kept/corpus.json", "kept/expected.jsonl", "options.toml"):
        for name in ("invalid UTF-8", "nested 200,000 deep", "90 MB of empty lists"):
            yield Row(f"{kind}: {name}", with_contents(kind, _CONTENTS[name]), frozenset({kind}))
    escapes = ESCAPES.encode()
    yield Row(
        "ir-before.txt: escapes", with_contents("ir-before.txt", lambda data: escapes), frozenset({"ir-before.txt"})
    )
    yield Row(
        "ir-before.txt: 200 MB",
        with_contents("ir-before.txt", lambda data: b"x = 1\n" * 33_000_000),
        frozenset({"ir-before.txt"}),
    )
    yield Row(
        "attempts.txt: 200 MB",
        with_contents("waiting/attempts.txt", lambda data: b"2026-01-02 03:04:05 begun\n" * 8_000_000),
        frozenset({"waiting/attempts.txt"}),
    )
    yield Row(
        "attempts.txt: escapes",
        with_contents("waiting/attempts.txt", lambda data: b"2026-01-02 03:04:05 begun\n" * 20 + escapes),
        frozenset({"waiting/attempts.txt"}),
    )
    yield Row(
        "campaign.lock: escapes", with_contents("campaign.lock", lambda data: escapes), frozenset({"campaign.lock"})
    )
    yield Row(
        "campaign.lock: 9 MB",
        with_contents("campaign.lock", lambda data: b"9" * 9_000_000),
        frozenset({"campaign.lock"}),
    )
    lists = {
        "a null byte": "a\0b",
        "a name of 300 characters": "a" * 300,
        "a file": "campaign.json",
        "a folder without a finding": "models",
        "escapes": "\x1b[2J\x9b31m\u202e",
    }
    for name, folder in lists.items():
        yield Row(f"last-list.json: {name}", _listing(folder), frozenset({"last-list.json"}))
    for name, names in (("a relative folder", b'["--trust"]'), ("400,000 folders", b"[" + b'"/a",' * 400_000 + b"1]")):
        yield Row(
            f"last-list.json: {name}",
            with_contents("last-list.json", lambda data, names=names: names),
            frozenset({"last-list.json"}),
        )
    for began in ("-1e308", "1e308", "null"):
        text = f'{{"began": {began}}}'.encode()
        yield Row(
            f"last-run.json: began at {began}",
            with_contents("last-run.json", lambda data, text=text: text),
            frozenset({"last-run.json"}),
        )
