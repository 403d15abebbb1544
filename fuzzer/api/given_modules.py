"""Check a pass on Relax modules that the user gives: each module with the pass must mean what it means without."""

from __future__ import annotations

import secrets
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from fuzzer.api.finding_error import FindingError
from fuzzer.api.pass_check import PRELOAD, Wanted, preload_source
from fuzzer.api.pass_report import PassNotReached, PassReport
from fuzzer.api.relax_modules import check_modules
from fuzzer.api.tracebacks import is_answer
from fuzzer.campaign.plan.own_lanes import own_lanes
from fuzzer.difference.runs import next_run
from fuzzer.isolate.module_job import INVALID, REFUSED, ModuleJob
from fuzzer.system.files import write_atomically
from fuzzer.toolchains.registry import finder
from generators.graph import Invalid

__tracebackhide__ = is_answer

DRAWS = 3
"""How often the inputs of each module are drawn, where the number of tests is not given."""


def check_given(wanted: Wanted, modules: Sequence[Any], folder: Path | None) -> PassReport:
    """Run the pass on the modules in turn, each time with other inputs. Raise what `check_pass` raises, and `Invalid`
    where a module cannot be judged without the pass."""
    if not modules:
        raise Invalid("modules is empty: pass tvm.IRModule objects, or paths of their JSON")
    lanes, source = own_lanes(wanted.claimed), preload_source(wanted.name, wanted.rewrite)
    folder = (next_run(folder) if folder else Path(tempfile.mkdtemp(prefix=f"difftvm-{wanted.name}-"))).resolve()
    file = folder / PRELOAD
    write_atomically(file, source.encode())
    seed = secrets.randbits(32) if wanted.seed is None else wanted.seed
    tests = DRAWS * len(modules) if wanted.tests is None else wanted.tests
    jobs = [
        ModuleJob(test % len(modules), seed + test, passes=lane.passes, alone=True)
        for test in range(tests)
        for lane in lanes
    ]
    found = check_modules(modules, None, jobs, finder(file)("host"), folder, file)
    if found.failures:
        raise FindingError(found.failures[: wanted.most])
    _all_judged([(job.module, answer.message) for job, answer in found.done if answer.kind == INVALID], len(modules))
    changed = sum(answer.changed for _, answer in found.done)
    ran = sum(answer.kind not in (INVALID, REFUSED) for _, answer in found.done)
    if not changed:
        raise PassNotReached(f"the pass {wanted.name} changed none of {len(modules)} modules, and ran on {ran}")
    names = tuple(lane.name for lane in lanes)
    return PassReport(tests, ran, changed, names, seed, len(found.not_confirmed), folder)


def _all_judged(invalid: Sequence[tuple[int, str]], count: int) -> None:
    """Raise `Invalid` for a module that was never judged: a check that leaves it out would say too much."""
    for place in range(count):
        if why := next((message for module, message in invalid if module == place), ""):
            raise Invalid(f"module {place} cannot be judged: {why}")
