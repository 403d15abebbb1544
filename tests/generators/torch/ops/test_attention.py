"""Attention: the results of the layer, the function and plain arithmetic."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
import torch
from conformance.torch.attention import OWNED, SDPA, attention, layer
from eager import inferred, run_case, types_of
from form_comparison import computed

from generators.builder import Builder, Limits
from generators.choice import NumpySource
from generators.graph import Form, Invalid, Node, Value
from generators.op import Types
from generators.random_graph import with_values
from generators.torch.ops import TABLE
from generators.torch.source import constructor, statements

Tensors = tuple[torch.Tensor, ...]


def test_zero_groups_are_refused_because_they_crash_pytorch() -> None:
    with pytest.raises(Invalid, match="into 0 groups"):
        inferred(SDPA, types_of("float32[1,4,3,4] float32[1,0,5,4] float32[1,0,5,4]"), attention(enable_gqa=True))


def calls(op: str, count: int) -> Iterator[tuple[Node, Tensors, Types]]:
    """Drawn calls, with their operands and the types of these."""
    for index in range(count):
        builder = Builder(NumpySource(6, index), Limits(max_numel=512))
        if builder.grow(TABLE[op]):
            case, node = with_values(builder), builder.nodes[-1]
            before = replace(case.graph, nodes=case.graph.nodes[:-1], outputs=node.args)
            yield node, run_case(replace(case, graph=before)), case.graph.arg_types(node)


def close(a: torch.Tensor, b: torch.Tensor) -> bool:
    tolerance = 1e-4 if a.dtype.itemsize > 2 else 5e-2
    return torch.allclose(a.double(), b.double(), rtol=tolerance, atol=tolerance * max(1.0, float(b.abs().amax())))


@pytest.mark.slow
def test_attention_computes_its_definition() -> None:
    """For every kernel that PyTorch chooses: with broadcast or grouped heads, all kinds of masks, and all ranks."""
    counts = Counter[str]()
    for node, operands, types in calls(SDPA, 200):
        if types[0].numel and node.results[0].type.numel:
            (attention_result,) = computed(node, Form.PLAIN, operands, types)
            assert close(attention_result, attention_by_definition(*operands, **dict[str, Any](node.attrs))), (
                types,
                dict(node.attrs),
            )
            counts.update(key for key, value in node.attrs.items() if value)
            counts[f"{len(types)} operands"] += 1
    assert all(counts[key] > 5 for key in ("is_causal", "scale", "enable_gqa", "3 operands", "4 operands")), counts


def attention_by_definition(
    q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, mask: torch.Tensor | None = None, **attrs: Any
) -> torch.Tensor:
    q, k, v = q.double(), k.double(), v.double()
    if attrs["enable_gqa"]:
        k, v = (t.repeat_interleave(q.shape[-3] // k.shape[-3], -3) for t in (k, v))
    scores = q @ k.mT * (1 / math.sqrt(q.shape[-1]) if attrs["scale"] is None else attrs["scale"])
    if attrs["is_causal"]:
        mask = torch.ones(scores.shape[-2:], dtype=torch.bool).tril()
    if mask is not None:
        scores = scores.masked_fill(~mask, -math.inf) if mask.dtype is torch.bool else scores + mask
    return scores.softmax(-1).nan_to_num() @ v  # PyTorch gives 0 where everything is masked


@pytest.mark.parametrize("op", ["multi_head_attention", "multi_head_attention_mask"])
def test_the_layer_gives_nearly_the_results_of_the_function(op: str) -> None:
    """Not bit for bit: without gradients, the layer uses a kernel of its own."""
    compared = 0
    for node, operands, types in calls(op, 40):
        plain, by_layer = (computed(node, form, operands, types) for form in (Form.PLAIN, Form.MODULE))
        assert all(map(close, plain, by_layer)), (types, dict(node.attrs))
        compared += 1
    assert compared > 20


@pytest.mark.slow
def test_most_masks_leave_each_query_a_key() -> None:
    open_rows = total = 0
    for _, operands, _ in calls(SDPA, 300):
        if len(operands) == 4 and operands[3].dtype is torch.bool:
            open_rows += int(operands[3].any(-1).sum())
            total += operands[3].any(-1).numel()
    assert total > 100
    assert open_rows > 0.95 * total


def test_the_source_of_a_layer() -> None:
    node = Node("multi_head_attention", tuple("abcdefg"), layer(batch_first=True, need_weights=False), ())
    node = replace(node, form=Form.MODULE, results=(Value("v0", types_of("float32[2,3,4]")[0]),))
    types = types_of(f"float32[2,3,4] float32[2,5,4] float32[2,5,4] {OWNED}")
    assert constructor(node, node.args, types, "self.m0") == [
        "self.m0 = torch.nn.MultiheadAttention(4, 2, batch_first=True)",
        "self.m0.in_proj_weight = d",
        "self.m0.in_proj_bias = e",
        "self.m0.out_proj.weight = f",
        "self.m0.out_proj.bias = g",
    ]
    assert statements(node, node.args, "self.m0") == ["v0 = self.m0(a, b, c, need_weights=False)[0]"]
