"""The lanes and the operators that globs on the command line select."""

from __future__ import annotations

from fnmatch import fnmatchcase

from fuzzer.lanes import select
from generators.graph import Invalid
from generators.op import Op
from generators.torch.ops import OPS
from oracles.lane import LaneSpec


def lanes_named(globs: str) -> tuple[LaneSpec, ...]:
    chosen = select(globs)
    if not chosen:
        raise Invalid(f"no lane matches {globs!r}; `fuzz lanes` lists them")
    return chosen


def ops_named(globs: str) -> tuple[Op, ...]:
    patterns = [glob.strip() for glob in globs.split(",")]
    chosen = tuple(op for op in OPS if any(fnmatchcase(op.name, pattern) for pattern in patterns))
    if not chosen:
        raise Invalid(f"no operator matches {globs!r}; `fuzz ops` lists them")
    return chosen if len(chosen) < len(OPS) else OPS  # all of them: this very tuple also draws motifs
