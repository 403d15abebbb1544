"""compute-sanitizer: what it prints is read, in the forms of several releases; a stand-in for it runs real workers."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from fake_device import fake_gpu

from fuzzer.isolate import sanitizer
from fuzzer.isolate.device_pool import DevicePool
from fuzzer.isolate.executor import Bounds
from fuzzer.isolate.reports import SanitizerReport, Tool
from fuzzer.isolate.sanitizer import examine, parsed
from fuzzer.isolate.sine_case import sine_case as sine
from oracles.lane import Engine, LaneSpec

pytestmark = pytest.mark.slow

OUT_OF_BOUNDS = """\
========= COMPUTE-SANITIZER
========= Invalid __global__ write of size 4 bytes
=========     at fused_add_kernel(float *, float *)+0x130 in /tmp/kernel.cu:9
=========     by thread (1,0,0) in block (1,0,0)
=========     Access to 0x7f2a1c003c9c is out of bounds
=========     and is 1 bytes after the nearest allocation at 0x7f2a1c003c00 of size 156 bytes
=========
========= Invalid __global__ write of size 4 bytes
=========     at another_kernel(float *)+0x10
=========
========= Program hit cudaErrorLaunchFailure (error 719) due to "unspecified launch failure" on CUDA API call.
=========
========= Target application returned an error
========= ERROR SUMMARY: 32 errors
========= ERROR SUMMARY: 12 errors were not printed. Use --print-limit option to adjust the number of printed errors
"""
UNINITIALIZED = """\
========= COMPUTE-SANITIZER
========= Uninitialized __global__ memory read of size 4 bytes
=========     at 0x70 in vectorAdd(int *)
=========     by thread (31,0,0) in block (1,0,0)
========= ERROR SUMMARY: 1 error
"""
RACE = """\
========= COMPUTE-SANITIZER
========= Error: Race reported between Write access at void tvm::reduce(float const *)+0x130 in /tmp/kernel.cu:9
=========     and Write access at void tvm::reduce(float const *)+0x150 in /tmp/kernel.cu:9 [34 hazards]
========= RACECHECK SUMMARY: 3 hazards displayed (1 error, 2 warnings)
"""
CLEAN = "========= COMPUTE-SANITIZER\n========= ERROR SUMMARY: 0 errors\n"


def test_an_access_out_of_bounds() -> None:
    assert parsed(Tool.MEMCHECK, OUT_OF_BOUNDS) == SanitizerReport(
        Tool.MEMCHECK,
        32,
        "Invalid __global__ write of size 4 bytes",
        "fused_add_kernel",
        (
            "Invalid __global__ write of size 4 bytes",
            "at fused_add_kernel(float *, float *)+0x130 in /tmp/kernel.cu:9",
            "by thread (1,0,0) in block (1,0,0)",
            "Access to 0x7f2a1c003c9c is out of bounds",
            "and is 1 bytes after the nearest allocation at 0x7f2a1c003c00 of size 156 bytes",
        ),
    )


def test_uninitialized_memory_is_reported() -> None:
    report = parsed(Tool.INITCHECK, UNINITIALIZED)
    assert (report.errors, report.kernel) == (1, "vectorAdd")
    assert report.what == "Uninitialized __global__ memory read of size 4 bytes"


def test_a_race() -> None:
    report = parsed(Tool.RACECHECK, RACE)
    assert (report.errors, report.kernel, len(report.lines)) == (3, "tvm::reduce", 2)


@pytest.mark.parametrize(
    ("line", "kernel"),
    [
        ("at 0x00000190 in addKernelBroken(float const*, float const*, float*, int)", "addKernelBroken"),
        ("at 0x3c8 in U:/Lab04/exercise01.cu:42:affine_decrypt(int*,int*)", "affine_decrypt"),
        ("at unaligned_kernel():0x160 in memcheck_demo.cu:6", "unaligned_kernel"),
        ("at scale_kernel(float*, int, float)+0x50 in scale.cu:14", "scale_kernel"),
        ("at _linesearch_kernel_forward+0x7be0", "_linesearch_kernel_forward"),
        ("by thread (1,0,0) in block (1,0,0)", ""),
    ],
)
def test_where_it_happened_in_the_words_of_several_releases(line: str, kernel: str) -> None:
    text = f"========= COMPUTE-SANITIZER\n========= Invalid __shared__ read of size 4\n=========     {line}\n"
    assert parsed(Tool.MEMCHECK, text).kernel == kernel


def test_a_report_without_errors_differs_from_no_report() -> None:
    assert parsed(Tool.MEMCHECK, CLEAN) == SanitizerReport(Tool.MEMCHECK, 0)
    race = "========= COMPUTE-SANITIZER\n========= RACECHECK SUMMARY: 0 hazards displayed (0 errors, 0 warnings)\n"
    assert parsed(Tool.RACECHECK, race) == SanitizerReport(Tool.RACECHECK, 0)
    assert parsed(Tool.MEMCHECK, "") == SanitizerReport(Tool.MEMCHECK, None)


# --- a stand-in on PATH

PROGRAM = """\
#!/bin/bash
while [[ $1 == --* ]]; do
    [[ $1 == --tool ]] && tool=$2
    [[ $1 == --log-file ]] && file=$2
    shift 2
