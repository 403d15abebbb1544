"""The passes that a lane may name, as data: one row each. What runs is what a report shows."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum, IntEnum, auto

from oracles.lane import LaneSpec, is_relay


class Rounding(IntEnum):
    """How a program may round after a pass, beside how PyTorch's does. The largest of a lane's passes counts."""

    SAME = 0
    OTHER_ORDER = 1  # sums of products are taken in another order, or with other factors
    FAST_MATH = 2  # functions by shorter series
    HALF = 3  # in half precision


class ModuleForm(Enum):
    """What a pass looks for."""

    OPERATORS = auto()  # Relax operators: before LegalizeOps
    ANYTHING = auto()
    KERNELS = auto()  # calls of kernels: after LegalizeOps
    LOWERED = auto()  # what the end of a compilation begins with: only its like may follow


@dataclass(frozen=True, slots=True)
class Transform:
    """A pass with its options.

    source    a Python expression that takes `mod` and gives the new module; in scope: tvm, relax, target, the helper
    helper    a Python function that `source` calls, as its definition
    after     transforms that must have run before it, in this order
    form      the form of module that it works on: it does nothing, or is out of place, on others
    relevant_ops  PyTorch operators (rows of the operator table) without which it has nothing to do; empty: any operator
    rounding  how results may differ
    lowers    some pipeline runs it too: a failure is the compilation's, whoever asked for it
    round_trip  the module is written down and read again: nothing at all may differ
    """

    name: str
    source: str
    helper: str = ""
    form: ModuleForm = ModuleForm.ANYTHING
    after: tuple[str, ...] = ()
    relevant_ops: tuple[str, ...] = ()
    rounding: Rounding = Rounding.SAME
    lowers: bool = False
    round_trip: bool = False

    @property
    def pass_name(self) -> str:
        """Whose options it sets: `ConvertLayout-NHWC` and `ConvertLayout-packed` are ConvertLayout's."""
        return self.name.partition("-")[0]


def _relax(name: str, arguments: str = "", called: str = "", **more: object) -> Transform:
    return Transform(called or name, f"relax.transform.{name}({arguments})(mod)", **more)  # type: ignore[arg-type]


LEGALIZE = "LegalizeOps"

_SCHEDULED = """
def scheduled(mod, seed):
    from tvm.s_tir.meta_schedule import TuneContext

    target, source = tvm.target.Target({"kind": "llvm", "num-cores": 1}), random.Random(seed)
    kernels = {var: func for var, func in mod.functions.items() if isinstance(func, tvm.tirx.PrimFunc)}
    mod = mod.clone()
    for var, kernel in kernels.items():
        alone = tvm.IRModule({"main": kernel.with_attr("global_symbol", "main")})
        context = TuneContext(alone, target=target, space_generator="post-order-apply", rand_state=seed + 1)
        schedule = source.choice(list(context.generate_design_space()))
        if all([each.apply(schedule) for each in context.space_generator.postprocs]):
            mod[var] = schedule.mod["main"].without_attr("global_symbol")
    return mod
"""
"""What MetaSchedule would try on each kernel, without measuring it: a random schedule of its design space."""


def _schedule(seed: int) -> Transform:
    return Transform(
        f"MetaSchedule-{seed}",
        f"scheduled(mod, {seed})",
        helper=_SCHEDULED,
        form=ModuleForm.KERNELS,
        after=(LEGALIZE,),
        rounding=Rounding.OTHER_ORDER,
    )


CONV = ("conv2d",)
MATMUL = ("matmul", "mm", "bmm", "linear", "addmm", "baddbmm", "einsum")

