"""Translation rules for arithmetic, shapes, reductions and indexing."""

from __future__ import annotations

from collections.abc import Mapping

from fuzzer.seeds.torch.from_onnx.api import NodeInTranslation, Rule, Untranslatable
from fuzzer.seeds.torch.program import Arg

_LOWER = (
    *("Abs", "Acos", "Acosh", "Add", "Asin", "Asinh", "Atan", "Atanh", "Ceil", "Cos", "Cosh", "Erf", "Exp", "Floor"),
    *("Identity", "IsInf", "IsNaN", "Log", "MatMul", "Mish", "Mul", "Neg", "Pow", "Reciprocal", "Relu", "Round"),
    *("Sigmoid", "Sign", "Sin", "Sinh", "Softplus", "Softsign", "Sqrt", "Sub", "Tan", "Tanh", "Where"),
)
SAME: Mapping[str, str] = {
    **{name: name.lower() for name in _LOWER},
    "And": "logical_and",
    "BitwiseAnd": "bitwise_and",
    "BitwiseNot": "bitwise_not",
    "BitwiseOr": "bitwise_or",
    "BitwiseXor": "bitwise_xor",
    "Equal": "eq",
    "Greater": "gt",
    "GreaterOrEqual": "ge",
    "HardSwish": "hardswish",
    "Less": "lt",
    "LessOrEqual": "le",
    "Not": "logical_not",
    "Or": "logical_or",
    "Xor": "logical_xor",
}
"""Functions that PyTorch has under another name, with tensors only as arguments."""


def _same(function: str) -> Rule:
    def translate(node: NodeInTranslation) -> None:
        names = "self", "other", "third"
        node.call(function, dict(zip(names, node.refs(), strict=False)))

    return translate


def _chained(function: str) -> Rule:
    """Combine any number of operands, two at a time."""

    def translate(node: NodeInTranslation) -> None:
        first, *others = node.refs()
        if not others:
            node.call("identity", {"self": first})
        for other in others[:-1]:
            first = node.intermediate(function, {"self": first, "other": other})
        for other in others[-1:]:
            node.call(function, {"self": first, "other": other})

    return translate


def _div(node: NodeInTranslation) -> None:
    whole = not node.type(0).dtype.is_float
    node.call("div", {"self": node.ref(0), "other": node.ref(1), **({"rounding_mode": "trunc"} if whole else {})})


def _mod(node: NodeInTranslation) -> None:
    node.call("fmod" if node.integer("fmod", 0) else "remainder", {"self": node.ref(0), "other": node.ref(1)})


def _with_numbers(function: str, **named: tuple[str, float]) -> Rule:
    """Pass attributes that are numbers on; `named` has their ONNX names and defaults by their PyTorch names."""

    def translate(node: NodeInTranslation) -> None:
        numbers = {key: node.number(name, otherwise) for key, (name, otherwise) in named.items()}
        node.call(function, {"self": node.ref(0), **numbers})

    return translate


def _gelu(node: NodeInTranslation) -> None:
    node.call("gelu", {"self": node.ref(0), "approximate": str(node.attribute("approximate", "none"))})


def _selu(node: NodeInTranslation) -> None:
    """Exporters write the constants of SELU as attributes. PyTorch has no other constants."""
    node.ignore("alpha", "gamma")
    node.call("selu", {"self": node.ref(0)})


def _hard_sigmoid(node: NodeInTranslation) -> None:
    """The slope of PyTorch's hardsigmoid is 1/6."""
    if abs(node.number("alpha", 0.2) - 1 / 6) > 1e-6 or node.number("beta", 0.5) != 0.5:
        raise Untranslatable("its slope is not that of PyTorch")
    node.call("hardsigmoid", {"self": node.ref(0)})


