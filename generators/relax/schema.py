"""What TVM's registry says about its operators: the file `schemas.json`, which `benchmarks/relax_schemas.py` writes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import msgspec

FILE = Path(__file__).with_name("schemas.json")

PREFIX = "relax."
"""Names of rows begin with it, as those of TVM's registry do."""


@dataclass(frozen=True, slots=True)
class Schema:
    """An operator of TVM's registry.

    name        without `relax.`
    function    the function that makes a call of it, in `R` of a script
    arguments   its arguments, each with its kind in words of the registry
    parameters  those of the function, in order
    defaults    of parameters that have one
    legalized   whether TVM has a legalization of it
    """

    name: str
    function: str
    arguments: tuple[tuple[str, str], ...]
    parameters: tuple[str, ...]
    defaults: Mapping[str, Any]
    legalized: bool


@cache
def schemas() -> Mapping[str, Schema]:
    """The operators by their names."""
    read = msgspec.json.decode(FILE.read_bytes())
    return {name: _schema(name, entry) for name, entry in read.items()}


def _schema(name: str, entry: Mapping[str, Any]) -> Schema:
    defaults = {each[0]: _plain(each[1]) for each in entry["parameters"] if len(each) > 1}
    return Schema(
        name,
        entry["function"],
        tuple((each[0], each[1]) for each in entry["arguments"]),
        tuple(each[0] for each in entry["parameters"]),
        defaults,
        entry["legalized"],
    )


def _plain(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value
