"""`fuzz ops --coverage --dialect relax`: each operator of TVM has a row, or a reason why it has none."""

from __future__ import annotations

from fuzzer.coverage.relax.shown import WHY
from generators.relax.ops import OPS
from generators.relax.row import RelaxForm
from generators.relax.schema import schemas


def test_each_operator_has_a_row_or_a_reason() -> None:
    own = {row.source.schema.name for row in OPS if isinstance(row.source, RelaxForm)}
    assert own.isdisjoint(WHY)
    assert own | set(WHY) == set(schemas())
