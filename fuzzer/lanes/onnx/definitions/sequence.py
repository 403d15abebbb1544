"""Sequences and optional tensors. onnx 1.23 inserts before the last tensor where it should after it, and has optional
tensors as lists of one tensor, so that their contents have another rank."""

from __future__ import annotations

from typing import Any

import numpy as np
from onnx.reference.op_run import OpRun

from generators.graph import Array


class SequenceInsert(OpRun):  # type: ignore[misc]
    op_domain = ""

    def _run(self, sequence: list[Array], new: Array, position: Array | None = None) -> tuple[list[Array]]:
        place = len(sequence) if position is None else int(position.item())
        found = list(sequence)
        found.insert(place + len(sequence) if place < 0 else place, new)
        return (found,)


class Optional(OpRun):  # type: ignore[misc]
    op_domain = ""

    def _run(self, x: Array, type: Any = None) -> tuple[Array]:
        return (x,)


class OptionalGetElement(OpRun):  # type: ignore[misc]
    op_domain = ""

    def _run(self, x: Array) -> tuple[Array]:
        return (x,)


class OptionalHasElement(OpRun):  # type: ignore[misc]
    op_domain = ""

    def _run(self, x: Array | None = None) -> tuple[Array]:
        return (np.array(x is not None),)


DEFINITIONS: tuple[type[OpRun], ...] = (SequenceInsert, Optional, OptionalGetElement, OptionalHasElement)
