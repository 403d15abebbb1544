"""What a child of the zygote does: run the lanes of a case in turn, and report each stage before it begins."""

from __future__ import annotations

import faulthandler
import gc
import os
import tempfile
import time
import traceback
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from types import CodeType

from multiprocess.connection import Connection

from fuzzer.children.own_faults import ROOT, is_own_fault
from fuzzer.isolate import protocol
from fuzzer.lanes.base.compiler_error import CompilerError
from fuzzer.lanes.base.lane import Lane
from fuzzer.lanes.base.pointed import value_pointed_at
from fuzzer.lanes.base.prepared_case import PreparedCase
from fuzzer.lanes.base.step import Step
from fuzzer.toolchains import reached
from generators.graph import Case
from oracles.lane import Engine, LaneSpec
from oracles.outcome import Built, Facts, Frame, Stage


class _LastStageEnded(BaseException):
    """The next stage is after the last one that the lane runs. No lane catches this, and no part of a case keeps it."""


class _Steps:
    """Send an `At` message for each stage, and add up the CPU seconds by stage, including finished subprocesses.

    Raise `_LastStageEnded` in place of a stage that is after `LaneSpec.until`.
    """

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._since = _cpu()
        self.cpu: dict[Stage, float] = defaultdict(float)
        self.stage = Stage.START
        self.lane = 0
        self.until: Stage | None = None
        self.facts = Facts()

    def begin(self, lane: int, until: Stage | None = None) -> None:
        self.lane, self.until, self.facts = lane, until, Facts()
        reached.clear()
        self(Stage.START)

    def __call__(self, stage: Stage) -> None:
        if self.until is not None and stage.is_after(self.until):
            raise _LastStageEnded
        now = _cpu()
        self.cpu[self.stage] += now - self._since
        self._since, self.stage = now, stage
        self.note_reached()
        protocol.send(self._connection, protocol.At(self.lane, stage))

    def note_reached(self) -> None:
        """Note the functions of changed code that the lane has called by now."""
        if (called := reached.called()) != self.facts.reached:
            self.note(reached=called)

    def note(self, **fields: object) -> None:
        self.facts = replace(self.facts, **fields)  # type: ignore[arg-type]
        protocol.send(self._connection, protocol.Noted.of(self.lane, self.facts))


def _cpu() -> float:
    return time.process_time() + sum(os.times()[2:4])


def collect_between_cases_only() -> None:
    """Turn automatic collection off, and let `KeptCase` collect without what is loaded by now.

    torch and TVM have many objects. A collection visits them all, and a forked child then copies their pages.
    """
    gc.collect()
    gc.freeze()
    gc.disable()


def main(data: int) -> None:
    faulthandler.enable()
    connection = Connection(data)
    kept = KeptCase()
    with reporting_failures(connection), suppress(EOFError):  # the supervisor closed it: there are no more cases
        from fuzzer.lanes.runners import runner_of  # imported here because it loads every compiler

        while True:
            run_job(connection, runner_of, kept)


@contextmanager
def reporting_failures(connection: Connection) -> Iterator[None]:
    """Send an exception of difftvm's own code as `Failed`. A process that ends for it looks as if a lane had ended
    it."""
    try:
        yield
    except Exception as error:
        protocol.send(connection, _failed(error))
        raise


def _failed(error: Exception) -> protocol.Failed:
    return protocol.Failed(_description(error))


def _description(error: BaseException) -> str:
    """The exception in one line, then the end of its traceback."""
    trace = "".join(traceback.format_exception(error))
    return f"{type(error).__name__}: {text_of(error)[:_MOST_LINE]}\n{trace[-protocol.MOST_TEXT :]}"


_MOST_LINE = 1000


class KeptCase:
    """The last case of a process, with the work that its lanes shared: the next job may run other lanes of it."""

    def __init__(self) -> None:
        self._payload = b""
        self._prepared: PreparedCase | None = None

    def prepared(self, payload: bytes, read: Callable[[], Case], step: Step) -> PreparedCase:
        """Return the case of a job, with what the last job prepared if it had the same case, or parts of it."""
        if self._prepared is not None and payload == self._payload:
            self._prepared.report_to(step)
        else:
            self._payload, self._prepared = payload, PreparedCase(read(), step, self._prepared)
            gc.collect()  # frees reference cycles of the case before; automatic collection is off
        return self._prepared


