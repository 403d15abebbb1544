"""What a process sends about a lane names nothing of this machine."""

from __future__ import annotations

import os
from dataclasses import replace

import pytest
from fakes import TORCH

from fuzzer.isolate.protocol import At, DidRaise, DidSkip, Message, Noted, ProtocolError
from fuzzer.isolate.running_job import RunningJob
from oracles.lane import LaneSpec
from oracles.outcome import Broken, Facts, IllFormed, Mutant, MutantFate, Outcome, Result, Skipped, Stage

SCRATCH = "/data/night/.difftvm-scratch/host/tmp1"
PRIVATE = f"{SCRATCH}/a.c and /home/jo.doe/x by jonathan.doe"
PUBLIC = "/tmp/a.c and ~/x by user"


@pytest.fixture(autouse=True)
def _user(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/jo.doe")
    monkeypatch.setenv("LOGNAME", "jonathan.doe")


def job_after(*messages: Message) -> tuple[RunningJob, dict[LaneSpec, Outcome]]:
    result = Result({})
    job = RunningJob(os.getpid(), [TORCH], SCRATCH, result)
    for message in (At(0, Stage.RUN), *messages):
        job.take(message, memoryview(b""))
    return job, dict(result.outcomes)


def test_the_reason_of_a_lane_that_is_skipped() -> None:
    _, outcomes = job_after(DidSkip(0, PRIVATE))
    assert outcomes == {TORCH: Skipped(PUBLIC)}


def test_the_traceback_of_difftvm_itself() -> None:
    _, outcomes = job_after(DidRaise(0, Stage.RUN, "KeyError", "x", [], PRIVATE))
    assert outcomes == {TORCH: Broken(Stage.RUN, PUBLIC)}


def test_the_messages_among_the_facts() -> None:
    facts = Facts(
        ill_formed=IllFormed("import", "ValueError", PRIVATE),
        mutants=(Mutant("a change", MutantFate.REFUSED, PRIVATE), Mutant("another", MutantFate.HARMLESS)),
        kernels=3,
    )
    job, _ = job_after(Noted(0, facts))
    found = job.facts[TORCH]
    assert found.ill_formed == IllFormed("import", "ValueError", PUBLIC)
    assert [mutant.message for mutant in found.mutants] == [PUBLIC, ""]
    assert found.kernels == 3


def test_a_lane_begins_after_those_before_it_have_outcomes() -> None:
    """Otherwise it could name the next lane as the one that hangs."""
    lanes = [TORCH, replace(TORCH, name="other")]
    job = RunningJob(os.getpid(), lanes, SCRATCH, Result({}))
    job.take(At(0, Stage.RUN), memoryview(b""))
    with pytest.raises(ProtocolError, match="it began lane 1 before a lane before it had an outcome"):
        job.take(At(1, Stage.RUN), memoryview(b""))
    assert job.lane == TORCH
    job.take(DidSkip(0, "x"), memoryview(b""))
    job.take(At(1, Stage.RUN), memoryview(b""))
    assert job.lane == lanes[1]
