"""The form that each text of a document must have: a pattern, or at least a largest length. A table gives it for each
field of the document's types, and a text in a field without an entry is refused."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterator, Mapping
from enum import Enum
from functools import cache
from typing import Any

import msgspec

MOST_ITEMS = 10_000
"""The most items of a list or of a dictionary."""


@dataclasses.dataclass(frozen=True, slots=True)
class TextForm:
    """`what` completes the sentence "this text ...". `keys` is the form of a dictionary's keys, where they differ."""

    pattern: re.Pattern[str]
    what: str
    most: int = 1000
    keys: TextForm | None = None

    def fits(self, text: str) -> bool:
        return len(text) <= self.most and self.pattern.fullmatch(text) is not None


def form(pattern: str, what: str, most: int = 1000) -> TextForm:
    return TextForm(re.compile(pattern, re.ASCII | re.DOTALL), what, most)


TEXT = form(r".*", "is too long", 1 << 20)
"""What a compiler says, as it said it. It may have any character: what shows it or writes it into a script escapes."""

LONG_TEXT = dataclasses.replace(TEXT, most=16 << 20)
"""TVMScript, and what a process printed."""

SHORT_TEXT = dataclasses.replace(TEXT, most=1000)

LINE = form(r"[^\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]*", "is too long, or has control characters")

Forms = Mapping[tuple[type, str], TextForm]
"""The form of each field with texts, by the type of the document and the name of the field."""


def faults(value: object, forms: Forms, place: str = "", of: TextForm | None = None) -> Iterator[str]:
    """Each text below a value that has not its form, as a sentence that begins with its place."""
    match value:
        case Enum() | bytes():
            return
        case str():
            if of is None or not of.fits(value):
                yield f"{place}: {value[:60]!r} {of.what if of else 'is not expected here'}"
        case dict() | list() | tuple() if len(value) > MOST_ITEMS:
            yield f"{place}: {len(value)} items are more than {MOST_ITEMS}"
        case dict():
            for key, item in value.items():
                yield from faults(key, forms, place, of and (of.keys or of))
                yield from faults(item, forms, place, of)
        case list() | tuple():
            for item in value:
                yield from faults(item, forms, place, of)
        case _:
            owner: Any = type(value)
            for name in fields_of(owner):
                where = f"{place}.{name}" if place else name
                yield from faults(getattr(value, name), forms, where, forms.get((owner, name)))


@cache
def fields_of(type: Any) -> tuple[str, ...]:
    """The names of the fields of a type of documents; () for any other type."""
    if dataclasses.is_dataclass(type):
        return tuple(each.name for each in dataclasses.fields(type))
    return type.__struct_fields__ if issubclass(type, msgspec.Struct) else ()
