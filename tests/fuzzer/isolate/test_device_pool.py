"""One worker for each device, with a device that is a folder: every error of CUDA, hangs, deaths, quarantine."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any

import fake_device
import numpy as np
import pytest
from fake_device import ERRORS, Wording, cuda_exception, fake_gpu
from multiprocess.connection import wait

from fuzzer.isolate.device_pool import DevicePool
from fuzzer.isolate.device_supervisor import Empty, InUse, Quarantined, WorkerLimits
from fuzzer.isolate.executor import Bounds
from fuzzer.isolate.sine_case import sine_case as sine
from fuzzer.system import processes
from fuzzer.system.devices import Device
from oracles.lane import Engine, LaneSpec
from oracles.outcome import Cause, Died, Outcome, Raised, Ran, Skipped, Stage, TimedOut

pytestmark = pytest.mark.slow

HONEST = np.sin(np.linspace(-1, 1, 6, dtype=np.float32)).reshape(2, 3)
BROKEN = (214, 220)  # uncorrectable errors: of the hardware, not of a process
SHORT = Bounds(wall_seconds=1.5)
NOT_HERE = "CUDA Runtime Error: cudaErrorNoDevice (100): no CUDA-capable device is detected"


def lane(variant: str, name: str = "", fresh: bool = False) -> LaneSpec:
    return LaneSpec(name or variant, Engine.FAULTY, variant=variant, fresh=fresh)


Make = Callable[..., DevicePool]


@pytest.fixture
def make(tmp_path: Path) -> Iterator[Make]:
    """A pool of fake devices, `first`, `second`, ...; it ends with the test, and so does whatever it would not kill."""
    pools: list[DevicePool] = []

    def pool(count: int = 1, **more: Any) -> DevicePool:
        devices = []
        for name in ("first", "second", "third")[:count]:
            (tmp_path / name).mkdir()
            devices.append(fake_gpu(tmp_path / name))
        made = DevicePool(tmp_path / "scratch", devices, bounds=SHORT, **more)
        pools.append(made)
        return made

    yield pool
    for undying in tmp_path.glob("*/undying"):
        processes.kill_group(int(undying.read_text()))
        with suppress(ChildProcessError):
            os.waitpid(int(undying.read_text()), 0)
    for made in pools:
        made.__exit__(None, None, None)
        assert not (tmp_path / "scratch").exists()


def one(pool: DevicePool, spec: LaneSpec) -> Outcome:
    return pool.run(sine(), (spec,)).outcomes[spec]


def is_honest(outcome: Outcome) -> bool:
    return isinstance(outcome, Ran) and outcome.outputs[0].tobytes() == HONEST.tobytes()


def number(outcome: Outcome) -> int:
    assert isinstance(outcome, Ran)
    return int(outcome.outputs[0])


def qualified_type(error: Exception) -> str:
    return f"{type(error).__module__}.{type(error).__qualname__}".removeprefix("builtins.")


# --- the worker


def test_a_worker_adopts_orphans_and_writes_no_large_file(make: Make) -> None:
    outcome = make().run(sine(), (lane("bounds"),)).outcomes[lane("bounds")]
    assert isinstance(outcome, Ran)
    assert outcome.outputs[0].tolist() == [1, processes.MOST_FILE_BYTES, 0]


def test_a_worker_sees_its_device_only_and_runs_one_job_after_the_other(make: Make) -> None:
    pool = make()
    (supervisor,) = pool.supervisors
    outcome = one(pool, lane("where"))
    assert isinstance(outcome, Ran)
    assert bytes(outcome.outputs[0]).decode() == supervisor.device.id
    assert number(one(pool, lane("pid"))) == number(one(pool, lane("pid")))
    assert (supervisor.started, pool.versions) == (1, {"device": "fake"})
    assert isinstance(supervisor.state, InUse)
    assert supervisor.state.tests == 3


def test_a_job_does_not_collect_what_the_worker_loaded_before(make: Make) -> None:
    outcome = one(make(), lane("garbage"))
    assert isinstance(outcome, Ran)
    assert outcome.outputs[0].tolist() == [False, False]


def test_it_is_spawned_with_an_interpreter_and_a_session_of_its_own(make: Make) -> None:
    pid = number(one(make(), lane("pid")))
    words = Path(f"/proc/{pid}/cmdline").read_text().split("\0")
    assert words[1:4] == ["-P", "-m", "fuzzer.children.device_worker"]
    assert os.getsid(pid) == pid
    environment = Path(f"/proc/{pid}/environ").read_text().split("\0")
    assert {"NVIDIA_TF32_OVERRIDE=0", "PYTHONHASHSEED=0", "TVM_NUM_THREADS=1"} <= set(environment)


def test_each_device_has_a_worker_and_cases_share_them(make: Make) -> None:
    pool = make(2)
    with ThreadPoolExecutor(4) as threads:
        outcomes = list(threads.map(lambda _: one(pool, lane("honest")), range(12)))
    assert all(map(is_honest, outcomes))
    assert [supervisor.started <= 1 for supervisor in pool.supervisors] == [True, True]


def test_a_result_has_its_lanes_in_the_requested_order(make: Make) -> None:
    lanes = (lane("pid", "alone", fresh=True), lane("pid", "first"), lane("pid", "second"))
    result = make().run(sine(), lanes)
    assert tuple(result.outcomes) == lanes
    alone, first, second = map(number, result.outcomes.values())
    assert first == second != alone
    assert result.cpu_seconds >= 0
    assert set(result.stage_cpu) == {Stage.START, Stage.COMPILE, Stage.RUN}


def test_a_worker_is_replaced_after_its_limit_of_tests(make: Make) -> None:
    pool = make(limits=WorkerLimits(tests=3))
    pids = [number(one(pool, lane("pid"))) for _ in range(7)]
    assert [pids[0]] * 3 + [pids[3]] * 3 + [pids[6]] == pids
    assert len(set(pids)) == 3
    assert pool.supervisors[0].started == 3


def test_nothing_is_left_at_the_end(make: Make) -> None:
    pool = make()
    pid = number(one(pool, lane("pid")))
    pool.__exit__(None, None, None)
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)
    assert isinstance(pool.supervisors[0].state, Empty)
    assert pool.cpu_seconds > 0


def test_a_lane_that_is_under_way_at_the_end_is_nobodys(make: Make) -> None:
    pool = make()
    pid = number(one(pool, lane("pid")))
    hanging, waiting = lane("hang"), lane("honest")
    with ThreadPoolExecutor(2) as threads:
        running = [threads.submit(pool.run, sine(), (each,), Bounds(wall_seconds=600.0)) for each in (hanging, waiting)]
        while not pool.supervisors[0].state.tests > 1:
            time.sleep(0.01)
        pool.__exit__(None, None, None)
        stopped = Skipped("the campaign is stopping", environment=True)
        outcomes = {spec: outcome for done in running for spec, outcome in done.result().outcomes.items()}
    assert outcomes[hanging] == stopped
    assert outcomes[waiting] == stopped or is_honest(outcomes[waiting]), "whichever came first"
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)
    assert pool.quarantined == {}


SUPERVISOR = """
    import sys
    from pathlib import Path
    from fuzzer.isolate.device_pool import DevicePool
    from fuzzer.system.devices import Device
    from fuzzer.isolate.sine_case import sine_case
    from oracles.lane import Engine, LaneSpec

    with DevicePool(Path(sys.argv[1]) / "scratch", [Device(sys.argv[1], opener=sys.argv[2])]) as pool:
        for variant in ("pid", "hang"):
            lane = LaneSpec(variant, Engine.FAULTY, variant=variant)
            print(int(pool.run(sine_case(), (lane,)).outcomes[lane].outputs[0]), flush=True)
