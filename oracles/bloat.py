"""A compiled model holds its parameters about once, and an amount of code in proportion to its operators.

Measured on 137 random cases, each compiled as it is and after the `zero` pipeline (which folds constants): the library
took at most 83 KB of code per operator, and 207 KB in all. The case for which this oracle was written is
Linear(128, 512) on (1, 56, 56, 128), with 0.26 MB of weights: Relay's from_pytorch gives a library of 14.7 MB, the
import of the ONNX file one of 0.32 MB.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from statistics import median

from generators.graph import Case, TensorType
from oracles.finding import OTHER_LANES, Component, Excess, Finding, Kind, Quantity
from oracles.lane import Engine, LaneSpec
from oracles.outcome import Facts, Outcomes, Stage, facts_of

PARAMETERS = "the parameters"
TIMES_WEIGHTS = 2.0
CONSTANT_BYTES = 64 << 10
CODE_BYTES, CODE_BYTES_PER_OPERATOR = 256 << 10, 64 << 10
TIMES_OTHERS, MEMORY_BYTES = 4.0, 512 << 20


def bloat(case: Case, outcomes: Outcomes) -> Iterator[Finding]:
    facts = {lane: facts_of(out) for lane, out in outcomes.items() if lane.engine is Engine.TVM}
    foldable = _foldable_bytes(case)
    for lane, own in facts.items():
        other_peaks = [fact.peak_bytes for other, fact in facts.items() if other != lane and fact.peak_bytes]
        libraries = _other_libraries(lane, facts)
        weights = TIMES_WEIGHTS * own.parameter_bytes + foldable
        code = CODE_BYTES + CODE_BYTES_PER_OPERATOR * len(case.graph.nodes)
        for excess in (
            Excess(Quantity.CONSTANTS, own.constant_bytes, weights + CONSTANT_BYTES, PARAMETERS),
            Excess(Quantity.LIBRARY, own.built_bytes, weights + code, PARAMETERS),
            *([_library(own, min(libraries), foldable)] if libraries else []),
            *([_memory(own, other_peaks)] if other_peaks else []),
        ):
            if excess.measured > excess.allowed:
                stage = Stage.TRANSFORM if excess.quantity is Quantity.CONSTANTS else Stage.COMPILE
                yield Finding(Kind.BLOAT, Component.TVM, lane, stage, excess)
                break


def _other_libraries(lane: LaneSpec, facts: Mapping[LaneSpec, Facts]) -> list[int]:
    """Sizes, in bytes, of the libraries that other lanes wrote for the same target in the same toolchain."""
    return [
        theirs.built_bytes
        for other, theirs in facts.items()
        if other != lane and (other.toolchain, other.target) == (lane.toolchain, lane.target) and theirs.built_bytes
    ]


def _library(own: Facts, smallest: int, foldable: int) -> Excess:
    """Compare a library with the smallest of the others.

    The smallest shows what the model needs: less than its parameters, where the model does not use all of them.
    """
    return Excess(Quantity.LIBRARY, own.built_bytes, TIMES_WEIGHTS * smallest + foldable + CODE_BYTES, OTHER_LANES)


def _memory(own: Facts, others: list[int]) -> Excess:
    return Excess(Quantity.MEMORY, own.peak_bytes, TIMES_OTHERS * median(others) + MEMORY_BYTES, OTHER_LANES)


def _foldable_bytes(case: Case) -> int:
    """Bytes of the values that depend on no input: a compiler may compute them at compile time."""
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
