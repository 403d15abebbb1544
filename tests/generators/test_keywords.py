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
from rows import each_row

from generators.builder import Builder, Limits
from generators.choice import NumpySource
from generators.graph import Attr, Form, Node
from generators.ops import TABLE, Op

_OPERANDS = """
self input other tensor tensors x y value query key weight bias mat1 mat2 vec vec1 vec2 batch1 batch2 tensor1 tensor2
tensor3 source src index indices mask condition running_mean running_var end exponent attn_mask input1 input2 x1 x2
target boundaries sorted_sequence elements test_elements grid theta args operands a b values min max hx params anchor
positive negative pos_weight var w_ih w_hh b_ih b_hh batch_sizes data mat offsets per_sample_weights n k log_probs
input_lengths target_lengths matrices distance_function fn pred true_fn false_fn dim0 dim1 cond_fn body_fn
carried_inputs dense
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
    "dropout": "random by nature",
    "_stacklevel": "internal",
}


@cache
def documented(function: object) -> frozenset[str]:
    """The parameters of every overload: of a Python function's signature, of the docstring, and where that names none,
    of what PyTorch dispatches on."""
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
    return frozenset(found) or in_schemas(name)


def in_schemas(name: str) -> frozenset[str]:
    schemas = torch._C._jit_get_schemas_for_operator(f"aten::{name}")
    return frozenset(argument.name for schema in schemas for argument in schema.arguments if not argument.is_out)


def functions(text: str) -> dict[str, object]:
    """The functions of torch and the methods of tensors that a rendered forward calls, by name."""
    found: dict[str, object] = {}
    for call in ast.walk(ast.parse(text)):
        if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Attribute):
            continue
        path = ast.unparse(call.func)
        if path.startswith("torch.nn."):
            continue
        if re.fullmatch(r"(torch|F)(\.\w+)+", path):
            function: object = {"torch": torch, "F": F}[path.split(".")[0]]
            for part in path.split(".")[1:]:
                function = getattr(function, part)
        else:
            function = getattr(torch.Tensor, call.func.attr)
        found[call.func.attr] = function
    return found


def subject(op: Op, called: dict[str, object]) -> object | None:
    """The function that the row is about: the only one, or the one that it is called after."""
    if len(called) > 1:
        plain = {name.strip("_"): function for name, function in called.items()}
        first = {name: plain[name] for name in plain if op.name.startswith(name)}
        called = first or {name: plain[name] for name in plain if op.name.endswith(name)}
    return next(iter(called.values())) if len(called) == 1 else None


def drawn(op: Op) -> Iterator[Node]:
    for index in range(400):
        builder = Builder(NumpySource(2, index), Limits(max_numel=256))
        if builder.grow(op):
            yield builder.nodes[-1]


def not_drawn(op: Op, values: dict[str, set[Attr]], forms: set[Form]) -> list[str]:
    """In-place calls need an operand that the graph computed: test_forms.py looks for those in larger graphs."""
    return [
        *(f"a second value of {key}" for key in op.schema if len(values[key]) < 2),
        *(f"the default of {key}" for key, default in op.defaults.items() if default not in values[key]),
        *(f"the form {form}" for form in op.forms if form is not Form.INPLACE and form not in forms),
    ]


@pytest.mark.exhaustive
@each_row()
def test_two_values_of_every_attribute_its_default_and_every_form_are_drawn(op: Op) -> None:
    assert set(op.defaults) <= set(op.schema)
    assert [key for key, default in op.defaults.items() if not op.schema[key].accepts(default)] == []
    values: dict[str, set[Attr]] = {key: set() for key in op.schema}
    forms: set[Form] = set()
    for node in drawn(op):
        for key, found in values.items():
            found.add(node.attrs[key])
        forms.add(node.form)
        if not not_drawn(op, values, forms):
            break
    assert not_drawn(op, values, forms) == []


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
    **{(row, key): "written by type" for row in ("to", "to_uint8", "to_cpu") for key in ("dtype", "kwargs")
       if (row, key) != ("to", "dtype")},
    **{("to_sparse", key): "coordinates of every dimension" for key in ("sparseDims", "blocksize", "dense_dim")},
    ("view", "dtype"): "other numbers of the same bits: computed ones differ in their last",
    ("view", "shape"): "the row's size",
    ("expand", "size"): "the row's shape",
    **{(f"reshape_{way}", "shape"): "made of the operand's own size" for way in ("keep", "merge", "heads")},
    **{("getitem_mask_sum", key): "of sum, by the way" for key in ("dim", "dtype", "keepdim")},
    **{(f"conv{n}d_padded", "padding"): "a call of F.pad before it" for n in (1, 2, 3)},
    **{(f"{kind}_unbatched", "batch_first"): "there is no batch" for kind in ("lstm", "gru", "rnn_tanh", "rnn_relu")},
    **{(row, "sorter"): "sorted before instead" for row in ("searchsorted", "searchsorted_number")},
    ("cross_entropy_probabilities", "ignore_index"): "PyTorch refuses it with probabilities",
}  # fmt: skip
"""(row, keyword) -> why it is no attribute."""


_WITH_NUMBERS = """
add sub mul floor_divide remainder pow rsub rdiv rfloor_divide rremainder rpow eq ne lt le gt ge bitwise_and bitwise_or
bitwise_xor bitwise_left_shift bitwise_right_shift
"""
NO_FUNCTION = {
    **{f"{name}_scalar": "an operator and a number" for name in _WITH_NUMBERS.split()},
    "pow_positive": "an operator and a number",
    "identity": "what there is already",
    "mT": "an attribute",
    **dict.fromkeys(("loop", "parts"), "Python's loop"),
    **dict.fromkeys(("slice", "getitem", "setitem", "setitem_scalar", "setitem_update"), "Python's subscript"),
}
"""Row -> why it is about no function."""


@each_row()
def test_every_documented_keyword_is_an_attribute(op: Op) -> None:
    builder = next(b for b in (Builder(NumpySource(2, i)) for i in range(100)) if b.grow(op))
    node = builder.nodes[-1]
    text = op.render(tuple(f"a{i}" for i in range(len(node.args))), node.attrs).replace("{out", "{out_")
    if op.name in NO_FUNCTION:
        return
    function = subject(op, functions(re.sub(r"\{out_?(\d*)\}", r"out\1", text)))
    assert function is not None, f"which one is it about? {text}"
    assert documented(function), f"PyTorch says nothing of {function}"
    missing = documented(function) - OPERANDS - set(NEVER) - set(op.schema)
    assert {key for key in missing if (op.name, key) not in LEFT_OUT} == set()


def test_exemptions_are_of_rows() -> None:
    assert {row for row, _ in LEFT_OUT} | set(NO_FUNCTION) <= set(TABLE)
