"""Every keyword that PyTorch documents for a row's function is an attribute of the row, and is drawn with two values.

What PyTorch documents is read from PyTorch itself: signatures of Python functions, and the first lines of the
docstrings of the others. Each keyword that a row leaves out stands in `LEFT_OUT`, with the reason.
"""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Iterator
from functools import cache

import pytest
import torch
import torch.nn.functional as F

from generators.builder import Builder, Limits
from generators.choice import NumpySource
from generators.graph import Form, Node
from generators.ops import OPS, TABLE, Op

EACH_ROW = pytest.mark.parametrize("op", OPS, ids=lambda op: op.name)

_OPERANDS = """
self input other tensor tensors x y value query key weight bias mat1 mat2 vec vec1 vec2 batch1 batch2 tensor1 tensor2
tensor3 source src index indices mask condition running_mean running_var end exponent attn_mask input1 input2 x1 x2
target boundaries sorted_sequence elements test_elements grid theta args operands a b values min max hx params anchor
positive negative pos_weight var w_ih w_hh b_ih b_hh batch_sizes data mat offsets per_sample_weights n k log_probs
input_lengths target_lengths matrices distance_function fn pred true_fn false_fn dim0 dim1
"""
OPERANDS = frozenset(_OPERANDS.split())
"""Names of tensor operands, and of what is positional only in the rows' sources."""

NEVER = {
    "out": "results go to new tensors",
    "device": "lanes choose the device",
    "layout": "strided alone",
    "requires_grad": "inference",
    "pin_memory": "does not change the result",
    "memory_format": "the inputs' layouts are drawn instead",
    "generator": "random by nature",
    "names": "named tensors are not traced",
    "inplace": "a form of the call",
    "size_average": "deprecated for reduction",
    "reduce": "deprecated for reduction",
    "training": "models are in eval mode",
    "train": "models are in eval mode",
    "sparse": "changes gradients only",
    "sparse_grad": "changes gradients only",
    "scale_grad_by_freq": "changes gradients only",
    "max_norm": "writes into the weights",
    "norm_type": "of max_norm",
    "copy": "does not change the result",
    "non_blocking": "does not change the result",
    "dropout_p": "random by nature",
    "_stacklevel": "internal",
}


@cache
def documented(function: object) -> frozenset[str]:
    """The parameters of every overload."""
    try:
        parameters = frozenset(inspect.signature(function).parameters)  # type: ignore[arg-type]
        if "kwargs" not in parameters:  # pooling is dispatched: its docstring tells
            return parameters
    except (TypeError, ValueError):
        pass
    name = getattr(function, "__name__", "")
    doc = inspect.getdoc(function) or ""
    found: set[str] = set()
    for match in re.finditer(rf"(?:^|\n|:: )\s*(?:\w+\.)*{re.escape(name)}\(([^)]*(?:\([^)]*\)[^)]*)*)\)", doc):
        parts = [part.strip().lstrip("*") for part in re.sub(r"\([^)]*\)", "", match[1]).split(",")]
        if all(re.fullmatch(r"([A-Za-z_]\w* )?[A-Za-z_]\w*( *=.*)?|", part) for part in parts):  # no example of a call
            found.update(re.sub(r" *=.*", "", part).split(" ")[-1] for part in parts if part)
    return frozenset(found)


def functions(text: str) -> Iterator[object]:
    """The functions of torch that a rendered forward calls."""
    for call in ast.walk(ast.parse(text)):
        if not isinstance(call, ast.Call):
            continue
        path = ast.unparse(call.func)
        if not re.fullmatch(r"(torch|F)(\.\w+)+", path) or path.startswith("torch.nn."):
            continue
        found: object = {"torch": torch, "F": F}[path.split(".")[0]]
        for part in path.split(".")[1:]:
            found = getattr(found, part)
        yield found


@cache
def drawn(name: str) -> tuple[Node, ...]:
    found, op = [], TABLE[name]
    for index in range(400):
        builder = Builder(NumpySource(2, index), Limits(max_numel=256))
        if builder.grow(op):
            found.append(builder.nodes[-1])
    return tuple(found)


def draws(op: Op) -> tuple[Node, ...]:
    return drawn(op.name)


@pytest.mark.exhaustive
@EACH_ROW
def test_every_attribute_takes_two_values(op: Op) -> None:
    for key in op.schema:
        assert len({node.attrs[key] for node in draws(op)}) > 1, key


@pytest.mark.exhaustive
@EACH_ROW
def test_defaults_are_attributes_and_are_drawn(op: Op) -> None:
    assert set(op.defaults) <= set(op.schema)
    for key, value in op.defaults.items():
        assert op.schema[key].accepts(value), key
        assert any(node.attrs[key] == value for node in draws(op)), key


