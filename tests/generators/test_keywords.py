"""Every keyword that PyTorch documents for a row's function is an attribute of the row, and is drawn with two values.

The documented keywords are read from PyTorch: from the signatures of Python functions, and from the docstrings of other
functions. `LEFT_OUT` lists the keywords that a row leaves out, with the reasons.
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
from generators.op import Op
from generators.table import TABLE

_OPERANDS = """
self input other tensor tensors x y value query key weight bias mat1 mat2 vec vec1 vec2 batch1 batch2 tensor1 tensor2
tensor3 source src index indices mask condition running_mean running_var end exponent attn_mask input1 input2 x1 x2
target boundaries sorted_sequence elements test_elements grid theta args operands a b values min max hx params anchor
positive negative pos_weight var w_ih w_hh b_ih b_hh batch_sizes data mat offsets per_sample_weights n k log_probs
input_lengths target_lengths matrices distance_function fn pred true_fn false_fn dim0 dim1 cond_fn body_fn
carried_inputs dense N C HxW
"""
OPERANDS = frozenset(_OPERANDS.split())
"""The names of tensor operands, and of parameters that the rows' sources pass by position only."""

NEVER = {
    "out": "results go to new tensors",
    "device": "lanes choose the device",
    "layout": "only strided tensors are drawn",
    "requires_grad": "only inference is tested",
    "pin_memory": "does not change the result",
    "memory_format": "the inputs' layouts are drawn instead",
    "generator": "random",
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
    "norm_type": "a parameter of max_norm",
    "copy": "does not change the result",
    "non_blocking": "does not change the result",
    "dropout_p": "random",
    "dropout": "random",
    "_stacklevel": "internal",
}


@cache
def documented(function: object) -> frozenset[str]:
    """Return the parameters of all overloads.

    They come from the signature of a Python function, else from the docstring, else from PyTorch's operator schemas.
    """
    try:
        parameters = frozenset(inspect.signature(function).parameters)  # type: ignore[arg-type]
        if (
            "kwargs" not in parameters
        ):  # pooling functions dispatch with **kwargs, but their docstrings name the parameters
            return parameters
    except (TypeError, ValueError):
        pass
    name = getattr(function, "__name__", "")
    doc = inspect.getdoc(function) or ""
    found: set[str] = set()
    for match in re.finditer(rf"(?:^|\n|:: )\s*(?:\w+\.)*{re.escape(name)}\(([^)]*(?:\([^)]*\)[^)]*)*)\)", doc):
        parts = [part.strip().lstrip("*") for part in re.sub(r"\([^)]*\)", "", match[1]).split(",")]
        if all(
            re.fullmatch(r"([A-Za-z_]\w* )?[A-Za-z_]\w*( *=.*)?|", part) for part in parts
        ):  # a signature, not an example of a call
            found.update(re.sub(r" *=.*", "", part).split(" ")[-1] for part in parts if part)
    return frozenset(found) or in_schemas(name)


def in_schemas(name: str) -> frozenset[str]:
    schemas = torch._C._jit_get_schemas_for_operator(f"aten::{name}")
    return frozenset(argument.name for schema in schemas for argument in schema.arguments if not argument.is_out)


def functions(text: str) -> dict[str, object]:
    """Return the functions of torch and the methods of tensors that a rendered forward calls, by name."""
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


def subject(op: Op, functions_called: dict[str, object]) -> object | None:
    """Return the function that the row tests: the only one that it calls, or the one with a name like the row's."""
    if len(functions_called) > 1:
        plain = {name.strip("_"): function for name, function in functions_called.items()}
        first = {name: plain[name] for name in plain if op.name.startswith(name)}
        functions_called = first or {name: plain[name] for name in plain if op.name.endswith(name)}
    return next(iter(functions_called.values())) if len(functions_called) == 1 else None


def drawn(op: Op) -> Iterator[Node]:
    for index in range(400):
        builder = Builder(NumpySource(2, index), Limits(max_numel=256))
        if builder.grow(op):
            yield builder.nodes[-1]


def not_drawn(op: Op, values: dict[str, set[Attr]], forms: set[Form]) -> list[str]:
    """Return what was not drawn. In-place calls, which need a computed operand, are left to test_forms.py."""
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


