"""The phrase book's shorter half: arithmetic, shapes, reductions, indexing."""

from __future__ import annotations

from collections.abc import Mapping

from fuzzer.seeds.onnx_words import NoWord, Phrase, Saying
from fuzzer.seeds.program import Arg

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
"""The same functions under another name: tensors in, a tensor out."""


def _same(word: str) -> Saying:
    def say(p: Phrase) -> None:
        names = "self", "other", "third"
        p.say(word, dict(zip(names, p.refs(), strict=False)))

    return say


def _chained(word: str) -> Saying:
    """Of any number of operands, two at a time."""

    def say(p: Phrase) -> None:
        first, *others = p.refs()
        if not others:
            p.say("identity", {"self": first})
        for other in others[:-1]:
            first = p.between(word, {"self": first, "other": other})
        for other in others[-1:]:
            p.say(word, {"self": first, "other": other})

    return say


def _div(p: Phrase) -> None:
    whole = not p.type(0).dtype.is_float
    p.say("div", {"self": p.ref(0), "other": p.ref(1), **({"rounding_mode": "trunc"} if whole else {})})


def _mod(p: Phrase) -> None:
    p.say("fmod" if p.integer("fmod", 0) else "remainder", {"self": p.ref(0), "other": p.ref(1)})


def _with_numbers(word: str, **named: tuple[str, float]) -> Saying:
    """Numbers are attributes in both; the names and defaults are ONNX's."""

    def say(p: Phrase) -> None:
        numbers = {key: p.number(name, otherwise) for key, (name, otherwise) in named.items()}
        p.say(word, {"self": p.ref(0), **numbers})

    return say


def _gelu(p: Phrase) -> None:
    p.say("gelu", {"self": p.ref(0), "approximate": str(p.attribute("approximate", "none"))})


def _selu(p: Phrase) -> None:
    """Exporters write the constants out; there are no others."""
    p.ignore("alpha", "gamma")
    p.say("selu", {"self": p.ref(0)})


def _hard_sigmoid(p: Phrase) -> None:
    """PyTorch's has a slope of 1/6."""
    if abs(p.number("alpha", 0.2) - 1 / 6) > 1e-6 or p.number("beta", 0.5) != 0.5:
        raise NoWord("its slope is not PyTorch's")
    p.say("hardsigmoid", {"self": p.ref(0)})


def _clip(p: Phrase) -> None:
    bounds: dict[str, Arg] = {}
    for place, key in ((1, "min"), (2, "max")):
        if p.has(place):
            number = p.array(place).reshape(-1)[0].item()
            bounds[key] = number
        elif p.opset < 11:
            bounds[key] = p.number(key, 0.0)
    p.say("clamp", {"self": p.ref(0), **bounds})


def _cast(p: Phrase) -> None:
    p.ignore("saturate", "round_mode")
    p.integer("to", 0)
    p.say("to", {"self": p.ref(0), "dtype": p.out().dtype.value})


# --- shapes


def _reshape(p: Phrase) -> None:
    """As the file says it, where it says it in numbers: an open size leaves room to make the rest smaller."""
    zero_stays = p.integer("allowzero", 0) == 1
    sizes = p.out().sizes
    try:
        said = p.ints(1, "shape")
        before = p.type(0).sizes
        shape = tuple(before[i] if size == 0 and not zero_stays else size for i, size in enumerate(said))
    except (NoWord, IndexError):
        shape = sizes
    p.say("reshape", {"self": p.ref(0), "shape": shape})


def _flatten(p: Phrase) -> None:
    axis = p.integer("axis", 1)
    if axis == 1 and p.type(0).rank > 1:
        p.say("flatten", {"self": p.ref(0), "start_dim": 1})
    else:
        p.say("reshape", {"self": p.ref(0), "shape": p.out().sizes})


def _transpose(p: Phrase) -> None:
    order = tuple(reversed(range(p.type(0).rank)))
    p.say("permute", {"self": p.ref(0), "dims": p.list("perm", order)})


