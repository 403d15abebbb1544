"""What errors are, on real ones: `logs/` holds what TVM 0.27, torch 2.13, onnxruntime, LLVM and the system said in
campaigns and on machines made poor (a full disk, no compiler, no processes, no files left), each with its class."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import fakes
import msgspec
import pytest

from fuzzer.lanes import LANES, ONNXRUNTIME, SAMPLED_LANES, TORCH
from fuzzer.triage.signature import lacking, recognise
from oracles.crash import crash
from oracles.outcome import Died, Outcome, Raised, Ran, Skipped, Unsupported

LOGS = {path.stem: msgspec.json.decode(path.read_bytes()) for path in (Path(__file__).parent / "logs").glob("*.json")}
NAMED = {lane.name: lane for lane in (*LANES, *SAMPLED_LANES)}
EACH = pytest.mark.parametrize("name", sorted(LOGS))


def failure(log: dict[str, Any]) -> Raised | Died:
    return msgspec.convert(log["raised"], Raised) if "raised" in log else msgspec.convert(log["died"], Died)


def told(name: str) -> tuple[str, str]:
    """The class and the component of a failure on a model that PyTorch runs, in a file that onnxruntime takes."""
    log = LOGS[name]
    outcome: Outcome = recognise(failure(log))
    match outcome:
        case Unsupported():
            return "unsupported", ""
        case Skipped(environment=True):
            return "environment", "environment"
        case _:
            found = list(crash(fakes.CASE, {TORCH: Ran(()), ONNXRUNTIME: Ran(()), NAMED[log["lane"]]: outcome}))
            return (str(found[0].kind), str(found[0].component)) if found else ("nothing", "")


def test_there_are_enough_logs_of_every_class() -> None:
    assert len(LOGS) >= 80
    classes = {log["class"] for log in LOGS.values()}
    assert classes == {"unsupported", "environment", "rejected", "internal-error", "died"}


@EACH
def test_a_recorded_failure_has_its_class_and_component(name: str) -> None:
    assert told(name) == (LOGS[name]["class"], LOGS[name]["component"])


@EACH
def test_the_class_of_the_exception_says_nothing(name: str) -> None:
    """Called otherwise, the same failure is what it was; but for those whose class is made to say «unsupported»."""
    log = LOGS[name]
    if "raised" not in log or log["class"] == "unsupported":
        return
    before, log["raised"]["type"] = log["raised"]["type"], "SomeError"
    try:
        assert told(name) == (log["class"], log["component"])
    finally:
        log["raised"]["type"] = before


def test_what_an_importer_lacks_is_named_without_what_changes() -> None:
    names = sorted(name for name in LOGS if LOGS[name]["class"] == "unsupported")
    outcomes = [recognise(failure(LOGS[name])) for name in names]
    lacks = [name for outcome in outcomes if isinstance(outcome, Unsupported) for name in lacking(outcome)]
    assert {"adaptive_max_pool2d.default", "bitwise_right_shift.Tensor", "RandomNormalLike", "aten::asinh"} <= set(
        lacks
    )
    assert all(len(name) <= 120 and "\n" not in name for name in lacks)
