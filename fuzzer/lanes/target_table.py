"""A lane for each target that no plain lane uses, as data. Importing this loads no compiler."""

from __future__ import annotations

from dataclasses import replace

from oracles.lane import Engine, Importer, LaneSpec

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
