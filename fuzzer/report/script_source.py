"""Python source that goes into generated scripts. It is made here alone, of constants of difftvm, literals and checked
names: nothing that a finding says can become code.

The templates of scripts take nothing else than `Source` and whole numbers (`only_source`).
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from enum import Enum

_NAME = re.compile(r"[A-Za-z_][A-Za-z_0-9]*(\.[A-Za-z_][A-Za-z_0-9]*)*")


class Source(str):
    """Python source. Only this module makes it, which `tests/fuzzer/report/test_script_source.py` checks."""

    __slots__ = ()


NOTHING = Source("")


def source(template: str, *parts: Source | int) -> Source:
    """Put parts into a template, as `str.format` does. The template is a constant where this is called."""
    for part in parts:
        only_source(part)
    return Source(template.format(*parts))


def own_text(text: str) -> Source:
    """Source from a table of difftvm, or from `generators.torch.source.render`."""
    return Source(text)


def only_source(value: object) -> object:
    """Return the value. Raise `TypeError` unless it is source or a whole number."""
    if isinstance(value, Source) or (isinstance(value, int) and not isinstance(value, Enum)):
        return value
    raise TypeError(f"{type(value).__name__} in a script is neither source nor a whole number: {value!r:.60}")


def name(text: str) -> Source:
    """A name, perhaps with dots. Raise `ValueError` where it is none: who reads a finding refuses it before."""
    if not _NAME.fullmatch(text):
        raise ValueError(f"{text[:60]!r} is no name")
    return Source(text)


def quoted(text: str) -> Source:
    """The literal of a string, in ASCII; in double quotes, or in single quotes if these need fewer escapes."""
    body = ascii('"' + text)[2:-1]  # the quote at the front makes Python choose single quotes
    if text.count('"') > text.count("'"):
        return Source(f"'{body}'")
    double = body.replace("\\'", "'").replace('"', '\\"')
    return Source(f'"{double}"')


def literal_of(value: object) -> Source:
    """The expression of a value: its literal, with strings as `quoted` writes them, or `float("inf")` and the like."""
    match value:
        case str():
            return quoted(str(value))
        case None | bool() | int():
            return Source(repr(value))
        case float():
            return Source(repr(value)) if math.isfinite(value) else source("float({})", quoted(str(value)))
        case list():
            return listed(map(literal_of, value))
        case tuple():
            return tuple_of(list(map(literal_of, value)))
        case Mapping():
            items = [source("{}: {}", literal_of(key), literal_of(item)) for key, item in value.items()]
            return source("{{{}}}", joined(", ", items))
        case _:
            raise TypeError(f"{type(value).__name__} has no literal")


def short_number(value: float, digits: int) -> Source:
    """A number with this many significant digits."""
    return Source(f"{value:.{digits}g}") if math.isfinite(value) else literal_of(value)


def joined(separator: str, parts: Iterable[Source]) -> Source:
    """The parts with a constant between them."""
    made = list(parts)
    for part in made:
        only_source(part)
    return Source(separator.join(made))


def listed(items: Iterable[Source]) -> Source:
    return source("[{}]", joined(", ", items))


def tuple_of(items: list[Source]) -> Source:
    return source("({},)", items[0]) if len(items) == 1 else source("({})", joined(", ", items))
