"""How attributes are written: for rows whose source text is a function, and numbers that have no literal."""

from __future__ import annotations

from collections.abc import Mapping

from generators.graph import Attr, Attrs
from generators.ops.base import NUMBER, Kind


def more(attrs: Attrs, schema: Mapping[str, Kind], defaults: Attrs, *said: str) -> str:
    """What `{more}` stands for in a template: ", key=value" of all attributes but those that the text has `said`, and
    those at PyTorch's default."""
    told = [key for key in schema if key not in said and not (key in defaults and attrs[key] == defaults[key])]
    return "".join(f", {key}={schema[key].render(attrs[key])}" for key in told)


def _is_order(value: Attr) -> bool:
    return value == "inf" or (NUMBER.accepts(value) and isinstance(value, int | float) and value >= 0)


ORDER = Kind(
    "the order of a norm: a number that is not negative, or inf",
    _is_order,
    lambda value: 'float("inf")' if value == "inf" else repr(value),
)
"""Files hold no infinities: `inf` is a text there."""
