"""The part of `repro.py` that a target needs beside its name: sanitizers in front, a GPU, a compiler that looks."""

from __future__ import annotations

import textwrap
from dataclasses import dataclass

from fuzzer.lanes.base.availability import checker_of
from fuzzer.report.python_source import listed, literal_of, quoted
from oracles.finding import Finding, Mismatch
from oracles.lane import Engine
from oracles.outcome import FAILURES, Raised, Stage
from oracles.targets import TARGETS_BY_NAME, CodeChecker, Runs, Target


@dataclass(frozen=True, slots=True)
class Looking:
    """What looks at the code that TVM wrote: its command, and the runtime module, suffix and form of what it gets."""

    command: str
    package: str
    module: str
    suffix: str
    each: bool


@dataclass(frozen=True, slots=True)
class Parts:
    """Where the script's functions run. `memory` goes behind the device, `tensor_device` behind a tensor's value;
    `programs` is the list of those that the script starts, `sanitizer` the compiler whose runtime must be loaded
    first."""

    device: str
    memory: str
    tensor_device: str
    on_a_device: bool
    programs: str
    sanitizer: str
    checker: Looking | None


def parts(finding: Finding) -> Parts:
    row = TARGETS_BY_NAME[finding.lane.target]
    apart, on_a_device = _runs(finding) is Runs.SANITIZED, runs_on_a_device(finding)
    programs = _programs(finding, row)
    device = f'tvm.device("{row.config["kind"]}")' if on_a_device else "tvm.cpu()"
    return Parts(
        device,
        ', memory_cfg="naive"' if apart else "",
        f", {device}" if on_a_device else "",
        on_a_device,
        literal_of(programs) if programs else "",
        row.compilers[0] if apart else "",
        _looking(row) if is_checked(finding) else None,
    )


def _programs(finding: Finding, row: Target) -> list[str]:
    if _runs(finding) is Runs.SANITIZED:
        return list(row.compilers[:1])
    if finding.lane.engine is not Engine.TVM or finding.stage in (Stage.IMPORT, Stage.TRANSFORM, Stage.COMPILE):
        return []
    if is_checked(finding):
        checker = _chosen(row)
        return [checker.program, *(["npm"] if checker.package else [])]
    return ["nvcc"] if runs_on_a_device(finding) else list(row.compilers[:1])


def runs_on_a_device(finding: Finding) -> bool:
    """Whether it takes the device to see the finding: it got there, and not before a checker."""
    evidence = finding.evidence
    refused = isinstance(evidence, Raised) and evidence.type.endswith(".Refused")
    return _runs(finding) is Runs.ON_A_DEVICE and finding.stage in (Stage.LOAD, Stage.RUN) and not refused


def is_only_built(finding: Finding) -> bool:
    """Whether what the lane compiled is looked at, not run."""
    runs = _runs(finding)
    return runs is Runs.NOWHERE or (runs is Runs.ON_A_DEVICE and not runs_on_a_device(finding))


def is_checked(finding: Finding) -> bool:
    """Whether what was compiled gets to a checker: other evidence than these kinds is there before, and so is what
    failed in an earlier step."""
    early = finding.stage in (Stage.IMPORT, Stage.TRANSFORM, Stage.COMPILE)
    return is_only_built(finding) and not early and isinstance(finding.evidence, (*FAILURES, Mismatch))


def _runs(finding: Finding) -> Runs | None:
    return TARGETS_BY_NAME[finding.lane.target].runs if finding.lane.engine is Engine.TVM else None


def _chosen(row: Target) -> CodeChecker:
    """The program that looks at what TVM writes: the first that is installed here, or the first of all."""
    assert row.written is not None
    return checker_of(row) or row.written.checkers[0]


def _looking(row: Target) -> Looking:
    assert row.written is not None
    checker = _chosen(row)
    words = {"{file}": "path", "{package}": f'node_package("{checker.package}")'}
    command = listed([words.get(each) or _in_pieces(each) for each in (checker.program, *checker.arguments)])
    return Looking(command, checker.package, row.written.module, row.written.suffix, row.written.each)


def _in_pieces(text: str) -> str:
    """A string's literal; a long one in pieces."""
    lines = textwrap.wrap(text, 80, drop_whitespace=False, break_on_hyphens=False)
    return " ".join(quoted(line) for line in lines)
