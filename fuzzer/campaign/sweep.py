"""`fuzz sweep`: runs PyTorch's own samples of every operator and dtype in the lanes, and makes a table of what works.

A sweep is a campaign whose cases are the samples. It can be continued, and it confirms, reduces and saves findings as
any campaign does. Beside the files of a campaign, its folder contains

    asked.json      which samples
    samples.jsonl   for each sample its key, and the reason where it has no case
    samples/        their cases
    sweep.jsonl     for each test the status of each lane, appended during the sweep
    sweep.json, sweep.html   the table
"""

from __future__ import annotations

import os
import subprocess
import threading
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from pathlib import Path
from typing import assert_never

import jinja2
import msgspec

from fuzzer.system.child_environment import anonymous
from fuzzer.system.environment import EnvironmentMissing
from fuzzer.system.files import open_plain, write_atomically
from fuzzer.toolchains.toolchain import HOST
from generators import case_file
from generators.graph import Case, Invalid
from generators.plain_file import MOST_TEXT, read_plain
from oracles.against_torch import comparable_results
from oracles.finding import Finding
from oracles.lane import Engine
from oracles.outcome import Broken, Built, Died, Outcome, Raised, Ran, Result, Skipped, TimedOut, Unsupported


class Status(StrEnum):
    """The status of a lane on a sample, from best to worst."""

    SUPPORTED = "supported"
    UNJUDGED = "unjudged"  # it ran or failed, but no reference gives the right result
    UNSUPPORTED = "unsupported"
    FAILED = "failed"  # rejected, internal error, crash, time limit, or a right result that costs too much
    WRONG = "wrong"  # another result than PyTorch's


class Sample(msgspec.Struct):
    """`key` is operator/dtype/number. `why` is the reason where the sample has no case."""

    key: str
    why: str = ""


class SampleResult(msgspec.Struct):
    """One line of sweep.jsonl: by lane, the status and its reason."""

    key: str
    lanes: dict[str, tuple[Status, str]]


class Sweep:
    """The samples as the cases of a campaign, and the file of their results."""

    def __init__(self, folder: Path, samples: Sequence[Sample]) -> None:
        self.folder = folder
        self.samples = samples
        self.cases = [sample.key for sample in samples if not sample.why]
        self._lock = threading.Lock()

    def case(self, index: int) -> Case | None:
        return _read_case(self.folder, self.cases[index]) if index < len(self.cases) else None

    def watch(self, index: int, case: Case, result: Result, findings: Sequence[Finding]) -> None:
        found = {finding.lane: finding for finding in findings}
        judged = comparable_results(result.outcomes)
        lanes = {
            lane.name: _status(outcome, found.get(lane), lane in judged)
            for lane, outcome in result.outcomes.items()
            if lane.engine in (Engine.TVM, Engine.ONNXRUNTIME)
        }
        with self._lock, open_plain(self.folder / "sweep.jsonl", "ab+") as file:
            if file.tell():
                file.seek(-1, os.SEEK_END)
                if file.read() != b"\n":  # a crash cut off the line before
                    file.write(b"\n")
            file.write(msgspec.json.encode(SampleResult(self.cases[index], lanes)) + b"\n")

    def lines(self) -> dict[str, SampleResult]:
        """The results so far, by key. A line that a crash cut off is left out: its test is repeated."""
        path = self.folder / "sweep.jsonl"
        known: dict[str, SampleResult] = {}
        for text in read_plain(path, MOST_TEXT).splitlines() if path.exists() else ():
            try:
                line = msgspec.json.decode(text, type=SampleResult)
            except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
                continue
            known[line.key] = line
        return known

    def write_table(self) -> Table:
        table = table_of(self.samples, self.lines().values())
        write_atomically(self.folder / "sweep.json", msgspec.json.format(msgspec.json.encode(table)) + b"\n")
        write_atomically(self.folder / "sweep.html", page(table).encode())
        return table


def _status(outcome: Outcome, finding: Finding | None, judged: bool) -> tuple[Status, str]:
    match outcome:
        case Ran() if finding is not None:
            return (Status.WRONG if finding.kind.is_numeric else Status.FAILED), str(finding.kind)
        case Ran() if judged:
            return Status.SUPPORTED, ""
        case Ran() | Built():
            return Status.UNJUDGED, "no reference ran, or the ONNX file is wrong"
        case Unsupported(reason=reason) | Skipped(reason=reason):
            return Status.UNSUPPORTED, reason
        case Broken(error=error):
            return Status.UNJUDGED, f"difftvm itself failed: {error.partition(chr(10))[0]}"
        case Raised() | Died() | TimedOut():
            if finding is None:
                return Status.UNJUDGED, "no reference ran, or the exporter refuses"
            return Status.FAILED, str(finding.kind)
        case _:
            assert_never(outcome)


def _read_case(folder: Path, key: str) -> Case:
    case = case_file.read(folder / "samples" / key.replace("/", "-"))
    return Case(case.graph, case.tensors, origin=f"sample {key}")


class SampleRequest(msgspec.Struct):
    """asked.json: which samples the folder holds."""

    ops: str
    samples: int


class _ChildLine(msgspec.Struct):
    """One line that the child prints: the operator that it begins, or a sample."""

    at: str = ""
    key: str = ""
    why: str = ""


