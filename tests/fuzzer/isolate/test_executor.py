"""A real executor: real zygote, real children, real compilers. Each way to fail has its exact outcome."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from graphs_by_hand import case_of

from fuzzer.isolate import executor as executor_module
from fuzzer.isolate.child_process import GaveUp
from fuzzer.isolate.executor import CASES, Bounds, Executor
from fuzzer.isolate.selftest import SHORT, SMALL
from fuzzer.isolate.sine_case import sine_case as sine
from fuzzer.lanes import LANES, ONNXRUNTIME, TORCH, TORCH_F64, TVM_LANES
from fuzzer.system import free_memory, processes
from fuzzer.system.environment import EnvironmentMissing
from fuzzer.toolchains.toolchain import Toolchain
from fuzzer.triage.eager_values import computed_values
from fuzzer.triage.reproduce import judged_run
from generators.graph import Case
from generators.torch.network import network
from oracles.judge import judge_all
from oracles.lane import Engine, LaneSpec
from oracles.outcome import Broken, Cause, Died, Facts, Outcome, Raised, Ran, Result, Skipped, Stage, TimedOut, facts_of

pytestmark = pytest.mark.tvm

HONEST = np.sin(np.linspace(-1, 1, 6, dtype=np.float32)).reshape(2, 3)


def faulty(sin: str, name: str = "") -> LaneSpec:
    return LaneSpec(name or f"faulty-{sin}", Engine.FAULTY, variant=sin)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("executor")


@pytest.fixture(scope="module")
def executor(folder: Path) -> Iterator[Executor]:
    """Its host compiler hangs, in a process of its own, while there is a file `folder/hang`."""
    compiler, path = folder / "bin" / "gcc", os.environ["PATH"]
    compiler.parent.mkdir()
    compiler.write_text(f'#!/bin/sh\nwhile [ -e {folder}/hang ]; do sleep 1; done\nPATH="{path}" exec gcc "$@"\n')
    compiler.chmod(0o755)
    search = {"PATH": f"{compiler.parent}:{path}"}
    with Executor(folder / "scratch", Toolchain("host", sys.executable, search)) as started:
        yield started
    assert not (folder / "scratch").exists()


def rested(executor: Executor) -> Executor:
    """Without children that wait for another case."""
    while executor._idle:
        executor._idle.pop().close()
    return executor


def one(executor: Executor, lane: LaneSpec, bounds: Bounds = SHORT) -> Outcome:
    return executor.run_fresh(sine(), (lane,), bounds).outcomes[lane]


def outputs(outcome: Outcome) -> tuple[np.ndarray, ...]:
    assert isinstance(outcome, Ran)
    return outcome.outputs


# --- processes, as /proc shows them


def alive(pid: int) -> bool:
    """Neither gone nor a zombie."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def having(field: int, number: int) -> list[int]:
    """Living processes by a field of /proc/PID/stat after the name: 1 is the parent, 2 the process group."""
    found = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = path.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if fields[0] != "Z" and int(fields[field]) == number:
            found.append(int(path.parent.name))
    return found


def children(pid: int) -> list[int]:
    return having(1, pid)


def group(pid: int) -> list[int]:
    return having(2, pid)


def within(seconds: float, true: Callable[[], bool]) -> bool:
    end = time.monotonic() + seconds
    while not true():
        if time.monotonic() > end:
            return False
        time.sleep(0.02)
    return True


# --- each way to fail


def test_honest(executor: Executor) -> None:
    (array,) = outputs(one(executor, faulty("honest")))
    np.testing.assert_allclose(array, HONEST, rtol=1e-6)


def test_lie(executor: Executor) -> None:
    (array,) = outputs(one(executor, faulty("lie")))
    np.testing.assert_allclose(array, HONEST + 1, rtol=1e-6)


