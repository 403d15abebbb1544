"""The cases of a campaign around a model, after its pieces have run unchanged."""

from __future__ import annotations

from contextlib import suppress
from enum import Enum, auto

from fuzzer.campaign.plan.streams import Stream, choices
from fuzzer.seeds.around import Around
from fuzzer.triage.scope.open_sizes import opened
from generators.builder import Limits
from generators.choice import ChoiceSource
from generators.dialect import dialect_named
from generators.graph import Case, Invalid, Role
from generators.mutate import TYPES, mutate


class Kind(Enum):
    """How a case is made of the model."""

    VARIED = auto()  # a piece with other types
    COMBINED = auto()  # a new graph of the model's operators
    MUTATED = auto()  # a piece with a change of its graph, or a part of another piece


VARIED, COMBINED = 40, 30
"""Percentages of the tests; the rest is mutated. Each kind gets about a third, because each finds what the others miss:
other types reach other branches of the same converters and kernels, new graphs reach wirings that the model does not
have, and mutations stay closest to it. Varied pieces get a little more: they are what users of the model run next."""

OPEN_PERCENT = 20
"""The percentage of varied pieces in which one size is open."""

MOST_CHANGES = 3


def kind_of(seed: int, index: int) -> Kind:
    """The kind of a test's case. All candidates of a test have the same kind: guidance prefers small graphs, and would
    seldom choose a piece."""
    percent = choices(seed, index, Stream.KIND_AROUND).integer(1, 100)
    if percent <= VARIED:
        return Kind.VARIED
    return Kind.COMBINED if percent <= VARIED + COMBINED else Kind.MUTATED


def draw_around(source: ChoiceSource, around: Around, kind: Kind, limits: Limits, origin: str, dialect: str) -> Case:
    """Draw a case of this kind. It has operators of the model alone, and the guards that these need."""
    pieces = [case for case in around.pieces.values() if case.graph.dialect == dialect]
    piece, ops = source.choice(pieces), around.ops[dialect]
    if kind is Kind.VARIED:
        return _varied(source, piece, limits)
    if kind is Kind.COMBINED:
        with suppress(Invalid):  # none of the operators begins a graph
            return dialect_named(dialect).draw(source, limits, ops, origin, opset=piece.graph.opset).case()
    named = dialect_named(dialect)
    in_piece = [op for op in ops if named.row_at(op.name, piece.graph.opset) == op.name]
    return mutate(source, piece, limits, in_piece, donor=source.choice(pieces))


def _varied(source: ChoiceSource, piece: Case, limits: Limits) -> Case:
    case = piece
    for _ in range(source.integer(1, MOST_CHANGES)):
        case = mutate(source, case, limits, changes=TYPES)
    return (_with_an_open_size(source, case) if source.rarely(OPEN_PERCENT) else None) or case


def _with_an_open_size(source: ChoiceSource, case: Case) -> Case | None:
    """The case with one size open in all inputs that have it; None where the calls do not allow it."""
    items = [item for item in case.graph.inputs if item.role is Role.INPUT]
    sizes = sorted({size for item in items for size in item.value.type.sizes if size > 1})
    if not sizes or case.graph.symbols:
        return None
    size = source.choice(sizes)
    return opened(
        case,
        {(i.value.name, axis) for i in items for axis, each in enumerate(i.value.type.sizes) if each == size},
    )
