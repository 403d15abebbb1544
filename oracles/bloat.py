"""A compiled model holds its parameters about once, and code in proportion to its operators.

Measured on 137 random cases, each compiled as it is and after the `zero` pipeline (which folds constants): the library
took at most 83 KB of code per operator, and 207 KB in all.
The founding case, Linear(128, 512) on (1, 56, 56, 128) through Relay's from_pytorch, gives 14.7 MB for 0.26 MB of
weights; through ONNX 0.32 MB.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from statistics import median

from generators.graph import Case, TensorType
from oracles.finding import Component, Excess, Finding, Kind, Quantity
from oracles.lane import Engine, LaneSpec
from oracles.outcome import Facts, Outcomes, Stage, facts_of

PARAMETERS, SIBLINGS = "the parameters", "the other lanes"
TIMES_WEIGHTS = 2.0
CONSTANT_BYTES = 64 << 10
CODE_BYTES, CODE_BYTES_PER_OPERATOR = 256 << 10, 64 << 10
TIMES_SIBLINGS, MEMORY_BYTES = 4.0, 512 << 20


def bloat(case: Case, outcomes: Outcomes) -> Iterator[Finding]:
    facts = {lane: facts_of(out) for lane, out in outcomes.items() if lane.engine is Engine.TVM}
    foldable = _foldable_bytes(case)
    for lane, seen in facts.items():
        others = [fact.peak_bytes for other, fact in facts.items() if other != lane and fact.peak_bytes]
        libraries = _libraries_beside(lane, facts)
        weights = TIMES_WEIGHTS * seen.parameter_bytes + foldable
        code = CODE_BYTES + CODE_BYTES_PER_OPERATOR * len(case.graph.nodes)
        for excess in (
            Excess(Quantity.CONSTANTS, seen.constant_bytes, weights + CONSTANT_BYTES, PARAMETERS),
            Excess(Quantity.LIBRARY, seen.built_bytes, weights + code, PARAMETERS),
            *([_library(seen, min(libraries), foldable)] if libraries else []),
            *([_memory(seen, others)] if others else []),
        ):
            if excess.measured > excess.allowed:
                stage = Stage.TRANSFORM if excess.quantity is Quantity.CONSTANTS else Stage.COMPILE
                yield Finding(Kind.BLOAT, Component.TVM, lane, stage, excess)
                break


def _libraries_beside(lane: LaneSpec, facts: Mapping[LaneSpec, Facts]) -> list[int]:
    """What other lanes wrote for the same machine in the same toolchain: whatever their importer, of the same model."""
    return [
        seen.built_bytes
        for other, seen in facts.items()
        if other != lane and (other.toolchain, other.target) == (lane.toolchain, lane.target) and seen.built_bytes
    ]


def _library(seen: Facts, smallest: int, foldable: int) -> Excess:
    """The smallest of them proves what the model needs: less than the parameters, where some are not used."""
    return Excess(Quantity.LIBRARY, seen.built_bytes, TIMES_WEIGHTS * smallest + foldable + CODE_BYTES, SIBLINGS)


def _memory(seen: Facts, others: list[int]) -> Excess:
    return Excess(Quantity.MEMORY, seen.peak_bytes, TIMES_SIBLINGS * median(others) + MEMORY_BYTES, SIBLINGS)


def _foldable_bytes(case: Case) -> int:
    """Of the values that depend on no input: a compiler may compute them beforehand."""
    graph = case.bound
    fixed = {item.value.name for item in graph.inputs if item.role.is_owned}
    total = 0
    for node in graph.nodes:
        if fixed.issuperset(node.args):
            fixed.update(value.name for value in node.results)
            total += sum(_bytes(value.type) for value in node.results)
    return total


def _bytes(type: TensorType) -> int:
    return type.numel * type.dtype.numpy.itemsize