def test_raise(executor: Executor) -> None:
    outcome = one(executor, faulty("raise"))
    assert isinstance(outcome, Raised)
    assert (outcome.stage, outcome.type, outcome.message) == (Stage.COMPILE, "RuntimeError", "raised on purpose")
    assert outcome.frames[-1].file == "fuzzer/lanes/faulty.py", "not where that is installed"
    assert outcome.frames[-1].function == "run"


@pytest.mark.parametrize(
    ("sin", "type", "message"),
    [
        ("unprintable", "fuzzer.lanes.faulty.Unprintable", "(no message: its __str__ raised SystemExit)"),
        ("surrogate", "ValueError", r"a lone \ud800"),
        ("system-exit", "SystemExit", "3"),
    ],
)
def test_exceptions_that_are_hard_to_report(executor: Executor, sin: str, type: str, message: str) -> None:
    outcome = one(executor, faulty(sin))
    assert isinstance(outcome, Raised)
    assert (outcome.stage, outcome.type, outcome.message) == (Stage.COMPILE, type, message)


@pytest.mark.parametrize("sin", ["hang", "spin"])
def test_hang_and_spin(executor: Executor, sin: str) -> None:
    bounds = Bounds(wall_seconds=0.5) if sin == "hang" else Bounds(wall_seconds=30.0, cpu_seconds=0.5)
    outcome = one(executor, faulty(sin), bounds)
    assert isinstance(outcome, TimedOut)
    assert outcome.stage is Stage.COMPILE
    assert 0.5 <= outcome.seconds < 10


def test_segfault(executor: Executor) -> None:
    outcome = one(executor, faulty("segfault"))
    assert isinstance(outcome, Died)
    assert (outcome.stage, outcome.cause, outcome.code) == (Stage.COMPILE, Cause.SIGNAL, signal.SIGSEGV)
    assert "Fatal Python error: Segmentation fault" in outcome.log
    assert "fuzzer/lanes/faulty.py" in outcome.log


def test_exit(executor: Executor) -> None:
    outcome = one(executor, faulty("exit"))
    assert isinstance(outcome, Died)
    assert (outcome.stage, outcome.cause, outcome.code) == (Stage.COMPILE, Cause.EXIT, 3)


@pytest.mark.parametrize("sin", ["honest", "raise", "hang", "segfault", "exit"])
def test_what_a_lane_noted_stays_known_however_it_ends(executor: Executor, sin: str) -> None:
    facts = Facts(checked=("import", sin), compile_seconds=1.5)
    assert facts_of(one(executor, faulty(sin), Bounds(wall_seconds=0.5))) == facts


def test_a_fresh_lane_runs_in_a_process_of_its_own(executor: Executor) -> None:
    lanes = (replace(faulty("pid", "alone"), fresh=True), faulty("pid", "first"), faulty("pid", "second"))
    outcomes = executor.run_fresh(sine(), lanes).outcomes
    assert tuple(outcomes) == lanes
    (alone,), (first,), (second,) = (outputs(outcome) for outcome in outcomes.values())
    assert first == second != alone


def test_leak(executor: Executor) -> None:
    outcome = one(executor, faulty("leak"), SMALL)
    assert isinstance(outcome, Died)
    assert (outcome.stage, outcome.cause, outcome.log) == (Stage.COMPILE, Cause.MEMORY, "more than 1024 MiB")


@pytest.mark.parametrize("sin", ["segfault", "exit", "hang", "raise"])
def test_a_lane_costs_no_other_its_result(executor: Executor, sin: str) -> None:
    lanes = (faulty("honest", "before"), faulty(sin, "between"), faulty("lie", "after"), TORCH)
    outcomes = executor.run_fresh(sine(), lanes, SHORT).outcomes
    assert list(outcomes) == list(lanes)
    np.testing.assert_array_equal(outputs(outcomes[lanes[0]])[0], outputs(outcomes[TORCH])[0])
    np.testing.assert_array_equal(outputs(outcomes[lanes[2]])[0], outputs(outcomes[TORCH])[0] + 1)
    assert isinstance(outcomes[lanes[1]], {"hang": TimedOut, "raise": Raised}.get(sin, Died))


