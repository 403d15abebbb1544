"""PyTorch answers random calls as their row does, and all forms of a drawn call give the results of the plain form."""

from __future__ import annotations

import pytest
from form_comparison import compare_forms
from random_calls import compare_calls
from rows import each_row

from generators.op import Op
from generators.torch.ops import (
    OPS,
    activation,
    binary,
    creation,
    distance,
    dropout,
    elementwise,
    join,
    linalg,
    loss,
    magnitude,
    moments,
    move,
    native,
    norm,
    part,
    random,
    recurrent,
    reduction,
    scalar,
    scan,
    shape,
    size,
    sort,
    sparse,
    split,
    unique,
    vision,
)

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")


def names(*families: tuple[Op, ...]) -> list[str]:
    return [op.name for family in families for op in family]


FEW_CALLS = 50
CALLS = {
    **dict.fromkeys(names(activation.OPS, binary.OPS, elementwise.OPS), 100),
    **dict.fromkeys(names(creation.OPS, join.OPS, split.OPS, move.OPS, part.OPS, size.OPS, shape.OPS, sort.OPS), 150),
    **dict.fromkeys(names(reduction.OPS, moments.OPS, scan.OPS, magnitude.OPS, native.OPS, norm.OPS, vision.OPS), 150),
    **dict.fromkeys(names(random.OPS, sparse.OPS, unique.OPS), 200),
    **dict.fromkeys(names(distance.OPS, dropout.OPS), 300),
}
"""Row -> how many random calls are compared, where they are more."""

WORDS = {"approximate", "interpolation", "mode", "padding_mode", "reduce", "reduction"} | {
    *("body", "compute_mode", "number", "operator", "then"),
}
"""Attributes that accept certain words only, which no random call has."""

LEFT_OUT = {
    "embedding": "PyTorch refuses some calls by an assertion",
    **dict.fromkeys(("lstm", "lstm_cell", "multi_head_attention", "multi_head_attention_mask"), "too many operands"),
    **dict.fromkeys(("setitem", "setitem_scalar", "copy", "fill_diagonal"), "the source is statements"),
    **dict.fromkeys(("batch_norm_training", "native_batch_norm_training"), "the source is statements"),
}
"""Row -> why its random calls are not compared."""

NUMBERS_MATTER = {
    **dict.fromkeys(
        ("gather", "index_select", "take", "take_along_dim", "put", "index_put"), "1 is no position in a size of 1"
    ),
    "one_hot": "1 is no class of one",
    "assert_async": "1 is not above the bound",
}
"""Row -> why PyTorch refuses calls that the row accepts."""

