"""Losses of single numbers. Losses of samples are in `margin`; related operators are in `distance` and `dropout`.

For several float dtypes, the result dtype of some losses of PyTorch depends on their internal in-place steps. Such
losses take one float dtype here, and integer targets where PyTorch takes them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from generators.builder import Builder
from generators.choice import ChoiceSource
from generators.domain import POSITIVE
from generators.graph import FLOATS, INTEGERS, Attrs, DType, TensorType, Value
from generators.op import BOOL, NUMBER, Types, number_of, one_term, require
from generators.shared.numbers import require_fits
from generators.shared.sizes import broadcast
from generators.torch.ops.operands import partner
from generators.torch.ops.reduced import Element, bounded_of_type, bounded_tensor, loss_row, weight
from generators.torch.ops.rules import ALL, NUMERIC, join, promote, require_dtype

SIGNED = tuple(dtype for dtype in INTEGERS if dtype is not DType.UINT8)
WHOLE = (*INTEGERS, DType.BOOL)


def _several(types: Types, attrs: Attrs) -> int:
    """The terms of a loss whose parts may cancel each other: its operands are rounded as well."""
    return 3


# --- operands


def _pair(b: Builder, dtypes: Sequence[DType]) -> tuple[Value, Value]:
    """Two tensors that broadcast: mostly of one float dtype, or the second one of `dtypes`."""
    x = b.tensor(FLOATS)
    others = dtypes if b.source.chance(30) else (x.type.dtype,)
    if b.source.chance(30):
        return x, partner(b, x.type, others)
    return x, _shaped(b, others, x.type.sizes)


def _shaped(b: Builder, dtypes: Sequence[DType], shape: tuple[int, ...]) -> Value:
    return b.pick(lambda t: t.dtype in dtypes and t.sizes == shape, lambda: TensorType(b.source.choice(dtypes), shape))


def _differing(dtypes: Sequence[DType], weighted: int = 0) -> Callable[[Builder], tuple[Value, ...]]:
    def operands(b: Builder) -> tuple[Value, ...]:
        x, y = _pair(b, dtypes)
        alike = x.type.dtype == y.type.dtype
        return x, y, *(weight(b, weighted, x.type.dtype, x.type.sizes) if alike else ())

    return operands


def _target(b: Builder, x: Value, dtypes: Sequence[DType], low: int, high: int) -> Value:
    """A target in a range: of the input's dtype or one of `dtypes`; sometimes one number for all elements."""
    dtype = x.type.dtype if b.source.chance(50) else b.source.choice((x.type.dtype, *dtypes))
    return bounded_of_type(b, TensorType(dtype, () if b.source.chance(8) else x.type.sizes), low, high)


def _part(b: Builder, shape: tuple[int, ...]) -> tuple[int, ...]:
    """A shape that expands to this one: the same, the last dimensions, or one number."""
    return b.source.choice((shape, shape, shape[-1:], shape[1:], ()))


# --- differences


def _difference(bools: bool = False, integers: bool = False) -> Element:
    """PyTorch expands both first, so a 0-d one promotes like one with dimensions."""

    def element(types: Types, attrs: Attrs) -> TensorType:
        x, y, *weights = types
        dtype = join(x.dtype, y.dtype)
        require(dtype.is_float or (integers and not weights), f"is not defined for {dtype}")
        require((bools and not weights) or DType.BOOL not in (x.dtype, y.dtype), "is not defined for bool")
        require(all(w == x.with_dtype(dtype) for w in weights), f"the weight must be as large as {x}, and {dtype}")
        return TensorType(dtype, broadcast(x.sizes, y.sizes))

    return element


def _smooth_l1(types: Types, attrs: Attrs) -> TensorType:
    beta = number_of(attrs, "beta")
    require(beta >= 0, "beta must not be negative")
    return _difference(bools=beta > 0)(types, attrs)


def _huber(types: Types, attrs: Attrs) -> TensorType:
    x, y, *weights = types
    require(number_of(attrs, "delta") > 0, "delta must be positive")
    require(all(w == x for w in weights), f"the weight must be of the type {x}")
    return _of_input(x, y).with_shape(*broadcast(x.sizes, y.sizes))


def _of_input(x: TensorType, target: TensorType) -> TensorType:
    """The losses have the input's dtype; the target has the same dtype, or is an integer tensor."""
    require_dtype((x,), *FLOATS)
    require(target.dtype == x.dtype or not target.dtype.is_float, f"{x} takes no target of {target.dtype}")
    return x


# --- probabilities and rates


