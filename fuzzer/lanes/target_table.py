"""A lane for each target that no plain lane uses, as data. Importing this loads no compiler."""

from __future__ import annotations

from dataclasses import replace

from oracles.lane import SCHEDULES, Engine, Importer, LaneSpec

_PLAIN = LaneSpec("relax-export-llvm", Engine.TVM, Importer.EXPORT, "relax", asserts=False)

_SEPARATE = {"c-asan": ("StaticPlanBlockMemory",)}
"""StaticPlanBlockMemory lets tensors share memory, so that an access out of the bounds of one would not show."""

TARGET_LANES = tuple(
    replace(_PLAIN, name=f"relax-export-{target}", target=target, disabled=_SEPARATE.get(target, ()))
    for target in (
        "llvm-O1",
        "llvm-O2",
        "llvm-v2",
        "llvm-v3",
        "llvm-avx2",
        "llvm-avx512",
        "c-gcc-O0",
        "c-gcc-O2",
        "c-gcc-O3",
        "c-clang",
        "c-asan",
        "cuda",
        "opencl",
        "webgpu",
        "wasm32",
        "aarch64",
    )
)
"""`fuzzer.lanes.base.availability` says which of these a machine can run. `relax-export-O0` is the lane of llvm-O0."""

SCHEDULED_LANES = tuple(
    replace(_PLAIN, name=f"relax-export-schedules-{target.split()[0]}", variant=SCHEDULES, target=target)
    for target in ("cuda", "opencl", "webgpu", "rocm -mcpu=gfx900")
)
"""Each compares the schedules for a GPU with the kernels before. Targets differ in threads, shared memory and warps.
Metal's schedules of products need its tensor intrinsics, which TVM takes 40 s to load. Without an architecture of rocm,
TVM looks for ROCm with the program `which`, and raises an error where this program is missing."""
