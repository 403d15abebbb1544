"""Values for what a target needs in `repro.py`: a sanitizer, a GPU, or a program that checks generated code."""

from __future__ import annotations

import textwrap
from dataclasses import dataclass

from fuzzer.lanes.base.availability import checker_of
from fuzzer.report.script_source import NOTHING, Source, joined, listed, literal_of, quoted, source
from oracles.finding import Finding, Mismatch
from oracles.lane import SCHEDULES, Engine
from oracles.outcome import FAILURES, Raised, Stage
from oracles.targets import CodeChecker, Runs, Target, target_named

DRIVERS = ("PoCL", "wgpu")
"""How lanes name the drivers that run kernels on the processor, where these refuse the kernels."""

_LAUNCHED = {"opencl": source("opencl"), "webgpu": source("webgpu")}


@dataclass(frozen=True, slots=True)
class CheckerCall:
    """A program that checks the code that TVM generates.

    command  its command line, as a Python expression
    package  the Node package that it needs, or ""
    module   the kind of TVM's runtime module that has the code
    suffix   of the file that it gets
    file     the name of that file
    each     each kernel has a file of its own
    """

    command: Source
    package: str
    module: Source
    suffix: str
    file: Source
    each: bool


@dataclass(frozen=True, slots=True)
class TargetParts:
    """Where the script's functions run, and the programs that it needs.

    memory         arguments after the device
    tensor_device  arguments after a tensor's value
    schedules      whether the script compares kernels before and after they are scheduled
    launched       the target whose kernels the script launches on the processor, or ""
    programs       the list of programs that the script starts
    sanitizer      the compiler whose sanitizer runtime must be loaded first, or ""
    """

    device: Source
    memory: Source
    tensor_device: Source
    on_a_device: bool
    schedules: bool
    launched: Source
    programs: Source
    sanitizer: Source
    checker: CheckerCall | None


def parts(finding: Finding) -> TargetParts:
    row = target_named(finding.lane.target)
    sanitized, on_a_device = _runs(finding) is Runs.SANITIZED, runs_on_a_device(finding)
    programs = _programs(finding, row)
    device = source("tvm.device({})", literal_of(row.config["kind"])) if on_a_device else source("tvm.cpu()")
    nothing = NOTHING
    return TargetParts(
        device,
        source(', memory_cfg="naive"') if sanitized else nothing,
        source(", {}", device) if on_a_device else nothing,
        on_a_device,
        compares_schedules(finding),
        _LAUNCHED[str(row.config["kind"])] if is_launched(finding) else nothing,
        literal_of(programs) if programs else nothing,
        quoted(row.compilers[0]) if sanitized else nothing,
        _checker_call(row) if is_checked(finding) else None,
    )


def _programs(finding: Finding, row: Target) -> list[str]:
    if _runs(finding) is Runs.SANITIZED:
        return list(row.compilers[:1])
    if finding.lane.engine is not Engine.TVM or finding.stage in (Stage.IMPORT, Stage.TRANSFORM, Stage.COMPILE):
        return []
    if is_checked(finding):
        checker = _checker(row)
        return [checker.program, *(["npm"] if checker.package else [])]
    if is_launched(finding):
        return []
    return ["nvcc"] if runs_on_a_device(finding) else list(row.compilers[:1])


def runs_on_a_device(finding: Finding) -> bool:
    """Whether the finding needs the device: it failed there, and no checker refused the code before."""
    evidence = finding.evidence
    refused = isinstance(evidence, Raised) and evidence.type.endswith(".Refused")
    return _runs(finding) is Runs.ON_A_DEVICE and finding.stage in (Stage.LOAD, Stage.RUN) and not refused


def compares_schedules(finding: Finding) -> bool:
    """Whether the script compares kernels before and after they are scheduled, and runs them as plain loops."""
    return finding.lane.variant == SCHEDULES and finding.stage is Stage.COMPILE


def is_launched(finding: Finding) -> bool:
    """Whether the script launches the kernels on the processor: a driver refused them, or they ran there."""
    evidence = finding.evidence
    by_checker = isinstance(evidence, Raised) and evidence.type.endswith(".Refused") and not is_of_driver(evidence)
    return _runs(finding) is Runs.BY_KERNELS and finding.stage in (Stage.LOAD, Stage.RUN) and not by_checker


def is_of_driver(refused: Raised) -> bool:
    """Whether the driver that should run the kernels refused them, and no checker of the code alone."""
    return refused.message.startswith(tuple(f"Compilation error, {driver} on" for driver in DRIVERS))


def is_only_built(finding: Finding) -> bool:
    """Whether the compiled code is checked and not run."""
    runs = _runs(finding)
    elsewhere = (runs is Runs.ON_A_DEVICE and not runs_on_a_device(finding)) or (
        runs is Runs.BY_KERNELS and not is_launched(finding)
    )
    return runs is Runs.NOWHERE or elsewhere


def is_checked(finding: Finding) -> bool:
    """Whether a checker gets the compiled code. It does not where none knows the target, if an earlier stage failed, or
    for other evidence than failures and mismatches, which is complete before."""
    early = finding.stage in (Stage.IMPORT, Stage.TRANSFORM, Stage.COMPILE)
    if early or target_named(finding.lane.target).written is None:
        return False
    return is_only_built(finding) and isinstance(finding.evidence, (*FAILURES, Mismatch))


def _runs(finding: Finding) -> Runs | None:
    return target_named(finding.lane.target).runs if finding.lane.engine is Engine.TVM else None


def _checker(row: Target) -> CodeChecker:
    """The program that checks the target's code: the first that is installed, or the first of all."""
    assert row.written is not None
    return checker_of(row) or row.written.checkers[0]


def _checker_call(row: Target) -> CheckerCall:
    assert row.written is not None
    checker = _checker(row)
    words = {"{file}": source("path"), "{package}": source("node_package({})", quoted(checker.package))}
    command = listed([words.get(each) or _in_pieces(each) for each in (checker.program, *checker.arguments)])
    suffix = row.written.suffix
    return CheckerCall(
        command, checker.package, quoted(row.written.module), suffix, quoted(f"written{suffix}"), row.written.each
    )


def _in_pieces(text: str) -> Source:
    """The literal of a string. A long string becomes several adjacent literals."""
    lines = textwrap.wrap(text, 80, drop_whitespace=False, break_on_hyphens=False)
    return joined(" ", map(quoted, lines))
