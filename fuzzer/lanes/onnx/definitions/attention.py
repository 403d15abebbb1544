"""Attention of com.microsoft."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from onnx.reference.op_run import OpRun

from fuzzer.lanes.onnx.definitions.legal import NotEvaluated
from fuzzer.lanes.onnx.definitions.wide import wide
from generators.graph import Array

MASKED = -10000.0
"""What the scores of keys that a mask hides get added."""


class Attention(OpRun):  # type: ignore[misc]
    """Queries, keys and values are products of the input and merged weights. A past, keys and then values, comes before
    them. With `unidirectional`, a query sees the keys up to its own place."""

    op_domain = "com.microsoft"
    op_schema = None  # otherwise the interpreter takes the attributes of ONNX's own operator of this name

    def _run(
        self,
        x: Array,
        weights: Array,
        bias: Array | None = None,
        mask_index: Array | None = None,
        past: Array | None = None,
        attention_bias: Array | None = None,
        past_sequence_length: Array | None = None,
        do_rotary: int | None = None,
        mask_filter_value: float | None = None,
        num_heads: int = 1,
        past_present_share_buffer: int | None = None,
        qkv_hidden_sizes: Sequence[int] | None = None,
        rotary_embedding_dim: int | None = None,
        scale: float | None = None,
        unidirectional: int | None = None,
    ) -> tuple[Any, ...]:
        if do_rotary or past_present_share_buffer:
            raise NotEvaluated("rotary embeddings, and a buffer that past and present share")
        projected = wide(x) @ wide(weights)
        if bias is not None:
            projected = projected + wide(bias)
        hidden = qkv_hidden_sizes[0] if qkv_hidden_sizes else weights.shape[1] // 3
        parts = np.split(projected, [hidden, 2 * hidden], axis=2)
        queries, keys, values = (_heads(part, num_heads) for part in parts)
        if past is not None:
            keys, values = (np.concatenate(pair, 2) for pair in zip(wide(past), (keys, values), strict=True))
        scores = queries @ keys.swapaxes(2, 3) * (scale or 1 / math.sqrt(queries.shape[3]))
        if attention_bias is not None:
            scores = scores + wide(attention_bias)
        length, total = scores.shape[2:]
        if mask_index is not None:
            hidden_keys = ~_visible(mask_index, len(x), length, total)[:, None]
            scores = scores + np.where(hidden_keys, MASKED if mask_filter_value is None else mask_filter_value, 0.0)
        if unidirectional:
            scores = np.where(np.tri(length, total, total - length, dtype=bool), scores, -np.inf)
        chances = np.exp(scores - scores.max(3, keepdims=True))
        found = (chances / chances.sum(3, keepdims=True)) @ values
        result = found.swapaxes(1, 2).reshape(*x.shape[:2], -1).astype(x.dtype)
        return (result, np.stack((keys, values)).astype(x.dtype)) if len(self.output) > 1 else (result,)


def _heads(part: Array, count: int) -> Array:
    """From batch x length x features to batch x heads x length x features of a head."""
    return part.reshape(*part.shape[:2], count, -1).swapaxes(1, 2)


def _visible(mask: Array, batch: int, length: int, total: int) -> Array:
    """Which keys a query sees: batch x length x total. A mask of rank 1 has the number of keys, or their ends and then
    their starts. Others have 0 for keys that are hidden."""
    if mask.ndim == 1:
        starts = mask[batch:, None] if len(mask) > batch else 0
        places = np.arange(total)
        visible = (starts <= places) & (places < mask[:batch, None])
    else:
        visible = mask > 0
    return np.broadcast_to(visible if visible.ndim == 3 else visible[:, None], (batch, length, total))


DEFINITIONS: tuple[type[OpRun], ...] = (Attention,)
