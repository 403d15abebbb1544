"""`fuzz ops --coverage --dialect onnx`: which versions of TVM's converters of ONNX are drawn, with which attributes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from fuzzer.coverage.onnx_features import Feature, Reached, operator_of, reason_of, wanted, without_rows
from generators.onnx.rows import OPS
from generators.op import Op

UNKNOWN = "no reason is known"


@dataclass(frozen=True, slots=True)
class Measured:
    """How many cases have each feature of some operators. `lacking` are converters of TVM without a row, where all
    operators were drawn."""

    times: dict[Feature, int]
    lacking: tuple[str, ...]


def measured(ops: Sequence[Op], count: int, seed: int) -> Measured:
    """Draw so many cases of each row."""
    reached = Reached()
    for op in ops:
        reached.draw(op, count, seed)
    named = set(map(operator_of, ops))
    times = {feature: reached.times[feature] for feature in sorted(wanted()) if feature.operator in named}
    return Measured(times, tuple(without_rows()) if len(ops) == len(OPS) else ())


def text(found: Measured) -> Iterator[str]:
    """A line for each converter, and one for each feature that was not drawn, with the reason."""
    met, operators = sum(map(bool, found.times.values())), dict.fromkeys(each.operator for each in found.times)
    yield f"{met} of {len(found.times)} features of {len(operators)} converters of TVM are drawn"
    for operator in operators:
        own = {feature: times for feature, times in found.times.items() if feature.operator == operator}
        calls = (f"v{feature.version} {times} times" for feature, times in own.items() if not feature.part)
        yield f"{operator}: {', '.join(calls)}"
        missed = (feature for feature, times in own.items() if not times)
        yield from (f"  never: {feature}: {reason_of(feature) or UNKNOWN}" for feature in missed)
    yield from (f"{name}: no row: {reason_of(Feature(name, 0)) or UNKNOWN}" for name in found.lacking)


def document(found: Measured) -> dict[str, Any]:
    rows = [
        {
            "operator": feature.operator,
            "converter": feature.version,
            "part": feature.part,
            "cases": times,
            **({} if times else {"reason": reason_of(feature)}),
        }
        for feature, times in found.times.items()
    ]
    return {"features": rows, "no_row": {name: reason_of(Feature(name, 0)) for name in found.lacking}}
