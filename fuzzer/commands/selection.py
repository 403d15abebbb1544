"""The lanes and the operators that globs on the command line select."""

from __future__ import annotations

import re
from collections.abc import Iterable
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
        raise Invalid(f"{_none_matches(globs, OPS)}; `fuzz ops` lists them")
    return chosen


def ops_of_dialects(globs: str, dialects: str) -> tuple[tuple[Op, ...], tuple[Op, ...]]:
    """The operators of PyTorch and those of ONNX with these names; none of a dialect that is not named. The names of
    ONNX have no version, or one: Conv, Conv-11. Raise `Invalid` for a dialect that is not known, or without operators.
    """
    named = dialects_named(dialects)
    torch = _matching(OPS, globs) if "torch" in named else ()
    onnx = _matching(rows_of_onnx(), globs) if "onnx" in named else ()
    if not torch and not onnx:
        rows = (*(OPS if "torch" in named else ()), *(rows_of_onnx() if "onnx" in named else ()))
        command = "fuzz ops" if "torch" in named else "fuzz ops --dialect onnx"
        raise Invalid(f"{_none_matches(globs, rows)}; `{command}` lists them")
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
    patterns = _patterns(globs)
    chosen = tuple(op for op in rows if any(fnmatchcase(name, each) for each in patterns for name in _names(op)))
    return chosen if len(chosen) < len(rows) else rows  # all of them: this very tuple also draws motifs


def _patterns(globs: str) -> list[str]:
    return [glob.strip() for glob in globs.split(",")]


def _names(op: Op) -> tuple[str, str]:
    """The name of a row without its version, and with it."""
    return op.name.partition("-")[0], op.name


def _none_matches(globs: str, rows: Iterable[Op]) -> str:
    """The sentence about globs that match no row. It proposes what differs from them in case alone."""
    names = [name for op in rows for name in _names(op)]
    others = [other for glob in _patterns(globs) if (other := _in_other_case(glob, names))]
    hint = f": names are case-sensitive, and {','.join(others)!r} matches" if others else ""
    return f"no operator matches {globs!r}{hint}"


def _in_other_case(glob: str, names: Iterable[str]) -> str:
    """The glob in the case of the first name that matches it in another case, or that name; "" where none does."""
    name = next((name for name in names if fnmatchcase(name.lower(), glob.lower())), None)
    if name is None:
        return ""
    literal = re.split(r"[*?\[]", glob)[0]
    glob = name[: len(literal)] + glob[len(literal) :]
    return glob if fnmatchcase(name, glob) else name
