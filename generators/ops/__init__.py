"""The operator table: one row per operator, by family. `OPS` is all of them, `TABLE` finds one by name."""

from generators.ops import conv, elementwise, linalg, norm, pad, pool, reduction, shape
from generators.ops.base import Op

OPS: tuple[Op, ...] = (
    *elementwise.OPS,
    *shape.OPS,
    *pad.OPS,
    *linalg.OPS,
    *conv.OPS,
    *pool.OPS,
    *norm.OPS,
    *reduction.OPS,
)

TABLE: dict[str, Op] = {op.name: op for op in OPS}
assert len(TABLE) == len(OPS), "two rows share a name"

__all__ = ["OPS", "TABLE", "Op"]
