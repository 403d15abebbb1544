"""The lanes and the operators that globs on the command line select."""

from __future__ import annotations

from fnmatch import fnmatchcase

from fuzzer.lanes import select
from generators.graph import Invalid
from generators.op import Op
from generators.table import DIALECTS
from generators.torch.ops import OPS
from oracles.lane import LaneSpec


def lanes_named(globs: str, dialect: str | None = None) -> tuple[LaneSpec, ...]:
    """The lanes with these names; with a dialect, those that run its cases. Raise `Invalid` where there are none."""
    chosen = select(globs, dialect)
    if not chosen:
        of_cases = f" of cases of {dialect}" if dialect else ""
        raise Invalid(f"no lane{of_cases} matches {globs!r}; `fuzz lanes` lists them")
    return chosen


def ops_named(globs: str) -> tuple[Op, ...]:
    """The operators of PyTorch with these names. Raise `Invalid` where there are none."""
    chosen = _matching(OPS, globs)
    if not chosen:
        raise Invalid(f"no operator matches {globs!r}; `fuzz ops` lists them")
    return chosen


def ops_of_dialects(globs: str, dialects: str) -> tuple[tuple[Op, ...], tuple[Op, ...]]:
    """The operators of PyTorch and those of ONNX with these names; none of a dialect that is not named. The names of
    ONNX have no version, or one: Conv, Conv-11. Raise `Invalid` for a dialect that is not known, or without operators.
    """
    named = dialects_named(dialects)
    torch = _matching(OPS, globs) if "torch" in named else ()
    onnx = _matching(rows_of_onnx(), globs) if "onnx" in named else ()
    if not torch and not onnx:
        raise Invalid(f"no operator matches {globs!r}; `fuzz ops` lists them")
    return torch, onnx


def dialects_named(dialects: str) -> list[str]:
    """The dialects of a list with commas. Raise `Invalid` for one that is not known."""
    named = [name.strip() for name in dialects.split(",")]
    for name in named:
        if name not in DIALECTS:
            raise Invalid(f"no dialect {name!r}; there are {' and '.join(DIALECTS)}")
    return named


def rows_of_onnx() -> tuple[Op, ...]:
    from generators.onnx.rows import OPS as ROWS  # reads the schemas, which torch alone does not need

    return ROWS


def _matching(rows: tuple[Op, ...], globs: str) -> tuple[Op, ...]:
    patterns = [glob.strip() for glob in globs.split(",")]
    chosen = tuple(
        op
        for op in rows
        if any(fnmatchcase(name, pattern) for pattern in patterns for name in (op.name, op.name.partition("-")[0]))
    )
    return chosen if len(chosen) < len(rows) else rows  # all of them: this very tuple also draws motifs