OUT_OF_RANGE = "numbers that the dtype cannot hold"
FRACTIONS = "PyTorch truncates fractions for integers"
ONE_ELEMENT = "for float16 of one element PyTorch does not check whether the number fits"
DTYPES = "PyTorch does not ask for the dtype where little or nothing is computed"
EMPTY = "PyTorch does not check the dim of an empty tensor"
EXPANDED = "PyTorch accepts a size of -1 next to a size of 0"
NO_EPSILON = "an eps or a norm that is negative or that float16 rounds to 0"
PARAMETERS = "PyTorch does not check the parameters of an empty tensor, nor all shapes and eps of others"
RANDOM = "the result would be random"
STRICTER = {
    **dict.fromkeys(("add", "sub", "rsub", "addcdiv", "pad_constant"), OUT_OF_RANGE),
    "clamp": "bool, and numbers that the dtype cannot hold",
    **dict.fromkeys(names(scalar.OPS), "numbers that the dtype cannot hold, 0 and bool"),
    **dict.fromkeys(("addcmul", "hardtanh", "threshold", "addmm"), FRACTIONS),
    **dict.fromkeys(("where", "where_scalar", "where_number", "where_numbers"), "uint8 as a condition is deprecated"),
    "softplus": "beta must not be 0",
    **dict.fromkeys(("mT", "adjoint"), "deprecated on 0-d tensors"),
    "roll": EMPTY,
    **dict.fromkeys(("repeat", "tile"), "a negative count of an empty tensor"),
    "reshape_keep": "a number of dimensions that the tensor does not have",
    "reshape_merge": "the same dimension twice",
    "reshape_heads": "features that the heads do not divide",
    "narrow_by_size": "a start that is counted from the end",
    "full_size": "dimensions that a 0-d tensor does not have",
    "linspace_size": "integers that depend on rounding",
    **dict.fromkeys(("expand", "broadcast_to", "as_strided"), EXPANDED),
    **dict.fromkeys(("cat", "concatenate"), "PyTorch does not check the dim where all operands are empty vectors"),
    **dict.fromkeys(("split", "unbind"), "no results"),
    "getitem": "how many numbers a mask selects is not known",
    "getitem_mask_sum": "masks of integers",
    "take_along_dim": "PyTorch flattens by view, and does not ask for the dtype of no indices",
    **dict.fromkeys(("scatter_add", "scatter_prod"), DTYPES),
    "constant": "PyTorch makes too large numbers infinite",
    "one_hot": "with -1 classes the shape would depend on the numbers",
    "arange": "fractions in integer dtypes, and numbers that they cannot hold",
    "linspace": "integers that depend on rounding, and bool of at most one step",
    "logspace": "powers of numbers that are not positive, and truncated powers",
    **dict.fromkeys(
        ("full", "full_like", "new_full", "empty", "empty_like", "new_empty", "fill", "scalar_tensor"), ONE_ELEMENT
    ),
    **dict.fromkeys(("nansum", "nanmean"), "an empty list of dims"),
    **dict.fromkeys(("cumsum", "cumprod"), "bool, where there is nothing to add"),
    "logsumexp": "an empty list of dims, of an empty operand",
    **dict.fromkeys(("var", "std", "var_mean", "std_mean"), "not more numbers than the correction: 0/0"),
    **dict.fromkeys(("trapezoid_points", "cumulative_trapezoid_points"), "points of other shapes"),
    "diff": "for order 0, PyTorch does not check the dim",
    "pdist": "half precision without any distance",
    **dict.fromkeys(("cummax", "cummin", "cummax_values", "cummin_values"), EMPTY),
    **dict.fromkeys(("topk", "topk_values"), "no numbers of a 0-d tensor"),
    **dict.fromkeys(("kthvalue", "kthvalue_values"), "bool, for one number"),
    **dict.fromkeys(("median", "nanmedian"), "the median of an empty tensor"),
    **dict.fromkeys(("median_dim", "nanmedian_dim"), "an empty tensor of bool"),
    **dict.fromkeys(("median_dim_values", "nanmedian_dim_values"), "as median_dim"),
    **dict.fromkeys(("searchsorted", "bucketize"), "empty tensors of bool"),
    **dict.fromkeys(
        ("isin", "isin_unique", "isin_number", "number_isin"), "test elements with strides, numbers out of range"
    ),
    "linear": "a bias that is not documented",
    **dict.fromkeys(("bmm", "inner", "sparse_mm", "sparse_addmm", "unmask_first"), DTYPES),
    "scaled_dot_product_attention": "nothing to attend to",
    "conv2d": "a window of nothing",
    "lp_pool1d": "the root of 0 is not finite",
    **dict.fromkeys((f"adaptive_avg_pool{n}d" for n in (1, 2, 3)), "integers, empty planes and other ranks"),
    **dict.fromkeys(("batch_norm", "batch_norm_bias", "batch_norm_batch_stats"), PARAMETERS),
    **dict.fromkeys(("instance_norm", "instance_norm_running_stats", "native_batch_norm_batch_stats"), PARAMETERS),
    **dict.fromkeys(("layer_norm", "group_norm", "normalize", "cosine_similarity", "pairwise_distance"), NO_EPSILON),
    "local_response_norm": "integers and a size of 0, of an empty tensor",
    **dict.fromkeys(("softmax", "log_softmax", "softmin"), DTYPES),
    "native_dropout": "outside of training PyTorch checks neither p nor the dtype",
    **dict.fromkeys(("native_dropout_training", "dropout_training", "bernoulli"), RANDOM),
    **dict.fromkeys(("add_noise", "no_noise", "exponential_sign"), "noise in integers, or of other numbers"),
    "interpolate_nearest": "sizes that are a matter of rounding",
    "pixel_unshuffle": "PyTorch returns an empty tensor in its old shape",
    **dict.fromkeys(names(unique.OPS), "floats and empty slices"),
    "fake_quantize": "more than eight bits, and steps whose ties depend on the rounding",
}
"""Row -> what it refuses and PyTorch accepts."""


def compared(op: Op) -> bool:
    return WORDS.isdisjoint(op.schema) and op.name not in LEFT_OUT


@pytest.mark.exhaustive
@each_row(filter(compared, OPS))
def test_random_calls_are_accepted_and_refused_as_by_pytorch(op: Op) -> None:
    allowed = {"accepted", "refused", *(["stricter"] if op.name in STRICTER else [])}
    differences = compare_calls(op, CALLS.get(op.name, FEW_CALLS)).keys() - allowed
    assert [text for text in differences if not (op.name in NUMBERS_MATTER and text.endswith("PyTorch refuses"))] == []


FEW_DRAWS = 20
DRAWS = {
    **dict.fromkeys(names(recurrent.OPS), 30),
    **dict.fromkeys(names(activation.OPS, binary.OPS, elementwise.OPS), 40),
    **dict.fromkeys(names(linalg.OPS, loss.OPS, norm.OPS, random.OPS), 60),
    **dict.fromkeys(("dropout_training", "dropout_inplace"), 60),
    **dict.fromkeys(names(vision.OPS), 80),
}
"""Row -> how many calls are drawn, where they are more."""
LEAST = dict.fromkeys(names(recurrent.OPS), 6)
"""Row -> how many calls each of its forms expresses at least, where that is more than one."""


@pytest.mark.exhaustive
@each_row(op for op in OPS if op.forms)
def test_every_form_gives_the_results_of_the_plain_form(op: Op) -> None:
    counts, wrong = compare_forms(op, DRAWS.get(op.name, FEW_DRAWS))
    assert wrong == []
    assert [form for form in op.forms if counts[form] < LEAST.get(op.name, 1)] == []
