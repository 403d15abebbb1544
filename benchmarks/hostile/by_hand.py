"""Every row through the commands that read it, each in a fork."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from dataclasses import asdict, replace
from pathlib import Path

from hostile.commands import Verb, is_chosen
from hostile.copies import fresh
from hostile.ending import waited
from hostile.in_this_process import bound_memory, run_here, watch_here
from hostile.judging import MOST_WALL, Ended, Report, faults_of, report_of
from hostile.row import Row


def by_hand(template: Path, chosen: Sequence[Row], verbs: str, every: int = 1, first: int = 0) -> Iterator[Report]:
    """Every row through every command that reads it, each in a fork. With `every`, each `every`-th of these runs,
    from the run `first` on."""
    runs = [(row, name) for row in chosen for name in row.commands if is_chosen(name, verbs)]
    for row, name in runs[first::every]:
        again = f"--by-hand --only {row.name!r} --verbs {name!r}"
        ended, faults = _forked(template, row, row.commands[name])
        yield report_of(name, row.kind, ended, faults, again)


def _forked(template: Path, row: Row, verb: Verb) -> tuple[Ended, list[str]]:
    place = fresh(template, template.with_name("row"))
    row.make(place)
    answer = place.root / "answer.json"
    child = os.fork()
    if not child:
        try:
            os.setpgid(0, 0)
            bound_memory()
            watch_here(place)
            ended = run_here(verb.words(place), place)
            answer.write_text(json.dumps(asdict(ended)))
        finally:
            os._exit(0)
    ending = waited(child, MOST_WALL)
    try:
        ended = replace(Ended(**json.loads(answer.read_text())), wall=ending.wall)
    except (OSError, ValueError):
        why = f"it was killed after {ending.wall:.0f} s" if ending.wall > MOST_WALL else "it ended its process"
        ended = Ended(-9, "", why, ending.cpu, ending.wall, ending.megabytes)
    return ended, faults_of(ended, place)
