"""Functions of aten that the operator table has under another name, or with arguments in another order or form.

All other functions need no entry here (`fuzzer.seeds.torch.row_of_call`). A test checks the entries with the real
exporter. It exports programs of every row and reads them back (tests/fuzzer/seeds/torch/test_round_trip.py).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from fuzzer.seeds.torch.program import Arg, Call, Ref
from generators.graph import TensorType

Types = Mapping[str, TensorType]
Rewrite = Callable[[Call, Types], Call]


def in_table_form(call: Call, types: Types) -> Call:
    """Return the call in the form of the operator table."""
    if renaming := RENAMED.get(call.function):
        function, keys = renaming
        return Call(function, {keys.get(name, name): arg for name, arg in call.args.items()}, call.results)
    rewrite = REWRITTEN.get(call.function)
    return rewrite(call, types) if rewrite else call


_PARTS = {"sections": "indices_or_sections", "indices": "indices_or_sections"}

RENAMED: Mapping[str, tuple[str, Mapping[str, str]]] = {
    "__and__": ("bitwise_and", {}),
    "__or__": ("bitwise_or", {}),
    "__xor__": ("bitwise_xor", {}),
    "__lshift__": ("bitwise_left_shift", {}),
    "__rshift__": ("bitwise_right_shift", {}),
    "_adaptive_avg_pool2d": ("adaptive_avg_pool2d", {}),
    "_adaptive_avg_pool3d": ("adaptive_avg_pool3d", {}),
    "_conj": ("identity", {}),
    "_log_softmax": ("log_softmax", {}),
    "_softmax": ("softmax", {}),
    "_unsafe_view": ("view", {}),
    "affine_grid_generator": ("affine_grid", {}),
    "alias": ("identity", {}),
    "dsplit": ("dsplit", _PARTS),
    "expand": ("expand", {"size": "shape"}),
    "hsplit": ("hsplit", _PARTS),
    "lift_fresh_copy": ("clone", {}),
    "log_sigmoid": ("logsigmoid", {}),
    "mH": ("adjoint", {}),
    "matrix_H": ("adjoint", {}),
    "nll_loss_nd": ("nll_loss", {}),
    "numpy_T": ("t", {}),
    "split_with_sizes": ("split", {"split_sizes": "sizes"}),
    "tensor_split": ("tensor_split", _PARTS),
    "unsafe_chunk": ("chunk", {}),
    "vsplit": ("vsplit", _PARTS),
    **{f"adaptive_max_pool{nd}d": (f"adaptive_max_pool{nd}d_with_indices", {}) for nd in (1, 2, 3)},
}
"""By the aten name: the name in the table, and the argument names that differ."""


def _given(call: Call, *names: str) -> dict[str, Arg]:
    """Return those of the named arguments that are not None, in this order."""
    return {name: arg for name in names if (arg := call.args.get(name)) is not None}


def _rest(call: Call, *names: str) -> dict[str, Arg]:
    return {name: arg for name, arg in call.args.items() if name not in names}


def _with(call: Call, function: str, args: Mapping[str, Arg]) -> Call:
    return replace(call, function=function, args=args)


def _first_result(call: Call) -> Call:
    """Drop the results that only the backward pass reads."""
    return replace(call, results=call.results[:1])


# --- normalisation: the table has the argument order of PyTorch's Python functions, not that of aten


def _affine(function: str, call: Call, *front: str) -> Call:
    """Move weight and bias behind the other arguments. Rows with a bias and no weight are named `*_bias`."""
    args = {**_given(call, *front), **_given(call, "weight", "bias")}
    if "bias" in args and "weight" not in args:
        function = f"{function}_bias"
    return _with(call, function, {**args, **_rest(call, *front, "weight", "bias")})


def _batch_norm(call: Call, types: Types) -> Call:
    training = bool(call.args.get("training"))
    owned = _given(call, "running_mean", "running_var")
    function = "batch_norm_training" if training and owned else "batch_norm_batch_stats" if training else "batch_norm"
    if training and owned:  # the row also gives the new statistics, which aten writes over the old ones
        call = replace(call, results=(*call.results, *(f"{call.results[0]}.{name}" for name in owned)))
    args = _rest(call, *(() if owned else ("running_mean", "running_var")), "training")
    return _affine(function, _with(call, function, args), "input", "running_mean", "running_var")


def _native_batch_norm(call: Call, types: Types) -> Call:
    return _affine("batch_norm", _first_result(call), "input", "running_mean", "running_var")


def _instance_norm(call: Call, types: Types) -> Call:
    from_input = call.args.get("use_input_stats", True)
    function = "instance_norm" if from_input else "instance_norm_running_stats"
    statistics = () if from_input else ("running_mean", "running_var")
    args = _rest(call, "use_input_stats", *({"running_mean", "running_var"} - set(statistics)))
    return _affine(function, _with(call, function, args), "input", *statistics)


def _layer_norm(call: Call, types: Types) -> Call:
    return _affine("layer_norm", _first_result(call), "input")


def _group_norm(call: Call, types: Types) -> Call:
    return _affine("group_norm", call, "input")


def _native_group_norm(call: Call, types: Types) -> Call:
    args = {"num_groups" if name == "group" else name: arg for name, arg in _rest(call, "N", "C", "HxW").items()}
    return _affine("group_norm", _first_result(_with(call, "group_norm", args)), "input")


# --- convolution, padding, resizing


def _convolution(call: Call, types: Types) -> Call:
    stride = call.args.get("stride")
    nd = len(stride) if isinstance(stride, tuple) else 0
    if call.args.get("transposed"):
        return _with(call, f"conv_transpose{nd}d", _rest(call, "transposed"))
    return _with(call, f"conv{nd}d", _rest(call, "transposed", "output_padding"))


def _pad(call: Call, types: Types) -> Call:
    mode = call.args.get("mode", "constant")
    dropped = ("mode",) if mode == "constant" else ("mode", "value")
    return _with(call, f"pad_{mode}", _rest(call, *dropped))


def _padding(mode: str) -> Rewrite:
    return lambda call, types: _with(call, f"pad_{mode}", {"self": call.args["self"], "pad": call.args.get("padding")})


def _upsampled(function: str, **more: Arg) -> Rewrite:
    """Pass the output size or the scales. Overloads without `vec` need their scales in the backward pass only."""

    def rewrite(call: Call, types: Types) -> Call:
        operand = call.args.get("input", call.args.get("self"))
        args: dict[str, Arg] = {"input": operand, **more}
        if size := call.args.get("output_size"):
            args["size"] = size
        elif "scale_factors" in call.args:
            args["scale_factor"] = call.args["scale_factors"]
        if "align_corners" in call.args:
            args["align_corners"] = call.args["align_corners"]
        return _with(call, function, args)

    return rewrite


_SAMPLING = {
    "interpolation_mode": ("bilinear", "nearest", "bicubic"),
    "padding_mode": ("zeros", "border", "reflection"),
}


def _grid_sampler(call: Call, types: Types) -> Call:
    args = dict(call.args)
    for key, names in _SAMPLING.items():
        number = args.pop(key, 0)
        if isinstance(number, int) and 0 <= number < len(names):
            args[key.removeprefix("interpolation_")] = names[number]
    return _with(call, "grid_sample", args)


# --- indexing


def _index(call: Call, types: Types) -> Call:
    """Write `x[:, i]`: a None in the list of indices selects a whole dimension."""
    places, tensors = _places(call, first=1)
    return _with(call, "getitem", {"self": call.args["self"], "index": places, "tensors": tensors})


def _places(call: Call, first: int) -> tuple[tuple[str, ...], tuple[Ref, ...]]:
    listed = call.args.get("indices", ())
    each = listed if isinstance(listed, tuple) else ()
    tensors = [item for item in each if isinstance(item, Ref)]
    numbers = iter(range(first, first + len(tensors)))
    return tuple(f"{{{next(numbers)}}}" if isinstance(item, Ref) else ":" for item in each), tuple(tensors)


def _index_put(call: Call, types: Types) -> Call:
    """The row `index_put` has index tensors for the leading dimensions only."""
    places, tensors = _places(call, first=2)
    args: dict[str, Arg] = {**_given(call, "self", "values"), "tensors": tensors}
    if ":" in places:
        return _with(call, "setitem", {**args, "index": places, **_given(call, "accumulate")})
    return _with(call, "index_put", {**args, **_given(call, "accumulate")})


def _slice(call: Call, types: Types) -> Call:
    return _with(call, call.function, {"dim": 0, "start": None, "end": None, "step": 1, **call.args})


def _embedding(call: Call, types: Types) -> Call:
    args = {**_given(call, "indices", "weight"), **_rest(call, "indices", "weight")}
    if args.get("padding_idx") == -1:  # no padding index, in aten
        del args["padding_idx"]
    return _with(call, "embedding", args)


def _split(call: Call, types: Types) -> Call:
    if "split_size" not in call.args:
        return call
    args = {"split_size_or_sections" if name == "split_size" else name: arg for name, arg in call.args.items()}
    return _with(call, "split_size", args)


# --- numbers


def _to(call: Call, types: Types) -> Call:
    dtype, operand = call.args.get("dtype"), call.args.get("self")
    if "other" in call.args:
        return _with(call, "type_as", _given(call, "self", "other"))
    if dtype is None:
        return _with(call, "to_cpu", {"self": operand})
    if dtype == "uint8" and isinstance(operand, Ref) and operand.name in types and types[operand.name].dtype.is_float:
        return _with(call, "to_uint8", {"self": operand})
    return _with(call, "to", {"self": operand, "dtype": dtype})


def _pow(call: Call, types: Types) -> Call:
    if isinstance(call.args.get("self"), Ref):
        return call
    return _with(call, "rpow_scalar", {"base": call.args.get("self"), "exponent_": call.args.get("exponent")})


def _where(call: Call, types: Types) -> Call:
    """A number chosen where the condition holds is named `input` in the row."""
    if isinstance(call.args.get("self"), Ref):
        return call
    return _with(call, "where", {"input" if name == "self" else name: arg for name, arg in call.args.items()})


def _spread(call: Call, types: Types) -> Call:
    """`unbiased` is the older form of `correction`."""
    if "unbiased" not in call.args:
        return call
    return _with(call, call.function, {**_rest(call, "unbiased"), "correction": int(bool(call.args["unbiased"]))})


def _tensordot(call: Call, types: Types) -> Call:
    """The row `tensordot_dims` has an int or the axes of each operand."""
    return _with(call, "tensordot_dims", call.args)


def _reduce(function: str) -> Rewrite:
    """The reduction `prod` has a row of its own."""

    def rewrite(call: Call, types: Types) -> Call:
        return _with(call, f"{function}_prod", _rest(call, "reduce")) if call.args.get("reduce") == "prod" else call

    return rewrite


def _norm(call: Call, types: Types) -> Call:
    """A matrix norm for two axes, or for a tensor of rank 2 without axes; else a vector norm."""
    dims, operand = call.args.get("dim"), call.args.get("self")
    axes = len(dims) if isinstance(dims, tuple) else 0
    if dims is None and isinstance(operand, Ref) and operand.name in types:
        axes = types[operand.name].rank
    order = call.args.get("ord")
    matrix = axes == 2 and order is not None
    args = call.args if order is not None else _rest(call, "ord")
    return _with(call, "linalg_matrix_norm" if matrix else "linalg_vector_norm", args)


def _with_logits(call: Call, types: Types) -> Call:
    """The row `*_pos_weight` has weights of the classes."""
    function = "" if call.args.get("pos_weight") is None or call.args.get("weight") is not None else "_pos_weight"
    return _with(call, f"{call.function}{function}", call.args)


def _cross_entropy(call: Call, types: Types) -> Call:
    target = call.args.get("target")
    known = isinstance(target, Ref) and target.name in types
    probabilities = known and isinstance(target, Ref) and types[target.name].dtype.is_float
    args = _rest(call, "ignore_index") if probabilities else call.args
    return _with(call, "cross_entropy_probabilities" if probabilities else "cross_entropy", args)


def _fused_attention(call: Call, types: Types) -> Call:
    args = {**_given(call, "query", "key", "value", "attn_mask"), **_given(call, "dropout_p", "is_causal", "scale")}
    return _with(_first_result(call), "scaled_dot_product_attention", args)


REWRITTEN: Mapping[str, Rewrite] = {
    "_native_batch_norm_legit_no_training": _native_batch_norm,
    "_scaled_dot_product_flash_attention_for_cpu": _fused_attention,
    "_to_copy": _to,
    "batch_norm": _batch_norm,
    "binary_cross_entropy_with_logits": _with_logits,
    "convolution": _convolution,
    "cross_entropy_loss": _cross_entropy,
    "embedding": _embedding,
    "grid_sampler": _grid_sampler,
    "group_norm": _group_norm,
    "index": _index,
    "index_put": _index_put,
    "instance_norm": _instance_norm,
    "layer_norm": _layer_norm,
    "native_group_norm": _native_group_norm,
    "native_layer_norm": _layer_norm,
    "pad": _pad,
    "pow": _pow,
    "linalg_norm": _norm,
    "index_reduce": _reduce("index"),
    "scatter_reduce": _reduce("scatter"),
    "slice": _slice,
    "slice_scatter": _slice,
    "split": _split,
    "std": _spread,
    "std_mean": _spread,
    "tensordot": _tensordot,
    "to": _to,
    "var": _spread,
    "var_mean": _spread,
    "where": _where,
    **{f"reflection_pad{nd}d": _padding("reflect") for nd in (1, 2, 3)},
    **{f"replication_pad{nd}d": _padding("replicate") for nd in (1, 2, 3)},
    **{f"upsample_nearest{nd}d": _upsampled("interpolate_nearest") for nd in (1, 2, 3)},
    **{f"_upsample_nearest_exact{nd}d": _upsampled("interpolate_nearest_exact") for nd in (1, 2, 3)},
    "_upsample_bicubic2d_aa": _upsampled("interpolate_bicubic", antialias=True),
    "_upsample_bilinear2d_aa": _upsampled("interpolate_bilinear", antialias=True),
    "upsample_linear1d": _upsampled("interpolate_linear"),
    "upsample_bilinear2d": _upsampled("interpolate_bilinear"),
    "upsample_bicubic2d": _upsampled("interpolate_bicubic"),
    "upsample_trilinear3d": _upsampled("interpolate_trilinear"),
}