def _squeeze(p: Phrase) -> None:
    axes = p.ints(1, "axes", ())
    p.say("squeeze", {"self": p.ref(0), **({"dim": axes if len(axes) > 1 else axes[0]} if axes else {})})


def _unsqueeze(p: Phrase) -> None:
    rank = p.out().rank
    *first, last = sorted(axis % rank for axis in p.ints(1, "axes"))
    operand = p.ref(0)
    for axis in first:
        operand = p.between("unsqueeze", {"self": operand, "dim": axis})
    p.say("unsqueeze", {"self": operand, "dim": last})


def _concat(p: Phrase) -> None:
    p.say("cat", {"tensors": p.refs(), "dim": p.integer("axis", 0)})


def _split(p: Phrase) -> None:
    p.ignore("num_outputs", "split")
    axis = p.integer("axis", 0)
    sizes = tuple(p.out(place).sizes[axis] for place in range(len(p.outputs)))
    p.say("split", {"self": p.ref(0), "sizes": sizes, "dim": axis})


def _slice(p: Phrase) -> None:
    """A cut along each axis, one after the other."""
    starts, ends = p.ints(1, "starts"), p.ints(2, "ends")
    axes = p.ints(3, "axes", tuple(range(len(starts))))
    steps = p.ints(4, "steps", (1,) * len(starts))
    cuts = list(zip(axes, starts, ends, steps, strict=True))
    if any(step < 1 for step in steps):
        raise NoWord("goes backwards")
    operand = p.ref(0)
    for index, (axis, start, end, step) in enumerate(cuts):
        args: dict[str, Arg] = {"self": operand, "dim": axis, "start": start, "end": end, "step": step}
        if index == len(cuts) - 1:
            p.say("slice", args)
        else:
            operand = p.between("slice", args)


def _expand(p: Phrase) -> None:
    """Sizes of 1 in the shape leave what is there."""
    p.say("expand", {"self": p.ref(0), "size": p.out().sizes})


def _tile(p: Phrase) -> None:
    p.say("repeat", {"self": p.ref(0), "repeats": p.ints(1)})


def _pad(p: Phrase) -> None:
    mode = str(p.attribute("mode", "constant"))
    amounts = p.ints(1, "pads")
    rank = p.type(0).rank
    axes = [axis % rank for axis in p.ints(3)] if p.has(3) else list(range(rank))
    before, behind = dict.fromkeys(range(rank), 0), dict.fromkeys(range(rank), 0)
    for place, axis in enumerate(axes):
        before[axis], behind[axis] = amounts[place], amounts[place + len(axes)]
    moved = [axis for axis in before if before[axis] or behind[axis]]
    first = min(moved, default=rank - 1)
    pad = tuple(amount for axis in reversed(range(first, rank)) for amount in (before[axis], behind[axis]))
    names = {"constant": "constant", "reflect": "reflect", "edge": "replicate", "wrap": "circular"}
    args: dict[str, Arg] = {"self": p.ref(0), "pad": pad, "mode": names.get(mode, mode)}
    if mode == "constant" and p.has(2):
        args["value"] = p.array(2).reshape(-1)[0].item()
    p.say("pad", args)


# --- reductions


def _reduction(word: str, key: str = "dim", *, one: bool = False) -> Saying:
    def say(p: Phrase) -> None:
        axes = p.ints(1, "axes", ())
        keep = bool(p.integer("keepdims", 1))
        if not axes and p.integer("noop_with_empty_axes", 0):
            p.say("identity", {"self": p.ref(0)})
            return
        p.ignore("noop_with_empty_axes")
        dims: Arg = axes or tuple(range(p.type(0).rank))
        if one:
            if not isinstance(dims, tuple) or len(dims) != 1:
                raise NoWord("PyTorch has it for one axis")
            dims = dims[0]
        p.say(word, {"self": p.ref(0), key: dims, "keepdim": keep})

    return say


