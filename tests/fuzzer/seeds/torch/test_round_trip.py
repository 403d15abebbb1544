"""A row's program, through torch.export and back, computes the same: that is what holds the reading of the table, and
the lines of `fuzzer.seeds.torch.aten_names`, against the real exporter."""

from __future__ import annotations

import zlib
from pathlib import Path

import pytest
import torch
from eager import run, run_case

from fuzzer.children.coverage import Subject
from fuzzer.lanes.base.arrays import to_torch
from fuzzer.seeds.torch import pt2
from fuzzer.seeds.torch.resolve import resolve
from generators.builder import Builder
from generators.choice import NumpySource
from generators.graph import Case, DType, Graph, Input, Value
from generators.random_graph import with_values
from generators.table import TABLE

pytestmark = pytest.mark.exhaustive

AS_THEY_WERE = (
    *("abs", "add", "add_scalar", "addmm", "amax", "arange", "argmax", "avg_pool2d", "baddbmm", "bmm", "cat", "clamp"),
    *("conv1d", "conv2d", "conv3d", "conv_transpose2d", "cumsum", "div", "embedding", "erf", "exp", "expand"),
    *("flatten", "full", "gather", "gelu", "glu", "group_norm", "hardswish", "index_select", "layer_norm"),
    *("leaky_relu", "linear", "log_softmax", "logsumexp", "lstm", "masked_fill", "matmul", "max_dim", "max_pool2d"),
    *("mean", "mul", "neg", "permute", "pixel_shuffle", "pow_scalar", "prelu", "relu", "roll", "rsub_scalar"),
    *("scaled_dot_product_attention", "scatter", "select", "sigmoid", "silu", "slice", "softmax", "split", "sqrt"),
    *("squeeze", "stack", "sub", "sum", "topk", "transpose", "tril", "unbind", "unsqueeze", "var", "where"),
    *("batch_norm", "batch_norm_bias", "group_norm_bias", "grid_sample", "instance_norm", "interpolate_bilinear"),
    *(
        "interpolate_nearest",
        "layer_norm_bias",
        "pad_constant",
        "pad_reflect",
        "pad_replicate",
        "tensordot_dims",
        "to",
    ),
    *("binary_cross_entropy_with_logits_pos_weight", "cross_entropy", "huber_loss", "split_size"),
    *("linalg_matrix_norm", "rpow_scalar"),
)
"""Rows that are themselves among what comes back."""

AS_OTHERS = ("getitem", "gru_zero_state", "mT", "number_isin", "reshape_heads", "swapdims", "type_as", "where_number")
"""Rows that aten says by other functions."""


def small_case(name: str) -> Case:
    """A case that is not empty, and not in half precision: PyTorch's bfloat16 convolutions do not write all of their
    result on every processor."""
    for attempt in range(40):
        builder = Builder(NumpySource(zlib.crc32(name.encode()), attempt))
        if builder.grow(TABLE[name]) and all(map(_is_usual, builder.values())):
            return with_values(builder)
    raise AssertionError(f"{name} fits no small graph")


def _is_usual(value: Value) -> bool:
    return bool(value.type.numel) and value.type.dtype not in (DType.FLOAT16, DType.BFLOAT16)


@pytest.mark.parametrize("name", [*AS_THEY_WERE, *AS_OTHERS])
def test_what_comes_back_computes_the_same(name: str, tmp_path: Path) -> None:
    case = small_case(name)
    exported = Subject(case).exported
    torch.export.save(exported, str(tmp_path / "m.pt2"))
    program = pt2.read(tmp_path / "m.pt2")
    resolved = resolve(program)
    assert not resolved.lacking
    assert name in AS_OTHERS or name in {node.op for node in resolved.nodes}

    owned = {**exported.state_dict, **exported.constants}
    given = {
        spec.arg.name: to_torch(case.inputs[spec.arg.name]) if spec.target is None else owned[spec.target].detach()
        for spec in exported.graph_signature.input_specs
    }
    inputs = tuple(Input(Value(each, program.types[each])) for each in given)
    outputs = tuple(spec.arg.name for spec in exported.graph_signature.output_specs)
    found = run(Graph(inputs, resolved.nodes, outputs), lambda item: given[item.value.name])
    for one, other in zip(found, run_case(case), strict=True):
        torch.testing.assert_close(one, other, equal_nan=True)
