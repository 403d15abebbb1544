"""`fuzz lanes`, and the page that says what each lane is for."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

from fuzzer.campaign.lanes.lane_purposes import PURPOSES, purpose_of
from fuzzer.campaign.lanes.lane_table import LISTED, WHEN, cells, document
from fuzzer.lanes.base.availability import Machine
from fuzzer.system.devices import Device
from oracles.targets import TARGETS

PAGE = (Path(__file__).parents[3] / "docs/lanes.md").read_text()
BARE = Machine(
    lambda name: None, frozenset, lambda kind: (), lambda name, node: None, tuple, lambda kind: f"what gives {kind}"
)
RICH = Machine(
    lambda name: f"/usr/bin/{name}",
    lambda: frozenset(flag for row in TARGETS for flag in row.cpu),
    lambda kind: (Device("GPU-1"),),
    lambda name, node: Path(name),
    lambda: ("relay",),
)


def test_the_page_says_when_a_campaign_takes_a_lane() -> None:
    (sentence,) = re.findall(r"second column says when a campaign takes the lane: (.*?)\. ", " ".join(PAGE.split()))
    assert re.findall(r"`([^`]+)`", sentence) == list(WHEN)


def test_each_lane_has_a_purpose_and_no_other_has() -> None:
    assert all(purpose_of(lane) for lane in LISTED)
    assert set(PURPOSES) <= {lane.name for lane in LISTED}
    new = replace(LISTED[-1], name="relax-module-new")
    with pytest.raises(KeyError, match="write down what the lane relax-module-new is for in fuzzer/"):
        purpose_of(new)


def test_each_lane_is_listed_once() -> None:
    assert [row[0] for row in cells(BARE)] == [lane.name for lane in LISTED]
    assert len({lane.name for lane in LISTED}) == len(LISTED)


def listed(machine: Machine) -> dict[str, str]:
    return {row[0]: row[-1] for row in cells(machine)}


@pytest.mark.parametrize(
    ("lane", "bare", "rich"),
    [
        ("torch", "runnable", "runnable"),
        ("relax-export-llvm", "runnable", "runnable"),
        ("relax-export-c", "missing: none of gcc, cc is on PATH", "runnable"),
        ("relax-export-c-asan", "missing: none of gcc is on PATH", "runnable"),
        ("relax-export-llvm-v3", "missing: this processor has no avx2, fma, bmi2, f16c", "runnable"),
        ("relay-torch-O2", "missing: fuzz toolchain add relay", "runnable"),
        ("relax-export-cuda", "compile-only, not checked: there is no GPU", "runnable"),
        (
            "relax-export-opencl",
            "compile-only, not checked: there is no OpenCL on this processor (PoCL): what gives pocl",
            "runnable",
        ),
    ],
)
def test_what_a_machine_can_do(lane: str, bare: str, rich: str) -> None:
    assert (listed(BARE)[lane], listed(RICH)[lane]) == (bare, rich)


def test_for_machines() -> None:
    rows = {row["name"]: row for row in document(BARE)}
    keys = ("engine", "importer", "target", "when", "adds", "purpose", "here")
    assert {key: rows["relax-export-c-clang"][key] for key in keys} == {
        "engine": "tvm",
        "importer": "export",
        "target": "c-clang",
        "when": "chosen tests",
        "adds": "target c-clang",
        "purpose": "another C compiler on the same source",
        "here": {"is": "missing", "why": "none of clang is on PATH"},
    }
    assert rows["relax-export-wasm32"]["here"] == {
        "is": "compile-only",
        "why": "nothing here runs its code, and no wasm-ld or wasm-validate or node on PATH checks it",
        "checker": None,
    }
    assert rows["torch"]["here"] == {"is": "runnable"}
