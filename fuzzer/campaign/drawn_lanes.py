"""Lanes that are drawn for one case: other passes, alone, in pairs, repeated, in long sequences; other ways to compile.

What comes out is legal: a failure is TVM's. Passes that look for operators come before those that look for kernels, and
what lowers comes last, under the pipeline that takes lowered modules. What a pass needs is put before it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from generators.choice import ChoiceSource
from generators.graph import Case
from oracles.lane import Engine, Execution, Importer, LaneSpec, Params, Pipeline
from oracles.transforms import TRANSFORMS, TRANSFORMS_BY_NAME, ModuleForm, Transform

DISABLED: tuple[tuple[str, ...], ...] = (
    ("StaticPlanBlockMemory",),
    ("FuseOps", "FuseTIR"),
    ("FoldConstant",),
    ("RewriteDataflowReshape",),
)
"""Passes of the pipelines that a program can do without; those of a tuple go together."""

OPTIONS = (
    "tirx.disable_vectorize",
    "tirx.disable_storage_rewrite",
    "tirx.disable_cse_tir",
    "tirx.instrument_bound_checkers",
    "tirx.noalias",
)
"""PassContext's options that change the code and must not change what it computes."""

IMPORTERS = (Importer.EXPORT, Importer.ONNX, Importer.FX, Importer.EXPORT_RAW)

_WANTED = 4
"""How many times as likely a pass is that the case's operators wake."""


_BY_PASS = tuple(
    tuple(row for row in TRANSFORMS if row.pass_name == name)
    for name in dict.fromkeys(row.pass_name for row in TRANSFORMS)
)


def drawn(source: ChoiceSource, case: Case, importers: Sequence[Importer] = IMPORTERS) -> LaneSpec:
    """A lane for the case, by one of the importers, mostly the first. Its plain sibling has
    a name: it is one of those that every test takes, or of the sampled ones."""
    passes = _sequence(source, case)
    lowered = any(TRANSFORMS_BY_NAME[name].form is ModuleForm.LOWERED for name in passes)
    importer = source.choice(importers) if source.rarely(25) else importers[0]
    lane = LaneSpec(
        f"relax-{importer}-drawn",
        Engine.TVM,
        importer,
        "relax",
        passes=passes,
        target="llvm-O0" if source.chance(80) else "llvm",  # bugs of passes show at any level of LLVM's
        asserts=False,
        checked=True,
    )
    if case.owned and source.rarely(25):
        lane = replace(lane, params=source.choice(_protocols(passes)))
    if not lowered and source.rarely(40):
        lane = replace(lane, pipeline=source.choice((Pipeline.ZERO, Pipeline.CPU)))
    if source.rarely(15):
        lane = replace(lane, disabled=source.choice(DISABLED))
    if source.rarely(10):
        lane = replace(lane, options=(source.choice(OPTIONS),))
    if source.rarely(10):
        # at level 0 LiftTransformParams leaves out what makes the function that protocols call
        lane = replace(lane, opt_level=source.choice((1, 3) if lane.params.is_lifted else (0, 1, 3)))
    if source.rarely(10):
        lane = replace(lane, executor=Execution.COMPILED)
    if source.rarely(5):
        lane = replace(lane, as_library=True)
    return lane


def _protocols(passes: Sequence[str]) -> list[Params]:
    """What frees parameters has a side effect and is called pure (TVM 0.27): sorted by uses, it comes too early."""
    sorts = any(name.startswith("TopologicalSort") for name in passes)
    return [how for how in Params if how is not Params.BOUND and not (sorts and how is Params.LIFTED_CONSUMING)]


def _sequence(source: ChoiceSource, case: Case) -> tuple[str, ...]:
    """Row names in a legal order. Rows of one pass (MetaSchedule-0, MetaSchedule-1, ...) count as one."""
    ops = set(case.graph.ops)
    chances = [rows for rows in _BY_PASS for _ in range(_WANTED if ops & set(rows[0].relevant_ops) else 1)]

    def one() -> Transform:
        return source.choice(source.choice(chances))

    match source.integer(1, 10):
        case 1 | 2 | 3 | 4:
            chosen = [one()]
        case 5 | 6:
            chosen = [one(), one()]
        case 7:
            chosen = [one()] * 2
        case _:
            chosen = [one() for _ in range(source.integer(3, 8))]
    return ordered(source, chosen)


def ordered(source: ChoiceSource, rows: Sequence[Transform]) -> tuple[str, ...]:
    """The rows in an order that suits what each looks for, with what each needs before it; those that look for nothing
    in particular stand anywhere before the lowering ones."""
    free = [row for row in rows if row.form is ModuleForm.ANYTHING]
    rest = sorted((row for row in rows if row.form is not ModuleForm.ANYTHING), key=lambda row: row.form.value)
    for row in free:
        last = sum(row.form is not ModuleForm.LOWERED for row in rest)
        rest.insert(source.integer(0, last), row)
    done: list[str] = []
    for row in rest:
        done += [need for need in row.after if need not in done]
        done.append(row.name)
    return tuple(done)