def test_several_deaths_in_one_run(executor: Executor) -> None:
    sins = ("segfault", "exit", "segfault", "honest")
    lanes = tuple(faulty(sin, f"lane-{index}") for index, sin in enumerate(sins))
    outcomes = executor.run_fresh(sine(), lanes, SHORT).outcomes
    assert [type(outcomes[lane]) for lane in lanes] == [Died, Died, Died, Ran]


def test_bounds_are_each_lanes_own(executor: Executor) -> None:
    lanes = (faulty("hang", "first"), faulty("hang", "second"))
    outcomes = executor.run_fresh(sine(), lanes, Bounds(wall_seconds=0.4)).outcomes
    assert [type(outcome) for outcome in outcomes.values()] == [TimedOut, TimedOut]


def test_no_lanes_no_outcomes(executor: Executor) -> None:
    assert executor.run_fresh(sine(), ()) == Result({})


# --- real lanes


def test_real_lanes_run_a_network_without_a_bug(executor: Executor) -> None:
    lanes = [lane for lane in LANES if lane.dialect == "torch"]
    result = executor.run_fresh(network(), lanes)
    assert {lane.name: type(outcome).__name__ for lane, outcome in result.outcomes.items()} == {
        lane.name: "Ran" for lane in lanes
    }
    (eager,) = outputs(result.outcomes[TORCH])
    for lane in TVM_LANES:
        outcome = result.outcomes[lane]
        assert isinstance(outcome, Ran)
        assert outcome.again is not None
        (first,), (second,) = outcome.outputs, outcome.again
        assert first.tobytes() == second.tobytes()
        assert (first.dtype, first.shape) == (eager.dtype, eager.shape)
        np.testing.assert_allclose(first, eager, rtol=1e-4, atol=1e-5)
    assert result.cpu_seconds > 0
    assert {Stage.EXPORT, Stage.IMPORT, Stage.COMPILE, Stage.RUN} <= set(result.stage_cpu)
    assert sum(result.stage_cpu.values()) <= result.cpu_seconds + 0.1


LAID_OUT = case_of(
    {"x0": "float32[2,3] transposed", "x1": "float32[2,3] expanded", "w0": "float32[4,3]", "w1": "float32[4]"},
    [
        ("v0", "add:operator", "x0 x1"),
        ("v1", "add:inplace", "v0 x0"),
        ("v2", "linear:module", "v1 w0 w1"),
        ("v3", "relu:method", "v2"),
    ],
    "v3",
)
THROUGH_BFLOAT16 = case_of(
    {"x0": "float32[2,3] strided"},
    [("v0", "to", "x0", {"dtype": "bfloat16"}), ("v1", "flip", "v0", {"dims": (0,)})],
    "v1 x0",
)


def test_real_lanes_run_every_way_of_writing(executor: Executor) -> None:
    outcomes = judged_run(executor.run_fresh, LAID_OUT, LANES).outcomes
    (eager,) = outputs(outcomes[TORCH])
    assert eager.tolist() == [[15.0, 43.0, 71.0, 99.0], [33.0, 115.0, 197.0, 279.0]]
    for lane in (*TVM_LANES, ONNXRUNTIME, TORCH_F64):
        np.testing.assert_allclose(outputs(outcomes[lane])[0], eager, rtol=1e-6)
    assert list(judge_all(LAID_OUT, outcomes)) == []


