"""What the messages of a process say of its job, and the time that its lane has taken."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import assert_never

import msgspec

from fuzzer.isolate import protocol
from fuzzer.isolate.message_forms import why_no_exception, why_no_facts
from fuzzer.signature import classify_failure
from fuzzer.system import process_tree
from fuzzer.system.machine_paths import without_machine_paths
from fuzzer.system.process_clock import ProcessClock
from oracles.lane import LaneSpec
from oracles.outcome import Broken, Built, Facts, Outcome, Raised, Ran, Result, Skipped, Stage

POLL_SECONDS = 0.1
"""The supervisor looks at the bounds of a lane so often."""


class OwnFailure(Exception):
    """difftvm's own code raised an exception in the process. No lane gets an outcome for it."""


class RunningJob:
    """What the messages of a process have said of its job so far.

    lane, stage  the lane that runs, and where it is
    clock        of this lane, from its first message on; `cpu_began` is what the processes had used then
    facts        what is known of each lane, however it ends, after `settle`
    """

    def __init__(self, pid: int, lanes: Sequence[LaneSpec], scratch: str, result: Result) -> None:
        self._pid, self._lanes, self._scratch, self._result = pid, lanes, scratch, result
        self._current = -1
        self.lane, self.stage, self.is_done = lanes[0], Stage.START, False
        self.facts: dict[LaneSpec, Facts] = {}
        self._noted: msgspec.Raw | None = None
        """What the lane that runs has noted since its facts were settled."""
        self._begin_clock()

    def _begin_clock(self) -> None:
        self.clock, self.cpu_began, self._checked = ProcessClock(self._pid), process_tree.cpu_seconds(self._pid), 0.0

    @property
    def is_due(self) -> bool:
        """Whether it is time to look at the bounds. To be asked in each turn of the loop."""
        now = self.clock.seconds()
        if self.clock.was_stopped:  # meanwhile the process may have run several lanes, whose messages wait
            self.cpu_began = process_tree.cpu_seconds(self._pid)
        due = now - self._checked >= POLL_SECONDS
        if due:
            self._checked = now
        return due

    def take(self, message: protocol.Message, payload: memoryview) -> None:
        """Take one message. Raise `ProtocolError` where it does not belong here, `OwnFailure` where difftvm's own code
        failed."""
        match message:
            case protocol.At(lane=number, stage=stage):
                if number != self._current:  # a lane's bounds count from its first message, however many it sends
                    begun = _numbered(self._lanes, number)
                    if any(lane not in self._result.outcomes for lane in self._lanes[:number]):
                        raise protocol.ProtocolError(f"it began lane {number} before a lane before it had an outcome")
                    self.lane, self._current = begun, _next(number, self._current)
                    self._begin_clock()
                self.stage = stage
            case protocol.Noted(lane=number, facts=noted):
                whose = _of_current(self._lanes, number, self._current)
                self._noted = noted
                if whose in self._result.outcomes:
                    self.settle()
            case protocol.Finished(stage_cpu=spent):
                if any(each not in self._result.outcomes for each in self._lanes):
                    raise protocol.ProtocolError("it finished before every lane had an outcome")
                for key, seconds in spent.items():
                    self._result.stage_cpu[key] = self._result.stage_cpu.get(key, 0.0) + seconds
                self.is_done = True
            case protocol.DidRun() | protocol.DidBuild() | protocol.DidRaise() | protocol.DidSkip():
                whose = _of_current(self._lanes, message.lane, self._current)
                self.settle()
                self._result.outcomes[whose] = _outcome(message, payload, self._scratch)
            case protocol.Failed(text=text):
                raise OwnFailure(text)
            case protocol.Job() | protocol.Started():
                raise protocol.ProtocolError(f"a child sent {type(message).__name__} in the middle of a job")
            case _:
                assert_never(message)

    def settle(self) -> None:
        """Let the last facts that the lane noted be its facts. Raise `ProtocolError` where they are invalid."""
        noted, self._noted = self._noted, None
        if noted is not None:
            observed = protocol.facts_in(noted)
            _require(why_no_facts(observed))
            self.facts[self.lane] = _public(observed, self._scratch)


def _numbered(lanes: Sequence[LaneSpec], number: int) -> LaneSpec:
    if not 0 <= number < len(lanes):
        raise protocol.ProtocolError(f"there is no lane {number}")
    return lanes[number]


def _next(number: int, current: int) -> int:
    """The number of the lane that a process has begun. It runs them in order."""
    if number < current:
        raise protocol.ProtocolError(f"it went back from lane {current} to lane {number}")
    return number


def _of_current(lanes: Sequence[LaneSpec], number: int, current: int) -> LaneSpec:
    """The lane of a message, which must be the one that runs."""
    lane = _numbered(lanes, number)
    if number != current:
        raise protocol.ProtocolError(f"it sent something of lane {number} while lane {current} ran")
    return lane


def _require(fault: str | None) -> None:
    if fault:
        raise protocol.ProtocolError(fault)


_Did = protocol.DidRun | protocol.DidBuild | protocol.DidRaise | protocol.DidSkip


def _outcome(message: _Did, payload: memoryview, scratch: str) -> Outcome:
    match message:
        case protocol.DidRun(outputs=docs, again=more):
            outputs, rest = protocol.unpack(docs, payload)
            return Ran(outputs, protocol.unpack(more, rest)[0] if more is not None else None)
        case protocol.DidRaise(stage=stage, type=name, text=text, frames=frames):
            text = without_machine_paths(text[: protocol.MOST_TEXT], scratch)
            frames = [replace(frame, file=without_machine_paths(frame.file, scratch)) for frame in frames]
            raised = Raised(stage, name, text, tuple(frames))
            _require(why_no_exception(raised))
            outcome = classify_failure(raised)
            if message.own_fault and isinstance(outcome, Raised):
                return Broken(stage, without_machine_paths(message.own_fault, scratch))
            return outcome
        case protocol.DidBuild():
            return Built()
        case protocol.DidSkip(reason=reason):
            return Skipped(without_machine_paths(reason, scratch))
        case _:
            assert_never(message)


def _public(facts: Facts, scratch: str) -> Facts:
    """The facts without paths of this machine in the messages of errors."""
    ill_formed = facts.ill_formed
    if ill_formed is not None:
        ill_formed = replace(ill_formed, message=without_machine_paths(ill_formed.message, scratch))
    mutants = (replace(each, message=without_machine_paths(each.message, scratch)) for each in facts.mutants)
    return replace(facts, ill_formed=ill_formed, mutants=tuple(mutants))
