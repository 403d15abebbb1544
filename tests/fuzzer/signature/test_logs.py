"""The classes of real errors: `logs/` has messages of TVM 0.27, torch 2.13, onnxruntime, LLVM and the system, each with
its class. They come from campaigns, and from machines without disk space, a compiler, free processes or free files."""

from __future__ import annotations

import dataclasses

import fakes
from msgspec.structs import replace
from recorded_logs import Log, logs

from fuzzer.lanes import LANES, ONNXRUNTIME, SAMPLED_LANES, TORCH
from fuzzer.signature import classify_failure, missing_features
from oracles.crash import crash
from oracles.outcome import Outcome, Raised, Ran, Skipped, Unsupported

LOGS = logs()
NAMED = {lane.name: lane for lane in (*LANES, *SAMPLED_LANES)}


def class_of(log: Log) -> tuple[str, str]:
    """The class and the component of a failure on a model that PyTorch runs, in a file that onnxruntime takes."""
    outcome: Outcome = classify_failure(log.failure)
    match outcome:
        case Unsupported():
            return "unsupported", ""
        case Skipped(environment=True):
            return "environment", "environment"
        case _:
            found = list(crash(fakes.CASE, {TORCH: Ran(()), ONNXRUNTIME: Ran(()), NAMED[log.lane]: outcome}))
            return (str(found[0].kind), str(found[0].component)) if found else ("nothing", "")


def test_there_are_enough_logs_of_every_class() -> None:
    assert len(LOGS) >= 80
    classes = {log.expected for log in LOGS.values()}
    assert classes == {"unsupported", "environment", "rejected", "internal-error", "died"}


def test_a_recorded_failure_has_its_class_and_component() -> None:
    assert {name: class_of(log) for name, log in LOGS.items()} == {
        name: (log.expected, log.component) for name, log in LOGS.items()
    }


def test_the_class_of_the_exception_says_nothing() -> None:
    """A failure of another exception type has the same class, unless the type itself means "unsupported"."""
    others = {
        name: replace(log, failure=dataclasses.replace(log.failure, type="SomeError"))
        for name, log in LOGS.items()
        if isinstance(log.failure, Raised) and log.expected != "unsupported"
    }
    assert {name: class_of(log) for name, log in others.items()} == {
        name: (log.expected, log.component) for name, log in others.items()
    }


def test_what_an_importer_lacks_is_named_without_what_changes() -> None:
    outcomes = [classify_failure(log.failure) for log in LOGS.values() if log.expected == "unsupported"]
    lacks = [name for outcome in outcomes if isinstance(outcome, Unsupported) for name in missing_features(outcome)]
    assert {"adaptive_max_pool2d.default", "bitwise_right_shift.Tensor", "RandomNormalLike", "aten::asinh"} <= set(
        lacks
    )
    assert all(len(name) <= 120 and "\n" not in name for name in lacks)