TRANSFORMS: tuple[Transform, ...] = (
    # written down and read again
    Transform("ScriptRoundTrip", "tvm.script.from_source(mod.script(show_meta=True))", round_trip=True),
    Transform("JsonRoundTrip", "tvm.ir.load_json(tvm.ir.save_json(mod))", round_trip=True),
    # on operators
    _relax(
        "ConvertLayout",
        '{"relax.nn.conv2d": ["NHWC", "OHWI"]}',
        "ConvertLayout-NHWC",
        relevant_ops=CONV,
        form=ModuleForm.OPERATORS,
    ),
    _relax(
        "ConvertLayout",
        '{"relax.nn.conv2d": ["NCHW4c", "OIHW4o"]}',
        "ConvertLayout-packed",
        relevant_ops=CONV,
        form=ModuleForm.OPERATORS,
    ),
    _relax(
        "ToMixedPrecision",
        'out_dtype="float32"',
        relevant_ops=CONV + MATMUL,
        form=ModuleForm.OPERATORS,
        rounding=Rounding.HALF,
    ),
    _relax(
        "ToMixedPrecision",
        'out_dtype="float16"',
        "ToMixedPrecision-float16",
        relevant_ops=CONV + MATMUL,
        form=ModuleForm.OPERATORS,
        rounding=Rounding.HALF,
    ),
    _relax("DecomposeOpsForInference", form=ModuleForm.OPERATORS, rounding=Rounding.OTHER_ORDER),
    _relax("FoldBatchnormToConv2D", relevant_ops=CONV, form=ModuleForm.OPERATORS, rounding=Rounding.OTHER_ORDER),
    _relax("ExpandMatmulOfSum", relevant_ops=MATMUL, form=ModuleForm.OPERATORS, rounding=Rounding.OTHER_ORDER),
    _relax("AdjustMatmulOrder", relevant_ops=MATMUL, form=ModuleForm.OPERATORS, rounding=Rounding.OTHER_ORDER),
    _relax("CombineParallelMatmul", relevant_ops=MATMUL, form=ModuleForm.OPERATORS, rounding=Rounding.OTHER_ORDER),
    _relax("FuseTransposeMatmul", relevant_ops=MATMUL, form=ModuleForm.OPERATORS, rounding=Rounding.OTHER_ORDER),
    _relax("ReorderTakeAfterMatmul", relevant_ops=MATMUL, form=ModuleForm.OPERATORS, rounding=Rounding.OTHER_ORDER),
    _relax("ReorderPermuteDimsAfterConcat", form=ModuleForm.OPERATORS),
    _relax("OptimizeLayoutTransform", form=ModuleForm.OPERATORS),
    _relax("RemoveRedundantReshape", form=ModuleForm.OPERATORS),
    _relax("FastMathTransform", form=ModuleForm.OPERATORS, rounding=Rounding.FAST_MATH),
    _relax(LEGALIZE, form=ModuleForm.OPERATORS, lowers=True),
    # on the program's structure
    _relax("FoldConstant", lowers=True),
    _relax("EliminateCommonSubexpr"),
    _relax("EliminateCommonSubexpr", "call_only=True", "EliminateCommonSubexpr-calls"),
    _relax("CanonicalizeBindings"),
    _relax("DeadCodeElimination"),
    _relax("DataflowUseInplaceCalls"),
    _relax("LambdaLift"),
    _relax("Normalize"),
    _relax("NormalizeGlobalVar"),
    _relax("InlinePrivateFunctions"),
    _relax("ConvertToDataflow"),
    _relax("ToNonDataflow", form=ModuleForm.LOWERED, lowers=True),
    Transform(  # one row: TVM documents it for modules without dataflow blocks only, and passes are left out one by one
        "RemovePurityChecking",
        "relax.transform.RemovePurityChecking()(relax.transform.ToNonDataflow()(mod))",
        form=ModuleForm.LOWERED,
        lowers=True,
    ),
    _relax("RemoveUnusedParameters"),
    _relax("RemoveUnusedOutputs"),
    _relax("ExpandTupleArguments"),
    _relax("TopologicalSort", called="TopologicalSort-depth"),
    _relax("TopologicalSort", 'order="breadth-first"', "TopologicalSort-breadth"),
    _relax("TopologicalSort", 'direction="from-outputs"', "TopologicalSort-outputs"),
    _relax("SpecializePrimFuncBasedOnCallSite"),
    _relax("RewriteDataflowReshape", lowers=True),
    # on kernels
    _relax("AnnotateTIROpPattern", form=ModuleForm.KERNELS, after=(LEGALIZE,), lowers=True),
    _relax("FuseOps", form=ModuleForm.KERNELS, after=(LEGALIZE, "AnnotateTIROpPattern"), lowers=True),
    _relax(
        "FuseOps",
        "fuse_opt_level=0",
        "FuseOps-0",
        form=ModuleForm.KERNELS,
        after=(LEGALIZE, "AnnotateTIROpPattern"),
        lowers=True,
    ),
    _relax("FuseTIR", form=ModuleForm.KERNELS, after=(LEGALIZE, "AnnotateTIROpPattern", "FuseOps"), lowers=True),
    _relax("AttachAttrLayoutFreeBuffers", form=ModuleForm.KERNELS, after=(LEGALIZE,)),
    _relax("SplitLayoutRewritePreproc", form=ModuleForm.KERNELS, after=(LEGALIZE, "AttachAttrLayoutFreeBuffers")),
    _relax(
        "CallTIRRewrite",
        form=ModuleForm.LOWERED,
        after=(LEGALIZE, "ToNonDataflow", "RemovePurityChecking"),
        lowers=True,
    ),
    Transform(
        "DlightCPU",
        "tvm.s_tir.dlight.ApplyDefaultSchedule(tvm.s_tir.dlight.cpu.GEMV())(mod)",
        form=ModuleForm.KERNELS,
        after=(LEGALIZE, "AnnotateTIROpPattern", "FuseOps", "FuseTIR"),
        rounding=Rounding.OTHER_ORDER,
    ),
    *(_schedule(seed) for seed in range(4)),
)

RELAY_TRANSFORMS: tuple[Transform, ...] = (
    # what from_onnx ends with where it is given the weights; here on a module that it has not run on
    Transform("DynamicToStatic", "relay.transform.DynamicToStatic()(mod)"),
)
"""Of Relay, for lanes that are written in it; `relay` is in scope."""

TRANSFORMS_BY_NAME = {row.name: row for row in (*TRANSFORMS, *RELAY_TRANSFORMS)}

ROUND_TRIPS = frozenset(row.name for row in TRANSFORMS if row.round_trip)
"""They write the module down and read it again."""


def rounding_of(passes: Iterable[str]) -> Rounding:
    return max((TRANSFORMS_BY_NAME[name].rounding for name in passes), default=Rounding.SAME)


def rounding_in(lane: LaneSpec) -> Rounding:
    """By the lane's passes, and by what Relay's build does unasked: at every level SimplifyInference, which gives norms
    other factors; from level 4 on FastMath."""
    unasked = Rounding.SAME
    if is_relay(lane):
        unasked = Rounding.FAST_MATH if lane.opt_level >= FAST_MATH_LEVEL else Rounding.OTHER_ORDER
    return max(rounding_of(lane.passes), unasked)


FAST_MATH_LEVEL = 4
"""Of Relay."""
