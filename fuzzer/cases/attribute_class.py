"""Classes of the values of attributes. A compiler is likely to treat values of one class alike."""

from __future__ import annotations

from generators.graph import Attr


def class_of(value: Attr) -> str:
    match value:
        case bool() | None | str():
            return repr(value)
        case int() | float():
            sign = "zero" if value == 0 else "one" if value == 1 else "negative" if value < 0 else "positive"
            return f"{type(value).__name__} {sign}"
        case tuple():
            return f"list of {len(value)}, {'equal' if len(set(value)) < 2 else 'different'}"