"""


def test_a_killed_supervisor_takes_its_workers_along(tmp_path: Path) -> None:
    command = [sys.executable, "-c", textwrap.dedent(SUPERVISOR), str(tmp_path), fake_device.__file__]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as supervisor:
        try:
            assert supervisor.stdout is not None
            worker = os.pidfd_open(int(supervisor.stdout.readline()))
        finally:
            supervisor.kill()
    assert wait([worker], 120) == [worker], "it has ended"
    os.close(worker)


# --- errors of CUDA


OF_A_LANE = tuple(code for code in sorted(ERRORS) if code not in BROKEN)
SOME = {"700-launch", "2-torch"}
ALL = tuple(
    dict.fromkeys(  # every error, and every wording; test_gpu_damage.py reads each error in each wording
        (*(f"{code}-{Wording.RUNTIME}" for code in OF_A_LANE), *(f"700-{wording}" for wording in Wording), *SOME)
    )
)


@pytest.mark.parametrize(
    "variant", [pytest.param(each, marks=() if each in SOME else pytest.mark.exhaustive) for each in ALL]
)
def test_each_error_ends_its_worker_and_is_blamed_on_its_lane_alone(make: Make, variant: str) -> None:
    pool = make()
    lanes = failing, honest, again = lane(variant), lane("honest"), lane(variant, "again")
    outcomes = pool.run(sine(), lanes).outcomes
    code, _, wording = variant.partition("-")
    error = cuda_exception(ERRORS[int(code)], Wording(wording))
    for each in (failing, again):
        failed = outcomes[each]
        assert isinstance(failed, Raised)
        assert (failed.stage, failed.type, failed.message) == (Stage.RUN, qualified_type(error), str(error))
    assert is_honest(outcomes[honest])
    supervisor = pool.supervisors[0]
    assert (supervisor.started, supervisor.repeated, supervisor.unrepeated, pool.quarantined) == (3, 1, 0, {})


def test_what_an_earlier_test_left_behind_is_nobodys(make: Make) -> None:
    pool = make()
    assert is_honest(one(pool, lane("linger")))
    assert is_honest(one(pool, lane("honest")))
    supervisor = pool.supervisors[0]
    assert (supervisor.started, supervisor.repeated, supervisor.unrepeated) == (2, 1, 1)


def test_what_an_earlier_lane_left_behind_is_nobodys(make: Make) -> None:
    lanes = (lane("linger"), lane("honest"), lane("raise"))
    outcomes = make().run(sine(), lanes).outcomes
    assert [is_honest(outcome) for outcome in outcomes.values()] == [True, True, False]
    assert isinstance(outcomes[lanes[2]], Raised)


def test_a_refusal_before_anything_is_loaded_costs_no_worker(make: Make) -> None:
    pool = make()
    assert is_honest(one(pool, lane("honest")))
    assert isinstance(one(pool, lane("refuse")), Raised)
    assert is_honest(one(pool, lane("honest")))
    assert pool.supervisors[0].started == 1


def test_a_silent_wrong_is_confirmed_in_fresh_workers(make: Make) -> None:
    pool = make()
    assert not is_honest(one(pool, lane("corrupt")))
    honest = lane("honest")
    assert not is_honest(one(pool, honest)), "nothing shows that the worker is no good"
    result = pool.run_fresh(sine(), (honest,))
    assert list(result.outcomes) == [honest]
    assert is_honest(result.outcomes[honest])


@pytest.mark.exhaustive
@pytest.mark.long
def test_no_test_of_fifty_is_blamed_for_another(make: Make) -> None:
    """Random faults: each lane has the outcome that it would have by itself."""
    random = np.random.default_rng(34)
    wordings = [wording for wording in Wording if wording is not Wording.BARE]
    others = ["linger", "exit", "raise", "refuse", "lie", "hang"]
    errors = [f"{code}-{wording}" for code in OF_A_LANE for wording in wordings]

    def variant() -> str:
        kind = random.choice(("honest", "other", "error"), p=(0.88, 0.07, 0.05))
        return "honest" if kind == "honest" else str(random.choice(others if kind == "other" else errors))

    work = [tuple(lane(variant(), f"lane {k}") for k in range(3)) for _ in range(50)]
    assert {each.variant for lanes in work for each in lanes} > {"honest", *others}
    pool = make(2, limits=WorkerLimits(tests=20))
    with ThreadPoolExecutor(2) as threads:
        results = list(threads.map(lambda lanes: pool.run(sine(), lanes), work))
    outcomes = [(spec.variant, outcome) for result in results for spec, outcome in result.outcomes.items()]
    assert len(outcomes) == 150
    assert [variant for variant, outcome in outcomes if not is_what_it_does(variant, outcome)] == []
    assert pool.quarantined == {}
    assert sum(supervisor.unrepeated for supervisor in pool.supervisors) >= 1, "something did linger"


def is_what_it_does(variant: str, outcome: Outcome) -> bool:
    """Whether a lane that ran by itself would have ended so."""
    match variant:
        case "honest" | "linger":
            return is_honest(outcome)
        case "lie":
            return isinstance(outcome, Ran) and outcome.outputs[0].tobytes() == (HONEST + 1).tobytes()
        case "exit":
            return isinstance(outcome, Died) and (outcome.cause, outcome.code) == (Cause.EXIT, 3)
        case "hang":
            return isinstance(outcome, TimedOut) and outcome.stage is Stage.RUN
        case "raise" | "refuse":
            return isinstance(outcome, Raised) and outcome.type == "RuntimeError" and "CUDA" not in outcome.message
    code, _, wording = variant.partition("-")
    error = cuda_exception(ERRORS[int(code)], Wording(wording))
    return isinstance(outcome, Raised) and (outcome.type, outcome.message) == (qualified_type(error), str(error))


# --- the ladder: deadline, SIGKILL, a fresh worker, quarantine


@pytest.mark.parametrize("variant", ["hang", pytest.param("deaf", marks=pytest.mark.exhaustive)])
def test_a_lane_that_hangs_is_ended_and_its_device_goes_on(make: Make, variant: str) -> None:
    pool = make()
    hanging, honest = lane(variant), lane("honest")
    outcomes = pool.run(sine(), (hanging, honest)).outcomes
    timed_out = outcomes[hanging]
    assert isinstance(timed_out, TimedOut)
    assert timed_out.stage is Stage.RUN
    assert is_honest(outcomes[honest])
    assert pool.quarantined == {}


def spares(folder: Path, requested: list[int]) -> Callable[[int], None]:
    """Ends processes, but for the one that no signal ends; notes who was to go."""

    def kill(pid: int) -> None:
        requested.append(pid)
        if not any(path.read_text() == str(pid) for path in folder.glob("*/undying")):
            processes.kill_group(pid)

    return kill


def test_a_process_that_does_not_end_takes_its_device_out_of_use(make: Make, tmp_path: Path) -> None:
    messages: list[str] = []
    requested: list[int] = []
    pool = make(2, limits=WorkerLimits(grace_seconds=0.2), tell=messages.append, kill=spares(tmp_path, requested))
    first, second = pool.supervisors
    undying, honest = lane("undying"), lane("honest")
    outcomes = pool.run(sine(), (undying, honest)).outcomes
    pid = int((tmp_path / "first" / "undying").read_text())
    reason = f"its process {pid} is still there 0.2 s after SIGKILL"
    assert set(requested) == {pid}
    assert pool.quarantined == {first.device: reason}
    assert messages == [f"{first.device} is no longer used: {reason}"]
    assert outcomes[undying] == Skipped(f"{first.device} is quarantined: {reason}", environment=True)
    assert is_honest(outcomes[honest]), "on the other device"
    os.kill(pid, 0)
    assert all(is_honest(one(pool, honest)) for _ in range(5))
    assert (first.started, second.started) == (1, 1)


@pytest.mark.parametrize("code", [214, pytest.param(220, marks=pytest.mark.exhaustive)])
def test_broken_hardware_takes_that_one_device_out_of_use(make: Make, code: int) -> None:
    pool = make(3)
    broken, honest = lane(f"{code}-launch"), lane("honest")
    outcomes = pool.run(sine(), (honest, broken)).outcomes
    device = pool.supervisors[0].device
    reason = f"tvm.error.InternalError: CUDALaunch Error: {ERRORS[code].driver}, while it ran {broken}"
    assert pool.quarantined == {device: reason}
    assert is_honest(outcomes[honest])
    assert outcomes[broken] == Skipped(f"{device} is quarantined: {reason}", environment=True)
    assert is_honest(one(pool, honest))
    assert pool.quarantined == {device: reason}


def test_a_device_that_gets_it_wrong_three_times_in_a_row_is_not_used(make: Make, tmp_path: Path) -> None:
    pool = make(2)
    (tmp_path / "first" / "wrong").write_text("3")
    assert is_honest(one(pool, lane("honest")))
    first, second = pool.supervisors
    assert pool.quarantined == {first.device: "no known answer: another result"}
    assert (first.started, second.started) == (3, 1)


def test_a_device_that_gets_it_right_at_last_is_used(make: Make, tmp_path: Path) -> None:
    pool = make(limits=WorkerLimits(attempts=2))
    (tmp_path / "first" / "wrong").write_text("1")
    assert isinstance(one(pool, lane("exit")), Died)
    (tmp_path / "first" / "wrong").write_text("1")
    assert is_honest(one(pool, lane("honest")))
    assert pool.supervisors[0].started == 4
    assert pool.quarantined == {}, "what went wrong before a worker that was right is forgotten"


def test_no_lane_is_blamed_for_a_gpu_that_falls_off_the_bus(make: Make, tmp_path: Path) -> None:
    pool = make(2)
    first, second = pool.supervisors
    assert is_honest(one(pool, lane("honest")))
    (tmp_path / "first" / "lost").touch()
    assert all(is_honest(one(pool, lane("honest"))) for _ in range(2)), "on the other device"
    assert pool.quarantined == {first.device: f"no known answer: RuntimeError: {NOT_HERE}"}
    assert (first.started, second.started) == (4, 1)


def test_with_every_device_quarantined_lanes_are_skipped_by_the_environment(make: Make, tmp_path: Path) -> None:
    pool = make(2)
    for name in ("first", "second"):
        (tmp_path / name / "lost").touch()
    lanes = (lane("honest"), lane("raise"))
    why = f"no known answer: RuntimeError: {NOT_HERE}"
    reason = "every GPU is quarantined: " + "; ".join(f"{supervisor.device}: {why}" for supervisor in pool.supervisors)
    assert pool.run(sine(), lanes).outcomes == dict.fromkeys(lanes, Skipped(reason, environment=True))
    with ThreadPoolExecutor(3) as threads:
        outcomes = list(threads.map(lambda _: one(pool, lanes[0]), range(3)))
    assert outcomes == [Skipped(reason, environment=True)] * 3
    assert all(isinstance(supervisor.state, Quarantined) for supervisor in pool.supervisors)


def test_without_a_device_lanes_are_skipped_by_the_environment(make: Make) -> None:
    assert one(make(0), lane("honest")) == Skipped("there is no GPU here", environment=True)


def test_a_worker_that_does_not_start_is_reported_with_its_output(make: Make, tmp_path: Path) -> None:
    from fuzzer.toolchains.toolchain import Toolchain

    python = tmp_path / "python"
    python.write_text("#!/bin/sh\necho no such driver; exit 1\n")
    python.chmod(0o755)
    pool = make(toolchain=Toolchain("broken", str(python)))
    assert isinstance(one(pool, lane("honest")), Skipped)
    assert pool.quarantined == {pool.supervisors[0].device: "no known answer: EnvironmentMissing: no such driver"}


@pytest.mark.parametrize(
    "output", ["OSError: [Errno 28] No space left on device", "RuntimeError: can't start new thread"]
)
def test_a_machine_that_is_short_for_a_moment_says_nothing_about_a_device(
    make: Make, tmp_path: Path, output: str
) -> None:
    from fuzzer.toolchains.toolchain import Toolchain

    python, short = tmp_path / "python", tmp_path / "short"
    python.write_text(f'#!/bin/sh\ntest -e {short} && echo "{output}" && exit 1\nexec {sys.executable} "$@"\n')
    python.chmod(0o755)
    short.touch()
    pool = make(toolchain=Toolchain("host", str(python)))
    supervisor, honest, other = pool.supervisors[0], lane("honest"), lane("honest", "other")
    lack = output.partition(": ")[2].removeprefix("[Errno 28] ")
    skipped = Skipped(f"{supervisor.device} has no worker: {lack}", environment=True)
    for _ in range(4):  # one more than wrong answers before a quarantine
        assert pool.run(sine(), (honest, other)).outcomes == {honest: skipped, other: skipped}
    assert (supervisor.started, supervisor.why_unused, pool.quarantined) == (4, skipped.reason, {})
    short.unlink()
    assert is_honest(one(pool, honest))
    assert supervisor.why_unused == ""


def test_a_library_that_is_missing_takes_a_device_out_of_use(make: Make, tmp_path: Path) -> None:
    from fuzzer.toolchains.toolchain import Toolchain

    python, output = tmp_path / "python", "OSError: libcuda.so.1: cannot open shared object file: No such file"
    python.write_text(f"#!/bin/sh\necho '{output}'; exit 1\n")
    python.chmod(0o755)
    pool = make(toolchain=Toolchain("broken", str(python)))
    assert isinstance(one(pool, lane("honest")), Skipped)
    assert pool.quarantined == {pool.supervisors[0].device: f"no known answer: EnvironmentMissing: {output}"}


def test_a_worker_that_was_killed_between_two_tests_is_nobodys(make: Make) -> None:
    pool = make()
    pid = number(one(pool, lane("pid")))
    os.kill(pid, signal.SIGKILL)
    assert is_honest(one(pool, lane("honest")))
    assert pool.supervisors[0].started == 2


@pytest.mark.tvm
def test_a_real_worker_says_what_it_loaded_and_how_it_computes(tmp_path: Path) -> None:
    """On a machine with that GPU or without: there is no such device, so the known answer does not come."""
    device = Device("GPU-00000000-0000-0000-0000-000000000000")
    with DevicePool(tmp_path / "scratch", [device], limits=WorkerLimits(attempts=1)) as pool:
        assert isinstance(one(pool, lane("honest")), Skipped)
        assert set(pool.versions) == {"python", "torch", "tvm", "numpy", "float32 matmul"}
        assert pool.versions["float32 matmul"] == "highest, TF32 off"
        assert pool.quarantined[device].startswith("no known answer: ")
