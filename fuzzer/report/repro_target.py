"""Values for what a target needs in `repro.py`: a sanitizer, a GPU, or a program that checks generated code."""

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
class CheckerCall:
    """A program that checks the code that TVM generates.

    command  its command line, as a Python expression
    package  the Node package that it needs, or ""
    module   the kind of TVM's runtime module that has the code
    suffix   of the file that it gets
    each     each kernel has a file of its own
    """

    command: str
    package: str
    module: str
    suffix: str
    each: bool


@dataclass(frozen=True, slots=True)
class TargetParts:
    """Where the script's functions run, and the programs that it needs.

    memory         arguments after the device
    tensor_device  arguments after a tensor's value
    programs       the list of programs that the script starts
    sanitizer      the compiler whose sanitizer runtime must be loaded first, or ""
    """

    device: str
    memory: str
    tensor_device: str
    on_a_device: bool
    programs: str
    sanitizer: str
    checker: CheckerCall | None


def parts(finding: Finding) -> TargetParts:
    row = TARGETS_BY_NAME[finding.lane.target]
    sanitized, on_a_device = _runs(finding) is Runs.SANITIZED, runs_on_a_device(finding)
    programs = _programs(finding, row)
    device = f'tvm.device("{row.config["kind"]}")' if on_a_device else "tvm.cpu()"
    return TargetParts(
        device,
        ', memory_cfg="naive"' if sanitized else "",
        f", {device}" if on_a_device else "",
        on_a_device,
        literal_of(programs) if programs else "",
        row.compilers[0] if sanitized else "",
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
    return ["nvcc"] if runs_on_a_device(finding) else list(row.compilers[:1])


def runs_on_a_device(finding: Finding) -> bool:
    """Whether the finding needs the device: it failed there, and no checker refused the code before."""
    evidence = finding.evidence
    refused = isinstance(evidence, Raised) and evidence.type.endswith(".Refused")
    return _runs(finding) is Runs.ON_A_DEVICE and finding.stage in (Stage.LOAD, Stage.RUN) and not refused


def is_only_built(finding: Finding) -> bool:
    """Whether the compiled code is checked and not run."""
    runs = _runs(finding)
    return runs is Runs.NOWHERE or (runs is Runs.ON_A_DEVICE and not runs_on_a_device(finding))


def is_checked(finding: Finding) -> bool:
    """Whether a checker gets the compiled code. It does not if an earlier stage failed, or for other evidence than
    failures and mismatches, which is complete before."""
    early = finding.stage in (Stage.IMPORT, Stage.TRANSFORM, Stage.COMPILE)
    return is_only_built(finding) and not early and isinstance(finding.evidence, (*FAILURES, Mismatch))


def _runs(finding: Finding) -> Runs | None:
    return TARGETS_BY_NAME[finding.lane.target].runs if finding.lane.engine is Engine.TVM else None


def _checker(row: Target) -> CodeChecker:
    """The program that checks the target's code: the first that is installed, or the first of all."""
    assert row.written is not None
    return checker_of(row) or row.written.checkers[0]


def _checker_call(row: Target) -> CheckerCall:
    assert row.written is not None
    checker = _checker(row)
    words = {"{file}": "path", "{package}": f'node_package("{checker.package}")'}
    command = listed([words.get(each) or _in_pieces(each) for each in (checker.program, *checker.arguments)])
    return CheckerCall(command, checker.package, row.written.module, row.written.suffix, row.written.each)


def _in_pieces(text: str) -> str:
    """The literal of a string. A long string becomes several adjacent literals."""
    lines = textwrap.wrap(text, 80, drop_whitespace=False, break_on_hyphens=False)
    return " ".join(quoted(line) for line in lines)