def gather(folder: Path, ops: str | None, per_dtype: int | None) -> list[Sample]:
    """The samples of a sweep. Children make them the first time; afterwards they are read from the folder.

    `ops` and `per_dtype` are None where the user did not give them: then those of the folder apply, and for a new
    folder all operators and two samples of each dtype. Raise `Invalid` where the folder has samples of another request.
    """
    index, request_path = folder / "samples.jsonl", folder / "asked.json"
    if not index.exists():
        request = SampleRequest("*" if ops is None else ops, 2 if per_dtype is None else per_dtype)
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise Invalid(f"{folder}: {error.strerror}; a sweep needs a folder of its own") from None
        taken = list(_taken(folder / "samples", request))
        if not taken:
            raise Invalid(f"no operator of PyTorch's samples matches {request.ops!r}")
        write_atomically(request_path, msgspec.json.encode(request) + b"\n")
        write_atomically(index, msgspec.json.Encoder().encode_lines(taken))
    try:
        held = msgspec.json.decode(read_plain(request_path, MOST_TEXT), type=SampleRequest)
    except (OSError, msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        raise Invalid(f"{folder} does not say which samples it holds: choose another folder") from None
    if ops not in (None, held.ops) or per_dtype not in (None, held.samples):
        raise Invalid(
            f"{folder} holds the samples of --ops {held.ops!r} --samples {held.samples}: "
            "ask for the same, or choose another folder"
        )
    try:
        return msgspec.json.Decoder(Sample).decode_lines(read_plain(index, MOST_TEXT))
    except (OSError, msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise Invalid(f"{index}: {error}; choose another folder") from None


def _taken(folder: Path, request: SampleRequest) -> Iterator[Sample]:
    """Make the samples in children. Where an operator ends the child, only its samples are lost: the next child begins
    after it."""
    after = ""
    while True:
        command = [HOST.python, "-P", "-m", "fuzzer.children.samples", str(folder)]
        command += ["--ops", request.ops, "--samples", str(request.samples), "--after", after]
        done = subprocess.run(command, env=anonymous(), stdout=subprocess.PIPE)
        at = ""
        for line in filter(None, map(_child_line, done.stdout.splitlines())):
            at = line.at or at
            if line.key:
                yield Sample(line.key, line.why)
        if done.returncode == 0:
            return
        if not at:
            raise EnvironmentMissing(
                f"PyTorch's samples could not be taken (status {done.returncode}); see its message above"
            )
        yield Sample(f"{at}/any/0", f"PyTorch's process ended over it (status {done.returncode})")
        after = at


def _child_line(line: bytes) -> _ChildLine | None:
    """The parsed line; None where a library printed it, or where the end of the child cut it off."""
    try:
        return msgspec.json.decode(line, type=_ChildLine)
    except msgspec.DecodeError:
        return None


# --- the table


class OperatorRow(msgspec.Struct):
    """The row of one operator: by lane, the number of samples with each status, and the most frequent reason."""

    operator: str
    samples: int
    lanes: dict[str, dict[Status, int]]
    reasons: dict[str, str]
    no_case: dict[str, int]


class Table(msgspec.Struct):
    rows: list[OperatorRow]
    lanes: list[str]
    totals: dict[str, dict[Status, int]]
    samples: int
    done: int


def table_of(samples: Sequence[Sample], lines: Iterable[SampleResult]) -> Table:
    by_operator: dict[str, list[SampleResult]] = defaultdict(list)
    for line in lines:
        by_operator[_operator(line.key)].append(line)
    without: dict[str, Counter[str]] = defaultdict(Counter)
    for sample in samples:
        without[_operator(sample.key)].update([sample.why] if sample.why else [])
    lanes = sorted({lane for group in by_operator.values() for line in group for lane in line.lanes})
    rows = [_row(name, by_operator[name], lanes, without[name]) for name in sorted(without)]
    totals: dict[str, Counter[Status]] = {lane: Counter() for lane in lanes}
    for row in rows:
        for lane, counts in row.lanes.items():
            totals[lane].update(counts)
    cases = sum(not sample.why for sample in samples)
    return Table(rows, lanes, {lane: dict(t) for lane, t in totals.items()}, cases, sum(map(len, by_operator.values())))


def _operator(key: str) -> str:
    return key.rsplit("/", 2)[0]


def _row(name: str, lines: Sequence[SampleResult], lanes: Sequence[str], without: Mapping[str, int]) -> OperatorRow:
    counts: dict[str, dict[Status, int]] = {}
    reasons: dict[str, str] = {}
    for lane in lanes:
        results = [line.lanes[lane] for line in lines if lane in line.lanes]
        counts[lane] = dict(Counter(status for status, _ in results))
        line = Counter(reason for status, reason in results if status is not Status.SUPPORTED and reason)
        if line:
            reasons[lane] = line.most_common(1)[0][0]
    return OperatorRow(name, len(lines), counts, reasons, dict(without))


def page(table: Table) -> str:
    """The table as an HTML page without external files."""
    environment = jinja2.Environment(autoescape=True, loader=jinja2.PackageLoader("fuzzer", "templates"))
    return environment.get_template("sweep.html").render(table=table, statuses=list(Status))
