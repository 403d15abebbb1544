"""Examine a finding on a GPU: run the same case and lane again under NVIDIA's compute-sanitizer.

It checks every memory access of every kernel. Its report names the kernel whose invalid access caused a wrong value or
an error of CUDA. It is slow.
"""

from __future__ import annotations

import contextlib
import re
import shutil
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from fuzzer.isolate import protocol
from fuzzer.isolate.child_process import Bounds, ChildProcess, ChildReaper
from fuzzer.isolate.device_supervisor import START_SECONDS, spawned
from fuzzer.isolate.reports import SanitizerReport, Tool
from fuzzer.system import secrets, untrusted_files
from fuzzer.system.devices import Device
from fuzzer.system.machine_paths import without_machine_paths
from fuzzer.toolchains.toolchain import HOST, Toolchain
from generators.graph import Case
from generators.plain_file import MOST_TEXT, read_plain
from oracles.lane import LaneSpec
from oracles.outcome import Result

PROGRAM = "compute-sanitizer"
SLOWER = 30
END_SECONDS = 60.0
FIRST_LINES = 12


def is_installed() -> bool:
    """Return whether compute-sanitizer is on the path."""
    return shutil.which(PROGRAM) is not None


def examine(
    case: Case,
    lane: LaneSpec,
    device: Device,
    scratch: Path,
    tools: Sequence[Tool] = tuple(Tool),
    bounds: Bounds = Bounds(),
    toolchain: Toolchain = HOST,
) -> tuple[SanitizerReport, ...]:
    """Run the lane once with each tool, each time in a new worker. Return the report of each tool; none where
    compute-sanitizer is missing.

    `bounds` are the bounds of an ordinary run. Here the lane gets `SLOWER` times as many seconds. No other process may
    use the device meanwhile: `DevicePool.examine` reserves one and calls this function.
    """
    program = shutil.which(PROGRAM)
    if program is None:
        return ()
    slow = replace(bounds, wall_seconds=bounds.wall_seconds * SLOWER, cpu_seconds=bounds.cpu_seconds * SLOWER)
    reports = []
    for tool in tools:
        folder = untrusted_files.new_folder(scratch)
        try:
            text = folder / "report.txt"
            cpu = _run([program, *_options(tool, text)], case, lane, device, folder, slow, toolchain)
            written = secrets.blanked(_read(text))
            shown = without_machine_paths(written.decode(errors="replace"), str(folder))
            reports.append(replace(parsed(tool, shown), cpu_seconds=cpu))
        finally:
            untrusted_files.remove(folder)
    return tuple(reports)


def _read(report: Path) -> bytes:
    """The report; nothing where there is none, or another thing in its place."""
    with contextlib.suppress(OSError):
        return read_plain(report, MOST_TEXT)
    return b""


def _options(tool: Tool, text: Path) -> list[str]:
    """Return the options that check the worker alone, not the compilers that it starts. Backtraces are left out,
    because a report needs the kernel and not the place on the host where it was launched."""
    watched = ["--target-processes", "application-only"]
    return ["--tool", tool.value, *watched, "--show-backtrace", "no", "--print-limit", "20", "--log-file", str(text)]


def _run(
    before: list[str], case: Case, lane: LaneSpec, device: Device, scratch: Path, bounds: Bounds, toolchain: Toolchain
) -> float:
    """Run the lane, and return the CPU seconds. Its outcome is ignored, because it is known from an earlier run."""
    process, connection, log = spawned(device, toolchain, scratch, before)
    worker = ChildProcess(process.pid, connection, ChildReaper(process), log, str(untrusted_files.new_folder(scratch)))
    try:
        if connection.poll(START_SECONDS):
            protocol.receive(connection)
            worker.run(case, [lane], bounds, Result({}))
    except (EOFError, OSError, protocol.ProtocolError):
        pass  # the worker did not start, so the report has no number of errors
    finally:
        cpu = worker.close(patience=END_SECONDS)  # the tool writes its counts when the worker ends
    return cpu


_HEADLINE = re.compile(r"^========= (?! |COMPUTE-SANITIZER|\w+ SUMMARY:|Target application|Warning:)(?P<text>.*\S)")
_DETAIL = re.compile(r"^=========  +(?P<text>.*\S)")
_ERRORS = re.compile(r"^========= ERROR SUMMARY: (\d+) errors?$", re.M)
_HAZARDS = re.compile(r"^========= RACECHECK SUMMARY: .*\((\d+) errors?, (\d+) warnings?\)", re.M)
_AT = re.compile(r"\bat (?:0x[0-9a-f]+ in )?(?:\S+:\d+:)?(?:void )?(?P<kernel>[A-Za-z_][\w:]*)")
"""The forms of several releases: "at 0x60 in add(int *)", "at 0x60 in a.cu:5:add(int *)", "at add(int *)+0x60 in
a.cu:5"."""


def parsed(tool: Tool, text: str) -> SanitizerReport:
    """Return the report in the text that compute-sanitizer wrote.

    Each line begins with nine equals signs. An error has a headline and indented lines below it. The report has the
    details of the first error."""
    first: list[str] = []
    for line in text.splitlines():
        if first and (detail := _DETAIL.match(line)):
            first.append(detail["text"])
        elif first:
            break
        elif headline := _HEADLINE.match(line):
            first.append(headline["text"])
    kernel = next((found["kernel"] for line in first if (found := _AT.search(line))), "")
    return SanitizerReport(tool, _counted(text), first[0] if first else "", kernel, tuple(first[:FIRST_LINES]))


def _counted(text: str) -> int | None:
    """Return the number of errors in the summary; None where there is no summary."""
    if hazards := _HAZARDS.search(text):
        return int(hazards[1]) + int(hazards[2])
    errors = _ERRORS.search(text)
    return int(errors[1]) if errors else None
