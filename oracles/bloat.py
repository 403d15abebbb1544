"""A compiled model holds its parameters about once, and an amount of code in proportion to its kernels.

Measured on random cases (`benchmarks/compile_work.py`): the constants of a module after all passes were never larger
than those of the imported module, or of it legalized, together with what depends on these alone. The imported module
had at most 2.7 kB of constants that the graph does not need: indices, scalars. The indices of large tensors are larger:
a write through an index may need one number for each dimension and element, and so does what depends on a shape alone,
such as `ones_like`. Other operators whose operands depend on a weight get no such allowance. A library without kernels
takes 15 kB, and each kernel 1 kB in the median. What another pipeline made of the same import had at most 2.8 times as
much code as what the default pipeline made, so that a factor of four shows. Without such a lane, only a library with
64 kB for each kernel is found.

The case for which this oracle was written is Linear(128, 512) on (1, 56, 56, 128), with 0.26 MB of weights: Relay's
from_pytorch gives a library of 14.7 MB, the import of the ONNX file one of 0.32 MB.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from statistics import median

from generators.dialect import dialect_named
from generators.graph import Case, DType, Node, TensorType
from oracles.finding import OTHER_LANES, Component, Excess, Finding, Kind, Quantity
from oracles.lane import Engine, LaneSpec
from oracles.outcome import Facts, Outcomes, Stage, facts_of
from oracles.targets import target_named

PARAMETERS, IMPORTED = "the parameters", "the imported module"
TIMES_WEIGHTS = 2.0
CONSTANT_BYTES, CONSTANT_BYTES_OF_MODULE = 8 << 10, 64
INDEX_BYTES = 8
_OPERAND = re.compile(r"\{(\d+)\}")
"""An operand in the attribute `index`: `{1}` in `x0[:, x1]`."""

EMPTY_LIBRARY, CODE_BYTES_PER_KERNEL = 20 << 10, 64 << 10
CODE_BYTES_OF_RELAY, CODE_BYTES_PER_OPERATOR = 256 << 10, 64 << 10
"""difftvm does not count the kernels of Relay. Libraries that a C compiler makes may be as large."""

TIMES_CODE, CODE_BYTES = 3.2, 8 << 10
TIMES_OTHERS, MEMORY_BYTES = 4.0, 512 << 20


def bloat(case: Case, outcomes: Outcomes) -> Iterator[Finding]:
    facts = {lane: facts_of(out) for lane, out in outcomes.items() if lane.engine is Engine.TVM}
    stored = foldable_bytes(case) + index_bytes(case)
    for lane, own in facts.items():
        other_peaks = [fact.peak_bytes for other, fact in facts.items() if other != lane and fact.peak_bytes]
        libraries = _other_libraries(lane, facts)
        needed = TIMES_WEIGHTS * own.parameter_bytes + stored
        for excess in (
            Excess(Quantity.CONSTANTS, own.constant_bytes, needed + CONSTANT_BYTES, PARAMETERS),
            *([] if own.needed_bytes is None else [_constants(own, own.needed_bytes)]),
            Excess(Quantity.LIBRARY, own.built_bytes, needed + _code(lane, own, len(case.graph.nodes)), PARAMETERS),
            *([_library(own, libraries)] if libraries else []),
            *([_memory(own, other_peaks)] if other_peaks else []),
        ):
            if excess.measured > excess.allowed:
                stage = Stage.TRANSFORM if excess.quantity is Quantity.CONSTANTS else Stage.COMPILE
                yield Finding(Kind.BLOAT, Component.TVM, lane, stage, excess)
                break


def _constants(own: Facts, needed: int) -> Excess:
    allowed = TIMES_WEIGHTS * needed + CONSTANT_BYTES_OF_MODULE
    return Excess(Quantity.CONSTANTS, own.constant_bytes, allowed, IMPORTED)


def _code(lane: LaneSpec, own: Facts, operators: int) -> int:
    """Return the bytes of code that a library may have, whatever the other lanes have. What a C compiler or a sanitizer
    adds is not known."""
    if not own.passes or target_named(lane.target).compilers:
        return CODE_BYTES_OF_RELAY + CODE_BYTES_PER_OPERATOR * max(own.kernels, operators)
    return EMPTY_LIBRARY + CODE_BYTES_PER_KERNEL * max(own.kernels, operators)


def _other_libraries(lane: LaneSpec, facts: Mapping[LaneSpec, Facts]) -> list[Facts]:
    """Return the facts of other libraries with the same code generator, from the same import."""

    def kind(lane: LaneSpec) -> tuple[object, ...]:
        return lane.toolchain, lane.target, lane.importer, lane.opt_level, lane.asserts, lane.executor

    return [
        theirs for other, theirs in facts.items() if other != lane and kind(other) == kind(lane) and theirs.built_bytes
    ]


def _library(own: Facts, others: list[Facts]) -> Excess:
    """Compare the code of a library with the smallest of the others. Constants are in the library too."""
    smallest = min(max(0, theirs.built_bytes - theirs.constant_bytes - EMPTY_LIBRARY) for theirs in others)
    allowed = EMPTY_LIBRARY + own.constant_bytes + TIMES_CODE * smallest + CODE_BYTES
    return Excess(Quantity.LIBRARY, own.built_bytes, allowed, OTHER_LANES)


def _memory(own: Facts, others: list[int]) -> Excess:
    return Excess(Quantity.MEMORY, own.peak_bytes, TIMES_OTHERS * median(others) + MEMORY_BYTES, OTHER_LANES)


def foldable_bytes(case: Case) -> int:
    """Bytes of the values that depend on no input: a compiler may compute them at compile time."""
    graph = case.bound
    fixed = {item.value.name for item in graph.inputs if item.role.is_owned}
    total = 0
    for node in graph.nodes:
        if fixed.issuperset(node.args):
            fixed.update(value.name for value in node.results)
            total += sum(_bytes(value.type) for value in node.results)
    return total


def index_bytes(case: Case) -> int:
    """Bytes of an index for each dimension and element of the largest tensor of each operator that writes through an
    index, or whose operands depend on no weight. A write through a tensor of indices may write each element as often as
    this has elements: `x[:, i]`, where `i` has four and the dimension one."""
    graph = case.bound
    weighted = {item.value.name for item in graph.inputs if item.role.is_owned}
    writes = dialect_named(graph.dialect).indexed_writes()
    total = 0
    for node in graph.nodes:
        if node.op in writes or weighted.isdisjoint(node.args):
            types = (*graph.arg_types(node), *(value.type for value in node.results))
            largest = max(max(type.rank, 1) * type.numel for type in types)
            total += largest * _most_writes(node, graph.arg_types(node)) * INDEX_BYTES
        if not weighted.isdisjoint(node.args):
            weighted.update(value.name for value in node.results)
    return total


def _most_writes(node: Node, operands: Sequence[TensorType]) -> int:
    """How often a node may write one element: the elements of its largest tensor of indices, or once."""
    parts = node.attrs.get("index")
    places = [_OPERAND.fullmatch(str(part)) for part in parts] if isinstance(parts, tuple) else []
    indices = [operands[int(found[1])] for found in places if found]
    return max([1, *(type.numel for type in indices if type.dtype is not DType.BOOL)])


def _bytes(type: TensorType) -> int:
    return type.numel * type.dtype.numpy.itemsize