def test_real_lanes_bring_bfloat16_back(executor: Executor) -> None:
    outcomes = judged_run(executor.run_fresh, THROUGH_BFLOAT16, LANES).outcomes
    (eager, same) = outputs(outcomes[TORCH])
    assert (str(eager.dtype), eager.tolist()) == ("bfloat16", [[3.0, 4.0, 5.0], [0.0, 1.0, 2.0]])
    assert (str(same.dtype), same.tolist()) == ("float32", [[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]])
    assert outcomes[ONNXRUNTIME] == Skipped("onnxruntime neither accepts nor returns numpy arrays of bfloat16")
    for lane in TVM_LANES:
        found = outputs(outcomes[lane])
        assert [array.tobytes() for array in found] == [array.tobytes() for array in (eager, same)]
    assert list(judge_all(THROUGH_BFLOAT16, outcomes)) == []


def test_computed_values_are_those_before_a_change_in_place(executor: Executor) -> None:
    values = computed_values(executor.run, LAID_OUT)
    assert list(values) == ["v0", "v1", "v2", "v3"]
    assert values["v0"].tolist() == [[0.0, 2.0, 4.0], [3.0, 5.0, 7.0]]
    assert values["v1"].tolist() == [[0.0, 3.0, 6.0], [6.0, 9.0, 12.0]]


def test_an_executor_has_the_versions_of_its_packages(executor: Executor) -> None:
    assert set(executor.versions) == {"python", "torch", "tvm", "onnx", "onnxruntime", "numpy"}
    assert all(executor.versions.values())


# --- processes and files


def test_two_threads_at_once(executor: Executor) -> None:
    with ThreadPoolExecutor(2) as pool:
        slow = pool.submit(one, executor, faulty("hang"), Bounds(wall_seconds=3.0))
        assert within(5, lambda: len(children(executor._zygote.pid)) == 1)
        assert isinstance(one(executor, faulty("honest")), Ran)
        assert not slow.done()
        assert isinstance(slow.result(), TimedOut)


def test_many_threads_get_their_own_results(executor: Executor) -> None:
    sins = ("honest", "exit", "lie", "segfault") * 3
    with ThreadPoolExecutor(4) as pool:
        outcomes = list(pool.map(lambda sin: one(executor, faulty(sin), Bounds()), sins))
    for sin, outcome in zip(sins, outcomes, strict=True):
        match sin:
            case "honest" | "lie":
                np.testing.assert_allclose(outputs(outcome)[0], HONEST + (sin == "lie"), rtol=1e-6)
            case "exit":
                assert isinstance(outcome, Died)
                assert (outcome.cause, outcome.code) == (Cause.EXIT, 3)
            case _:
                assert isinstance(outcome, Died)
                assert outcome.code == signal.SIGSEGV


def test_a_hanging_compiler_goes_with_its_child(executor: Executor, folder: Path) -> None:
    (lane,) = (lane for lane in TVM_LANES if lane.target == "c")
    (folder / "hang").touch()
    rested(executor)
    try:
        with ThreadPoolExecutor(1) as pool:
            running = pool.submit(executor.run_fresh, sine(), (lane,), Bounds(wall_seconds=4.0))
            assert within(5, lambda: bool(children(executor._zygote.pid)))
            (child,) = children(executor._zygote.pid)
            assert within(5, lambda: len(group(child)) >= 3), "the child, the compiler's script, its sleep"
            outcome = running.result().outcomes[lane]
        assert isinstance(outcome, TimedOut)
        assert outcome.stage is Stage.LOAD
        assert within(2, lambda: not group(child))
    finally:
        (folder / "hang").unlink()


