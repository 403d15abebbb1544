"""The decoders of the files of findings, cases and campaigns."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import msgspec
from mutations import Form

from decoders.base import ROOT, Document, Target, in_file, pair, paired, scratch, shipped
from fuzzer.campaign.store import filing_progress, state
from fuzzer.campaign.store.state import State
from fuzzer.campaign.triage import attempts
from fuzzer.cluster import assignment
from fuzzer.evaluation import founding_cases
from fuzzer.findings import finding_file, natural_file
from fuzzer.findings import merge as merging
from generators import case_file, tensors_file
from generators.graph import DType, TensorType
from generators.onnx import model as onnx_model


def _read_case(data: bytes) -> object:
    case = case_file.decode(*pair(data))
    text, tensors = case_file.encode(case)
    again = case_file.decode(text, tensors)
    assert case_file.encode(again) == (text, tensors), "a case is another one after it was written and read"
    return case_file.digest(case)


def _read_natural(data: bytes) -> object:
    text, tensors = pair(data)
    folder = scratch() / "natural"
    folder.mkdir(exist_ok=True)
    (folder / natural_file.NAME).write_bytes(text)
    (folder / natural_file.TENSORS).write_bytes(tensors)
    return natural_file.read(folder)


def _read_finding(folder: Path) -> object:
    return finding_file.encode(finding_file.read(folder))


_TYPES = {"x0": TensorType(DType.BFLOAT16, (2, 3)), "x1": TensorType(DType.FLOAT32, ())}


def shipped_cases() -> Iterator[bytes]:
    for path in sorted((*ROOT.glob("corpus/*/case.json"), *ROOT.glob("crashes/*/case.json"))):
        text, tensors = path.read_bytes(), (path.parent / case_file.TENSORS_NAME).read_bytes()
        if len(text) + len(tensors) < 2500:
            yield paired(text, tensors)


def _shipped_naturals() -> Iterator[bytes]:
    for path in sorted(ROOT.glob(f"crashes/*/{natural_file.NAME}")):
        both = paired(path.read_bytes(), (path.parent / natural_file.TENSORS).read_bytes())
        if len(both) < 8000:
            yield both


def small_state() -> State:
    written = State(7, 2, found={"0a": 3}, known={"integer-power": 1}, campaign="me")
    written.counters.tests = 2
    written.counters.unsupported = {"torch": 1}
    return written


FINDINGS = Target(
    "findings",
    {
        "case": Document(Form.PAIR, _read_case, seeds=shipped_cases),
        "tensors": Document(
            Form.SAFETENSORS,
            lambda data: tensors_file.decode(data, _TYPES),
            seeds=shipped("crashes/*/tensors.safetensors"),
        ),
        "types": Document(Form.JSON, in_file(case_file.JSON_NAME, case_file.input_types)),
        "finding": Document(
            Form.JSON, in_file(finding_file.NAME, _read_finding), seeds=shipped("crashes/*/finding.json", 12)
        ),
        "natural": Document(Form.PAIR, _read_natural, seeds=_shipped_naturals),
        "onnx": Document(
            Form.JSON, lambda data: onnx_model.decode(data, "onnx.json"), seeds=shipped("crashes/*/onnx.json", 2)
        ),
        "merged": Document(
            Form.JSON,
            in_file(merging.NAME, merging.read),
            seeds=lambda: iter(
                [msgspec.json.encode(merging.MergeFile(1, [merging.Merge("a-b-1", "a-c-2", "the same message")]))]
            ),
        ),
        "state": Document(
            Form.JSON, in_file(state.NAME, state.read), seeds=lambda: iter([msgspec.json.encode(small_state())])
        ),
        "filing": Document(
            Form.JSON,
            in_file(filing_progress.NAME, filing_progress.read),
            seeds=lambda: iter([msgspec.json.encode(filing_progress.Progress(1, 2, "no network"))]),
        ),
        "attempts": Document(
            Form.BYTES,
            in_file(attempts.NAME, attempts.read),
            seeds=lambda: iter([b"2026-01-02 03:04:05 begun\n2026-01-02 03:04:06 failed\n  KeyError\n"]),
        ),
        "expect": Document(
            Form.JSON,
            in_file(founding_cases.NAME, lambda folder: founding_cases.expectations(folder / founding_cases.NAME)),
            seeds=shipped("corpus/*/expect.json", 2),
        ),
        "round": Document(
            Form.JSON,
            in_file(assignment.NAME, assignment.read),
            seeds=lambda: iter([msgspec.json.encode(assignment.Round(0, 10, [0, 1]))]),
        ),
    },
)
