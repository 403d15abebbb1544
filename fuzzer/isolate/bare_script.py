"""Run a script in a bare environment, within the bounds of other scripts. What it said is kept with the environment."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec

from fuzzer.isolate import script
from fuzzer.isolate.child_process import Bounds, Reaper
from fuzzer.isolate.reports import SHOWS, ScriptRun
from fuzzer.system import temporary
from fuzzer.system.child_environment import anonymous
from fuzzer.system.files import make_folder, write_atomically
from fuzzer.toolchains import bare
from fuzzer.toolchains.bare import BareRecord
from fuzzer.toolchains.install import Tell
from generators.plain_file import MOST_DOCUMENT, read_plain

RUNS = "runs"
"""The folder of an environment with a file for each script that was run, named by the digest of the script."""

DECIDED = (SHOWS, 0)
"""Exit codes of a script that are kept: the bug is there, or is gone. A script that cannot tell is run again."""


class StoredRun(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    exit_code: int


@dataclass(frozen=True, slots=True)
class BareRun:
    """How a script ended in a bare environment."""

    record: BareRecord
    run: ScriptRun


RunBare = Callable[[str, Sequence[str], str], BareRun]
"""Runs a script, which compiles for a target, in the bare environment with these requirements."""


def runner(tell: Tell) -> RunBare:
    """Return what runs scripts. `tell` gets a line for each step of an installation. Raises what `bare.environment`
    raises."""

    def run(source: str, requirements: Sequence[str], target: str) -> BareRun:
        record = bare.environment(requirements, tell)
        if there := known(source, requirements):
            return there
        done = _run(source, record, target)
        if done.exit_code in DECIDED:
            path = _path(source, record)
            make_folder(path.parent)
            write_atomically(path, msgspec.json.encode(StoredRun(done.exit_code)))
        return BareRun(record, done)

    return run


def known(source: str, requirements: Sequence[str]) -> BareRun | None:
    """An earlier run of the same script in the environment; None where there is none, or where it cannot be read."""
    record = bare.find(requirements)
    if record is None:
        return None
    try:
        stored = msgspec.json.decode(read_plain(_path(source, record), MOST_DOCUMENT), type=StoredRun)
    except (OSError, msgspec.DecodeError):
        return None
    return BareRun(record, ScriptRun(stored.exit_code)) if stored.exit_code in DECIDED else None


def _run(source: str, record: BareRecord, target: str) -> ScriptRun:
    """Run it with as many threads as TVM and the frameworks choose: so does a reader."""

    def start(path: Path) -> tuple[int, Reaper]:
        variables = bare.variables(anonymous(path.parent))
        return script.start(path, record.interpreter, variables, gpu=script.needs_gpu(target))

    with temporary.folder() as scratch:
        return script.run_started(source, start, Bounds(), scratch / "script", [target])


def _path(source: str, record: BareRecord) -> Path:
    return record.folder / RUNS / f"{hashlib.sha256(source.encode()).hexdigest()}.json"