def test_what_the_kernel_ends_because_memory_is_short_is_no_death_of_the_lane(
    executor: Executor, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The test kills the child as the kernel does, and counts it as the kernel does. It is no outcome of a lane that
    ends itself so while memory suffices."""
    counted = [0]
    monkeypatch.setattr(processes, "killed_for_memory", lambda: counted[0])
    lane, lacks = faulty("slow"), Skipped(processes.SHORT_OF_MEMORY, environment=True)
    for kills, expected in ((0, Died), (1, Skipped)):
        rested(executor)
        with ThreadPoolExecutor(1) as pool:
            running = pool.submit(executor.run_fresh, sine(), (lane,), Bounds())
            assert within(120, lambda: bool(children(executor._zygote.pid)))
            (child,) = children(executor._zygote.pid)
            time.sleep(0.5)  # it has begun the lane
            counted[0] += kills
            os.kill(child, signal.SIGKILL)
            outcome = running.result().outcomes[lane]
        assert isinstance(outcome, expected)
        assert (outcome == lacks) == bool(kills)


def test_a_lane_that_keeps_the_memory_in_the_kernel_is_ended(
    executor: Executor, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No process shows that memory. The machine does: here the test says that it has less and less."""
    left = iter(range(1 << 40, 0, -1 << 38))
    monkeypatch.setattr(free_memory, "available_bytes", lambda: next(left, 0))
    outcome = executor.run_fresh(sine(), (faulty("slow"),), Bounds()).outcomes[faulty("slow")]
    assert outcome == Skipped("less than 512 MiB of the memory are available", environment=True)


def test_the_kernel_counts_what_it_ends_for_memory() -> None:
    assert f"\noom_kill {processes.killed_for_memory()}\n" in Path("/proc/vmstat").read_text()


def test_after_a_run_nothing_is_left(executor: Executor, folder: Path) -> None:
    rested(executor)
    places = (folder / "scratch", Path("/proc/self/fd"))
    before = [len(os.listdir(place)) for place in places]
    executor.run_fresh(sine(), (faulty("segfault"), faulty("hang"), faulty("honest")), Bounds(wall_seconds=0.3))
    assert within(2, lambda: not children(executor._zygote.pid))
    assert [len(os.listdir(place)) for place in places] == before


@pytest.mark.long
def test_a_zygote_that_was_killed_is_started_anew_and_outlives_the_thread_that_did_so(executor: Executor) -> None:
    killed = executor._zygote
    killed.kill()
    with ThreadPoolExecutor(1) as pool:
        assert isinstance(pool.submit(one, executor, faulty("honest"), Bounds()).result(), Ran)
    time.sleep(0.3)
    assert executor._zygote is not killed
    assert alive(executor._zygote.pid)


def pid_of(run: Callable[..., Result], *before: LaneSpec) -> int:
    lane = faulty("pid")
    return int(outputs(run(sine(), (*before, lane), SHORT).outcomes[lane])[0])


def test_a_child_takes_one_case_after_the_other_up_to_a_number(executor: Executor) -> None:
    lane, cases = faulty("pid"), [numbered(number) for number in range(2 * CASES)]
    rested(executor)
    pids = [int(outputs(executor.run(case, (lane,), SHORT).outcomes[lane])[0]) for case in cases]
    assert len(set(pids[:CASES])) == len(set(pids[CASES:])) == 1
    assert len(set(pids)) == 2


def test_a_child_takes_more_lanes_of_its_last_case(executor: Executor) -> None:
    assert len({pid_of(executor.run) for _ in range(2 * CASES)}) == 1


def numbered(number: int) -> Case:
    """The case of the self-test with other numbers."""
    case = sine()
    return replace(case, tensors={name: np.full_like(array, number) for name, array in case.tensors.items()})


def test_what_must_be_fresh_is_run_by_a_child_of_its_own(executor: Executor) -> None:
    used = pid_of(rested(executor).run)
    fresh = pid_of(executor.run_fresh)
    assert fresh != used
    assert not alive(fresh)
    assert pid_of(executor.run) == used


def test_the_end_of_a_used_child_is_not_held_against_the_lane(executor: Executor) -> None:
    lane = faulty("once")  # the process ends where it has run it before
    pid_of(executor.run, lane)
    for _ in range(3):
        assert isinstance(executor.run(sine(), (lane,), SHORT).outcomes[lane], Ran)


def test_a_lane_that_always_dies_has_that_outcome_in_a_used_child_too(executor: Executor) -> None:
    pid_of(executor.run)
    lane, after = faulty("segfault"), faulty("honest")
    outcomes = executor.run(sine(), (lane, after), SHORT).outcomes
    assert isinstance(outcomes[lane], Died)
    assert isinstance(outcomes[after], Ran)


def test_a_child_that_holds_much_memory_is_not_taken_again(executor: Executor) -> None:
    small = replace(SHORT, memory_bytes=1 << 30)  # a zygote of all compilers holds more than its fourth part
    first = pid_of(lambda case, lanes, bounds: executor.run(case, lanes, small))
    assert not alive(first)


SUPERVISOR = """
    import json, sys, threading, time
    from pathlib import Path
    from fuzzer.isolate.executor import CASES, Bounds, Executor
    from fuzzer.isolate.sine_case import sine_case
    from oracles.lane import Engine, LaneSpec

    def outcome(sin, bounds):
        lane = LaneSpec(sin, Engine.FAULTY, variant=sin)
        return type(executor.run(sine_case(), (lane,), bounds).outcomes[lane]).__name__

    report = {}
    with Executor(Path(sys.argv[1])) as executor:
        zygote = executor._zygote.pid
        report["outcomes"] = [outcome("honest", Bounds()), outcome("segfault", Bounds())]
        hanging = threading.Thread(target=lambda: report["outcomes"].append(outcome("hang", Bounds())))
        hanging.start()
        children = Path(f"/proc/{zygote}/task/{zygote}/children")
        while not children.read_text():
            time.sleep(0.02)
        time.sleep(0.3)
        report["pids"] = [zygote, *map(int, children.read_text().split())]
    hanging.join(10)
    report["loaded"] = sorted({"torch", "tvm", "onnx", "onnxruntime"} & set(sys.modules))
    print(json.dumps(report))
"""


STOPPED = """
    import json, sys, time
    from pathlib import Path
    from fuzzer.isolate.executor import Bounds, Executor
    from fuzzer.isolate.sine_case import sine_case
    from oracles.lane import Engine, LaneSpec

    with Executor(Path(sys.argv[1])) as executor:
        lane = LaneSpec("hang", Engine.FAULTY, variant="hang")
        print("begins", flush=True)
        began = time.monotonic()
        outcome = executor.run(sine_case(), (lane,), Bounds(wall_seconds=3.0)).outcomes[lane]
        print(json.dumps([type(outcome).__name__, outcome.seconds, time.monotonic() - began]))
"""


@pytest.mark.long
def test_a_lane_is_not_over_time_because_the_supervisor_was_stopped(tmp_path: Path) -> None:
    command = [sys.executable, "-c", textwrap.dedent(STOPPED), str(tmp_path / "scratch")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "begins\n"
        time.sleep(0.5)
        process.send_signal(signal.SIGSTOP)
        time.sleep(4.5)
        process.send_signal(signal.SIGCONT)
        kind, seconds, passed = json.loads(process.stdout.readline())
    assert kind == "TimedOut"
    assert 3.0 <= seconds < 5.0
    assert passed > seconds + 2.0, "the lane had its time although the supervisor was stopped for some seconds"


def test_a_mistake_of_difftvms_own_is_no_death_of_a_lane(executor: Executor) -> None:
    nowhere = replace(TVM_LANES[0], target="nowhere")
    outcomes = executor.run(sine(), (nowhere, TORCH), SHORT).outcomes
    broken = outcomes[nowhere]
    assert isinstance(broken, Broken)
    assert broken.error.startswith("Invalid: no target is called 'nowhere'")
    assert isinstance(outcomes[TORCH], Ran)


def test_at_the_end_no_process_and_no_file_is_left(tmp_path: Path) -> None:
    """Even while a lane hangs, which has no outcome of its own then; and the supervisor never loads a compiler. The
    machine's own place for temporary files gets none of the libraries that the warm-up builds."""
    scratch, shared = tmp_path / "scratch", tmp_path / "shared"
    shared.mkdir()
    command = [sys.executable, "-c", textwrap.dedent(SUPERVISOR), str(scratch)]
    environment = {**os.environ, "TMPDIR": str(shared)}
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True, env=environment)
    assert list(shared.iterdir()) == []
    report = json.loads(done.stdout)
    assert report["outcomes"] == ["Ran", "Died", "Skipped"]
    assert len(report["pids"]) == 2
    assert not any(alive(pid) for pid in report["pids"])
    assert not scratch.exists()
    assert report["loaded"] == []


# --- toolchains that do not start


def missing(scratch: Path, toolchain: Toolchain) -> str:
    with pytest.raises(EnvironmentMissing) as caught:
        Executor(scratch, toolchain)
    return str(caught.value)


def test_a_toolchain_whose_python_does_not_exist(tmp_path: Path) -> None:
    message = missing(tmp_path / "scratch", Toolchain("broken", "/nonexistent/python"))
    assert "'broken'" in message
    assert "\n" not in message


def test_a_toolchain_that_takes_too_long(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is killed: its exit status says nothing to a user."""
    monkeypatch.setattr(executor_module, "START_SECONDS", 0.5)
    (tmp_path / "torch.py").write_text("import time\ntime.sleep(600)\n")
    message = missing(tmp_path / "scratch", Toolchain("busy", sys.executable, {"PYTHONPATH": str(tmp_path)}))
    assert message == "toolchain 'busy' does not start: it was not ready within 0.5 s"


def test_a_toolchain_without_torch(tmp_path: Path) -> None:
    (tmp_path / "torch.py").write_text("raise ModuleNotFoundError(\"No module named 'torch'\")\n")
    message = missing(tmp_path / "scratch", Toolchain("bare", sys.executable, {"PYTHONPATH": str(tmp_path)}))
    assert message.startswith("toolchain 'bare' does not start: ")
    assert message.endswith("ModuleNotFoundError: No module named 'torch'")
    assert "\n" not in message


def test_a_toolchain_that_does_not_start_leaves_no_files(tmp_path: Path) -> None:
    missing(tmp_path / "scratch", Toolchain("silent", "/bin/false"))
    assert not (tmp_path / "scratch").exists()


def test_a_zygote_that_always_ends_is_reported(tmp_path: Path) -> None:
    short_lived = tmp_path / "python"
    says = """import socket, sys; socket.socket(fileno=int(sys.argv[-2])).send(b'{"versions": {}}')"""
    short_lived.write_text(f"#!{sys.executable}\n{says}\n")
    short_lived.chmod(0o755)
    with Executor(tmp_path / "scratch", Toolchain("brief", str(short_lived))) as executor:
        executor._zygote.wait(10)
        with pytest.raises(EnvironmentMissing, match=r"^the zygote of 'brief' ends as soon as it is started$"):
            executor.run(sine(), (TORCH,))


def test_what_runs_and_what_starts_ends_at_once_when_it_is_given_up(tmp_path: Path) -> None:
    begun = time.monotonic()
    wanted = False
    with Executor(tmp_path / "scratch", give_up=lambda: wanted) as impatient:
        bounds = Bounds(600.0, 600.0)
        with ThreadPoolExecutor(1) as pool:
            running = pool.submit(impatient.run_fresh, sine(), (faulty("hang"),), bounds)
            time.sleep(0.5)
            wanted = True
            with pytest.raises(GaveUp):
                running.result()
        script = "import time\ntime.sleep(600)\n"
        with pytest.raises(GaveUp):
            impatient.run_script(script)
    with pytest.raises(EnvironmentMissing):
        Executor(tmp_path / "other", give_up=lambda: True)
    assert time.monotonic() - begun < 300, "each of them takes ten minutes"