def _expands(x: TensorType, *others: TensorType) -> None:
    for other in others:
        require(broadcast(x.sizes, other.sizes) == x.sizes, f"{other} does not expand to {x}")


def _kl_div(types: Types, attrs: Attrs) -> TensorType:
    require_dtype(types, *FLOATS)
    return TensorType(promote(types), broadcast(*(t.sizes for t in types)))


def _kl_div_operands(b: Builder) -> tuple[Value, ...]:
    """A target from 0 to 1 is valid as a probability and as a logarithm. It has the input's dtype: the envelope of a
    float32 loss does not include an exponential in float16."""
    x = b.tensor(FLOATS)
    return x, _target(b, x, (), 0, 1)


def _kl_div_attrs(source: ChoiceSource, types: Types) -> Attrs:
    return {"log_target": source.chance(40)}


def _poisson(types: Types, attrs: Attrs) -> TensorType:
    x, target = types
    require_dtype((x,), *FLOATS)
    require(not (attrs["full"] and target.dtype is DType.BOOL), "there is no Stirling approximation of bool")
    return TensorType(promote(types), broadcast(x.sizes, target.sizes))


def _poisson_attrs(source: ChoiceSource, types: Types) -> Attrs:
    """Logarithms of integers are float32 even within a float64 loss, whose envelope does not include that."""
    x, target = types
    precise = target.dtype == x.dtype or (target.dtype.is_integer and x.dtype is not DType.FLOAT64)
    return {
        "full": precise and source.chance(50),
        "eps": source.choice((1e-8, 1e-8, 1e-3, 0.5)),
    }


def _poisson_operands(low: int, high: int) -> Callable[[Builder], tuple[Value, ...]]:
    def operands(b: Builder) -> tuple[Value, ...]:
        x = bounded_tensor(b, FLOATS, low, high)
        return x, _target(b, x, WHOLE, 0, 6)

    return operands


def _gaussian(types: Types, attrs: Attrs) -> TensorType:
    x, target, var = types
    require_dtype((x, target), *NUMERIC)
    require_dtype((var,), *FLOATS)
    require_fits(attrs["eps"], var.dtype)
    loss = TensorType(promote((x, target)), broadcast(x.sizes, target.sizes))
    if var.sizes != x.sizes:
        if var.sizes == x.sizes[:-1]:
            var = var.with_shape(*var.sizes, 1)
        else:
            differ = [mine for theirs, mine in zip(x.sizes, var.sizes, strict=False) if mine != theirs]
            require(var.rank == x.rank and sum(differ) == 1, f"{var} is no variance of {x}")
    return TensorType(promote((loss, var)), broadcast(loss.sizes, var.sizes))


def _gaussian_operands(b: Builder) -> tuple[Value, ...]:
    x, target = _pair(b, NUMERIC)
    shape = x.type.sizes
    axis = b.source.integer(0, max(x.type.rank - 1, 0))
    thin = tuple(1 if i == axis else size for i, size in enumerate(shape))
    wanted = TensorType(x.type.dtype, b.source.choice((shape, shape, shape[:-1], thin)))
    return x, target, b.fresh_input(wanted, domain=POSITIVE)


def _binary(types: Types, attrs: Attrs) -> TensorType:
    x, target, *weights = types
    require_dtype(types, *FLOATS)
    require(target == x, f"the target must be of the type {x}")
    _expands(x, *weights)
    return x


def _binary_operands(low: int, high: int, each: int) -> Callable[[Builder], tuple[Value, ...]]:
    def operands(b: Builder) -> tuple[Value, ...]:
        """If there is one weight, a second one follows in `each` of a hundred cases."""
        x = bounded_tensor(b, FLOATS, low, high)
        dtype, shape = x.type.dtype, x.type.sizes
        weights = weight(b, 40, dtype, _part(b, shape))
        more = weight(b, each, dtype, _part(b, shape)) if weights else ()
        return x, bounded_of_type(b, x.type, 0, 1), *weights, *more

    return operands


def _pos_weight_operands(b: Builder) -> tuple[Value, ...]:
    x = bounded_tensor(b, FLOATS, -8, 8)
    return x, bounded_of_type(b, x.type, 0, 1), *weight(b, 100, x.type.dtype, _part(b, x.type.sizes))


# --- signs


def _soft_margin(types: Types, attrs: Attrs) -> TensorType:
    x, target = types
    _expands(x, target)
    return _of_input(x, target)


def _hinge(types: Types, attrs: Attrs) -> TensorType:
    x, target = types
    require_fits(attrs["margin"], x.dtype)
    return _of_input(x, target).with_shape(*broadcast(x.sizes, target.sizes))


