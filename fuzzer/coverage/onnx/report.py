"""`fuzz ops --coverage --dialect onnx`: which versions of TVM's converters of ONNX are drawn, with which attributes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from fuzzer.coverage.onnx.features import Feature, Reached, reason_of, wanted, without_rows
from fuzzer.system.terminal import number_of
from generators.onnx.rows import OPS
from generators.op import Op

UNKNOWN = "no reason is known"


@dataclass(frozen=True, slots=True)
class Measured:
    """How many cases have each feature of some operators. `cases` says how many were drawn for each operator. `lacking`
    are converters of TVM without a row, where all operators were drawn."""

    times: dict[Feature, int]
    cases: Mapping[str, int]
    lacking: tuple[str, ...]

    def why_missed(self, feature: Feature) -> str:
        """Why a feature was not drawn. Where nobody has said so, chance is the reason: a row has each part."""
        by_chance = f"not drawn in {number_of(self.cases[feature.operator], 'case')}; a larger --count may draw it"
        return reason_of(feature) or by_chance


def measured(ops: Sequence[Op], count: int, seed: int) -> Measured:
    """Draw this many cases of each row."""
    reached = Reached()
    for op in ops:
        reached.draw(op, count, seed)
    times = {feature: reached.times[feature] for feature in sorted(wanted(ops))}
    return Measured(times, reached.cases, tuple(without_rows()) if len(ops) == len(OPS) else ())


def text(found: Measured) -> Iterator[str]:
    """A line for each converter, and one for each feature that was not drawn, with the reason."""
    met, operators = sum(map(bool, found.times.values())), dict.fromkeys(each.operator for each in found.times)
    converters = number_of(len(operators), "converter")
    yield f"{met} of {len(found.times)} features of {converters} of TVM are drawn"
    for operator in operators:
        own = {feature: times for feature, times in found.times.items() if feature.operator == operator}
        calls = (f"v{feature.version} {number_of(times, 'time')}" for feature, times in own.items() if not feature.part)
        yield f"{operator}: {', '.join(calls)}"
        missed = (feature for feature, times in own.items() if not times)
        yield from (f"  never: {feature}: {found.why_missed(feature)}" for feature in missed)
    yield from (f"{name}: no row: {reason_of(Feature(name, 0)) or UNKNOWN}" for name in found.lacking)


def document(found: Measured) -> dict[str, Any]:
    rows = [
        {
            "operator": feature.operator,
            "converter": feature.version,
            "part": feature.part,
            "cases": times,
            **({} if times else {"reason": found.why_missed(feature)}),
        }
        for feature, times in found.times.items()
    ]
    return {"features": rows, "no_row": {name: reason_of(Feature(name, 0)) for name in found.lacking}}
