"""`fuzz sweep`: runs the samples that a framework has of every operator in the lanes, and makes a table of what works.

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
import threading
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import msgspec

from fuzzer.evaluation.sample_source import source_of
from fuzzer.evaluation.samples import Sample
from fuzzer.evaluation.sweep_table import SampleResult, Table, column, page, table_of
from fuzzer.system.files import open_plain, write_atomically
from fuzzer.toolchains.toolchain import HOST_NAME
from generators import case_file
from generators.dialect_names import DEFAULT
from generators.graph import Case
from generators.plain_file import MOST_TEXT, read_plain
from oracles.finding import Finding
from oracles.lane import Engine
from oracles.outcome import Result


class Sweep:
    """The samples as the cases of a campaign, and the file of their results."""

    def __init__(self, folder: Path, samples: Sequence[Sample], dialect: str = DEFAULT) -> None:
        self.folder = folder
        self.samples = samples
        self.cases = [sample.key for sample in samples if not sample.why]
        self.source = source_of(dialect)
        self._dialect = dialect
        self._lock = threading.Lock()

    def case(self, index: int) -> Case | None:
        if index >= len(self.cases):
            return None
        key = self.cases[index]
        return replace(case_file.read(self._folder_of(key)), origin=f"sample {key}")

    def watch(self, index: int, case: Case, result: Result, findings: Sequence[Finding]) -> None:
        key = self.cases[index]
        found = {finding.lane: finding for finding in findings}
        lanes = [lane for lane in result.outcomes if lane.engine in (Engine.TVM, Engine.ONNXRUNTIME)]
        verdicts = {
            column(lane): self.source.judge(self._folder_of(key), lane, result.outcomes, found.get(lane))
            for lane in lanes
        }
        kinds = {column(lane): str(found[lane].kind) for lane in lanes if lane in found}
        line = SampleResult(key, verdicts, kinds)
        with self._lock, open_plain(self.folder / "sweep.jsonl", "ab+") as file:
            if file.tell():
                file.seek(-1, os.SEEK_END)
                if file.read() != b"\n":  # a crash cut off the line before
                    file.write(b"\n")
            file.write(msgspec.json.encode(line) + b"\n")

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

    def write_table(
        self,
        versions: Mapping[str, str] = {},
        against: Table | None = None,
        toolchains: Sequence[str] = (HOST_NAME,),
    ) -> Table:
        """Write sweep.json and sweep.html. `versions` are those of what the samples went through, by name; `against` is
        an earlier table, and `toolchains` are those in which the lanes ran: the differences are listed."""
        table = table_of(self._dialect, self.samples, self.lines().values(), versions, against, toolchains)
        write_atomically(self.folder / "sweep.json", msgspec.json.format(msgspec.json.encode(table)) + b"\n")
        write_atomically(self.folder / "sweep.html", page(table).encode())
        return table

    def _folder_of(self, key: str) -> Path:
        return self.folder / "samples" / key.replace("/", "-")
