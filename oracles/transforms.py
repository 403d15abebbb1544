"""The passes that a lane may name, as data: one row each. What runs is what a report shows."""

from __future__ import annotations

import functools
import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from enum import Enum, IntEnum, auto
from typing import TYPE_CHECKING

from generators.operator_class import OperatorClass
from oracles.lane import LaneSpec, is_relay

if TYPE_CHECKING:  # verbs that only read load no operators
    from generators.op import Op


class Rounding(IntEnum):
    """How a pass may change the rounding of a program. The largest value among a lane's passes counts."""

    SAME = 0
    OTHER_ORDER = 1  # sums of products are computed in another order, or with other factors
    FAST_MATH = 2  # functions are computed by shorter series
    HALF = 3  # operators are computed in half precision


class ModuleForm(Enum):
    """The form of module that a pass works on, in the order in which a compilation goes through them."""

    OPERATORS = auto()  # Relax operators: before LegalizeOps
    ANYTHING = auto()  # any form
    KERNELS = auto()  # calls of kernels: after LegalizeOps
    LOWERED = auto()  # the last steps of a compilation: only passes of this form may follow


@dataclass(frozen=True, slots=True)
class Transform:
    """A pass with its options.

    source        a Python expression that takes `mod` and gives the new module; in scope: tvm, tvm_ffi, relax, target,
                  random, and the helper
    helper        the definition of a Python function that `source` calls
    form          the form of module that it works on; on another form it does nothing or is not allowed
    after         transforms that must run before it, in this order
    relevant      classes of operators that it rewrites; empty: not limited to some operators
    floats        the floating dtypes of the modules that it is made for, by its documentation; empty: all
    rounding      how results may differ
    lowers        whether a pipeline of TVM runs it too: then its failures belong to the stage `compile`
    round_trip    whether it writes the module and reads it back: then the results must be identical
    """

    name: str
    source: str
    helper: str = ""
    form: ModuleForm = ModuleForm.ANYTHING
    after: tuple[str, ...] = ()
    relevant: tuple[OperatorClass, ...] = ()
    floats: tuple[str, ...] = ()
    rounding: Rounding = Rounding.SAME
    lowers: bool = False
    round_trip: bool = False

    @property
    def pass_name(self) -> str:
        """The pass without its options: ConvertLayout for `ConvertLayout-NHWC` and `ConvertLayout-packed`."""
        return self.name if is_own(self.name) else self.name.partition("-")[0]

    def rewrites(self, op: Op) -> bool:
        """Whether an operator of any dialect is of a relevant class."""
        return any(each in op.classes for each in self.relevant)


def _relax(name: str, arguments: str = "", row_name: str = "", **more: object) -> Transform:
    return Transform(row_name or name, f"relax.transform.{name}({arguments})(mod)", **more)  # type: ignore[arg-type]


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
"""Apply to each kernel a random schedule from MetaSchedule's design space, without measuring it."""


def _schedule(seed: int) -> Transform:
    return Transform(
        f"MetaSchedule-{seed}",
        f"scheduled(mod, {seed})",
        helper=_SCHEDULED,
        form=ModuleForm.KERNELS,
        after=(LEGALIZE,),
        rounding=Rounding.OTHER_ORDER,
    )


_PATTERNS = """
def patterns():
    from tvm.relax.dpl import is_op, wildcard

    x, weight, bias = wildcard(), wildcard(), wildcard()
    matmul, conv = is_op("relax.matmul")(x, weight), is_op("relax.nn.conv2d")(x, weight)
    activated = is_op("relax.nn.relu")(is_op("relax.add")(matmul, bias))
    both = {"matmul": matmul, "conv2d": conv}
    biased = {name + "_bias": is_op("relax.add")(pattern, bias) for name, pattern in both.items()}
    named = {"matmul_bias_relu": activated, **biased, **both}
    return [("difftvm." + name, pattern) for name, pattern in named.items()]
"""
"""Patterns as a backend would give them, the larger ones first. No backend takes what they match."""

CONV = (OperatorClass.CONVOLUTION_2D,)
MATMUL = (OperatorClass.MATRIX_PRODUCT,)

_WITHOUT_DATAFLOW = (LEGALIZE, "ToNonDataflow", "RemovePurityChecking")
_WITH_TENSORS = (*_WITHOUT_DATAFLOW, "CallTIRRewrite")
_WITH_STORAGES = (*_WITH_TENSORS, "StaticPlanBlockMemory", "LowerAllocTensor")
"""The last passes of a compilation, in the order of TVM's pipelines, each of which needs those before it."""

