"""Recorded failures with their class: `logs/<name>.txt` is one (failure_text.py), with what difftvm must call it."""

from __future__ import annotations

from pathlib import Path

import msgspec
from failure_text import evidence_key, evidence_of, split

from oracles.outcome import Died, Raised, Stage

FOLDER = Path(__file__).parent / "logs"


class Log(msgspec.Struct, forbid_unknown_fields=True):
    """`expected` is "unsupported", "environment" or a kind of finding; `component` is empty if nobody is to blame."""

    expected: str
    component: str
    lane: str
    failure: Raised | Died


def logs() -> dict[str, Log]:
    return {path.stem: read(path) for path in sorted(FOLDER.glob("*.txt"))}


def read(path: Path) -> Log:
    lines, body = split(path.read_bytes().decode())
    values = dict(lines)
    name = evidence_key(path.name, values)
    if unknown := values.keys() - {"expected", "component", "lane", "stage", name}:
        raise ValueError(f"{path.name}: no such key: {', '.join(sorted(unknown))}")
    failure = evidence_of(name, values[name], Stage(values["stage"]), body).evidence
    assert isinstance(failure, Raised | Died)
    return Log(values["expected"], values.get("component", ""), values["lane"], failure)