def _clip(node: NodeInTranslation) -> None:
    bounds: dict[str, Arg] = {}
    for place, key in ((1, "min"), (2, "max")):
        if node.has(place):
            number = node.array(place).reshape(-1)[0].item()
            bounds[key] = number
        elif node.opset < 11:
            bounds[key] = node.number(key, 0.0)
    node.call("clamp", {"self": node.ref(0), **bounds})


def _cast(node: NodeInTranslation) -> None:
    node.ignore("saturate", "round_mode")
    node.integer("to", 0)
    node.call("to", {"self": node.ref(0), "dtype": node.out().dtype.value})


# --- shapes


def _reshape(node: NodeInTranslation) -> None:
    """Keep the shape of the file where it is constant: its -1 lets `shrink` reduce the other sizes."""
    keeps_zero = node.integer("allowzero", 0) == 1
    sizes = node.out().sizes
    try:
        shape_in_file = node.ints(1, "shape")
        before = node.type(0).sizes
        shape = tuple(before[i] if size == 0 and not keeps_zero else size for i, size in enumerate(shape_in_file))
    except (Untranslatable, IndexError):
        shape = sizes
    node.call("reshape", {"self": node.ref(0), "shape": shape})


def _flatten(node: NodeInTranslation) -> None:
    axis = node.integer("axis", 1)
    if axis == 1 and node.type(0).rank > 1:
        node.call("flatten", {"self": node.ref(0), "start_dim": 1})
    else:
        node.call("reshape", {"self": node.ref(0), "shape": node.out().sizes})


def _transpose(node: NodeInTranslation) -> None:
    order = tuple(reversed(range(node.type(0).rank)))
    node.call("permute", {"self": node.ref(0), "dims": node.list("perm", order)})


def _squeeze(node: NodeInTranslation) -> None:
    axes = node.ints(1, "axes", ())
    node.call("squeeze", {"self": node.ref(0), **({"dim": axes if len(axes) > 1 else axes[0]} if axes else {})})


def _unsqueeze(node: NodeInTranslation) -> None:
    rank = node.out().rank
    *first, last = sorted(axis % rank for axis in node.ints(1, "axes"))
    operand = node.ref(0)
    for axis in first:
        operand = node.intermediate("unsqueeze", {"self": operand, "dim": axis})
    node.call("unsqueeze", {"self": operand, "dim": last})


def _concat(node: NodeInTranslation) -> None:
    node.call("cat", {"tensors": node.refs(), "dim": node.integer("axis", 0)})


def _split(node: NodeInTranslation) -> None:
    node.ignore("num_outputs", "split")
    axis = node.integer("axis", 0)
    sizes = tuple(node.out(place).sizes[axis] for place in range(len(node.outputs)))
    node.call("split", {"self": node.ref(0), "sizes": sizes, "dim": axis})


def _slice(node: NodeInTranslation) -> None:
    """Slice along one axis after the other."""
    starts, ends = node.ints(1, "starts"), node.ints(2, "ends")
    axes = node.ints(3, "axes", tuple(range(len(starts))))
    steps = node.ints(4, "steps", (1,) * len(starts))
    cuts = list(zip(axes, starts, ends, steps, strict=True))
    if any(step < 1 for step in steps):
        raise Untranslatable("has a negative step")
    operand = node.ref(0)
    for index, (axis, start, end, step) in enumerate(cuts):
        args: dict[str, Arg] = {"self": operand, "dim": axis, "start": start, "end": end, "step": step}
        if index == len(cuts) - 1:
            node.call("slice", args)
        else:
            operand = node.intermediate("slice", args)


def _expand(node: NodeInTranslation) -> None:
    """A size of 1 in the shape keeps the size of the operand, so that the result type gives the shape."""
    node.call("expand", {"self": node.ref(0), "size": node.out().sizes})


def _tile(node: NodeInTranslation) -> None:
    node.call("repeat", {"self": node.ref(0), "repeats": node.ints(1)})