def _arg(word: str) -> Saying:
    def say(p: Phrase) -> None:
        p.require("select_last_index", 0)
        p.say(word, {"self": p.ref(0), "dim": p.integer("axis", 0), "keepdim": bool(p.integer("keepdims", 1))})

    return say


def _softmax(word: str) -> Saying:
    def say(p: Phrase) -> None:
        axis = p.integer("axis", -1 if p.opset >= 13 else 1)
        if p.opset < 13 and axis % p.type(0).rank != p.type(0).rank - 1:
            raise NoWord("sums over all axes from one on")
        p.ignore("stash_type")
        p.say(word, {"self": p.ref(0), "dim": axis})

    return say


def _cumsum(p: Phrase) -> None:
    p.require("exclusive", 0)
    p.require("reverse", 0)
    p.say("cumsum", {"self": p.ref(0), "dim": p.ints(1)[0]})


def _topk(p: Phrase) -> None:
    flags = {key: bool(p.integer(key, 1)) for key in ("largest", "sorted")}
    p.say("topk", {"self": p.ref(0), "k": p.ints(1, "k")[0], "dim": p.integer("axis", -1), **flags})


# --- indexing


def _gather(p: Phrase) -> None:
    axis = p.integer("axis", 0) % p.type(0).rank
    index = p.type(1)
    if index.rank == 0:
        p.say("select", {"self": p.ref(0), "dim": axis, "index": int(p.array(1))})
    elif axis == 0 and p.type(0).rank == 2 and p.type(0).dtype.is_float:
        p.say("embedding", {"weight": p.ref(0), "indices": p.ref(1)})
    else:
        p.say("index", {"self": p.ref(0), "indices": (*(None,) * axis, p.ref(1))})


def _gather_elements(p: Phrase) -> None:
    p.say("gather", {"self": p.ref(0), "dim": p.integer("axis", 0), "index": p.ref(1)})


def _scatter_elements(p: Phrase) -> None:
    p.require("reduction", "none")
    p.say("scatter", {"self": p.ref(0), "dim": p.integer("axis", 0), "index": p.ref(1), "src": p.ref(2)})


def _trilu(p: Phrase) -> None:
    diagonal = p.ints(1)[0] if p.has(1) else 0
    p.say("triu" if p.integer("upper", 1) else "tril", {"self": p.ref(0), "diagonal": diagonal})


def _range(p: Phrase) -> None:
    start, end, step = (p.array(place).reshape(-1)[0].item() for place in range(3))
    p.say("arange", {"start": start, "end": end, "step": step, "dtype": p.out().dtype.value})


def _einsum(p: Phrase) -> None:
    p.say("einsum", {"equation": str(p.attribute("equation", "")), "tensors": p.refs()})


def _dropout(p: Phrase) -> None:
    """Nothing, outside of training."""
    p.ignore("ratio", "seed", "is_test")
    if p.has(2):
        raise NoWord("may be in training")
    p.say("identity", {"self": p.ref(0)}, p.outputs[:1])


def _gemm(p: Phrase) -> None:
    """What transposes its second operand is a linear layer; the rest is spelt out."""
    alpha, beta = p.number("alpha", 1.0), p.number("beta", 1.0)
    first, second = p.integer("transA", 0), p.integer("transB", 0)
    x, w = p.ref(0), p.ref(1)
    bias_fits = not p.has(2) or p.type(2).sizes == p.out().sizes[1:]
    if first:
        x = p.between("t", {"self": x})
    if second and alpha == beta == 1.0 and bias_fits:
        p.say("linear", {"input": x, "weight": w, **({"bias": p.ref(2)} if p.has(2) else {})})
        return
    if second:
        w = p.between("t", {"self": w})
    if p.has(2):
        p.say("addmm", {"self": p.ref(2), "mat1": x, "mat2": w, "beta": beta, "alpha": alpha})
    elif alpha == 1.0:
        p.say("mm", {"self": x, "mat2": w})
    else:
        raise NoWord("scales a product without an addend")


PHRASES: Mapping[str, Saying] = {
    **{name: _same(word) for name, word in SAME.items()},
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
