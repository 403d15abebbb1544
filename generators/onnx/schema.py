"""What onnx and onnxruntime say about operators: the file `schemas.json`, which `benchmarks/onnx_schemas.py` writes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import msgspec

from generators.graph import HALVES
from generators.types import DTYPE_NAMES, DType

FILE = Path(__file__).with_name("schemas.json")
MICROSOFT = "com.microsoft"
"""The domain of the operators that onnxruntime adds to ONNX's own."""
OLDEST = 7
"""The oldest opset that is drawn. TVM and onnxruntime take older ones for few operators only."""
FIRST_KNOWN = 1
"""The oldest opset of a case that was read from a file."""


@dataclass(frozen=True, slots=True)
class Parameter:
    """An input or output of an operator. `type` is a type variable or a dtype; for another type, the text of onnx."""

    name: str
    type: str
    optional: bool = False
    variadic: bool = False


@dataclass(frozen=True, slots=True)
class Attribute:
    """An attribute. `kind` is the name of its type in onnx, in small letters: int, floats, string, tensor."""

    kind: str
    default: Any = None
    required: bool = False


@dataclass(frozen=True, slots=True)
class Schema:
    """One version of an operator.

    since, last  the first and the last opset in which it is in force; `last` is None for the newest version
    types        the dtypes of each type variable
    kernels      the dtypes of each type variable that onnxruntime's kernels for CPUs take, where these are fewer
    runs         whether onnxruntime has a kernel for CPUs, or expands the operator as a function
    """

    domain: str
    name: str
    since: int
    last: int | None
    inputs: tuple[Parameter, ...]
    outputs: tuple[Parameter, ...]
    attributes: Mapping[str, Attribute]
    types: Mapping[str, tuple[DType, ...]]
    kernels: Mapping[str, tuple[DType, ...]]
    runs: bool = True
    _inputs: Mapping[str, Parameter] = field(init=False, repr=False, compare=False)
    _input_dtypes: Mapping[str, tuple[DType, ...]] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        # a case asks for these hundreds of times while it is drawn
        object.__setattr__(self, "_inputs", {each.name: each for each in self.inputs})
        object.__setattr__(self, "_input_dtypes", {each.name: self._dtypes_of(each.type) for each in self.inputs})

    @property
    def row(self) -> str:
        """The name of the version's row, such as Conv-11. No two domains have the same version of a name."""
        return f"{self.name}-{self.since}"

    def in_force(self, opset: int) -> bool:
        """Whether a model of this opset has this version. Operators of com.microsoft are in each."""
        return bool(self.domain) or (self.since <= opset and (self.last is None or opset <= self.last))

    def has_input(self, name: str) -> bool:
        return name in self._inputs

    def input(self, name: str) -> Parameter:
        return self._inputs[name]

    def dtypes(self, name: str) -> tuple[DType, ...]:
        """The dtypes that an input may have so that all readers can run it: those of onnxruntime's kernels, and half
        precision where there is a kernel for float32, because readers compute it in float32 where they have none."""
        return self._input_dtypes[name]

    def _dtypes_of(self, type: str) -> tuple[DType, ...]:
        if type in DTYPE_NAMES:
            return (DType(type),)
        allowed = self.types.get(type, ())
        taken = self.kernels.get(type, allowed)
        halves = HALVES if DType.FLOAT32 in taken else ()
        return tuple(dtype for dtype in allowed if dtype in taken or dtype in halves)


@cache
def _document() -> dict[str, Any]:
    found: dict[str, Any] = msgspec.json.decode(FILE.read_bytes())
    return found


def newest_opset() -> int:
    """The newest opset that both onnx and onnxruntime have. Cases are drawn up to it."""
    newest: int = _document()["newest"]
    return newest


def newest_known_opset() -> int:
    """The newest opset that onnx has. onnxruntime may not run it yet."""
    newest: int = _document()["known"]
    return newest


@cache
def helpers_dtypes(name: str, opset: int) -> frozenset[DType]:
    """The dtypes that Cast, Constant, Identity or If takes at an opset. Forms of other calls add such nodes."""
    versions: dict[str, list[str]] = _document()["helpers"][name]
    since = max(int(version) for version in versions if int(version) <= opset)
    return frozenset(map(DType, versions[str(since)]))


@cache
def schemas() -> Mapping[str, tuple[Schema, ...]]:
    """All versions of each operator: those of ONNX's own domain, the oldest first, then those of com.microsoft."""
    return {
        name: tuple(_schema(name, version) for version in versions)
        for name, versions in _document()["operators"].items()
    }


def _schema(name: str, version: Mapping[str, Any]) -> Schema:
    return Schema(
        version.get("domain", ""),
        name,
        version["since"],
        version.get("last"),
        tuple(map(_parameter, version["inputs"])),
        tuple(map(_parameter, version["outputs"])),
        {key: _attribute(value) for key, value in version.get("attributes", {}).items()},
        _dtypes(version["types"]),
        _dtypes(version.get("kernels", {})),
        not version.get("no_kernel", False),
    )


def _parameter(text: str) -> Parameter:
    name, _, type = text.partition(" ")
    return Parameter(name.rstrip("?*"), type, name.endswith("?"), name.endswith("*"))


def _attribute(value: str | list[Any]) -> Attribute:
    if isinstance(value, str):
        return Attribute(value.rstrip("!"), required=value.endswith("!"))
    kind, default = value
    return Attribute(kind, tuple(default) if isinstance(default, list) else default)


def _dtypes(types: Mapping[str, list[str]]) -> dict[str, tuple[DType, ...]]:
    return {name: tuple(map(DType, names)) for name, names in types.items()}
