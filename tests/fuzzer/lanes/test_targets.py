"""Each target on a small model: code that runs returns PyTorch's result, other code is checked by a real compiler."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pytest
from graphs_by_hand import case_of
from small_models import CASES, outcome_of, small

from fuzzer.isolate.executor import Executor
from fuzzer.lanes import needed
from fuzzer.lanes.base.availability import CompileOnly, Missing, Runnable, availability, runs_by_kernels
from fuzzer.lanes.target_table import TARGET_LANES
from fuzzer.signature import signature_of
from fuzzer.system import confinement
from fuzzer.toolchains.toolchain import Toolchain
from generators.graph import Array, Input
from oracles.finding import Component, Kind
from oracles.judge import judge_all
from oracles.lane import Importer, LaneSpec
from oracles.outcome import Built, Outcome, Ran, Skipped, Stage, Unsupported

pytestmark = pytest.mark.tvm


def zeros(item: Input) -> Array:
    return np.zeros(item.value.type.sizes, item.value.type.dtype.numpy)


LANES = {lane.target: lane for lane in TARGET_LANES}
ASAN = LANES["c-asan"]


@pytest.mark.programs
@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("lane", TARGET_LANES, ids=str)
def test_a_small_model(executor: Executor, lane: LaneSpec, case: str) -> None:
    outcomes = executor.run(CASES[case], (*needed(lane), lane)).outcomes
    outcome = outcomes[lane]
    match availability(lane):
        case Missing(why):
            assert outcome == Skipped(why)
            pytest.skip(why)
        case CompileOnly() | Runnable() if lane.target == "webgpu" and case == "integers":
            assert isinstance(outcome, Unsupported)  # WGSL has no 64-bit integers
        case CompileOnly():
            assert isinstance(outcome, Built), outcome
        case Runnable() if lane.target == "cuda":
            pytest.skip("runs in a worker of its device only")
        case Runnable():
            assert isinstance(outcome, Ran), outcome
            assert outcome.again is not None
    assert [finding for finding in judge_all(CASES[case], outcomes) if finding.lane == lane] == []


@pytest.mark.programs("gcc")
def test_an_exception_in_the_sanitized_process_is_left_to_the_lane_without_a_sanitizer(executor: Executor) -> None:
    """TVM gives a number for one item of the operator Shape, where a tensor is right."""
    calls = [("v0", "Shape-13", "x0", {}), ("v1", "Gather-13", "v0 w0", {"axis": 0})]
    case = case_of({"x0": "float32[2,3]", "w0": "int64[]"}, calls, "v1", zeros, opset=13)
    found = outcome_of(executor, case, replace(ASAN, importer=Importer.ONNX_MODEL))
    assert isinstance(found, Unsupported), found
    assert found.reason == "no report of a sanitizer: TypeError: 'int' object is not iterable"


@pytest.mark.programs("gcc")
def test_all_dtypes_go_to_the_sanitized_process_and_back(executor: Executor) -> None:
    names = ("bool", "uint8", "int8", "int16", "int32", "int64", "float16", "bfloat16", "float32", "float64")
    inputs = {f"x{number}": f"{name}[2,0]" if number == 4 else f"{name}[2,3]" for number, name in enumerate(names)}
    case = case_of(inputs, [("v0", "neg", "x8")], " ".join(["v0", *inputs]), small)
    outcome = outcome_of(executor, case, ASAN)
    assert isinstance(outcome, Ran), outcome
    for (name, array), given in zip(case.inputs.items(), outcome.outputs[1:], strict=True):
        assert (given.dtype, given.shape, given.tobytes()) == (array.dtype, array.shape, array.tobytes()), name


def test_a_function_that_tvm_registers_in_python_is_there_under_a_sanitizer(executor: Executor) -> None:
    case = case_of({"x0": "float32[2]"}, [("v0", "assert_async", "x0", {"low": -5})], "v0")
    outcome = outcome_of(executor, case, ASAN)
    assert isinstance(outcome, Ran), outcome


def test_the_worker_of_a_gpu_runs_the_lane_on_it() -> None:
    """No function of CUDA is called, so the test runs without a GPU."""
    ask = (
        "import os, fuzzer.lanes.device\n"
        "from fuzzer.lanes.relax.build import device_of, target_of\n"
        "from oracles.targets import target_named\n"
        "target_of(target_named('cuda'))\n"
        "print(*(device_of(target_named(name)) for name in ('cuda', 'c', 'opencl')))\n"
        "print(os.environ['TVM_CUDA_COMPILE_MODE'], os.environ['TVM_CUDA_NVCC_NO_FAST_MATH'])\n"
    )
    done = subprocess.run([sys.executable, "-c", ask], capture_output=True, text=True)
    assert done.stdout.split("\n") == ["cuda:0 cpu:0 None", "nvcc 1", ""], done.stderr


# --- compilers that stand in front of the real ones


def program(folder: Path, name: str, script: str) -> None:
    path = folder / name
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)


@dataclass(frozen=True)
class InFront:
    """A folder that an executor searches for programs before all others."""

    folder: Path
    executor: Executor

    def outcomes(self, lane: LaneSpec) -> Mapping[LaneSpec, Outcome]:
        """The outcomes of a lane and of the lanes that it needs. The process is new: it searches the folder again."""
        return self.executor.run_fresh(CASES["linear"], (*needed(lane), lane)).outcomes


@pytest.fixture(scope="module")
def started_in_front(tmp_path_factory: pytest.TempPathFactory) -> Iterator[InFront]:
    """Its scratch folder is given by a relative path, as that of a campaign in the current folder: programs run in
    other folders."""
    folder = tmp_path_factory.mktemp("in_front")
    search = {"PATH": f"{folder}:{os.environ['PATH']}", confinement.USER: str(folder)}  # its programs write there
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        started = Executor(Path("scratch"), Toolchain("host", sys.executable, search))
    with started as executor:
        yield InFront(folder, executor)


@pytest.fixture
def in_front(started_in_front: InFront) -> Iterator[InFront]:
    """Without programs, and the programs of a test go with it."""
    yield started_in_front
    for path in started_in_front.folder.iterdir():
        if path.is_file():
            path.unlink()


def found_by(in_front: InFront, lane: LaneSpec) -> tuple[Kind, Component, Stage, str, str]:
    outcomes = in_front.outcomes(lane)
    found = [finding for finding in judge_all(CASES["linear"], outcomes) if finding.lane == lane]
    assert len(found) == 1, outcomes[lane]
    signature = signature_of(found[0])
    return found[0].kind, signature.component, signature.stage, signature.error, signature.skeleton


def checked_only(target: str) -> pytest.MarkDecorator:
    why = "a driver runs the kernels here, and no checker looks at them"
    return pytest.mark.skipif(runs_by_kernels(LANES[target]), reason=why)


@checked_only("opencl")
def test_a_refusal_by_a_checker_is_a_failure_of_tvm(in_front: InFront) -> None:
    program(in_front.folder, "clang", "echo \"/tmp/x17.cl:3:5: error: use of undeclared identifier 'v12'\" >&2; exit 1")
    assert found_by(in_front, LANES["opencl"]) == (
        Kind.INTERNAL_ERROR,
        Component.TVM,
        Stage.LOAD,
        "fuzzer.lanes.written.Refused",
        "Compilation error: ‘VAR’ undeclared (first use in this function)",
    )


@checked_only("webgpu")
def test_each_kernel_is_checked_separately(in_front: InFront) -> None:
    read = in_front.folder / "read"
    program(in_front.folder, "naga", f'cat "$1" >> {read}; echo "-- end" >> {read}')
    assert isinstance(in_front.outcomes(LANES["webgpu"])[LANES["webgpu"]], Built)
    kernels = read.read_text().split("-- end\n")[:-1]
    assert kernels
    assert [kernel.count("@compute") for kernel in kernels] == [1] * len(kernels)


@pytest.mark.programs("gcc", "sed")
def test_a_write_out_of_bounds_is_a_finding(in_front: InFront) -> None:
    off_by_one = r"s/\(compute[A-Za-z_0-9]*\)\[\(.*\)\] = /\1[(\2) + 1] = /"
    program(
        in_front.folder,
        "gcc",
        f"for each in \"$@\"; do case $each in *.c) sed -i '{off_by_one}' $each;; esac; done\n"
        f'exec {shutil.which("gcc")} "$@"',
    )
    assert found_by(in_front, ASAN) == (
        Kind.INTERNAL_ERROR,
        Component.TVM,
        Stage.RUN,
        "fuzzer.lanes.sanitized.SanitizerReport",
        "AddressSanitizer: heap-buffer-overflow in relu",
    )
