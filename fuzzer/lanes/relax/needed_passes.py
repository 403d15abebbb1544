"""The passes of TVM that a build needs. All other passes can be left out, and the program is still right.

They were found by leaving out all other passes at once, in the pipelines default_build, zero and cpu_generic, for llvm
and C, with and without argument checks. tests/fuzzer/lanes/test_relax_trace.py repeats this with small models of many
kinds. Names have no namespace, because releases change it (`tirx.FlattenBuffer` was `tir.FlattenBuffer`).
"""

from __future__ import annotations

from oracles.transforms import is_own

CONTAINERS = frozenset({"sequential", "_pipeline", "f_zero_pipeline"})
"""Passes that only run other passes."""

LEGALIZING = frozenset({"LegalizeOps", "DispatchSortScan", "DispatchSampling"})
"""Passes that turn operators into kernels. The last two handle sort, topk and scans."""

_REASONS: dict[str, tuple[str, ...]] = {
    "operators must become kernels": tuple(LEGALIZING),
    "they decide the parameters of main": ("LiftTransformParams", "BundleModelParams", "BindParams"),
    "each lowers the module to the form that the next one needs, down to the virtual machine's": (
        "ToNonDataflow",
        "RemovePurityChecking",
        "CallTIRRewrite",
        "LowerAllocTensor",
        "LowerRuntimeBuiltin",
        "ComputePrimValue",
        "VMShapeLower",
        "AttachGlobalSymbol",
    ),
    "LowerAllocTensor supports only its results": ("StaticPlanBlockMemory",),
    "kernels are lowered in the same way: blocks to loops, buffers to pointers": (
        "BindTarget",
        "LowerInitBlock",
        "PlanAndUpdateBufferAllocationLocation",
        "ConvertBlocksToOpaque",
        "LowerMatchBuffer",
        "LowerOpaqueBlock",
        "FlattenBuffer",
    ),
    "kernels of a GPU need their threads": ("LowerCrossThreadReduction", "LiftThreadBinding", "UnifyThreadBinding"),
    "processors do not compute in these types": (
        "BF16ComputeLegalize",
        "BF16StorageLegalize",
        "FP8ComputeLegalize",
        "FP8StorageLegalize",
    ),
    "functions get their calling convention, and calls the form that code generators support": (
        "AnnotateEntryFunc",
        "SplitHostDevice",
        "MakePackedAPI",
        "LowerTVMBuiltin",
        "LowerIntrin",
        "Filter",
        "SkipAssert",
        "ThreadSync",
        "InferFragment",
        "LowerThreadAllreduce",
        "MergeSharedMemoryAllocations",
    ),
}

REQUIRED = frozenset(name for names in _REASONS.values() for name in names)


def without_namespace(name: str) -> str:
    """Return the name of a pass without its namespace. The name of a user's own pass has none."""
    return name if is_own(name) else name.rpartition(".")[2]


def is_optional(name: str) -> bool:
    return without_namespace(name) not in REQUIRED
