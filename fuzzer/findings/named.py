"""A finding as a user names it: its folder, a part of its name that no other has, or its number in the list that was
shown last."""

from __future__ import annotations

import os
from pathlib import Path

from fuzzer.findings import finding_file
from fuzzer.system import last_list
from fuzzer.system.terminal import command
from generators.graph import Invalid

PLACES = ("crashes", "waiting", "parked")
"""The folders of a campaign in which a name is looked for."""

MOST_NAMED = 4
"""How many findings a message names."""


def finding_named(name: Path | str, campaign: Path | None = None) -> Path:
    """The folder of a finding or sighting. What exists is taken as it is, and what nothing has as a name is returned:
    its reader says what is wrong with it. Names are looked for in the campaign, by default the working directory. Raise
    `Invalid` where several have the part, and for a number that the last list, or one of that campaign, does not have.
    """
    path = Path(name)
    if path.exists():
        return path
    text = str(name)
    if text.isdecimal():
        return _numbered(int(text), campaign)
    found = _alike(path, campaign or Path("."))
    if len(found) > 1:
        more = f" and {len(found) - MOST_NAMED} more" if len(found) > MOST_NAMED else ""
        names = ", ".join(each.name for each in found[:MOST_NAMED])
        raise Invalid(f"{text}: {len(found)} findings have this in their names: {names}{more}; write more of one")
    return found[0] if found else path


def _numbered(number: int, campaign: Path | None) -> Path:
    folders = last_list.read(campaign or Path())
    if not folders:
        raise Invalid(f"{number}: no list was shown in this folder yet; `fuzz triage` shows one")
    if not 1 <= number <= len(folders):
        raise Invalid(f"{number}: the list that was shown last has numbers from 1 to {len(folders)}")
    folder = folders[number - 1]
    if campaign is not None and not _real(folder.parent).is_relative_to(_real(campaign)):
        shows = command("triage", "--campaign", campaign)
        raise Invalid(f"{number}: the list that was shown last is not of {campaign}; `{shows}` shows its list")
    if not folder.exists():
        raise Invalid(f"{number}: {folder}, which the list that was shown last has, is gone; `fuzz triage` lists anew")
    inside = folder.is_relative_to(Path.cwd())
    return folder.relative_to(Path.cwd()) if inside else folder


def _real(folder: Path) -> Path:
    """The folder without links and "..", so that one folder has one name."""
    return Path(os.path.realpath(folder))


def _alike(path: Path, campaign: Path) -> list[Path]:
    """The folders with this part in their names: below the folder that the path names, or in the campaign."""
    parents = [campaign / place for place in PLACES] if path.parent == Path(".") else [path.parent]
    folders = [each for parent in parents for each in finding_file.folders_in(parent)]
    exact = [each for each in folders if each.name.endswith(f"-{path.name}")]
    return exact if len(exact) == 1 else [each for each in folders if path.name in each.name]