def _soft_margin_operands(b: Builder) -> tuple[Value, ...]:
    x = bounded_tensor(b, FLOATS, -8, 8)
    return x, _target(b, x, SIGNED, -1, 1)


def _hinge_operands(b: Builder) -> tuple[Value, ...]:
    x = b.tensor(FLOATS)
    dtype = b.source.choice((*SIGNED, x.type.dtype))
    return x, bounded_of_type(b, TensorType(dtype, () if b.source.chance(8) else x.type.sizes), -1, 1)


_POISSON = {"full": BOOL, "eps": NUMBER}
_LOGITS = "binary_cross_entropy_with_logits"

OPS = (
    loss_row("mse_loss", _differing(ALL, 20), _difference(bools=True), "MSELoss", given=("weight",), in_layer=False),
    loss_row(
        "l1_loss",
        _differing(NUMERIC, 20),
        _difference(integers=True),
        "L1Loss",
        given=("weight",),
        in_layer=False,
        plainer="mse_loss",
    ),
    loss_row(
        "smooth_l1_loss",
        _differing(NUMERIC),
        _smooth_l1,
        "SmoothL1Loss",
        lambda source, types: {"beta": source.choice((1.0, 1.0, 0.5, 3, 0))},
        {"beta": NUMBER},
        {"beta": 1.0},
        plainer="l1_loss",
    ),
    loss_row(
        "huber_loss",
        _differing(WHOLE, 20),
        _huber,
        "HuberLoss",
        lambda source, types: {"delta": source.choice((1.0, 1.0, 0.5, 3))},
        {"delta": NUMBER},
        {"delta": 1.0},
        given=("weight",),
        in_layer=False,
        plainer="l1_loss",
    ),
    loss_row(
        "kl_div",
        _kl_div_operands,
        _kl_div,
        "KLDivLoss",
        _kl_div_attrs,
        {"log_target": BOOL},
        {"log_target": False},
        each=_several,
        ways=("none", "mean", "sum", "batchmean"),
        plainer="l1_loss",
    ),
    loss_row(
        "poisson_nll_loss",
        _poisson_operands(-8, 8),
        _poisson,
        "PoissonNLLLoss",
        _poisson_attrs,
        _POISSON,
        {"full": False, "eps": 1e-8},
        each=_several,
        plainer="l1_loss",
    ),
    loss_row(
        "poisson_nll_loss_of_rates",
        _poisson_operands(1, 8),
        _poisson,
        "PoissonNLLLoss",
        _poisson_attrs,
        _POISSON,
        {"full": False, "eps": 1e-8},
        each=_several,
        function="poisson_nll_loss",
        fixed=", log_input=False",
        plainer="poisson_nll_loss",
    ),
    loss_row(
        "gaussian_nll_loss",
        _gaussian_operands,
        _gaussian,
        "GaussianNLLLoss",
        lambda source, types: {"full": source.chance(40), "eps": source.choice((1e-6, 1e-6, 1e-3, 1.0))},
        {"full": BOOL, "eps": NUMBER},
        {"full": False, "eps": 1e-6},
        inputs=3,
        each=_several,
    ),
    loss_row(
        "binary_cross_entropy",
        _binary_operands(0, 1, each=0),
        _binary,
        "BCELoss",
        given=("weight",),
        plainer="l1_loss",
        terms=one_term,  # more would push its operands out of [0, 1], which PyTorch checks
    ),
    loss_row(
        _LOGITS,
        _binary_operands(-8, 8, each=50),
        _binary,
        "BCEWithLogitsLoss",
        given=("weight", "pos_weight"),
        each=_several,
        scale=8.0,  # terms of the size of the logits cancel
        plainer="l1_loss",
    ),
    loss_row(
        f"{_LOGITS}_pos_weight",
        _pos_weight_operands,
        _binary,
        "BCEWithLogitsLoss",
        given=("pos_weight",),
        needs=1,
        each=_several,
        scale=8.0,
        function=_LOGITS,
        plainer=_LOGITS,
    ),
    loss_row(
        "soft_margin_loss",
        _soft_margin_operands,
        _soft_margin,
        "SoftMarginLoss",
        each=_several,
        scale=1.0,
        plainer="l1_loss",
    ),
    loss_row(
        "hinge_embedding_loss",
        _hinge_operands,
        _hinge,
        "HingeEmbeddingLoss",
        lambda source, types: {"margin": source.choice((1.0, 1.0, 0.5, 2, -1.0, 0))},
        {"margin": NUMBER},
        {"margin": 1.0},
        each=_several,
        plainer="l1_loss",
    ),
)