done
echo "$tool" >> {folder}/asked
"$@"
echo "$?" >> {folder}/ended
[ -e {folder}/$tool.txt ] && cp {folder}/$tool.txt "$file"
exit 0
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where compute-sanitizer lies, and what it is to say of each tool."""
    program = tmp_path / "compute-sanitizer"
    program.write_text(PROGRAM.format(folder=tmp_path))
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    for tool, text in ((Tool.MEMCHECK, OUT_OF_BOUNDS), (Tool.INITCHECK, UNINITIALIZED), (Tool.RACECHECK, CLEAN)):
        (tmp_path / f"{tool}.txt").write_text(text)
    (tmp_path / "gpu").mkdir()
    return tmp_path


def lane(variant: str) -> LaneSpec:
    return LaneSpec(variant, Engine.FAULTY, variant=variant)


def test_each_tool_watches_a_worker_of_its_own(folder: Path) -> None:
    device = fake_gpu(folder / "gpu")
    with DevicePool(folder / "scratch", [device]) as pool:
        before = pool.cpu_seconds
        reports = pool.examine(sine(), lane("700-launch"))
        assert pool.cpu_seconds - before == pytest.approx(sum(report.cpu_seconds for report in reports))
    assert all(report.cpu_seconds > 0 for report in reports)
    assert reports == tuple(
        parsed(tool, text)
        for tool, text in ((Tool.MEMCHECK, OUT_OF_BOUNDS), (Tool.INITCHECK, UNINITIALIZED), (Tool.RACECHECK, CLEAN))
    )
    assert (folder / "asked").read_text().split() == ["memcheck", "initcheck", "racecheck"]
    assert (folder / "ended").read_text().split() == ["0"] * 3, "the worker ends by itself, and the tool can count"


@pytest.mark.parametrize("variant", ["exit", "hang"])
def test_a_worker_that_does_not_come_back_leaves_a_report_that_says_so(
    folder: Path, variant: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sanitizer, "SLOWER", 1)
    (folder / "memcheck.txt").unlink()
    device = fake_gpu(folder / "gpu")
    (report,) = examine(sine(), lane(variant), device, folder, (Tool.MEMCHECK,), Bounds(wall_seconds=1.0))
    assert report == SanitizerReport(Tool.MEMCHECK, None)
    assert {path.name for path in folder.iterdir()} <= {
        *("compute-sanitizer", "gpu", "asked", "ended", "initcheck.txt", "racecheck.txt")
    }


def test_where_it_is_missing_there_is_no_report(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(folder / "gpu"))
    device = fake_gpu(folder / "gpu")
    assert not sanitizer.is_installed()
    assert examine(sine(), lane("honest"), device, folder) == ()
    with DevicePool(folder / "scratch", []) as pool:
        assert pool.examine(sine(), lane("honest")) == ()
