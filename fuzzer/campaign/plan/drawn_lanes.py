"""Lanes that are drawn for one case: single passes, pairs, repeated passes, long sequences, other ways to compile.

Every drawn lane is legal, so that its failure is TVM's fault. Passes that look for operators come before those that
look for kernels. Passes that lower come last, and their lane has a pipeline that accepts lowered modules. The passes
that a pass requires come before it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache

from generators.choice import ChoiceSource
from generators.graph import Case
from generators.table import TABLE
from oracles.importers import Importer, drawn_importers, plain_importer
from oracles.lane import Engine, Execution, LaneSpec, Params, Pipeline
from oracles.transforms import TRANSFORMS, ModuleForm, Transform, transform_named

DISABLED: tuple[tuple[str, ...], ...] = (
    ("StaticPlanBlockMemory",),
    ("FuseOps", "FuseTIR"),
    ("FoldConstant",),
    ("RewriteDataflowReshape",),
)
"""Passes of the pipelines that a lane may disable. Those of one tuple are disabled together."""

OPTIONS = (
    "tirx.disable_vectorize",
    "tirx.disable_storage_rewrite",
    "tirx.disable_cse_tir",
    "tirx.instrument_bound_checkers",
    "tirx.noalias",
)
"""Options of PassContext that change the generated code and must not change the results."""

TORCH_IMPORTER = plain_importer("torch")
"""The importer of drawn lanes with open sizes and of a user's configurations, which only cases of PyTorch have."""

_MORE_LIKELY = 4
"""How much more likely a pass is drawn that acts on operators of the case."""


_BY_PASS = tuple(
    tuple(row for row in TRANSFORMS if row.pass_name == name)
    for name in dict.fromkeys(row.pass_name for row in TRANSFORMS)
)


def drawn(
    source: ChoiceSource,
    case: Case,
    importers: Sequence[Importer] = drawn_importers("torch"),
    wanted: Transform | None = None,
) -> LaneSpec:
    """Draw a lane for a case. The importer is one of `importers`, mostly the first. The lane without its passes and
    options is one of the lanes that have a name. It has the pass `wanted`, where that is given: then all importers are
    equally likely, because each writes a pattern in its own way."""
    passes = _sequence(source, case, wanted)
    lowered = any(transform_named(name).form is ModuleForm.LOWERED for name in passes)
    importer = source.choice(importers) if wanted or source.rarely(25) else importers[0]
    lane = LaneSpec(
        f"relax-{importer}-drawn",
        Engine.TVM,
        importer,
        "relax",
        passes=passes,
        target="llvm-O0" if source.chance(80) else "llvm",  # bugs of passes show at each optimisation level of LLVM
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
        # at level 0, LiftTransformParams does not make the function that lifted parameters are passed to
        lane = replace(lane, opt_level=source.choice((1, 3, 4) if lane.params.is_lifted else (0, 1, 3, 4)))
    if source.rarely(10):
        lane = replace(lane, executor=Execution.COMPILED)
    if source.rarely(5):
        lane = replace(lane, as_library=True)
    return lane


def with_open_sizes(source: ChoiceSource, wanted: Transform) -> LaneSpec:
    """Draw a lane that keeps the symbolic sizes of its case open, with the pass `wanted` and those that it requires."""
    importer = TORCH_IMPORTER
    return LaneSpec(
        f"relax-{importer}-drawn",
        Engine.TVM,
        importer,
        "relax",
        passes=ordered(source, [wanted]),
        target="llvm-O0" if source.chance(80) else "llvm",
        asserts=False,
        checked=True,
        symbolic=True,
    )


def _protocols(passes: Sequence[str]) -> list[Params]:
    """The ways to pass parameters that are legal with these passes. LIFTED_CONSUMING is left out where a pass sorts
    topologically: the call that frees a parameter is marked as pure (TVM 0.27), and sorting moves it to the front."""
    sorts = any(name.startswith("TopologicalSort") for name in passes)
    return [how for how in Params if how is not Params.BOUND and not (sorts and how is Params.LIFTED_CONSUMING)]


def _sequence(source: ChoiceSource, case: Case, wanted: Transform | None) -> tuple[str, ...]:
    """Draw passes; return their row names in a legal order. Rows of one pass (MetaSchedule-0, MetaSchedule-1, ...)
    count as one."""
    chances = _chances(case.graph.rows)

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
    return ordered(source, chosen if wanted is None else [wanted, *chosen[1:]])


@lru_cache(16)
def _chances(ops: frozenset[str]) -> tuple[tuple[Transform, ...], ...]:
    """The rows of each pass, more often where they act on one of the operators. All lanes of a case are drawn from
    these."""
    given = [TABLE[name] for name in ops]
    return tuple(rows for rows in _BY_PASS for _ in range(_MORE_LIKELY if any(map(rows[0].rewrites, given)) else 1))


def ordered(source: ChoiceSource, rows: Sequence[Transform]) -> tuple[str, ...]:
    """Sort passes into a legal order, with the passes that each requires before it. A pass that accepts every form of
    module stands at a drawn place before the passes that lower."""
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