@pytest.mark.exhaustive
@EACH_ROW
def test_every_form_is_drawn(op: Op) -> None:
    """In-place calls need an operand that the graph computed: those are looked for in larger graphs."""
    forms = {node.form for node in draws(op)}
    assert forms >= set(op.forms) - {Form.INPLACE}


ROW_OF_ITS_OWN = "other rows draw it: one overload, one row"
OPERAND = "an operand here"
IN_THE_NAME = "stands in the row's name"
LEFT_OUT: dict[tuple[str, str], str] = {
    **{(row, key): ROW_OF_ITS_OWN for row in ("max_other", "min_other", "max_all", "min_all", "median", "nanmedian")
       for key in ("dim", "keepdim")},
    **{(row, "stable"): IN_THE_NAME for row in ("sort_stable", "argsort_stable")},
    **{(f"pad_{mode}", "mode"): IN_THE_NAME for mode in ("constant", "reflect", "replicate", "circular")},
    **{(row, "assume_unique"): IN_THE_NAME for row in ("isin", "isin_unique", "number_isin", "isin_number")},
    **{(row, "q"): OPERAND for row in ("quantile_tensor", "nanquantile_tensor")},
    **{(row, "dx"): ROW_OF_ITS_OWN for row in ("trapezoid_points", "cumulative_trapezoid_points")},
    **{(row, "as_tuple"): IN_THE_NAME for row in ("nonzero_sum", "nonzero_axis_sum")},
    **{(row, "out_dtype"): "CUDA alone" for row in ("mm", "bmm", "addmm", "baddbmm")},
    ("diff", "prepend"): OPERAND,
    ("diff", "append"): OPERAND,
    ("arange_size", "start"): ROW_OF_ITS_OWN,
    ("arange_size", "step"): ROW_OF_ITS_OWN,
    **{(row, "size"): "made of the operand's own size" for row in ("full_size", "ones_shape", "empty_shape")},
    ("linspace_size", "steps"): "made of the operand's own size",
    **{(row, key): "several results, of which unique_inverse has the second"
       for row in ("unique_sum", "unique_inverse", "unique_consecutive_sum")
       for key in ("sorted", "return_inverse", "return_counts") if (row, key) != ("unique_sum", "sorted")},
    ("broadcast_to", "shape"): "documented so, taken as size alone",
    ("concatenate", "axis"): "another word for dim: a form",
    ("split", "split_size_or_sections"): "the row's sizes; split_size has the other half",
    ("tensor_split", "sections"): "one of indices_or_sections",
    ("embedding_bag", "include_last_offset"): "offsets fit no domain: two-dimensional indices alone",
    ("tensordot_dims", "dims"): "the row's left and right",
    **{("unmask_first", key): "torch.arange, by the way" for key in ("start", "step", "dtype")},
    **{(f"multi_head_attention{end}", key): "of the function behind the layer, or training"
       for end in ("", "_mask") for key in sorted(
           documented(F.multi_head_attention_forward) - OPERANDS - set(NEVER))},
    **{(f"{kind}max_pool{n}d{end}", "return_indices"): IN_THE_NAME
       for kind in ("", "adaptive_") for n in (1, 2, 3) for end in ("", "_with_indices")},
    **{(row, "use_input_stats"): IN_THE_NAME for row in ("instance_norm", "instance_norm_running_stats")},
    **{(f"interpolate_{mode}", "mode"): IN_THE_NAME for mode in
       ("nearest", "nearest_exact", "linear", "bilinear", "bicubic", "trilinear", "area")},
    **{(f"interpolate_{mode}", key): "PyTorch refuses it for this mode"
       for mode in ("nearest", "nearest_exact", "area") for key in ("align_corners", "antialias")},
    **{(f"interpolate_{mode}", "antialias"): "PyTorch refuses it for this mode" for mode in ("linear", "trilinear")},
    **{(row, "log_input"): IN_THE_NAME for row in ("poisson_nll_loss", "poisson_nll_loss_of_rates")},
    ("cross_entropy_probabilities", "ignore_index"): "PyTorch refuses it with probabilities",
}  # fmt: skip
"""(row, keyword) -> why it is no attribute."""


@EACH_ROW
def test_every_documented_keyword_is_an_attribute(op: Op) -> None:
    builder = next(b for b in (Builder(NumpySource(2, i)) for i in range(100)) if b.grow(op))
    node = builder.nodes[-1]
    plain = Node(node.op, node.args, node.attrs, node.results)
    builder.nodes[-1] = plain
    text = op.render(tuple(f"a{i}" for i in range(len(node.args))), node.attrs).replace("{out", "{out_")
    called = list(functions(re.sub(r"\{out_?(\d*)\}", r"out\1", text)))
    if len(called) != 1:
        return  # methods, operators, or several functions: the family's own tests look at those
    missing = documented(called[0]) - OPERANDS - set(NEVER) - set(op.schema)
    assert {key for key in missing if (op.name, key) not in LEFT_OUT} == set()