ROW_OF_ITS_OWN = "another row draws it: each overload has a row"
OPERAND = "an operand of this row"
IN_THE_NAME = "part of the row's name"
LEFT_OUT: dict[tuple[str, str], str] = {
    **{(row, key): ROW_OF_ITS_OWN for row in ("max_other", "min_other", "max_all", "min_all", "median", "nanmedian")
       for key in ("dim", "keepdim")},
    **{(row, "stable"): IN_THE_NAME for row in ("sort_stable", "argsort_stable")},
    **{(f"pad_{mode}", "mode"): IN_THE_NAME for mode in ("constant", "reflect", "replicate", "circular")},
    **{(row, "assume_unique"): IN_THE_NAME for row in ("isin", "isin_unique", "number_isin", "isin_number")},
    **{(row, "q"): OPERAND for row in ("quantile_tensor", "nanquantile_tensor")},
    **{(row, "dx"): ROW_OF_ITS_OWN for row in ("trapezoid_points", "cumulative_trapezoid_points")},
    **{(row, "as_tuple"): IN_THE_NAME for row in ("nonzero_sum", "nonzero_axis_sum")},
    **{(row, "out_dtype"): "for CUDA only" for row in ("mm", "bmm", "addmm", "baddbmm")},
    ("diff", "prepend"): OPERAND,
    ("diff", "append"): OPERAND,
    ("arange_size", "start"): ROW_OF_ITS_OWN,
    ("arange_size", "step"): ROW_OF_ITS_OWN,
    **{(row, "size"): "computed from the operand's size" for row in ("full_size", "ones_shape", "empty_shape")},
    ("linspace_size", "steps"): "computed from the operand's size",
    ("narrow_to_size_of", "start"): "0: the other rows draw it",
    **{(row, "length"): "computed from an operand's size" for row in ("narrow_to_size_of", "narrow_by_size")},
    **{(row, "dimension"): "another name of dim" for row in ("narrow_to_size_of", "narrow_by_size")},
    **{(row, "size"): "computed from an operand's size" for row in ("expand_to_size_of", "affine_grid_of")},
    **{(row, key): "gives several results; unique_inverse uses the second"
       for row in ("unique_sum", "unique_inverse", "unique_consecutive_sum")
       for key in ("sorted", "return_inverse", "return_counts") if (row, key) != ("unique_sum", "sorted")},
    ("broadcast_to", "shape"): "PyTorch documents shape, but accepts size only",
    ("concatenate", "axis"): "another name of dim: a form of the call",
    ("split", "split_size_or_sections"): "called sizes in this row; split_size has the number",
    ("tensor_split", "sections"): "one of indices_or_sections",
    ("embedding_bag", "include_last_offset"): "no domain describes offsets, so indices are two-dimensional",
    ("tensordot_dims", "dims"): "the row's dims_self and dims_other",
    **{("unmask_first", key): "torch.arange is only a part of the row" for key in ("start", "step", "dtype")},
    **{(f"multi_head_attention{end}", key): "a parameter of the function that the layer calls, or for training"
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
    **{("to_sparse", key): "all dimensions are sparse" for key in ("sparseDims", "blocksize", "dense_dim")},
    ("view", "dtype"): "reinterprets bits, and the last bits of computed numbers may differ",
    ("view", "shape"): "called size in this row",
    ("expand", "size"): "called shape in this row",
    **{(f"reshape_{way}", "shape"): "computed from the operand's size" for way in ("keep", "merge", "heads")},
    **{("getitem_mask_sum", key): "the sum is only a part of the row" for key in ("dim", "dtype", "keepdim")},
    **{(f"conv{n}d_padded", "padding"): "a separate call of F.pad" for n in (1, 2, 3)},
    **{(f"{kind}_unbatched", "batch_first"): "there is no batch" for kind in ("lstm", "gru", "rnn_tanh", "rnn_relu")},
    **{(row, "sorter"): "the row sorts the operand first" for row in ("searchsorted", "searchsorted_number")},
    ("cross_entropy_probabilities", "ignore_index"): "PyTorch refuses it with probabilities",
}  # fmt: skip
"""(row, keyword) -> why the keyword is no attribute of the row."""


_WITH_NUMBERS = """
add sub mul floor_divide remainder pow rsub rdiv rfloor_divide rremainder rpow eq ne lt le gt ge bitwise_and bitwise_or
bitwise_xor bitwise_left_shift bitwise_right_shift
"""
NO_FUNCTION = {
    **{f"{name}_scalar": "an operator with a number" for name in _WITH_NUMBERS.split()},
    "pow_positive": "an operator with a number",
    "identity": "it calls nothing",
    "mT": "an attribute",
    **dict.fromkeys(("loop", "parts"), "Python's loop"),
    **dict.fromkeys(("slice", "getitem", "setitem", "setitem_scalar", "setitem_update"), "Python's subscript"),
}
"""Row -> why it tests no function."""


@each_row()
def test_every_documented_keyword_is_an_attribute(op: Op) -> None:
    builder = next(b for b in (Builder(NumpySource(2, i)) for i in range(100)) if b.grow(op))
    node = builder.nodes[-1]
    text = op.render(tuple(f"a{i}" for i in range(len(node.args))), node.attrs).replace("{out", "{out_")
    if op.name in NO_FUNCTION:
        return
    function = subject(op, functions(re.sub(r"\{out_?(\d*)\}", r"out\1", text)))
    assert function is not None, f"the row calls several functions: {text}"
    assert documented(function), f"PyTorch documents no parameters of {function}"
    missing = documented(function) - OPERANDS - set(NEVER) - set(op.schema)
    assert {key for key in missing if (op.name, key) not in LEFT_OUT} == set()


def test_exemptions_name_existing_rows() -> None:
    assert {row for row, _ in LEFT_OUT} | set(NO_FUNCTION) <= set(TABLE)
