"""The features of a test: names of what its case contains, what the compiler did, and how the lanes ended.

The index of a campaign counts all features. Guidance uses the features of the case alone. Names contain no sizes and no
values.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from fuzzer.signature import missing_features, signature_of
from generators.graph import Attr, DType, Form, Graph
from oracles.finding import Finding
from oracles.lane import Engine
from oracles.outcome import Died, Outcomes, Raised, TimedOut, Unsupported, facts_of


def features_of(outcomes: Outcomes, found: Sequence[Finding]) -> frozenset[str]:
    """The features of what the compiler did in each lane, and of how the lanes ended."""
    return frozenset((*_behaviour(outcomes), *_ends(outcomes), *_failures(found)))


def is_of_case(name: str) -> bool:
    """Whether a feature is one that `of_case` yields."""
    return name.startswith(("op ", "attr ", "form ", "symbolic "))


def is_of_compiler(name: str) -> bool:
    """Whether a feature is one that `features_of` yields. The others are of the case, or of what the lane chooser
    counts."""
    return not is_of_case(name) and not name.startswith(("compiled ", "imported "))


def of_case(graph: Graph) -> Iterator[str]:
    """The features of a graph: operators with dtype and rank, classes of attribute values, and forms of writing.

    Pairs of operators are no features. 400 operators have so many pairs that every test has new ones, and none would
    ever be rare."""
    types = graph.types
    for node in graph.nodes:
        if node.args:
            first = types[node.args[0]]
            yield f"op {node.op} {first.dtype} {len(first.shape)}"
        else:
            yield f"op {node.op} - -"
        for name, attr in node.attrs.items():
            yield f"attr {node.op} {name}={_coarse_class(attr)}"
        if node.form is Form.LOCAL:  # TVM reads no function, whatever it computes
            yield f"form {node.form}"
        elif node.form is not Form.PLAIN:
            yield f"form {node.op} {node.form}"
    if graph.symbols:
        yield from (f"symbolic {op}" for op in dict.fromkeys(graph.ops))


def _coarse_class(value: Attr) -> str:
    match value:
        case bool() | str() | None | DType():
            return str(value)
        case int():
            return str(value) if -2 <= value <= 2 else "many" if value > 0 else "-many"
        case float():
            return str(value) if value in (0.0, 1.0) else "positive" if value > 0 else "negative"
        case tuple():
            kinds = sorted({_coarse_class(item) for item in value})
            return f"({len(value)}: {' '.join(kinds[:4])})"
        case _:
            return type(value).__name__


def _behaviour(outcomes: Outcomes) -> Iterator[str]:
    for lane, outcome in outcomes.items():
        family = lane.importer if lane.engine is Engine.TVM else lane.engine
        for name in facts_of(outcome).behaviour:
            yield f"{family} {name}" if name.startswith("relax ") else name


def _ends(outcomes: Outcomes) -> Iterator[str]:
    for lane, outcome in outcomes.items():
        match outcome:
            case Raised(stage=stage) | Died(stage=stage) | TimedOut(stage=stage) if lane.engine is Engine.TVM:
                yield f"{lane.importer} {type(outcome).__name__} {stage}"
            case Unsupported():
                yield from (f"{lane.importer} lacks {name}" for name in missing_features(outcome))
            case _:
                pass


def _failures(found: Sequence[Finding]) -> Iterator[str]:
    for finding in found:
        yield f"failure {signature_of(finding).id}"
