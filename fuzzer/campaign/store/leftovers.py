"""What a killed run leaves: processes, files of children, and files that were not written completely."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from fuzzer.campaign.store.disk_space import PROBE_NAME
from fuzzer.campaign.store.layout import ASIDE, FOLDERS
from fuzzer.system import strays, untrusted_files

FILES = (
    *(
        "campaign.json",
        "aim.json",
        "last-run.json",
        "filing.json",
        "cluster.json",
        "merged.json",
        "fuzz_stats",
        "plot_data",
    ),
    *("sweep.json", "sweep.html", "asked.json", "samples.jsonl"),
)
"""The files of a campaign's own folder that are replaced atomically. The user may have others there."""


AGAIN_SECONDS = 5.0
"""How long each start tries to delete what an earlier one has set aside. Nothing more is said of it."""


def remove(folder: Path, scratch: Path) -> None:
    """End and delete them. Only what a run of this campaign has made is touched, and nothing that another process still
    writes. The caller holds the lock of the campaign."""
    scratch, aside = untrusted_files.real(scratch), folder.resolve() / ASIDE
    strays.kill_strays(scratch, os.getpid())
    untrusted_files.remove(aside, AGAIN_SECONDS)
    for path in (scratch, *map(untrusted_files.real, _incomplete(folder))):
        if not _is_being_written(path):
            untrusted_files.remove_or_set_aside(path, aside)


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
