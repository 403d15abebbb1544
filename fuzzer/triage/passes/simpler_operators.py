"""Plainer operators in place of special ones: what a bug does not need must not tell two findings of it apart."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from fuzzer.triage.passes.base import Subject
from generators.graph import Attrs, Form, Graph, Node
from generators.ops import TABLE


@dataclass(frozen=True, slots=True)
class Kin:
    """Operators that do alike. A plain one may stand for those to its right, and for all special ones."""

    plain: tuple[str, ...]
    special: tuple[str, ...] = ()


def _kin(plain: str, special: str = "") -> Kin:
    return Kin(tuple(plain.split()), tuple(special.split()))


KIN = (
    # element by element
    _kin(
        "neg abs relu tanh",
        "sign sgn positive square exp exp2 expm1 sin cos tan sinh cosh asinh atan acos asin acosh atanh erf erfc erfinv"
        " log log2 log10 log1p sqrt rsqrt reciprocal sigmoid gelu silu mish elu celu selu relu6 leaky_relu softplus"
        " softsign tanhshrink softshrink hardshrink hardtanh hardsigmoid hardswish logsigmoid threshold rrelu"
        " floor ceil trunc round frac sinc i0 lgamma digamma logit deg2rad rad2deg nan_to_num clamp bitwise_not"
        " clone contiguous detach",
    ),
    _kin("logical_not", "isfinite isinf isnan isneginf isposinf signbit"),
    _kin(
        "add mul sub",
        "rsub div floor_divide remainder fmod pow float_power atan2 hypot logaddexp logaddexp2 xlogy ldexp copysign"
        " heaviside gcd lcm maximum minimum max_other min_other fmax fmin clamp_min clamp_max",
    ),
    _kin("eq lt", "ne le gt ge isclose"),
    _kin("logical_and", "logical_or logical_xor"),
    _kin("bitwise_and", "bitwise_or bitwise_xor bitwise_left_shift bitwise_right_shift"),
    _kin("addcmul", "addcdiv lerp"),
    _kin(
        "add_scalar mul_scalar",
        "sub_scalar rsub_scalar div_scalar rdiv_scalar floor_divide_scalar rfloor_divide_scalar remainder_scalar"
        " rremainder_scalar fmod_scalar copysign_scalar",
    ),
    _kin("eq_scalar lt_scalar", "ne_scalar le_scalar gt_scalar ge_scalar"),
    _kin("bitwise_and_scalar", "bitwise_or_scalar bitwise_xor_scalar"),
    # along dimensions
    _kin("sum amax mean", "nansum nanmean amin logsumexp prod var std norm linalg_vector_norm"),
    _kin("any", "all count_nonzero"),
    _kin("max_all", "min_all median nanmedian"),
    _kin("argmax", "argmin"),
    _kin("max_dim", "min_dim median_dim nanmedian_dim"),
    _kin("var_mean", "std_mean"),
    _kin("cumsum", "cumprod logcumsumexp"),
    _kin("cummax", "cummin"),
    _kin("sort", "sort_stable"),
    _kin("argsort", "argsort_stable"),
    _kin("softmax", "log_softmax softmin"),
    # shapes
    _kin("transpose", "swapdims"),
    _kin("cat", "concatenate"),
    _kin("zeros", "ones empty"),
    _kin("zeros_like", "ones_like empty_like"),
    _kin("pad_constant", "pad_replicate pad_reflect pad_circular"),
    _kin("dropout", "dropout1d dropout2d dropout3d alpha_dropout feature_alpha_dropout feature_dropout"),
    # sums of products
    _kin("matmul", "mm bmm mv dot inner linear addmm addbmm baddbmm addmv bilinear"),
    *(_kin(f"conv{n}d", f"conv{n}d_padded") for n in (1, 2, 3)),
    # windows
    *(_kin(f"max_pool{n}d avg_pool{n}d", f"lp_pool{n}d") for n in (1, 2, 3)),
    *(_kin(f"adaptive_avg_pool{n}d", f"adaptive_max_pool{n}d") for n in (1, 2, 3)),
    _kin("interpolate_nearest", "interpolate_nearest_exact"),
    # norms and losses
    _kin("layer_norm", "layer_norm_bias"),
    _kin("group_norm", "group_norm_bias"),
    _kin("batch_norm", "batch_norm_bias batch_norm_batch_stats batch_norm_training"),
    _kin("mse_loss l1_loss", "smooth_l1_loss huber_loss kl_div soft_margin_loss binary_cross_entropy_with_logits"),
)
"""A row is read by people: the operators of one kin take the same operands, perhaps with further ones behind them."""

_KIN_OF = {name: kin for kin in KIN for name in (*kin.plain, *kin.special)}


def simpler_operators(subject: Subject) -> Iterator[Subject]:
    """Each call by the plainest operator of its kin, then by the next.

    Where nothing but its operators tells a failure from others, a lone call stays what it is: another operator that
    fails alike would be another bug.
    """
    nodes = subject.graph.nodes
    if subject.told_by_operators and len(nodes) < 2:
        return
    for index, node in enumerate(nodes):
        kin = _KIN_OF.get(node.op)
        for name in kin.plain[: _steps(node)] if kin else ():
            if (simpler := _called(name, node)) is not None:
                yield subject.with_graph(replace(subject.graph, nodes=(*nodes[:index], simpler, *nodes[index + 1 :])))


def intricacy(graph: Graph) -> int:
    """How many plainer operators of their kin the calls could be instead."""
    return sum(map(_steps, graph.nodes))


def _steps(node: Node) -> int:
    kin = _KIN_OF.get(node.op)
    if kin is None:
        return 0
    return kin.plain.index(node.op) if node.op in kin.plain else len(kin.plain)


def _called(name: str, node: Node) -> Node | None:
    """The call of another operator, with the attributes that both have, and no more operands than it takes; None where
    an attribute is missing."""
    op = TABLE[name]
    attrs: Attrs = {key: node.attrs.get(key, op.defaults.get(key)) for key in op.schema}
    if not all(kind.accepts(attrs[key]) for key, kind in op.schema.items()):
        return None
    return replace(node, op=name, args=node.args[: op.arity[1]], attrs=attrs, form=Form.PLAIN)
