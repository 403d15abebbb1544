"""What a killed run leaves: processes, files of children, and files that were not written completely."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

from fuzzer.campaign.disk_space import PROBE_NAME
from fuzzer.campaign.layout import FOLDERS
from fuzzer.system import strays

FILES = (
    *("campaign.json", "aim.json", "filing.json", "cluster.json", "merged.json", "fuzz_stats", "plot_data"),
    *("sweep.json", "sweep.html", "asked.json", "samples.jsonl"),
)
"""The files of a campaign's own folder that are replaced atomically. The user may have others there."""


def remove(folder: Path, scratch: Path) -> None:
    """End and delete them. Only what a run of this campaign has made is touched, and nothing that another process still
    writes. The caller holds the lock of the campaign."""
    strays.kill_strays(scratch.absolute(), os.getpid())
    for path in (scratch, *_incomplete(folder)):
        if _is_being_written(path):
            continue
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path, ignore_errors=True)
        else:  # rmtree would wait for a pipe
            path.unlink(missing_ok=True)


def _incomplete(folder: Path) -> Iterator[Path]:
    for name in FOLDERS:
        yield from folder.glob(f"{name}/.tmp-*")
        for inside in folder.glob(f"{name}/*"):
            if not inside.is_symlink():
                yield from inside.glob(".tmp-*")
    for name in FILES:
        yield from folder.glob(f".tmp-{name}-*")
    yield folder / PROBE_NAME


def _is_being_written(path: Path) -> bool:
    """Whether the process that `fuzzer.system.files.write_atomically` names at the end is another command of ours."""
    pid = path.name.rpartition("-")[2]
    if not path.is_file() or not pid.isdigit() or int(pid) == os.getpid():
        return False
    try:
        return b"fuzz" in Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return False
