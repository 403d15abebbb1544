"""Whether a folder is a campaign, and what it lacks."""

from __future__ import annotations

from pathlib import Path
from shlex import quote

from fuzzer.campaign.store import index, state
from fuzzer.campaign.store.lock import holder


def is_campaign(folder: Path) -> bool:
    """Whether a folder is a campaign. A campaign that is starting the compilers has only its lock."""
    return (folder / index.NAME).exists() or (folder / state.NAME).exists() or holder(folder) is not None


def why_no_index(folder: Path) -> str:
    """Say in one sentence why a folder has no index, and what to do about it."""
    held_by = holder(folder)
    if held_by is not None:
        return f"{folder}: process {held_by or '?'} is just starting this campaign; nothing of it is written yet"
    if (folder / state.NAME).exists():
        return f"{folder}: this campaign has no index; `fuzz status --repair --campaign {quote(str(folder))}` makes one"
    if folder.exists() and not folder.is_dir():
        return f"{folder}: no campaign, but a file"
    return f"{folder}: no campaign; `fuzz run --campaign {quote(str(folder))}` starts one"
