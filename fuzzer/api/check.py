"""Check that TVM compiles a model as PyTorch runs it."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from fuzzer.api.finding_error import FindingError, FoundFailure
from fuzzer.api.model_cases import cases_of
from fuzzer.api.relax_modules import check_modules, is_relax_module
from fuzzer.api.shared_fleet import shared_fleet
from fuzzer.campaign import minimize
from fuzzer.campaign.judging import judged
from fuzzer.campaign.lock import Busy
from fuzzer.campaign.minimize import Minimized, MinimizeRequest
from fuzzer.campaign.store import Store
from fuzzer.commands.selection import lanes_named
from fuzzer.findings import record
from fuzzer.isolate.fleet import Fleet
from fuzzer.isolate.module_job import ModuleJob
from fuzzer.report.wording import plain_title
from fuzzer.toolchains.lanes import in_toolchains, named
from fuzzer.toolchains.registry import finder
from fuzzer.triage.investigate import Sighting, sightings
from fuzzer.triage.reproduce import is_valid, judged_by, judged_run
from generators.graph import Case, Invalid
from oracles.lane import LaneSpec, is_eager
from oracles.outcome import Built, Outcome, Ran, Result, why_no_result
from oracles.transforms import TRANSFORMS_BY_NAME

FOLDER = Path(".difftvm")
"""Where findings are saved if the caller names no folder, below the working directory."""

WAIT_SECONDS = 600.0
"""How long a check waits for another process that saves a finding in the same folder."""

_saving = threading.Lock()


class NothingRan(Invalid):
    """No lane can run the model: there is nothing to compare."""


@dataclass(frozen=True, slots=True)
class Checked:
    """What a check ran.

    ran            names of the lanes that gave a result in at least one case
    not_run        names of the lanes that gave no result in a case, each with the reason
    not_confirmed  failures that three more runs did not all show, or that TVM documents: they are not raised
    not_covered    operators of the model without a row, each with the reason: they were not checked
    cases          the number of cases: 1 where the whole model is one connected graph
    seconds        wall time
    """

    ran: tuple[str, ...]
    not_run: tuple[tuple[str, str], ...]
    not_confirmed: tuple[str, ...]
    not_covered: tuple[str, ...]
    cases: int
    seconds: float


def check(
    model: Any,
    inputs: Any = None,
    *,
    lanes: str = "*",
    passes: Sequence[str] = (),
    toolchain: str = "host",
    preload: str | Path | None = None,
    folder: str | Path | None = None,
    reduce: bool = True,
) -> Checked:
    """Compile a model with TVM in several ways, and compare each result with PyTorch's; that of an ONNX file with
    onnxruntime's.

    Each element may differ by the measured tolerance that campaigns use. TVM runs in other processes: whatever it does,
    this process goes on.

    model      one of
               - a torch.nn.Module. It is exported as it is, so call `model.eval()` first where that matters. Its own
                 parameters and buffers are used
               - the path of an .onnx file of at most 5,000 nodes. TVM imports its own nodes, at its opset. Weights of
                 floating point are drawn, not read. Where onnxruntime and the reference evaluator of the onnx package
                 do not agree, its values are not judged
               - the path of a .pt2 file, also with drawn weights
               - a case, or the path of a folder with case.json
               - a tvm.IRModule of Relax, or the path of the .json that `tvm.ir.save_json` wrote. It is judged by its
                 meaning: what its operators compute by their definitions, before and after the passes
    inputs     for a module a tensor, a tuple of positional tensors, or a dict by name; for a file a dict of numpy
               arrays by name, where those that are left out are drawn; for a case nothing; for a Relax module a
               sequence of arrays, or a dict by the names of main's parameters, where those left out are drawn
    lanes      comma-separated globs; `fuzz lanes` lists the names. "*": the plain lanes; those of an .onnx file are
               relax-onnx-model-llvm and relax-onnx-model-c. A Relax module has lanes of its own: relax-module-llvm,
               relax-module-c, and relax-module-zero without optional passes
    passes     names of passes of `oracles/transforms.py`, which each lane runs on the imported module in this order. A
               pass that requires others gets them before it
    toolchain  the TVM to use, by name; `fuzz toolchain list` lists them
    preload    a Python file that each process with TVM executes first, such as one that registers your own pass
    folder     where findings are saved; by default `.difftvm` in the working directory
    reduce     False: a failure is saved as it is, which takes a fraction of the time

    An operator that difftvm does not know cuts the model. The parts before and after it are checked, the latter with
    the values that PyTorch computes there; those of a file with drawn values.

    Raises `FindingError`, an AssertionError, where a lane fails in three of three runs. Raises `Invalid`, a ValueError,
    where there is nothing to check: no operator is known, the reference refuses the model, or no lane ran. Raises
    `EnvironmentMissing` where the toolchain is not installed or does not start.
    """
    began = time.monotonic()
    if is_relax_module(model):
        return _check_module(model, inputs, lanes, passes, toolchain, preload, folder)
    found = cases_of(model, inputs)
    chosen = _lanes(lanes, passes, toolchain, found.dialect)
    loaded = Path(preload) if preload else None
    fleet = shared_fleet(loaded)
    where = _folder(folder)
    failures: list[FoundFailure] = []
    outcomes: list[tuple[LaneSpec, Outcome]] = []
    not_confirmed: list[str] = []
    for case in found.cases:
        result, sighted = _run(fleet, case, chosen)
        outcomes += [(lane, outcome) for lane, outcome in result.outcomes.items() if lane in chosen]
        for done in _investigated(fleet, where, case, chosen, sighted, reduce=reduce):
            if done.folder:
                failures.append(_failure(done.folder, loaded))
            else:
                not_confirmed.append(f"{done.kind} on {done.lane}: {done.again} runs fail")
    if failures:
        raise FindingError(tuple({each.slug: each for each in failures}.values()))
    ran = tuple(dict.fromkeys(lane.name for lane, outcome in outcomes if isinstance(outcome, Ran | Built)))
    not_run = tuple(dict.fromkeys((lane.name, why) for lane, outcome in outcomes if (why := why_no_result(outcome))))
    if not ran and not not_confirmed:
        raise NothingRan(f"no lane ran: {'; '.join(f'{name}: {why}' for name, why in not_run)}")
    return Checked(ran, not_run, tuple(not_confirmed), found.not_covered, len(found.cases), time.monotonic() - began)


MODULE_LANES = {
    "relax-module-llvm": ("llvm", "default"),
    "relax-module-c": ("c", "default"),
    "relax-module-zero": ("llvm", "zero"),
}
"""The lanes of a Relax module: the target, and the pipeline."""


def _check_module(
    module: Any,
    inputs: Any,
    globs: str,
    passes: Sequence[str],
    toolchain: str,
    preload: str | Path | None,
    folder: str | Path | None,
) -> Checked:
    began = time.monotonic()
    names = [name for name in MODULE_LANES if any(fnmatchcase(name, glob) for glob in globs.split(","))]
    if not names:
        raise Invalid(f"no lane of a Relax module matches {globs!r}: they are {', '.join(MODULE_LANES)}")
    first = _passes(passes)
    jobs = [ModuleJob(0, 0, *MODULE_LANES[name], passes=first) for name in names]
    loaded = Path(preload) if preload else None
    found = check_modules([module], inputs, jobs, finder(loaded)(toolchain), _folder(folder), loaded)
    if found.failures:
        raise FindingError(found.failures)
    verdicts = dict(zip(names, (verdict for _, verdict in found.done), strict=True))
    ran = tuple(name for name, verdict in verdicts.items() if not verdict.kind)
    not_run = tuple((name, f"{each.stage}: {each.message}") for name, each in verdicts.items() if each.kind)
    if not ran and not found.not_confirmed:
        raise NothingRan(f"no lane ran: {'; '.join(f'{name}: {why}' for name, why in not_run)}")
    unknown = tuple(dict.fromkeys(each.unknown for each in verdicts.values() if each.unknown))
    return Checked(ran, not_run, found.not_confirmed, unknown, 1, time.monotonic() - began)


def _folder(folder: str | Path | None) -> Path:
    return (Path(folder) if folder else FOLDER).resolve()


def _lanes(globs: str, passes: Sequence[str], toolchain: str, dialect: str) -> tuple[LaneSpec, ...]:
    chosen = in_toolchains(lanes_named(globs, dialect), named(toolchain))
    first = _passes(passes)
    if not first:
        return chosen
    return tuple(replace(lane, name=f"{lane.name}-passes", passes=first + lane.passes) for lane in chosen)


def _passes(passes: Sequence[str]) -> tuple[str, ...]:
    """The passes, each after those that it requires. Raise `Invalid` for a name that no row has."""
    if isinstance(passes, str):
        raise Invalid(f"passes is a string: pass a list of names, such as [{passes!r}]")
    if unknown := [name for name in passes if name not in TRANSFORMS_BY_NAME]:
        raise Invalid(f"there is no pass {unknown[0]!r}; oracles/transforms.py lists them")
    return tuple(_with_required(passes))


def _with_required(passes: Iterable[str]) -> Iterator[str]:
    """The passes, each after those that it requires."""
    done: set[str] = set()
    for name in passes:
        for each in (*(need for need in TRANSFORMS_BY_NAME[name].after if need not in done), name):
            done.add(each)
            yield each


def _run(fleet: Fleet, case: Case, lanes: Sequence[LaneSpec]) -> tuple[Result, list[Sighting]]:
    """Run the lanes with those that judge them. Raise `Invalid` where the reference refuses the case."""
    everything = tuple(dict.fromkeys(each for lane in lanes for each in judged_by(lane)))
    result, findings = judged(fleet.run_fresh, case, judged_run(fleet.run, case, everything))
    if not is_valid(result.outcomes):
        why = next((why_no_result(out) for lane, out in result.outcomes.items() if is_eager(lane)), "it did not run")
        raise Invalid(f"{_reference(case)} refuses {case.origin or 'the case'}: {why}")
    return result, sightings(finding for finding in findings if finding.lane in lanes)


def _reference(case: Case) -> str:
    return "onnxruntime" if case.graph.dialect == "onnx" else "PyTorch"


def _investigated(
    fleet: Fleet, folder: Path, case: Case, lanes: tuple[LaneSpec, ...], sighted: Sequence[Sighting], *, reduce: bool
) -> list[Minimized]:
    """Confirm, reduce and save each failure, one check at a time: the folder of findings has one writer."""
    if not sighted:
        return []
    requests = [MinimizeRequest(case, sighting, lanes, reduce=reduce) for sighting in sighted]
    width = os.cpu_count() or 1
    with _saving, _opened(folder) as store:
        return [each for request in requests for each in minimize.run(fleet, store, request, width).minimized]


def _opened(folder: Path) -> Store:
    """Open the folder of findings, after the process that has it open. Raise `Invalid` where that takes too long."""
    deadline = time.monotonic() + WAIT_SECONDS
    while True:
        try:
            return Store(folder, None)
        except Busy as busy:
            if time.monotonic() > deadline:
                raise Invalid(f"{busy}; name another folder") from None
        time.sleep(0.2)


def _failure(folder: Path, preload: Path | None) -> FoundFailure:
    saved = record.read(folder)
    doc = saved.doc
    replay = f"fuzz --replay {folder}{f' --preload {preload}' if preload else ''}"
    return FoundFailure(
        doc.slug, plain_title(saved), doc.kind, saved.case.graph.ops, folder, folder / "repro.py", replay
    )
