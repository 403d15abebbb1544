"""The operator table: one row per operator, by family. `OPS` is what is drawn, `TABLE` finds one by name."""

from generators.ops import (
    activation,
    attention,
    binary,
    control,
    conv,
    creation,
    elementwise,
    guard,
    index,
    join,
    linalg,
    loss,
    norm,
    pad,
    pool,
    recurrent,
    reduction,
    scatter,
    shape,
    sort,
    vision,
)
from generators.ops.base import Op
from generators.ops.sample import SAMPLE

OPS: tuple[Op, ...] = (
    *guard.OPS,
    *elementwise.OPS,
    *binary.OPS,
    *activation.OPS,
    *shape.OPS,
    *join.OPS,
    *index.OPS,
    *scatter.OPS,
    *creation.OPS,
    *pad.OPS,
    *reduction.OPS,
    *sort.OPS,
    *linalg.OPS,
    *attention.OPS,
    *conv.OPS,
    *pool.OPS,
    *norm.OPS,
    *vision.OPS,
    *loss.OPS,
    *recurrent.OPS,
    *control.OPS,
)

TABLE: dict[str, Op] = {op.name: op for op in (*OPS, SAMPLE)}
assert len(TABLE) == len(OPS) + 1, f"two rows share a name: {sorted(op.name for op in OPS if TABLE[op.name] is not op)}"

__all__ = ["OPS", "TABLE", "Op"]