TRANSFORMS: tuple[Transform, ...] = (
    # round trips
    Transform("ScriptRoundTrip", "tvm.script.from_source(mod.script(show_meta=True))", round_trip=True),
    Transform("JsonRoundTrip", "tvm.ir.load_json(tvm.ir.save_json(mod))", round_trip=True),
    # on operators
    _relax(
        "ConvertLayout",
        '{"relax.nn.conv2d": ["NHWC", "OHWI"]}',
        "ConvertLayout-NHWC",
        relevant=CONV,
        form=ModuleForm.OPERATORS,
    ),
    _relax(
        "ConvertLayout",
        '{"relax.nn.conv2d": ["NCHW4c", "OIHW4o"]}',
        "ConvertLayout-packed",
        relevant=CONV,
        form=ModuleForm.OPERATORS,
    ),
    _relax(
        "ToMixedPrecision",
        'out_dtype="float32"',
        relevant=CONV + MATMUL,
        floats=("float32",),  # "the pass assumes the input module to be fp32 only"
        form=ModuleForm.OPERATORS,
        rounding=Rounding.HALF,
    ),
    _relax(
        "ToMixedPrecision",
        'out_dtype="float16"',
        "ToMixedPrecision-float16",
        relevant=CONV + MATMUL,
        floats=("float32",),  # "the pass assumes the input module to be fp32 only"
        form=ModuleForm.OPERATORS,
        rounding=Rounding.HALF,
    ),
    _relax("DecomposeOpsForInference", form=ModuleForm.OPERATORS, rounding=Rounding.OTHER_ORDER),
    _relax("FoldBatchnormToConv2D", relevant=CONV, form=ModuleForm.OPERATORS, rounding=Rounding.OTHER_ORDER),
    _relax("ExpandMatmulOfSum", relevant=MATMUL, form=ModuleForm.OPERATORS, rounding=Rounding.OTHER_ORDER),
    _relax("AdjustMatmulOrder", relevant=MATMUL, form=ModuleForm.OPERATORS, rounding=Rounding.OTHER_ORDER),
    _relax("CombineParallelMatmul", relevant=MATMUL, form=ModuleForm.OPERATORS, rounding=Rounding.OTHER_ORDER),
    _relax("FuseTransposeMatmul", relevant=MATMUL, form=ModuleForm.OPERATORS, rounding=Rounding.OTHER_ORDER),
    _relax("ReorderTakeAfterMatmul", relevant=MATMUL, form=ModuleForm.OPERATORS, rounding=Rounding.OTHER_ORDER),
    _relax("ReorderPermuteDimsAfterConcat", form=ModuleForm.OPERATORS),
    _relax("OptimizeLayoutTransform", form=ModuleForm.OPERATORS),
    Transform(
        "FuseOpsByPattern",
        "relax.transform.FuseOpsByPattern(patterns())(mod)",
        helper=_PATTERNS,
        relevant=CONV + MATMUL,
        form=ModuleForm.OPERATORS,
    ),
    Transform(
        "FuseOpsByPattern-unbound",
        "relax.transform.FuseOpsByPattern(patterns(), bind_constants=False)(mod)",
        helper=_PATTERNS,
        relevant=CONV + MATMUL,
        form=ModuleForm.OPERATORS,
    ),
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
    # one row for two passes: any row may be left out, and RemovePurityChecking is documented only for modules without
    # dataflow blocks
    Transform(
        "RemovePurityChecking",
        "relax.transform.RemovePurityChecking()(relax.transform.ToNonDataflow()(mod))",
        form=ModuleForm.LOWERED,
        lowers=True,
    ),
    _relax("RemoveUnusedParameters"),
    _relax("RemoveUnusedOutputs"),
    _relax("ExpandTupleArguments"),
    _relax("TopologicalSort", row_name="TopologicalSort-depth"),
    _relax("TopologicalSort", 'order="breadth-first"', "TopologicalSort-breadth"),
    _relax("TopologicalSort", 'direction="from-outputs"', "TopologicalSort-outputs"),
    _relax("SpecializePrimFuncBasedOnCallSite"),
    _relax("RewriteDataflowReshape", lowers=True),
    _relax("AttachGlobalSymbol", lowers=True),
    _relax("ComputePrimValue", lowers=True),
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
    _relax("CallTIRRewrite", form=ModuleForm.LOWERED, after=_WITHOUT_DATAFLOW, lowers=True),
    _relax("StaticPlanBlockMemory", form=ModuleForm.LOWERED, after=_WITH_TENSORS, lowers=True),
    _relax("LowerAllocTensor", form=ModuleForm.LOWERED, after=_WITH_TENSORS, lowers=True),
    _relax("KillAfterLastUse", form=ModuleForm.LOWERED, after=_WITH_STORAGES, lowers=True),
    # one row for two passes: any row may be left out, and LowerRuntimeBuiltin lowers no allocation of a tensor
    Transform(
        "LowerRuntimeBuiltin",
        "relax.transform.LowerRuntimeBuiltin()(relax.transform.LowerAllocTensor()(mod))",
        form=ModuleForm.LOWERED,
        after=_WITH_STORAGES,
        lowers=True,
    ),
    _relax("VMShapeLower", form=ModuleForm.LOWERED, after=_WITH_STORAGES, lowers=True),
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
    # from_onnx runs it at its end where it gets the weights; here it runs on a module on which it has not run
    Transform("DynamicToStatic", "relay.transform.DynamicToStatic()(mod)"),
)
"""The passes of Relay, for lanes that use Relay; `relay` is in scope."""

TRANSFORMS_BY_NAME = {row.name: row for row in (*TRANSFORMS, *RELAY_TRANSFORMS)}


