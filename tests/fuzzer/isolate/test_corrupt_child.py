"""The supervisor's end of a child whose memory is corrupt: whatever it sends, an outcome comes out of it.

No process is started: the test itself sends the frames, on the child's sockets.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import tempfile
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest
from multiprocess.connection import Connection

from fuzzer.children.job import reporting_failures, run_job
from fuzzer.isolate import protocol
from fuzzer.isolate.child_process import LOG_BYTES, Bounds, ChildProcess, ZygoteReaper
from fuzzer.isolate.protocol import ArrayDoc, At, DidRaise, DidRun, DidSkip, Failed, Finished, Job, Noted
from fuzzer.isolate.running_job import OwnFailure
from fuzzer.isolate.sine_case import sine_case
from fuzzer.lanes import TORCH, TORCH_F64
from oracles.lane import LaneSpec
from oracles.outcome import Broken, Cause, Died, Facts, Frame, Outcome, Raised, Ran, Result, Skipped, Stage, TimedOut

LANES = (TORCH, TORCH_F64)
NO_PROCESS = 2**22 + 1  # Linux gives out no such pid


def outcomes_of(
    scratch: Path,
    *frames: protocol.Message | bytes,
    status: int = signal.SIGKILL,
    afterwards: Callable[[Connection], None] = Connection.close,
    bounds: Bounds = Bounds(),
) -> dict[LaneSpec, Outcome]:
    """What the supervisor makes of a child that sends `frames` and ends with `status`."""
    data, their_data = socket.socketpair()
    control, their_control = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    connection = Connection(their_data.detach())
    for frame in frames:
        if isinstance(frame, bytes):
            connection.send_bytes(frame)
        else:
            protocol.send(connection, frame)

    def take_the_job() -> None:
        protocol.receive(connection)
        afterwards(connection)
        their_control.send(json.dumps({"status": status, "cpu": 0.25}).encode())

    result = Result({})
    log = tempfile.TemporaryFile()  # noqa: SIM115 - the child object closes it
    child = ChildProcess(NO_PROCESS, Connection(data.detach()), ZygoteReaper(control), log, str(scratch / "child"))
    other_end = threading.Thread(target=take_the_job)
    other_end.start()
    try:
        child.run(sine_case(), LANES, bounds, result)
    finally:
        assert child.close() == 0.25
        other_end.join()
        their_control.close()
    return dict(result.outcomes)


def died(stage: Stage, log: str = "") -> Died:
    return Died(stage, Cause.SIGNAL, signal.SIGKILL, log)


def test_what_a_compiler_says_comes_without_the_folders_of_the_campaign(tmp_path: Path) -> None:
    inner = tmp_path / "child" / "tmp1"
    frames = (
        At(0, Stage.START),
        At(0, Stage.LOAD),
        DidRaise(0, Stage.LOAD, "E", f"{inner}/lib0.c:3: error: no", [Frame(f"{inner}/made.py", 1, "f")]),
        *(At(1, Stage.START), At(1, Stage.RUN), DidRun(1, [], None)),
        Finished({}),
    )
    outcome = outcomes_of(tmp_path, *frames, status=0)[TORCH]
    assert outcome == Raised(Stage.LOAD, "E", "/tmp/lib0.c:3: error: no", (Frame("/tmp/made.py", 1, "f"),))


def test_a_child_that_keeps_the_protocol_gives_results(tmp_path: Path) -> None:
    frames = (
        *(At(0, Stage.START), At(0, Stage.RUN), DidRun(0, [], None)),
        *(At(1, Stage.START), At(1, Stage.COMPILE), DidRaise(1, Stage.COMPILE, "ValueError", "no", [])),
        Finished({Stage.RUN: 0.5}),
    )
    assert outcomes_of(tmp_path, *frames, status=0) == {
        TORCH: Ran(()),
        TORCH_F64: Raised(Stage.COMPILE, "ValueError", "no"),
    }


def test_a_child_that_says_nothing_died_at_the_start_of_its_first_lane(tmp_path: Path) -> None:
    assert outcomes_of(tmp_path) == {TORCH: died(Stage.START)}


@pytest.mark.parametrize(
    ("status", "cause", "code"),
    [(signal.SIGSEGV, Cause.SIGNAL, signal.SIGSEGV), (0, Cause.EXIT, 0), (3 << 8, Cause.EXIT, 3)],
)
def test_the_way_a_child_ended_is_reported(tmp_path: Path, status: int, cause: Cause, code: int) -> None:
    frames = (At(0, Stage.START), At(0, Stage.COMPILE))
    assert outcomes_of(tmp_path, *frames, status=status) == {TORCH: Died(Stage.COMPILE, cause, code)}


def test_a_death_between_two_lanes_is_nobodys(tmp_path: Path) -> None:
    frames = (At(0, Stage.START), DidSkip(0, "not here"))
    assert outcomes_of(tmp_path, *frames) == {TORCH: Skipped("not here")}


def test_a_death_after_the_last_result_costs_nothing(tmp_path: Path) -> None:
    frames = (At(0, Stage.START), DidSkip(0, "a"), At(1, Stage.START), DidSkip(1, "b"))
    assert outcomes_of(tmp_path, *frames) == {TORCH: Skipped("a"), TORCH_F64: Skipped("b")}


@pytest.mark.parametrize(
    "frame",
    [
        b"",
        b"\5\0\0\0{}",
        b"\2\0\0\0{}",
        b"\x80\x04\x95pickle",
        Job(list(LANES), 0, ""),
        DidRun(0, [ArrayDoc("float32", (3,))], None),
        DidRun(0, [ArrayDoc("object", ())], None),
        DidRun(0, [ArrayDoc("float32", (0, 2**30, 2**30, 2**30))], None),
        b'\x40\x0d\x03\0{"message":"at","x":' + b"[" * 100_000 + b"]" * 100_000,
    ],
)
def test_nonsense_is_the_death_of_the_lane_that_sent_it(tmp_path: Path, frame: protocol.Message | bytes) -> None:
    outcomes = outcomes_of(tmp_path, At(0, Stage.START), At(0, Stage.RUN), frame)
    assert list(outcomes) == [TORCH]
    outcome = outcomes[TORCH]
    assert isinstance(outcome, Died)
    assert (outcome.stage, outcome.cause) == (Stage.RUN, Cause.SIGNAL)
    assert "it sent nonsense: " in outcome.log


def test_a_log_that_was_cut(tmp_path: Path) -> None:
    """Its size is less than it was when the job began."""
    with tempfile.TemporaryFile() as log:
        ends = [socket.socketpair()[0] for _ in range(2)]
        child = ChildProcess(NO_PROCESS, Connection(ends[0].detach()), ZygoteReaper(ends[1]), log, str(tmp_path))
        child.log_begin = 400
        log.write(b"new")
        log.flush()
        assert child.log_tail() == ""


def test_a_result_of_a_lane_that_does_not_exist_is_the_death_of_the_running_one(tmp_path: Path) -> None:
    frames = (At(0, Stage.START), At(0, Stage.RUN), DidRun(2, [], None))
    (death,) = outcomes_of(tmp_path, *frames).values()
    assert isinstance(death, Died)
    assert (death.stage, death.log) == (Stage.RUN, "\nit sent nonsense: there is no lane 2")


def test_a_step_of_a_lane_that_does_not_exist(tmp_path: Path) -> None:
    frames = (At(0, Stage.START), At(0, Stage.RUN), At(2, Stage.RUN))
    assert list(outcomes_of(tmp_path, *frames)) == [TORCH]


@pytest.mark.parametrize("frame", [At(-1, Stage.RUN), DidRun(-1, [], None)])
def test_a_negative_lane_number(tmp_path: Path, frame: protocol.Message) -> None:
    assert list(outcomes_of(tmp_path, At(0, Stage.START), At(0, Stage.RUN), frame)) == [TORCH]


@pytest.mark.parametrize(
    "frame",
    [At(0, Stage.RUN), DidRun(0, [], None), Noted.of(0, Facts(compile_seconds=1.0))],
    ids=["at", "ran", "noted"],
)
def test_a_lane_that_is_over_gets_nothing_more(tmp_path: Path, frame: protocol.Message) -> None:
    frames = (At(0, Stage.START), DidSkip(0, "not here"), At(1, Stage.START), frame)
    outcomes = outcomes_of(tmp_path, *frames)
    assert outcomes[TORCH] == Skipped("not here")
    death = outcomes[TORCH_F64]
    assert isinstance(death, Died)
    assert "it sent nonsense: it " in death.log


def test_an_array_that_numpy_cannot_hold(tmp_path: Path) -> None:
    frame = DidRun(0, [ArrayDoc("float32", (0, 2**62, 2**62))], None)
    assert list(outcomes_of(tmp_path, At(0, Stage.START), frame)) == [TORCH]


def test_a_child_that_is_done_without_a_result(tmp_path: Path) -> None:
    assert list(outcomes_of(tmp_path, At(0, Stage.START), Finished({}), status=0)) == [TORCH]


@pytest.mark.parametrize("stage", [Stage.COMPILE, Stage.START])
def test_a_child_that_never_stops_talking_is_over_its_bounds(tmp_path: Path, stage: Stage) -> None:
    def talk(connection: Connection) -> None:
        with suppress(OSError), connection:
            end = time.monotonic() + 1.0
            while time.monotonic() < end:
                protocol.send(connection, At(0, stage))
                time.sleep(0.005)

    outcomes = outcomes_of(tmp_path, At(0, Stage.START), afterwards=talk, bounds=Bounds(wall_seconds=0.2))
    assert isinstance(outcomes[TORCH], TimedOut)


def test_a_failure_of_difftvms_own_is_no_outcome(tmp_path: Path) -> None:
    with pytest.raises(OwnFailure, match=r"^KeyError: 'x'\nTraceback"):
        outcomes_of(tmp_path, At(0, Stage.START), Failed("KeyError: 'x'\nTraceback ..."), status=0)


def fails_where(place: str) -> type:
    class Lane:
        """A lane whose own code, not the compiler, fails in one place."""

        def __init__(self, spec: LaneSpec) -> None:
            if place == "runner_of":
                raise ZeroDivisionError(place)

        def supports(self, case: object, spec: LaneSpec) -> None:
            if place == "supports":
                raise ZeroDivisionError(place)

        def run(self, prepared: object, spec: LaneSpec, step: object) -> object:
            return type("NotArrays", (), {"outputs": property(lambda self: 1 / 0)})()

    return Lane


@pytest.mark.slow
@pytest.mark.parametrize("place", ["runner_of", "supports", "pack"])
def test_an_error_around_a_lane_is_a_fault_of_difftvm(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    """A child that ended for it would look as if TVM had crashed."""
    monkeypatch.setenv("TMPDIR", os.environ.get("TMPDIR", ""))  # run_job sets both
    monkeypatch.setattr(tempfile, "tempdir", None)
    supervisor, child = (Connection(end.detach()) for end in socket.socketpair())
    protocol.send_job(supervisor, sine_case(), LANES, str(tmp_path))
    run_job(child, fails_where(place))
    frames = []
    while supervisor.poll():
        frames.append(protocol.receive(supervisor)[0])
    last = frames[-1]
    assert isinstance(last, Finished)
    raised = [frame for frame in frames if isinstance(frame, DidRaise)]
    assert [frame.lane for frame in raised] == list(range(len(LANES)))
    assert raised[0].own_fault.startswith("ZeroDivisionError: ")
    assert "Traceback (most recent call last):" in raised[0].own_fault


def test_an_exception_for_which_difftvm_is_at_fault_is_an_outcome_of_its_own(tmp_path: Path) -> None:
    text = "KeyError: 'x'\nTraceback ..."
    raised = DidRaise(0, Stage.COMPILE, "KeyError", "'x'", [], text)
    outcomes = outcomes_of(tmp_path, At(0, Stage.START), raised, status=0)
    assert outcomes[TORCH] == Broken(Stage.COMPILE, text)


def test_a_child_that_stops_in_a_frame_is_over_its_bounds(tmp_path: Path) -> None:
    """One byte now and then does not start the clock again."""

    def drip(connection: Connection) -> None:
        with suppress(OSError), connection:
            os.write(connection.fileno(), (1000).to_bytes(4, "big"))
            end = time.monotonic() + 1.0
            while time.monotonic() < end:
                os.write(connection.fileno(), b"x")
                time.sleep(0.02)

    outcomes = outcomes_of(tmp_path, At(0, Stage.RUN), afterwards=drip, bounds=Bounds(wall_seconds=0.2))
    timed_out = outcomes[TORCH]
    assert isinstance(timed_out, TimedOut)
    assert timed_out.stage is Stage.RUN
    assert timed_out.seconds < 0.9


def test_a_child_that_announces_far_more_than_the_results_have(tmp_path: Path) -> None:
    def announce(connection: Connection) -> None:
        with connection:
            os.write(connection.fileno(), (900 << 20).to_bytes(4, "big"))

    most = f"{protocol.most_bytes(sine_case()):,}"
    outcomes = outcomes_of(tmp_path, At(0, Stage.RUN), afterwards=announce)
    expected = f"\nit sent nonsense: a frame of 943,718,400 bytes, where at most {most} are expected"
    assert outcomes[TORCH] == died(Stage.RUN, expected)


def test_two_million_empty_arrays(tmp_path: Path) -> None:
    def send_them(connection: Connection) -> None:
        arrays = [ArrayDoc("float32", (0,))] * (protocol.MOST_ARRAYS + 1)
        with connection, suppress(OSError):  # the supervisor hangs up
            protocol.send(connection, DidRun(0, arrays, None))

    outcome = outcomes_of(tmp_path, At(0, Stage.RUN), afterwards=send_them)[TORCH]
    assert isinstance(outcome, Died)
    assert "Expected `array` of length <= 20000" in outcome.log


def test_a_process_that_a_lane_started_may_hold_its_connection(tmp_path: Path) -> None:
    """The child has ended, but not the connection: nobody waits for it."""
    held: list[int] = []

    def leave(connection: Connection) -> None:
        held.append(os.dup(connection.fileno()))
        connection.close()

    began = time.monotonic()
    assert outcomes_of(tmp_path, At(0, Stage.RUN), afterwards=leave)[TORCH] == died(Stage.RUN)
    assert time.monotonic() - began < 30, "it did not wait for the time limit of 60 s"
    os.close(held[0])


@pytest.mark.parametrize(
    ("waits", "least", "expected"),
    [
        (False, 0.0, TimedOut),
        (True, 120.0, Died),
        (True, 0.0, Skipped),
    ],
)
def test_a_lane_that_waits_for_a_processor_does_not_hang(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, waits: bool, least: float, expected: type
) -> None:
    """It ends by itself here, unless it waits longer than any lane may."""
    looked, enough = [], threading.Event()

    def waited(_: int) -> dict[int, float]:
        looked.append(time.monotonic())
        if len(looked) > 10:
            enough.set()
        return {1: looked[-1] if waits else 0.0}

    def end_later(connection: Connection) -> None:
        enough.wait(5.0 if expected is not Died else 120.0)
        connection.close()

    monkeypatch.setattr("fuzzer.system.process_tree.waits", waited)
    monkeypatch.setattr("fuzzer.system.process_clock.LEAST_SECONDS", least)
    outcome = outcomes_of(tmp_path, At(0, Stage.RUN), afterwards=end_later, bounds=Bounds(wall_seconds=0.01))[TORCH]
    assert type(outcome) is expected
    if isinstance(outcome, Skipped):
        assert outcome.environment
        assert outcome.reason.startswith("the machine is too busy: a process waited ")


def test_half_a_secret_at_the_begin_of_the_log_is_blanked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fuzzer.system.secrets._needles", {b"canary-0123456789"})
    control, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    data, other = socket.socketpair()
    with theirs, control, other, data, tempfile.TemporaryFile() as log:
        child = ChildProcess(NO_PROCESS, Connection(data.detach()), ZygoteReaper(control), log, str(tmp_path))
        log.write(b"canary-0123456789" + b"x" * (LOG_BYTES - 10))
        log.flush()
        assert child.log_tail() == "*" * 10 + "x" * (LOG_BYTES - 10)
        child.connection.close()


def test_a_full_disk_is_no_fault_of_difftvm(tmp_path: Path) -> None:
    message = "[Errno 28] No space left on device: 'a.c'"
    raised = DidRaise(0, Stage.COMPILE, "OSError", message, [], f"OSError: {message}")
    outcome = outcomes_of(tmp_path, At(0, Stage.START), raised, status=0)[TORCH]
    assert isinstance(outcome, Skipped)
    assert outcome.environment


def test_a_child_that_cannot_begin_says_so() -> None:
    """As where a module of difftvm cannot be imported. Without the message, it would look as if a lane had died."""
    supervisor, child = (Connection(end.detach()) for end in socket.socketpair())
    with pytest.raises(ModuleNotFoundError), reporting_failures(child):
        raise ModuleNotFoundError("no module 'x'")
    message, _ = protocol.receive(supervisor)
    assert isinstance(message, Failed)
    assert message.text.startswith("ModuleNotFoundError: no module 'x'\nTraceback (most recent call last):")
