"""The names of `tvm.relax.transform` that are no row of `oracles.transforms`, with the reasons. People reviewed them.

`tests/fuzzer/lanes/test_transforms.py` compares both tables with the TVM that is installed.
"""

from __future__ import annotations

from collections.abc import Mapping

_NAMES_BY_REASON: Mapping[str, str] = {
    "a base class, a decorator or a type of an argument, and no pass": (
        "DataflowBlockPass FunctionPass FusionPattern PatternCheckContext dataflowblock_pass function_pass"
    ),
    "a way to pass parameters, which the lane gives (`oracles.lane.Params`)": (
        "BindParams BundleModelParams LiftTransformParams"
    ),
    "the gradient lane runs it: it makes another program": "Gradient DecomposeOpsForTraining",
    "another name of LowerRuntimeBuiltin": "VMBuiltinLower",
    "it changes the arguments or the results of the program, so that no lane could call it as before": (
        "LazyGetInput LazySetOutput LazyTransformParams UpdateParamType"
    ),
    "it needs names of symbolic sizes: symbolic lanes import modules in which these stay open": "BindSymbolicVars",
    "it needs a code generator outside TVM": (
        "AllocateWorkspace AttachExternModules MergeCompositeFunctions RunCodegen SplitCallTIRByPattern"
    ),
    "it needs kernels that replace others, with their layouts": "AlterOpImpl",
    "it measures schedules, or needs schedules that were measured; MetaSchedule-0 to -3 apply some unmeasured": (
        "MetaScheduleApplyDatabase MetaScheduleTuneIRMod MetaScheduleTuneTIR"
    ),
    "it acts on modules for a GPU or for several devices only": (
        "IPCAllReduceRewrite LowerGPUIPCAllocStorage RealizeVDevice RewriteCUDAGraph UpdateVDevice"
    ),
}

PASSES_WITHOUT_A_ROW: Mapping[str, str] = {
    name: reason for reason, names in _NAMES_BY_REASON.items() for name in names.split()
}
"""By name in `tvm.relax.transform`, why no lane draws it."""
