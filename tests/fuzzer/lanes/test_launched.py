"""Kernels that difftvm launches on drivers for the processor: of modules made by hand, and of lanes."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fuzzer.isolate.executor import Executor
from fuzzer.isolate.known_answer import of_target
from fuzzer.lanes.launched.devices import NoKnownAnswer, check
from fuzzer.lanes.launched.launch import Launch, Memory
from fuzzer.lanes.launched.opencl import log_in
from fuzzer.system.devices import KINDS, Driver
from oracles.targets import target_named

TARGETS = ("opencl", "webgpu")


@pytest.fixture(scope="module", params=TARGETS)
def target(request: pytest.FixtureRequest) -> str:
    """A target whose driver is installed."""
    name: str = request.param
    kind = KINDS[target_named(name).device]
    if not kind.find():
        pytest.skip(f"there is no {kind.words}: {kind.lacks()}")
    return name


@pytest.fixture(scope="module")
def programs(target: str) -> dict[str, Any]:
    file = Path(__file__).with_name("launched_kernels.py")
    done = subprocess.run([sys.executable, str(file), target], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    results: dict[str, Any] = json.loads(done.stdout)
    return results


OUTPUT = "output 0"


@pytest.mark.tvm
@pytest.mark.programs
@pytest.mark.parametrize(
    ("program", "does"),
    [
        ("right", []),
        ("reads after", ["reads out of bounds, 1 element after input x"]),
        (
            "writes after",
            [
                f"writes out of bounds, 1 element after {OUTPUT}",
                f"uses elements of {OUTPUT} that nothing has written",
            ],
        ),
        ("leaves a hole", [f"uses elements of {OUTPUT} that nothing has written"]),
    ],
)
def test_what_a_kernel_accesses_outside_of_its_tensors(programs: dict[str, Any], program: str, does: list[str]) -> None:
    assert programs[program]["does"] == does


@pytest.mark.tvm
@pytest.mark.programs
def test_both_runs_of_a_right_kernel(programs: dict[str, Any]) -> None:
    right = [float(number) for number in range(1, 9)]
    assert (programs["right"]["first"], programs["right"]["again"]) == (right, right)


@pytest.mark.tvm
@pytest.mark.programs
def test_a_kernel_that_needs_more_than_its_target_has(programs: dict[str, Any], target: str) -> None:
    needs = f"kernel kernel_kernel has 2048 threads in a block, and {target} has at most 256"
    assert programs["too many threads"] == {"raised": f"BeyondTarget: {needs}"}


@pytest.mark.tvm
@pytest.mark.programs
def test_a_lane_gives_the_known_answer_in_a_child(executor: Executor, target: str) -> None:
    known = of_target(target)
    assert known.is_given(executor.run(known.case, [known.lane]).outcomes[known.lane])


# --- without a driver


class Played:
    """A device on which a function plays the kernel of the known answer."""

    name, known_answer = "a device", "text"

    def __init__(self, kernel: Callable[[Any], Any]) -> None:
        self._kernel = kernel

    def compiled(self, text: str) -> Played:
        assert text == self.known_answer
        return self

    def launch(self, launch: Launch) -> None:
        x, y = (memory.whole.view(np.int32) for memory in launch.memories)
        (added,) = launch.numbers
        y[:] = self._kernel(x.reshape(launch.grid[0], launch.block[0])[:, ::-1].reshape(-1)) + added


def test_a_device_must_give_the_known_answer() -> None:
    check(Played(lambda mirrored: mirrored))
    with pytest.raises(NoKnownAnswer, match="a device does not give the known answer"):
        check(Played(lambda mirrored: mirrored[::-1]))


def test_what_a_driver_lacks(tmp_path: Path) -> None:
    def driver(package: str) -> Driver:
        return Driver(package, "*pocl*.icd", (str(tmp_path),), "apt install it")

    assert driver("no_such_package").lacks() == "pip install no_such_package and apt install it"
    assert (driver("json").lacks(), driver("json").found()) == ("apt install it", ())
    (tmp_path / "pocl.icd").touch()
    assert driver("no_such_package").lacks() == "pip install no_such_package"
    assert driver("no_such_package").found() == ()
    assert driver("json").lacks() == ""
    assert [device.id for device in driver("json").found()] == [str(tmp_path / "pocl.icd")]


def test_a_log_of_pocl_has_the_form_of_clang() -> None:
    message = (
        "BUILD_PROGRAM_FAILURE\n\nBuild on <Device at 0x5>:\n\nerror: /tmp/tempfile_a.cl:5:68: no tanf\n(options: -I)"
    )
    assert log_in(message) == "kernel.cl:5:68: error: no tanf"
    assert log_in("another message") == "another message"


def test_a_memory_of_a_launch_is_the_memory_itself() -> None:
    array = np.zeros(8, np.uint8)
    launch = Launch("k", (Memory(array, 4), np.int32(7)), (1, 1, 1), (1, 1, 1))
    assert launch.memories[0].whole is array
    assert launch.numbers == [np.int32(7)]