# --- passes of the user

OWN = "own:"
"""What the name of a user's own pass begins with in a lane."""

KERNELS, IDEMPOTENT = "kernels", "idempotent"
ROUNDINGS = {"other-order": Rounding.OTHER_ORDER, "fast-math": Rounding.FAST_MATH, "half": Rounding.HALF}

OWN_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,59}")
_OWN_PASS = re.compile(
    rf"{OWN}(?P<name>{OWN_NAME.pattern})"
    rf"(?P<kernels>:{KERNELS})?(?P<twice>:{IDEMPOTENT})?(:(?P<rounding>{'|'.join(ROUNDINGS)}))?"
)

REGISTERED = "difftvm.own_pass."
"""The prefix of the names under which TVM's global functions have the passes of a preloaded file."""

_OWN = f"""
def own_pass(name):
    run = tvm.get_global_func("{REGISTERED}" + name)
    return tvm.transform.module_pass(lambda mod, context: run(mod), opt_level=0, name="{OWN}" + name)
"""
"""A pass of TVM, so that instruments see it: TVM's checker of well-formedness, and the bisection of passes."""

_OWN_TWICE = f"""{_OWN}

def own_pass_twice(name, mod):
    once = own_pass(name)(mod)
    both = [each.without_attr("external_mods") for each in (once, own_pass(name)(once.clone()))]  # compiled code
    if not tvm_ffi.structural_equal(*both):
        raise AssertionError("own:" + name + " is not idempotent: a second run changes the module again")
    return once
"""


def is_own(name: str) -> bool:
    """Whether this is the name of a user's own pass in a lane."""
    return name.startswith(OWN)


@functools.lru_cache(256)
def own_transform(name: str) -> Transform | None:
    """Return the row of a user's own pass; None where the name has not the form of one.

    `own:NAME`, then in this order what its author claims: `:kernels`: it works on calls of kernels, after LegalizeOps;
    `:idempotent`: a second run changes nothing, which is checked; `:other-order`, `:fast-math` or `:half`: how it may
    change the rounding. The name is all that a lane has of the pass. What it stands for is known only in a process that
    executed a file of the user which registers it (`--preload`).
    """
    found = _OWN_PASS.fullmatch(name)
    if found is None:
        return None
    function, twice, kernels = found["name"], found["twice"] is not None, found["kernels"] is not None
    return Transform(
        name,
        f'own_pass_twice("{function}", mod)' if twice else f'own_pass("{function}")(mod)',
        helper=_OWN_TWICE if twice else _OWN,
        form=ModuleForm.KERNELS if kernels else ModuleForm.ANYTHING,
        after=(LEGALIZE,) if kernels else (),
        rounding=ROUNDINGS[found["rounding"]] if found["rounding"] else Rounding.SAME,
    )


def registered_name(transform: str) -> str:
    """Return the global function of TVM that a user's own pass stands for: `difftvm.own_pass.NAME`."""
    return REGISTERED + transform.removeprefix(OWN).partition(":")[0]


def transform_named(name: str) -> Transform:
    """Return the row of a pass that a lane names. Raise `KeyError` where there is none."""
    if row := TRANSFORMS_BY_NAME.get(name) or own_transform(name):
        return row
    raise KeyError(name)


ROUND_TRIPS = frozenset(row.name for row in TRANSFORMS if row.round_trip)
"""The names of the passes that write the module and read it back."""


DISABLED_WITH = {"FuseTIR": "FuseOps"}
"""By pass that a pipeline may leave out, the pass that it must leave out too: FuseTIR lowers what FuseOps makes."""


def have_what_they_require(passes: Sequence[str]) -> bool:
    """Whether each pass that works on lowered modules comes after those that its row requires. On other modules it may
    break what is valid; other passes leave a module as it is that they do not know."""
    rows = [transform_named(name) for name in passes]
    return all(
        row.form is not ModuleForm.LOWERED or set(row.after) <= set(passes[:place]) for place, row in enumerate(rows)
    )


def not_disabled_alone(disabled: Collection[str]) -> tuple[str, ...]:
    """The disabled passes that may not be left out, because the pass of `DISABLED_WITH` runs."""
    return tuple(name for name in disabled if DISABLED_WITH.get(name, name) not in disabled)


def rounding_of(passes: Iterable[str]) -> Rounding:
    """Return the largest change of rounding among the passes."""
    return max((transform_named(name).rounding for name in passes), default=Rounding.SAME)


def rounding_in(lane: LaneSpec) -> Rounding:
    """Return how the lane's program may round, by its passes and by the passes of Relay's build.

    Relay's build runs SimplifyInference at every level, which computes norms with other factors, and FastMath from
    level 4 on.
    """
    by_build = Rounding.SAME
    if is_relay(lane):
        by_build = Rounding.FAST_MATH if lane.opt_level >= FAST_MATH_LEVEL else Rounding.OTHER_ORDER
    return max(rounding_of(lane.passes), by_build)


FAST_MATH_LEVEL = 4
"""The opt_level from which Relay's build runs FastMath."""
