"""What a process sends about a lane names nothing of this machine."""

from __future__ import annotations

import os
from dataclasses import replace

import pytest
from fakes import TORCH

from fuzzer.isolate.protocol import At, DidRaise, DidSkip, Message, Noted, ProtocolError, decoded
from fuzzer.isolate.running_job import RunningJob
from oracles.lane import LaneSpec
from oracles.outcome import Broken, Facts, Frame, IllFormed, Mutant, MutantFate, Outcome, Result, Skipped, Stage

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
    job, _ = job_after(Noted.of(0, Facts(kernels=2)), Noted.of(0, facts))
    job.settle()
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


UNREADABLE = 10**400
"""Python turns it into no float."""


@pytest.mark.parametrize(
    "message",
    [
        Noted.of(0, Facts(kernels=UNREADABLE)),
        Noted.of(0, Facts(parameter_bytes=-1)),
        Noted.of(0, Facts(aliases=((UNREADABLE, "x0"),))),
        Noted.of(0, Facts(checked=("\x1b[2J",))),
        Noted.of(0, Facts(ill_formed=IllFormed("import", "a\nb", ""))),
        Noted.of(0, Facts(mutants=(Mutant("a change", MutantFate.DIED, edits="no list"),))),
        DidRaise(0, Stage.RUN, "a\nb", "x", []),
        DidRaise(0, Stage.RUN, "KeyError", "x", [Frame("a.cc", UNREADABLE, "f")]),
    ],
)
def test_what_no_finding_may_have_is_nonsense(message: Message) -> None:
    with pytest.raises(ProtocolError):
        job_after(message, DidSkip(0, "facts are checked before the outcome"))


@pytest.mark.parametrize("seconds", [b"1e308", b"-1", b"9" * 40])
def test_cpu_seconds_that_cannot_be_added_up_are_nonsense(seconds: bytes) -> None:
    header = b'{"message": "finished", "stage_cpu": {"run": %s}}' % seconds
    with pytest.raises(ProtocolError):
        decoded(len(header).to_bytes(4, "little") + header)
