"""Control flow: loops and branches in the program."""

from __future__ import annotations

from generators.ops.base import Op

OPS: tuple[Op, ...] = ()
