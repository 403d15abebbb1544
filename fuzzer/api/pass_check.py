"""The campaign of `check_pass` and `check_backend`: random cases, in lanes with the pass and without it."""

from __future__ import annotations

import math
import re
import shlex
import sys
import tempfile
import threading
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from fuzzer.api.found_failure import FoundFailure
from fuzzer.api.pass_lab import PassLab, has_own_pass
from fuzzer.api.tracebacks import is_answer
from fuzzer.api.user_objects import expression
from fuzzer.campaign.cases.cases import Cases, random_cases
from fuzzer.campaign.plan.own_lanes import own_lanes
from fuzzer.campaign.plan.selection import ops_named
from fuzzer.campaign.plan.settings import LaneMix, RunLimits, Settings, TriageLimits
from fuzzer.campaign.run.loop import Campaign
from fuzzer.campaign.run.start import warm_up
from fuzzer.campaign.store.store import Store
from fuzzer.difference.runs import cases_of_earlier_runs, next_run
from fuzzer.findings import record
from fuzzer.findings.check_failures import fails_check
from fuzzer.findings.finding_doc import FindingDoc
from fuzzer.isolate.fleet import Fleet
from fuzzer.report.title import plain_title
from fuzzer.system.files import write_atomically
from fuzzer.toolchains import preload
from fuzzer.toolchains.registry import finder
from fuzzer.triage.reproduce import is_valid
from generators.dialect_names import DEFAULT
from generators.graph import Case
from oracles.finding import Finding
from oracles.lane import LaneSpec
from oracles.outcome import Built, Ran, Result, facts_of
from oracles.transforms import IDEMPOTENT, KERNELS, OWN, ROUNDINGS

__tracebackhide__ = is_answer

PRELOAD = "own_pass.py"
"""The file that registers the pass, in the folder of the check."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is to be checked. `claimed` is `NAME[:kernels][:idempotent][:ROUNDING]`."""

    rewrite: object
    claimed: str
    seconds: float
    tests: int | None
    seed: int | None
    ops: str
    workers: int
    most: int
    aliasing: bool = False

    @property
    def name(self) -> str:
        return self.claimed.partition(":")[0]


@dataclass(slots=True)
class Reach:
    """How many valid tests there were, in how many of them the pass ran to its end, and in how many it changed the
    module. Several threads may call `watch`."""

    name: str
    tests: int = 0
    ran: int = 0
    changed: int = 0
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def watch(self, number: int, case: Case, result: Result, findings: Sequence[Finding]) -> None:
        with self._lock:
            if not is_valid(result.outcomes):
                return
            own = [outcome for lane, outcome in result.outcomes.items() if has_own_pass(lane)]
            self.tests += 1
            self.ran += any(isinstance(outcome, Ran | Built) for outcome in own)
            self.changed += any(f"pass {OWN}{self.name}" in facts_of(outcome).behaviour for outcome in own)


@dataclass(frozen=True, slots=True)
class CheckedPass:
    """What a check did. `waiting` counts failures that were met and not investigated, `flaky` those that did not show
    again. `aliased` counts findings that are no failure: outputs that share memory with an input."""

    folder: Path
    seed: int
    lanes: tuple[LaneSpec, ...]
    reach: Reach
    findings: tuple[FoundFailure, ...]
    waiting: int
    flaky: int
    aliased: int = 0


def name_of(rewrite: object) -> str:
    """A name for a pass: that of the function or of the pass of TVM, with other characters left out."""
    info = getattr(rewrite, "info", None)
    name = rewrite if isinstance(rewrite, str) else getattr(info, "name", None) or getattr(rewrite, "__name__", "")
    return re.sub(r"[^A-Za-z0-9_.-]", "", str(name)).lstrip(".-")[:60] or "own_pass"


