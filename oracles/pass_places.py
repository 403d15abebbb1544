"""Where TVM's documentation says that a pass belongs, for the passes that lanes draw alone, as data with the source.

`tests/oracles/test_pass_places.py` compares the table with the documentation of the TVM that is installed. What a pass
shows outside of its place (`ELSEWHERE`) is never filed (`fuzzer/filing/misuse.py`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum

from oracles.transforms import TRANSFORMS

SOURCE = "tvm.relax.transform"
"""The module whose docstrings are quoted."""


class Keeps(StrEnum):
    """How the lanes keep to the place of a pass."""

    ANY_PLACE = "a lane may run it anywhere"
    BY_ITS_ROW = "its row of `oracles.transforms` gives it its place"
    ELSEWHERE = "lanes run it elsewhere: a misuse, which is not filed"


@dataclass(frozen=True, slots=True)
class PassPlace:
    """`says` is quoted from the pass's docstring, and `why` is what follows from it."""

    keeps: Keeps
    says: str
    why: str


_BLOCKS = PassPlace(
    Keeps.ANY_PLACE,
    "ConvertToDataflow may need to be called first",
    "The importers make dataflow blocks, and the pass leaves other code as it is.",
)
_USEFUL = PassPlace(Keeps.ANY_PLACE, "Useful for", "It names a kind of models, and forbids no other.")

PASS_PLACES: Mapping[str, PassPlace] = {
    "AdjustMatmulOrder": _USEFUL,
    "AttachAttrLayoutFreeBuffers": PassPlace(
        Keeps.ANY_PLACE,
        "we recommend applying CanonicalizeBindings before this pass",
        "A recommendation; the result is right without it.",
    ),
    "ConvertToDataflow": _BLOCKS,
    "DataflowUseInplaceCalls": _BLOCKS,
    "ExpandMatmulOfSum": _USEFUL,
    "FoldConstant": _BLOCKS,
    "FuseOps": _BLOCKS,
    "FuseOpsByPattern": _BLOCKS,
    "RemovePurityChecking": PassPlace(
        Keeps.BY_ITS_ROW,
        "useful for low-level code generation",
        "Its row runs ToNonDataflow first, and only passes of the lowered form may follow.",
    ),
    "ReorderPermuteDimsAfterConcat": _USEFUL,
    "ReorderTakeAfterMatmul": _USEFUL,
    "RewriteDataflowReshape": _BLOCKS,
    "SplitLayoutRewritePreproc": PassPlace(
        Keeps.ELSEWHERE,
        "used in the prepack weight after meta_schedule tuning",
        "The pass splits what tuning has rewritten, and TVM's pipeline runs it after tuning; the lane has not tuned.",
    ),
    "ToMixedPrecision": PassPlace(
        Keeps.BY_ITS_ROW,
        "the pass assumes the input module to be fp32 only",
        "The column `floats` of its row: lanes run it on modules of float32 alone.",
    ),
}
"""By pass, the place that its documentation names. Passes whose documentation names none are left out."""

PIPELINE = "tvm.relax.pipeline"
"""The module whose pipelines give places to passes whose documentation names none."""

IN_A_PIPELINE = frozenset(
    {
        "AnnotateTIROpPattern",
        "AttachGlobalSymbol",
        "CallTIRRewrite",
        "CanonicalizeBindings",
        "ComputePrimValue",
        "DecomposeOpsForInference",
        "FuseTIR",
        "KillAfterLastUse",
        "LegalizeOps",
        "LowerAllocTensor",
        "LowerRuntimeBuiltin",
        "StaticPlanBlockMemory",
        "ToNonDataflow",
        "VMShapeLower",
    }
)
"""Passes without such documentation that a pipeline of `PIPELINE` calls. Those of the lowered form have a row that
gives them what they need (`form` in `oracles.transforms`)."""

WITHOUT_A_PLACE = frozenset(
    {
        "CombineParallelMatmul",
        "ConvertLayout",
        "DeadCodeElimination",
        "EliminateCommonSubexpr",
        "ExpandTupleArguments",
        "FastMathTransform",
        "FoldBatchnormToConv2D",
        "FuseTransposeMatmul",
        "InlinePrivateFunctions",
        "LambdaLift",
        "Normalize",
        "NormalizeGlobalVar",
        "OptimizeLayoutTransform",
        "RemoveRedundantReshape",
        "RemoveUnusedOutputs",
        "RemoveUnusedParameters",
        "SpecializePrimFuncBasedOnCallSite",
        "TopologicalSort",
    }
)
"""Passes of `SOURCE` for which neither their documentation nor a pipeline names a place: users call them anywhere."""

NO_PASSES_OF_RELAX = frozenset({"DlightCPU", "JsonRoundTrip", "MetaSchedule", "ScriptRoundTrip"})
"""Rows that stand for something else: round trips, and schedules, which their rows apply to legalized modules."""


def rows_elsewhere() -> Iterator[tuple[PassPlace, str, tuple[str, ...]]]:
    """The passes that lanes run outside of their place, with the names of their rows."""
    for name, place in PASS_PLACES.items():
        if place.keeps is Keeps.ELSEWHERE:
            yield place, name, tuple(row.name for row in TRANSFORMS if row.pass_name == name)