def _pad(node: NodeInTranslation) -> None:
    mode = str(node.attribute("mode", "constant"))
    amounts = node.ints(1, "pads")
    rank = node.type(0).rank
    axes = [axis % rank for axis in node.ints(3)] if node.has(3) else list(range(rank))
    before, behind = dict.fromkeys(range(rank), 0), dict.fromkeys(range(rank), 0)
    for place, axis in enumerate(axes):
        before[axis], behind[axis] = amounts[place], amounts[place + len(axes)]
    moved = [axis for axis in before if before[axis] or behind[axis]]
    first = min(moved, default=rank - 1)
    pad = tuple(amount for axis in reversed(range(first, rank)) for amount in (before[axis], behind[axis]))
    names = {"constant": "constant", "reflect": "reflect", "edge": "replicate", "wrap": "circular"}
    args: dict[str, Arg] = {"self": node.ref(0), "pad": pad, "mode": names.get(mode, mode)}
    if mode == "constant" and node.has(2):
        args["value"] = node.array(2).reshape(-1)[0].item()
    node.call("pad", args)


# --- reductions


def _reduction(function: str, key: str = "dim", *, one: bool = False) -> Rule:
    def translate(node: NodeInTranslation) -> None:
        axes = node.ints(1, "axes", ())
        keep = bool(node.integer("keepdims", 1))
        if not axes and node.integer("noop_with_empty_axes", 0):
            node.call("identity", {"self": node.ref(0)})
            return
        node.ignore("noop_with_empty_axes")
        dims: Arg = axes or tuple(range(node.type(0).rank))
        if one:
            if not isinstance(dims, tuple) or len(dims) != 1:
                raise Untranslatable("PyTorch reduces one axis only")
            dims = dims[0]
        node.call(function, {"self": node.ref(0), key: dims, "keepdim": keep})

    return translate


def _arg(function: str) -> Rule:
    def translate(node: NodeInTranslation) -> None:
        node.require("select_last_index", 0)
        node.call(
            function,
            {"self": node.ref(0), "dim": node.integer("axis", 0), "keepdim": bool(node.integer("keepdims", 1))},
        )

    return translate


def _softmax(function: str) -> Rule:
    def translate(node: NodeInTranslation) -> None:
        axis = node.integer("axis", -1 if node.opset >= 13 else 1)
        if node.opset < 13 and axis % node.type(0).rank != node.type(0).rank - 1:
            raise Untranslatable("normalises over several axes")
        node.ignore("stash_type")
        node.call(function, {"self": node.ref(0), "dim": axis})

    return translate


def _cumsum(node: NodeInTranslation) -> None:
    node.require("exclusive", 0)
    node.require("reverse", 0)
    node.call("cumsum", {"self": node.ref(0), "dim": node.ints(1)[0]})


def _topk(node: NodeInTranslation) -> None:
    flags = {key: bool(node.integer(key, 1)) for key in ("largest", "sorted")}
    node.call("topk", {"self": node.ref(0), "k": node.ints(1, "k")[0], "dim": node.integer("axis", -1), **flags})


# --- indexing


def _gather(node: NodeInTranslation) -> None:
    axis = node.integer("axis", 0) % node.type(0).rank
    index = node.type(1)
    if index.rank == 0:
        node.call("select", {"self": node.ref(0), "dim": axis, "index": int(node.array(1))})
    elif axis == 0 and node.type(0).rank == 2 and node.type(0).dtype.is_float:
        node.call("embedding", {"weight": node.ref(0), "indices": node.ref(1)})
    else:
        node.call("index", {"self": node.ref(0), "indices": (*(None,) * axis, node.ref(1))})


def _gather_elements(node: NodeInTranslation) -> None:
    node.call("gather", {"self": node.ref(0), "dim": node.integer("axis", 0), "index": node.ref(1)})


def _scatter_elements(node: NodeInTranslation) -> None:
    node.require("reduction", "none")
    node.call(
        "scatter", {"self": node.ref(0), "dim": node.integer("axis", 0), "index": node.ref(1), "src": node.ref(2)}
    )


