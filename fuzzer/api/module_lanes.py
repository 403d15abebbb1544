"""The lanes of a Relax module that a person gives."""

from __future__ import annotations

from collections.abc import Mapping
from fnmatch import fnmatchcase

import msgspec

from fuzzer.isolate.module_job import ModuleJob
from fuzzer.lanes import ALL_PLAIN
from fuzzer.lanes.base.availability import Availability, CompileOnly, Missing, availability
from fuzzer.lanes.model_lanes import LaneChoice, lane_name
from generators.graph import Invalid
from oracles.lane import Engine, LaneSpec, Pipeline
from oracles.targets import Runs, target_named

LANES: Mapping[str, ModuleJob] = {
    "relax-module-llvm": ModuleJob(0, 0),
    "relax-module-c": ModuleJob(0, 0, target="c"),
    "relax-module-zero": ModuleJob(0, 0, pipeline=Pipeline.ZERO),
}
"""The lanes that have a name."""


def module_lanes(wanted: LaneChoice, passes: tuple[str, ...]) -> dict[str, ModuleJob]:
    """The jobs of a module by the names of their lanes, without those that do the same. Raise `Invalid` where no lane
    matches."""
    chosen = {name: job for name, job in LANES.items() if _matches(name, job, wanted.lanes)}
    if not chosen:
        raise Invalid(f"no lane of a Relax module matches {wanted.lanes!r}: they are {', '.join(LANES)}")
    if wanted.target:
        chosen.setdefault(lane_name("relax-module-llvm", wanted.target), ModuleJob(0, 0, target=wanted.target))
    made = dict(_with_settings(name, job, wanted) for name, job in chosen.items())
    different = {job: name for name, job in reversed(made.items())}
    return {name: msgspec.structs.replace(job, passes=passes) for job, name in reversed(different.items())}


def _matches(name: str, job: ModuleJob, globs: str | None) -> bool:
    if globs is None:
        return job.target == "llvm"
    return globs == ALL_PLAIN or any(fnmatchcase(name, glob.strip()) for glob in globs.split(","))


def _with_settings(name: str, job: ModuleJob, wanted: LaneChoice) -> tuple[str, ModuleJob]:
    if wanted.pipeline is not None and wanted.pipeline is not job.pipeline:
        name, job = f"{name}-{wanted.pipeline}", msgspec.structs.replace(job, pipeline=wanted.pipeline)
    if wanted.opt_level is not None and wanted.opt_level != job.opt_level:
        name, job = f"{name}-opt{wanted.opt_level}", msgspec.structs.replace(job, opt_level=wanted.opt_level)
    return name, job


def cannot_run(target: str) -> str:
    """Why this machine can neither run nor compile for a target; "" where it can."""
    found = _here(target)
    return found.why if isinstance(found, Missing) else ""


def only_compiled(target: str) -> str:
    """Why a module is only compiled for a target; "" where it runs. Modules run on the processor alone."""
    found = _here(target)
    if isinstance(found, CompileOnly):
        return f"it is only compiled: {found.why}"
    return "" if target_named(target).runs is Runs.HERE else "it is only compiled: modules run on the processor alone"


def _here(target: str) -> Availability:
    return availability(LaneSpec("relax-module", Engine.TVM, variant="relax", target=target))
