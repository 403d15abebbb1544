"""Copies of the campaign as it was built."""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path

from fuzzer.system import last_list
from hostile.place import Place


def fresh(template: Path, root: Path) -> Place:
    """The campaign as it was built, in a folder of its own, where commands find their caches and temporary files."""
    place = Place(root)
    for path in (root, place.outside):
        if path.is_symlink() or path.exists():
            shutil.rmtree(path)
    shutil.copytree(template, root)
    shutil.copytree(Place(template).outside, place.outside)
    os.environ.update(_environment(place))
    last_list.keep([place.finding, place.onnx_finding])
    tempfile.tempdir = None
    return place


def restore(template: Path, place: Place) -> None:
    """Make a copy as it was built again. Few files have changed, so this takes less than a new copy."""
    _restore(template, place.root)
    _restore(Place(template).outside, place.outside)
    os.environ.update(_environment(place))
    last_list.keep([place.finding, place.onnx_finding])
    tempfile.tempdir = None


def _restore(kept: Path, folder: Path) -> None:
    """Write what differs from the folder that was kept: names, kinds, permissions, contents."""
    expected = {entry.name: entry for entry in os.scandir(kept)}
    there = set()
    for entry in os.scandir(folder):
        if entry.name in expected and _is_same(expected[entry.name], entry):
            there.add(entry.name)
        elif entry.is_dir(follow_symlinks=False):
            shutil.rmtree(entry)
        else:
            os.unlink(entry)
    for name, entry in expected.items():
        if not entry.is_dir():
            if name not in there:
                shutil.copy2(entry, folder / name)
        elif name in there:
            _restore(Path(entry), folder / name)
        else:
            shutil.copytree(entry, folder / name)


def _is_same(kept: os.DirEntry[str], entry: os.DirEntry[str]) -> bool:
    """Whether two files have the same mode and contents, or two folders the same mode."""
    first, second = kept.stat(), entry.stat(follow_symlinks=False)
    if first.st_mode != second.st_mode or kept.is_dir():
        return first.st_mode == second.st_mode
    return first.st_size == second.st_size and Path(kept).read_bytes() == Path(entry).read_bytes()


def _environment(place: Place) -> dict[str, str]:
    (place.out / "tmp").mkdir(parents=True, exist_ok=True)
    return {
        "HOME": str(place.out),
        "TMPDIR": str(place.out / "tmp"),
        "XDG_CACHE_HOME": str(place.campaign / "cache"),
        "XDG_STATE_HOME": str(place.out / "state"),
        "PYTHONDONTWRITEBYTECODE": "1",
        "COLUMNS": "200",
    }