def _trilu(node: NodeInTranslation) -> None:
    diagonal = node.ints(1)[0] if node.has(1) else 0
    node.call("triu" if node.integer("upper", 1) else "tril", {"self": node.ref(0), "diagonal": diagonal})


def _range(node: NodeInTranslation) -> None:
    start, end, step = (node.array(place).reshape(-1)[0].item() for place in range(3))
    node.call("arange", {"start": start, "end": end, "step": step, "dtype": node.out().dtype.value})


def _einsum(node: NodeInTranslation) -> None:
    node.call("einsum", {"equation": str(node.attribute("equation", "")), "tensors": node.refs()})


def _dropout(node: NodeInTranslation) -> None:
    """The identity function, except in training."""
    node.ignore("ratio", "seed", "is_test")
    if node.has(2):
        raise Untranslatable("may be in training mode")
    node.call("identity", {"self": node.ref(0)}, node.outputs[:1])


def _gemm(node: NodeInTranslation) -> None:
    """Translate to `linear` where the second operand is transposed, otherwise to `addmm` or `mm`."""
    alpha, beta = node.number("alpha", 1.0), node.number("beta", 1.0)
    first, second = node.integer("transA", 0), node.integer("transB", 0)
    x, w = node.ref(0), node.ref(1)
    bias_fits = not node.has(2) or node.type(2).sizes == node.out().sizes[1:]
    if first:
        x = node.intermediate("t", {"self": x})
    if second and alpha == beta == 1.0 and bias_fits:
        node.call("linear", {"input": x, "weight": w, **({"bias": node.ref(2)} if node.has(2) else {})})
        return
    if second:
        w = node.intermediate("t", {"self": w})
    if node.has(2):
        node.call("addmm", {"self": node.ref(2), "mat1": x, "mat2": w, "beta": beta, "alpha": alpha})
    elif alpha == 1.0:
        node.call("mm", {"self": x, "mat2": w})
    else:
        raise Untranslatable("scales a product and adds nothing")


RULES: Mapping[str, Rule] = {
    **{name: _same(function) for name, function in SAME.items()},
    "ArgMax": _arg("argmax"),
    "ArgMin": _arg("argmin"),
    "Cast": _cast,
    "Celu": _with_numbers("celu", alpha=("alpha", 1.0)),
    "Clip": _clip,
    "Concat": _concat,
    "CumSum": _cumsum,
    "Div": _div,
    "Dropout": _dropout,
    "Einsum": _einsum,
    "Elu": _with_numbers("elu", alpha=("alpha", 1.0)),
    "Expand": _expand,
    "Flatten": _flatten,
    "Gather": _gather,
    "GatherElements": _gather_elements,
    "Gelu": _gelu,
    "Gemm": _gemm,
    "HardSigmoid": _hard_sigmoid,
    "LeakyRelu": _with_numbers("leaky_relu", negative_slope=("alpha", 0.01)),
    "LogSoftmax": _softmax("log_softmax"),
    "Max": _chained("maximum"),
    "Min": _chained("minimum"),
    "Mod": _mod,
    "Pad": _pad,
    "Range": _range,
    "ReduceL2": _reduction("linalg_vector_norm"),
    "ReduceLogSumExp": _reduction("logsumexp"),
    "ReduceMax": _reduction("amax"),
    "ReduceMean": _reduction("mean"),
    "ReduceMin": _reduction("amin"),
    "ReduceProd": _reduction("prod", one=True),
    "ReduceSum": _reduction("sum"),
    "Reshape": _reshape,
    "ScatterElements": _scatter_elements,
    "Selu": _selu,
    "Slice": _slice,
    "Softmax": _softmax("softmax"),
    "Split": _split,
    "Squeeze": _squeeze,
    "Sum": _chained("add"),
    "Tile": _tile,
    "TopK": _topk,
    "Transpose": _transpose,
    "Trilu": _trilu,
    "Unsqueeze": _unsqueeze,
}
