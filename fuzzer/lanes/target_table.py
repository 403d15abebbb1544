"""A lane for each target beside those that every test takes, as data. Importing this loads no compiler."""

from __future__ import annotations

from dataclasses import replace

from oracles.lane import Engine, Importer, LaneSpec

_PLAIN = LaneSpec("relax-export-llvm", Engine.TVM, Importer.EXPORT, "relax", asserts=False)

_SEPARATE = {"c-asan": ("StaticPlanBlockMemory",)}
"""That pass lays tensors into memory of others, where nobody sees it when they are left."""

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
"""What a machine cannot do of these, `fuzzer.lanes.base.availability` says. The lane `relax-export-O0` is llvm-O0's."""
