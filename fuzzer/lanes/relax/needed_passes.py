"""Which passes of TVM a build needs: all others can be left out, and the program is right without them.

Found out by leaving out all others at once, in the pipelines default_build, zero and cpu_generic, for llvm and C, with
and without argument checks: small models of many kinds then give the right result, which
tests/fuzzer/lanes/test_relax_trace.py repeats. Names are without the namespace, which releases change:
`tirx.FlattenBuffer` was `tir.FlattenBuffer`.
"""

from __future__ import annotations

CONTAINERS = frozenset({"sequential", "_pipeline", "f_zero_pipeline"})
"""They only run others."""

LEGALIZING = frozenset({"LegalizeOps", "DispatchSortScan", "DispatchSampling"})
"""They make kernels of operators. The latter two take what the first does not know: sort, argsort, topk, scans."""

_REASONS: dict[str, tuple[str, ...]] = {
    "operators must become kernels": tuple(LEGALIZING),
    "what the lane's main takes is decided by them": ("LiftTransformParams", "BundleModelParams", "BindParams"),
    "each ends with a form of the module that the next one needs, down to what the virtual machine runs": (
        "ToNonDataflow",
        "RemovePurityChecking",
        "CallTIRRewrite",
        "LowerAllocTensor",
        "LowerRuntimeBuiltin",
        "ComputePrimValue",
        "VMShapeLower",
        "AttachGlobalSymbol",
    ),
    "LowerAllocTensor knows only what it leaves": ("StaticPlanBlockMemory",),
    "the same among kernels: blocks become loops, buffers pointers": (
        "BindTarget",
        "LowerInitBlock",
        "PlanAndUpdateBufferAllocationLocation",
        "ConvertBlocksToOpaque",
        "LowerMatchBuffer",
        "LowerOpaqueBlock",
        "FlattenBuffer",
    ),
    "kernels of a GPU hang by threads": ("LowerCrossThreadReduction", "LiftThreadBinding", "UnifyThreadBinding"),
    "no processor computes in these types": (
        "BF16ComputeLegalize",
        "BF16StorageLegalize",
        "FP8ComputeLegalize",
        "FP8StorageLegalize",
    ),
    "functions get the shape in which they are called, and calls the form that code generators know": (
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


def plain(name: str) -> str:
    """Without its namespace."""
    return name.rpartition(".")[2]


def is_optional(name: str) -> bool:
    return plain(name) not in REQUIRED
