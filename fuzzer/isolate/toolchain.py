"""A toolchain: a Python interpreter with its own torch and TVM, in which lanes run."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Toolchain:
    name: str
    python: str
    environment: Mapping[str, str] = field(default_factory=dict)


HOST = Toolchain("host", sys.executable)
TOOLCHAINS = (HOST,)
