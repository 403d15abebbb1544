"""The lanes and the operators that globs on the command line select."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches
from fnmatch import fnmatchcase
from shlex import quote

from fuzzer.lanes import EVERY_LANE, select
from generators.dialect import dialect_named
from generators.dialect_names import DEFAULT, NAMES
from generators.graph import Invalid
from generators.op import Op
from oracles.lane import LaneSpec


def lanes_named(globs: str, dialect: str | None = None) -> tuple[LaneSpec, ...]:
    """The lanes with these names; with a dialect, those that run its cases. Raise `Invalid` where there are none."""
    chosen = select(globs, dialect)
    if not chosen:
        of_cases = f" of cases of {dialect}" if dialect else ""
        names = [lane.name for lane in EVERY_LANE if dialect in (None, lane.dialect)]
        alike = lanes_perhaps_meant(_patterns(globs), names)
        raise Invalid(f"no lane{of_cases} matches {globs!r}{alike}; `fuzz lanes` lists them")
    return chosen


def ops_named(globs: str, dialect: str = DEFAULT) -> tuple[Op, ...]:
    """The operators of one dialect with these names. Raise `Invalid` for several dialects, for one that is not known,
    and where there are no operators."""
    name = one_dialect(dialect)
    return ops_of_dialects(globs, name)[name]


def ops_with(part: str, operators: tuple[Op, ...], dialect: str) -> tuple[Op, ...]:
    """Those of the operators that have the part in their names, in any case. Raise `Invalid` where none has it."""
    found = tuple(op for op in operators if part.lower() in op.name.lower())
    if not found:
        raise Invalid(f"no operator of {dialect} has {part!r} in its name{_elsewhere(part, dialect)}")
    return found


def _elsewhere(part: str, dialect: str) -> str:
    """The command that lists the operators of another dialect with the part; otherwise names that are like it."""
    others = [name for name in NAMES if name != dialect]
    having = [name for name in others if any(part.lower() in op.name.lower() for op in dialect_named(name).drawn())]
    if having:
        return f"; `fuzz ops {quote(part)} --dialect {having[0]}` lists some"
    return f"{perhaps_meant([part], [op.name for op in dialect_named(dialect).drawn()])}; `fuzz ops` lists all"


def one_dialect(dialect: str) -> str:
    """The dialect of this name. Raise `Invalid` for several dialects, and for one that is not known."""
    name, *others = dialects_named(dialect)
    if others:
        raise Invalid(f"--dialect takes one dialect here: {' or '.join(NAMES)}")
    return name


def ops_of_dialects(globs: str, dialects: str) -> Mapping[str, tuple[Op, ...]]:
    """By dialect, the operators with these names; nothing of a dialect that is not named, or has none. Names have no
    version, or one: Conv, Conv-11. Raise `Invalid` for a dialect that is not known, or without operators."""
    named = dialects_named(dialects)
    rows = {name: dialect_named(name).drawn() for name in NAMES if name in named}
    chosen = {name: found for name, each in rows.items() if (found := _matching(each, globs))}
    if not chosen:
        command = "fuzz ops" if DEFAULT in named else f"fuzz ops --dialect {next(iter(rows))}"
        raise Invalid(f"{_none_matches(globs, [op for each in rows.values() for op in each])}; `{command}` lists them")
    return chosen


def dialects_named(dialects: str) -> list[str]:
    """The dialects of a list with commas. Raise `Invalid` for one that is not known."""
    named = [name.strip() for name in dialects.split(",")]
    for name in named:
        if name not in NAMES:
            raise Invalid(f"no dialect {name!r}; there are {' and '.join(NAMES)}")
    return named


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
    if not others:
        hint = perhaps_meant(_patterns(globs), names)
    return f"no operator matches {globs!r}{hint}"


def perhaps_meant(words: Iterable[str], names: Iterable[str]) -> str:
    """The names that are most like the first word; "" where none is."""
    known = list(dict.fromkeys(names))
    found = next((alike for word in words if (alike := get_close_matches(word, known, n=3, cutoff=0.75))), [])
    return _proposal(found) if found else ""


def lanes_perhaps_meant(words: Iterable[str], names: Iterable[str]) -> str:
    """The names that are most like the first word, or that have all its parts; "" where none is."""
    words, names = list(words), list(names)
    return perhaps_meant(words, names) or _with_all_parts(words, names)


def _with_all_parts(words: Iterable[str], names: Iterable[str]) -> str:
    """The shortest names that have all parts of a word: `relax-export-cuda` for `relax-cuda`; "" where none has."""
    known = sorted(dict.fromkeys(names), key=len)
    for word in words:
        if having := [name for name in known if set(word.split("-")) <= set(name.split("-"))]:
            return _proposal(having[:3])
    return ""


def _proposal(names: Sequence[str]) -> str:
    return f"; perhaps you mean {' or '.join(filter(None, (', '.join(names[:-1]), names[-1])))}"


def _in_other_case(glob: str, names: Iterable[str]) -> str:
    """The glob in the case of the first name that matches it in another case, or that name; "" where none does."""
    name = next((name for name in names if fnmatchcase(name.lower(), glob.lower())), None)
    if name is None:
        return ""
    literal = re.split(r"[*?\[]", glob)[0]
    glob = name[: len(literal)] + glob[len(literal) :]
    return glob if fnmatchcase(name, glob) else name
