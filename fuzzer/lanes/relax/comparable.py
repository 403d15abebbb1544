"""Modules in a form that TVM can compare."""

from __future__ import annotations

from typing import Any


def comparable(module: Any) -> Any:
    """Return the module without the compiled code that RunCodegen attaches: TVM raises `TypeError` where it is to
    compare or hash that. The calls of that code are in the module."""
    return module.without_attr("external_mods")
