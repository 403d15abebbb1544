"""Folders of campaigns made by hand: findings, waiting and parked sightings."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import msgspec
from graphs_by_hand import case_of

from fuzzer.findings import finding_file
from fuzzer.lanes import TVM_LANES
from fuzzer.signature import final_signature, signature_of
from fuzzer.triage.investigate import Investigated
from fuzzer.triage.metered import Step
from generators import case_file
from oracles.finding import Component, Finding, Kind, Mismatch, WorstElement
from oracles.outcome import Frame, Raised, Stage

LANE = TVM_LANES[0]
NO_RUN = "0 of 0"
"""How often the failure of a sighting was confirmed."""


def error(
    message: str, component: Component = Component.TVM, op: str = "relu", frames: tuple[Frame, ...] = ()
) -> Investigated:
    """An error with a message, which identifies it."""
    evidence = Raised(Stage.COMPILE, "tvm.error.InternalError", message, frames)
    return _confirmed(Finding(Kind.INTERNAL_ERROR, component, LANE, Stage.COMPILE, evidence), op)


def wrong_value(op: str = "relu") -> Investigated:
    """A wrong result, which its operator identifies."""
    evidence = Mismatch(0, "1.0", "2.0", WorstElement((0, 0), 1.0, 2.0, 1e-6, 1e-7), 6, 1, 0)
    return _confirmed(Finding(Kind.WRONG_VALUE, Component.TVM, LANE, Stage.RUN, evidence), op)


def _confirmed(finding: Finding, op: str) -> Investigated:
    case = case_of({"x0": "float32[2,3]"}, [("v0", op, "x0")], "v0")
    signature = final_signature(signature_of(finding), case)
    return Investigated(signature, finding, case, (LANE.name,), 3, 3, (op, "neg"), None)


def flaky(found: Investigated) -> Investigated:
    return replace(found, again=2)


def costing(found: Investigated, cpu_seconds: float) -> Investigated:
    return replace(found, costs={Step.REDUCE: cpu_seconds})


def add(campaign: Path, place: str, *found: Investigated) -> list[str]:
    """Write each into a folder of `crashes`, `waiting` or `parked`; return the names of the folders."""
    names = []
    for each in found:
        doc = finding_file.document(each, {"tvm": "0.27.0"})
        files = dict(zip((case_file.JSON_NAME, case_file.TENSORS_NAME), case_file.encode(each.case), strict=True))
        if place == "crashes":
            files |= {"repro.py": b"", "issue.md": b"", "log.txt": b""}
        else:
            doc = msgspec.structs.replace(doc, ops=doc.found_in, confirmed=NO_RUN)  # its case is not reduced
        files[finding_file.NAME] = finding_file.encode(doc)
        folder = campaign / place / doc.slug
        folder.mkdir(parents=True)
        for name, data in files.items():
            (folder / name).write_bytes(data)
        names.append(doc.slug)
    return names
