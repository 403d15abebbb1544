"""Attributes of rows whose source text is a function, and orders of norms."""

from __future__ import annotations

from collections.abc import Mapping

from generators.graph import Attrs
from generators.op import AttrKind, require


def more(attrs: Attrs, schema: Mapping[str, AttrKind], defaults: Attrs, *written: str) -> str:
    """The text of `{more}` in a template: ", key=value" of all attributes, except those that are already `written` and
    those at PyTorch's default."""
    keys = [key for key in schema if key not in written and not (key in defaults and attrs[key] == defaults[key])]
    return "".join(f", {key}={schema[key].render(attrs[key])}" for key in keys)


def order_of(attrs: Attrs) -> float:
    """The order `p` of a norm. With a negative one, PyTorch would divide by zeros."""
    order = attrs["p"]
    assert isinstance(order, int | float | str)
    require(float(order) >= 0, "p must not be negative")
    return float(order)
