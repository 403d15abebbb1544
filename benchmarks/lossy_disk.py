"""What a disk holds after the machine stopped, by the calls that changed it until then. `lost_writes.py` uses it.

The bytes of a file are safe after a sync of the file, and its name after a sync of its folder. Of what was not synced,
anything may be missing. Changes of one folder reach the disk in their order. A name that moves from one folder to
another is at one of the two places. File systems with a journal lose less; POSIX allows all of this.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from faulty_disk import Call


class Write(NamedTuple):
    """Bytes at an offset of a file; with None, the file gets this size."""

    offset: int
    data: bytes | None


@dataclass(slots=True)
class File:
    """The bytes of a file that were synced, and the writes since then."""

    synced: bytes = b""
    since: list[Write] = field(default_factory=list)

    def sync(self) -> None:
        self.synced, self.since = self.with_writes(self.since), []

    def with_writes(self, writes: list[Write]) -> bytes:
        data = bytearray(self.synced)
        for offset, written in writes:
            end = offset + len(written or b"")
            data.extend(bytes(max(0, end - len(data))))
            if written is None:
                del data[offset:]
            else:
                data[offset:end] = written
        return bytes(data)


@dataclass(slots=True, eq=False)
class Folder:
    """A folder. `names` is what a process finds; `since` are the changes that were not synced."""

    names: dict[str, Node] = field(default_factory=dict)
    since: list[Change] = field(default_factory=list)


Node = File | Folder


@dataclass(slots=True, eq=False)
class Change:
    """Names that one call removes from folders and adds to folders. It reaches the disk as a whole."""

    removed: list[tuple[Folder, str]]
    added: list[tuple[Folder, str, Node]]
    synced: bool = False


class Choose(NamedTuple):
    """What is on the disk of what was not synced: how many of the changes of a folder, and which writes to a file."""

    changes: Callable[[int], int]
    writes: Callable[[list[Write]], list[Write]]


everything = Choose(lambda count: count, lambda writes: writes)
synced_only = Choose(lambda count: 0, lambda writes: [])
names_only = Choose(lambda count: count, lambda writes: [])


def random_choice(chance: random.Random) -> Choose:
    return Choose(
        lambda count: chance.randint(0, count), lambda writes: [write for write in writes if chance.random() < 0.5]
    )


class Disk:
    """The files below a folder. Calls are applied one by one."""

    def __init__(self, root: Path) -> None:
        self._root, self._top = root, Folder()
        self._changes: list[Change] = []

    def apply(self, call: Call) -> None:
        if call.error or (call.path == self._root and call.letter != "S"):
            return
        path = call.path.relative_to(self._root)
        node = self._node(path)
        match call.letter:
            case "S" if node is not None:
                self._sync(node)
            case "W" if isinstance(node, File):
                node.since.append(Write(call.offset, call.data))
            case "T" if isinstance(node, File):
                node.since.append(Write(call.size, None))
            case "O" if isinstance(node, File):
                node.since += [Write(0, None)] if call.size else []
            case "O":
                self._change([], [(path, File())])
            case "M":
                self._change([], [(path, Folder())])
            case "U" | "D" if node is not None:
                self._change([path], [])
            case "R" if node is not None:
                self._change([path], [(call.to.relative_to(self._root), node)])

    def state(self, choose: Choose) -> Iterator[tuple[Path, bytes | None]]:
        """The paths on the disk after a stop, folders before what is in them, with the bytes of files and None for
        folders."""
        kept: set[int] = set()
        for folder in {id(folder): folder for folder in self._touched()}.values():
            kept.update(map(id, folder.since[: choose.changes(len(folder.since))]))
        names: dict[int, dict[str, Node]] = {}
        for change in self._changes:
            if change.synced or id(change) in kept:
                for folder, name in change.removed:
                    names.setdefault(id(folder), {}).pop(name, None)
                for folder, name, node in change.added:
                    names.setdefault(id(folder), {})[name] = node
        below = [(Path(), self._top)]
        while below:
            place, folder = below.pop()
            for name, node in names.get(id(folder), {}).items():
                if isinstance(node, Folder):
                    yield place / name, None
                    below.append((place / name, node))
                else:
                    yield place / name, node.with_writes(choose.writes(node.since))

    def _touched(self) -> Iterator[Folder]:
        for change in self._changes:
            yield from (folder for folder, *_ in (*change.removed, *change.added))

    def _sync(self, node: Node) -> None:
        if isinstance(node, File):
            node.sync()
            return
        for change in node.since:
            change.synced = True
        node.since.clear()

    def _change(self, removed: list[Path], added: list[tuple[Path, Node]]) -> None:
        change = Change(
            [(self._folder(path), path.name) for path in removed],
            [(self._folder(path), path.name, node) for path, node in added],
        )
        self._changes.append(change)
        for gone, name in change.removed:
            gone.names.pop(name, None)
        for new, name, node in change.added:
            new.names[name] = node
        changed = [each[0] for each in change.removed] + [each[0] for each in change.added]
        for folder in {id(folder): folder for folder in changed}.values():
            folder.since.append(change)

    def _folder(self, path: Path) -> Folder:
        folder = self._node(path.parent)
        assert isinstance(folder, Folder), path
        return folder

    def _node(self, path: Path) -> Node | None:
        node: Node | None = self._top
        for name in path.parts:
            node = node.names.get(name) if isinstance(node, Folder) else None
        return node
