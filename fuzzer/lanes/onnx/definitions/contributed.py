"""Operators of com.microsoft."""

from __future__ import annotations

from typing import Any

import numpy as np
from onnx.reference.op_run import OpRun

from fuzzer.lanes.onnx.definitions.legal import rows
from fuzzer.lanes.onnx.definitions.norm import layer_norm
from fuzzer.lanes.onnx.definitions.wide import wide
from generators.graph import Array


class MatMulInteger16(OpRun):  # type: ignore[misc]
    """The product of two matrices of int16, as numpy.matmul. The sums have 32 bits."""

    op_domain = "com.microsoft"

    def _run(self, a: Array, b: Array) -> tuple[Any, ...]:
        return (np.matmul(a.astype(np.int32), b.astype(np.int32)),)


class SkipLayerNormalization(OpRun):  # type: ignore[misc]
    """LayerNormalization over the last dimension of the sum of input, skip and bias. The sum is the fourth result."""

    op_domain = "com.microsoft"

    def _run(
        self,
        x: Array,
        skip: Array,
        gamma: Array,
        beta: Array | None = None,
        bias: Array | None = None,
        epsilon: float = 1e-12,
    ) -> tuple[Any, ...]:
        total = wide(x) + wide(skip) + (0 if bias is None else wide(bias))
        result, mean, inverse = layer_norm(total, wide(gamma), beta, x.ndim - 1, epsilon)
        all_results = result.astype(x.dtype), mean, inverse, total.astype(x.dtype)
        return all_results[: len(self.output)]


class EmbedLayerNormalization(OpRun):  # type: ignore[misc]
    """LayerNormalization of the sum of the embeddings of words, positions and segments. The second result counts the
    ones of each mask, and is 0 without a mask. The third is the sum."""

    op_domain = "com.microsoft"

    def _run(
        self,
        ids: Array,
        segment_ids: Array | None,
        words: Array,
        positions: Array,
        segments: Array | None,
        gamma: Array,
        beta: Array,
        mask: Array | None = None,
        position_ids: Array | None = None,
        epsilon: float = 1e-12,
        mask_index_type: int | None = None,
    ) -> tuple[Any, ...]:
        places = np.arange(ids.shape[1])[None] if position_ids is None else position_ids
        total = rows(wide(words), ids) + rows(wide(positions), places)
        if segments is not None and segment_ids is not None:
            total = total + rows(wide(segments), segment_ids)
        result, _, _ = layer_norm(total, wide(gamma), wide(beta), 2, epsilon)
        count = np.zeros(len(ids), np.int32) if mask is None else (mask == 1).sum(1).astype(np.int32)
        return (result.astype(words.dtype), count, total.astype(words.dtype))[: len(self.output)]


DEFINITIONS: tuple[type[OpRun], ...] = (MatMulInteger16, SkipLayerNormalization, EmbedLayerNormalization)