def run_job(connection: Connection, runner_of: Callable[[LaneSpec], Lane], kept: KeptCase | None = None) -> None:
    """Receive one job and run it. Raise EOFError where the supervisor has closed the connection."""
    message, payload = protocol.receive(connection)
    if not isinstance(message, protocol.Job):
        raise protocol.ProtocolError(f"expected a job, not {type(message).__name__}")
    tempfile.tempdir = os.environ["TMPDIR"] = message.scratch  # a killed C compiler leaves files
    with suppress(OSError):  # an earlier lane may have deleted it
        os.chdir(message.scratch)
    steps = _Steps(connection)
    try:
        prepared = (kept or KeptCase()).prepared(bytes(payload), lambda: protocol.case_of(message, payload), steps)
        for index, spec in enumerate(message.lanes):
            steps.begin(index, spec.until)
            _run_lane(connection, prepared, index, spec, runner_of, steps, message.most_bytes)
    except Exception as error:  # lanes' exceptions do not get here: this is a defect of difftvm
        steps(Stage.START)
        protocol.send(connection, _failed(error))
        return
    steps(Stage.START)
    protocol.send(connection, protocol.Finished(dict(steps.cpu)))


def _run_lane(
    connection: Connection,
    prepared: PreparedCase,
    index: int,
    spec: LaneSpec,
    runner_of: Callable[[LaneSpec], Lane],
    step: _Steps,
    most: int,
) -> None:
    try:
        message, payload = _done(prepared, index, spec, runner_of(spec), step)
        if too_much := _too_much(message, sum(map(len, payload)), most):
            message, payload = _raised(index, CompilerError(too_much), step, own=False), ()
    except BaseException as error:  # around the lane there is only our own code
        message, payload = _raised(index, error, step, own=True), ()
    step.note_reached()
    protocol.send(connection, message, *payload)


def _too_much(message: protocol.Message, size: int, most: int) -> str:
    """Why the supervisor would not take these results; empty where it does."""
    if size > most - protocol.MOST_HEADER:
        return f"its results have {size:,} bytes, far more than those of the model"
    if isinstance(message, protocol.DidRun) and len(message.outputs) > protocol.MOST_ARRAYS:
        return f"it returns {len(message.outputs):,} results, more than {protocol.MOST_ARRAYS:,}"
    return ""


def _done(
    prepared: PreparedCase, index: int, spec: LaneSpec, runner: Lane, step: _Steps
) -> tuple[protocol.Message, Sequence[bytes]]:
    """Run a lane. Return the message that says how it ended, and its payload."""
    dialect = prepared.case.graph.dialect
    if spec.dialect != dialect and spec.engine is not Engine.FAULTY:
        return protocol.DidSkip(index, f"the case is one of {dialect}, not of {spec.dialect}"), ()
    if reason := runner.supports(prepared.case, spec):
        return protocol.DidSkip(index, reason), ()
    try:
        ran = runner.run(prepared, spec, step)
    except _LastStageEnded:
        ran = Built()
    except BaseException as error:  # any exception is the outcome of the lane, SystemExit too
        if value := value_pointed_at(error, prepared.case):
            step.note(pointed=value)
        return _raised(index, error, step, is_own_fault(error)), ()
    if isinstance(ran, Built):
        return protocol.DidBuild(index), ()
    outputs, data = protocol.pack(ran.outputs)
    again, more = protocol.pack(ran.again) if ran.again is not None else (None, b"")
    return protocol.DidRun(index, outputs, again), (data, more)


def text_of(error: BaseException) -> str:
    """The message of an exception, also where its class cannot make one."""
    try:
        return str(error)
    except BaseException as other:
        return f"(no message: its __str__ raised {type(other).__name__})"


def _raised(index: int, error: BaseException, step: _Steps, own: bool) -> protocol.DidRaise:
    kind = type(error)
    name = kind.__qualname__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__qualname__}"
    lines = zip(traceback.extract_tb(error.__traceback__), traceback.walk_tb(error.__traceback__), strict=True)
    frames = [_frame(summary, frame.f_code) for summary, (frame, _) in lines]
    text, own_fault = text_of(error)[: protocol.MOST_TEXT], _description(error) if own else ""
    return protocol.DidRaise(index, step.stage, name, text, frames, own_fault)


def _frame(summary: traceback.FrameSummary, code: CodeType) -> Frame:
    raises = (summary.line or "").startswith(("raise ", "raise\n", "assert ", "assert("))
    owner = getattr(code, "co_qualname", "").rpartition(".")[0]
    owner = "" if owner.endswith("<locals>") else owner  # a function, not a class
    return Frame(_place(summary.filename), summary.lineno or 0, summary.name, raises, owner)


def _place(file: str) -> str:
    """Return a path without the folder of the installation, so that it is private and the same on all machines."""
    return file.rpartition("/site-packages/")[2].removeprefix(ROOT)