def claimed(rewrite: object, on: str, *, idempotent: bool, rounding: str | None) -> str:
    """The name of the pass with what is claimed of it, as lanes have it. Raise `ValueError`."""
    if on not in ("relax", KERNELS):
        raise ValueError(f"on={on!r}: it is 'relax' or {KERNELS!r}")
    if rounding is not None and rounding not in ROUNDINGS:
        raise ValueError(f"rounding={rounding!r}: it is None, {', '.join(map(repr, ROUNDINGS))}")
    claims = [KERNELS if on == KERNELS else "", IDEMPOTENT if idempotent else "", rounding or ""]
    return ":".join([name_of(rewrite), *(claim for claim in claims if claim)])


def check(wanted: Wanted, folder: Path | None) -> CheckedPass:
    """Run the campaign in a new folder `folder/N`, by default in a new one among the temporary files, which remains.
    The cases of the findings of earlier checks in `folder` run first. Raise `Invalid`, `ValueError` and
    `EnvironmentMissing`."""
    if preload.MODULE in sys.modules:
        raise RuntimeError(
            "a check was called while the file with the pass was loaded in another process: "
            'put the call below `if __name__ == "__main__":`'
        )
    lanes, chosen = own_lanes(wanted.claimed), ops_named(wanted.ops)
    source = preload_source(wanted.name, wanted.rewrite)
    kept = cases_of_earlier_runs(folder) if folder else []
    folder = (next_run(folder) if folder else Path(tempfile.mkdtemp(prefix=f"difftvm-{wanted.name}-"))).resolve()
    with Store(folder, wanted.seed) as store:
        write_atomically(folder / PRELOAD, source.encode())
        settings = Settings(
            folder,
            store.state.seed,
            LaneMix(lanes),
            RunLimits(wanted.seconds, wanted.tests, wanted.most, wanted.aliasing),
            triage=TriageLimits(drain=math.inf),
            workers=wanted.workers,
            ops={DEFAULT: chosen},
        )
        reach = Reach(wanted.name)
        with Fleet(store.scratch, finder(folder / PRELOAD)) as fleet:
            warm_up(fleet, (), threading.Event(), lanes)
            cases = _first(kept, random_cases(settings, settings.seed))
            task = Campaign(settings, store, PassLab(fleet), cases, reach.watch)
            task.run()
        steady = [doc for doc in task.triage.new if not doc.flaky]
        failing = [doc for doc in steady if fails_check(doc.kind, aliasing=wanted.aliasing)]
        return CheckedPass(
            folder,
            store.state.seed,
            lanes,
            reach,
            tuple(_found(store.crashes / doc.slug, doc, folder / PRELOAD) for doc in failing),
            len(task.triage.queue),
            len(task.triage.new) - len(steady),
            len(steady) - len(failing),
        )


def _first(kept: Sequence[Case], others: Cases) -> Cases:
    """The cases `kept` in the first tests, then the others from their first on."""
    return lambda number: kept[number] if number < len(kept) else others(number - len(kept))


def preload_source(name: str, rewrite: object) -> str:
    """A file for `--preload` that registers the pass. It imports what the caller can import."""
    is_name = isinstance(rewrite, str)
    lines = [
        '"""Written by difftvm: registers the pass that a check fuzzes, in each process that runs TVM."""',
        "",
        "import sys",
        "",
        f"sys.path += [path for path in {_paths()!r} if path not in sys.path]",
        "",
        *([] if is_name else ["from fuzzer.api import user_objects"]),
        "from fuzzer.api.own_passes import register_pass",
        "",
        f"register_pass({name!r}, {rewrite!r})" if is_name else f"register_pass({name!r}, {expression(rewrite)})",
    ]
    return "\n".join(lines) + "\n"


def _paths() -> list[str]:
    return [str(Path(path).resolve()) for path in sys.path]


def _found(folder: Path, doc: FindingDoc, file: Path) -> FoundFailure:
    title = plain_title(record.read(folder))
    replay = shlex.join(["fuzz", "--replay", str(folder), "--preload", str(file)])
    return FoundFailure(doc.slug, title, str(doc.kind), tuple(doc.ops), folder, folder / "repro.py", replay)
