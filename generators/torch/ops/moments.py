"""Statistics: variances, quantiles, histograms and sums of exponentials."""

from __future__ import annotations

from generators.builder import Builder
from generators.choice import ChoiceSource
from generators.domain import within
from generators.graph import FLOATS, Attrs, Form, Profile, TensorType, Value
from generators.op import (
    BOOL,
    INT,
    NUMBER,
    Layer,
    Op,
    Spelling,
    Types,
    int_of,
    number_of,
    one_of,
    one_term,
    optional,
    require,
)
from generators.torch.ops.axes import DIMS, SOME_DIMS, count, draw_axis, draw_dims, draw_some_dims, left, reduced, terms
from generators.torch.ops.guard import clamped
from generators.torch.ops.operands import one
from generators.torch.ops.rules import ALL, SINGLE_AND_DOUBLE, floating, require_dtype, require_same_dtype

_KEEP = {"dim": DIMS, "keepdim": BOOL}
_ALL_OF_IT: Attrs = {"dim": None, "keepdim": False}

# --- moments


def _logsumexp(types: Types, attrs: Attrs) -> TensorType:
    (x,) = types
    require(attrs["dim"] != () or not x.rank, "takes dims: an empty list of them is taken for empty operands only")
    return TensorType(floating(x.dtype), left(x, reduced(x, attrs["dim"]), attrs["keepdim"]))


def _logsumexp_attrs(source: ChoiceSource, types: Types) -> Attrs | None:
    """The logarithm of an empty sum is infinite: few of them are drawn."""
    dim = draw_some_dims(source, types)
    if not count(types[0], reduced(types[0], dim)) and source.chance(80):
        return None
    return {"dim": dim, "keepdim": source.chance(40)}


def _var(types: Types, attrs: Attrs) -> TensorType:
    """Stricter than PyTorch: with no more numbers than the correction, a variance is 0/0 or infinite."""
    require_dtype(types, *FLOATS)
    (x,) = types
    axes = reduced(x, attrs["dim"])
    require(count(x, axes) > max(int_of(attrs, "correction"), 0), "takes more numbers than its correction")
    return x.with_shape(*left(x, axes, attrs["keepdim"]))


def _var_mean(types: Types, attrs: Attrs) -> Types:
    return (_var(types, attrs),) * 2


def _var_attrs(source: ChoiceSource, types: Types) -> Attrs | None:
    dim = draw_dims(source, types)
    size = count(types[0], reduced(types[0], dim))
    fitting = [correction for correction in (1, 1, 1, 0, 0, 2, 3, -1) if size > max(correction, 0)]
    return {"dim": dim, "keepdim": source.chance(40), "correction": source.choice(fitting)} if fitting else None


def _unbiased(name: str) -> Spelling:
    """Forms with the older keyword `unbiased`, for a correction of 0 or 1."""
    return Spelling(
        lambda args, attrs: (
            f"torch.{name}({args[0]}, dim={attrs['dim']}, unbiased={attrs['correction'] == 1}, "
            f"keepdim={attrs['keepdim']})"
        ),
        lambda types, attrs: attrs["correction"] in (0, 1),
    )


def _moment(name: str) -> Op:
    two = name.endswith("_mean")
    plainer = None if name == "var_mean" else "var_mean" if two else "mean"
    forms: dict[Form, str | Spelling | Layer] = {Form.FUNCTION: _unbiased(name)}
    if not two:
        forms[Form.METHOD] = f"{{0}}.{name}({{dim}}, correction={{correction}}, keepdim={{keepdim}})"
    return Op(
        name,
        one(FLOATS),
        _var_mean if two else _var,
        f"torch.{name}({{0}}{{more}})",
        _var_attrs,
        {**_KEEP, "correction": INT},
        {**_ALL_OF_IT, "correction": 1},
        terms=terms,
        forms=forms,
        plainer=plainer,
    )


# --- quantiles

_INTERPOLATIONS = ("linear", "lower", "higher", "nearest", "midpoint")


def _quantile(types: Types, attrs: Attrs) -> TensorType:
    """A second operand gives the quantiles; if it is a list, the result has an additional dimension."""
    require_same_dtype(types)
    require_dtype(types, *SINGLE_AND_DOUBLE)
    x, *which = types
    require(x.numel > 0, "an empty tensor has no quantiles")
    require(all(q.rank <= 1 for q in which), "takes a list of quantiles, of rank 0 or 1")
    if not which:
        require(0 <= number_of(attrs, "q") <= 1, f"takes quantiles from 0 to 1, not {attrs['q']}")
    several = [size for q in which for size in q.sizes]
    return x.with_shape(*several, *left(x, reduced(x, attrs["dim"]), attrs["keepdim"]))


def _draw_quantile(source: ChoiceSource, types: Types) -> Attrs:
    return {
        "dim": None if source.chance(40) else draw_axis(source, types),
        "keepdim": source.chance(40),
        "interpolation": "linear" if source.chance(40) else source.choice(_INTERPOLATIONS),
    }


def _quantile_attrs(source: ChoiceSource, types: Types) -> Attrs:
    """Quantiles whose position, q x (size - 1), is exact in all dtypes, because some interpolations jump there."""
    return {"q": source.choice((0.5, 0.25, 0.75, 0.875, 0.0, 1.0, 0, 1)), **_draw_quantile(source, types)}


def _quantile_operands(b: Builder) -> tuple[Value, ...]:
    x = b.tensor(SINGLE_AND_DOUBLE)
    shape = b.source.choice(((), (1,), (2,), (3,), (0,)))
    return x, b.fresh_input(TensorType(x.type.dtype, shape), domain=within(0, 1))


def _quantiles(name: str, plainer: str | None = None) -> tuple[Op, Op]:
    """The position between two numbers is rounded, so the error is relative to the size of the numbers."""
    schema = {"dim": optional(INT), "keepdim": BOOL, "interpolation": one_of(*_INTERPOLATIONS)}
    defaults: Attrs = {"dim": None, "keepdim": False, "interpolation": "linear"}
    more = "dim={dim}, keepdim={keepdim}, interpolation={interpolation}"
    return (
        Op(
            name,
            one(SINGLE_AND_DOUBLE),
            _quantile,
            f"torch.{name}({{0}}, {{q}}{{more}})",
            _quantile_attrs,
            {"q": NUMBER, **schema},
            defaults,
            terms=one_term,
            scale=1.0,
            forms={Form.METHOD: f"{{0}}.{name}({{q}}, {more})"},
            plainer=plainer,
        ),
        Op(
            f"{name}_tensor",
            _quantile_operands,
            _quantile,
            f"torch.{name}({{0}}, {{1}}{{more}})",
            _draw_quantile,
            schema,
            defaults,
            arity=(2, 2),
            terms=one_term,
            scale=1.0,
            forms={Form.METHOD: f"{{0}}.{name}({{1}}, {more})"},
            plainer=plainer and f"{plainer}_tensor",
        ),
    )


# --- histograms


def _histc(types: Types, attrs: Attrs) -> TensorType:
    require_dtype(types, *FLOATS)
    require(int_of(attrs, "bins") > 0, "takes at least one bin")
    require(number_of(attrs, "min") <= number_of(attrs, "max"), "min must not be above max")
    return types[0].with_shape(int_of(attrs, "bins"))


def _histc_operand(b: Builder) -> tuple[Value, ...]:
    """No half precision: rounding would decide into which bin a number falls. Without bounds PyTorch uses the least
    and largest number of the operand, which must then be finite."""
    value = b.tensor(SINGLE_AND_DOUBLE)
    return (clamped(b, value, -16, 16) if b.profile is Profile.SPECIAL else value,)


def _histc_attrs(source: ChoiceSource, types: Types) -> Attrs:
    """The edges between bins are exact numbers."""
    bins, low = source.integer(1, 12), source.integer(-8, 4) / 2
    if source.chance(30):
        return {"bins": source.choice((1, 2, 4, 8)), "min": 0, "max": 0}
    return (
        {"bins": 100, "min": -12.5, "max": 12.5} if source.chance(40) else {"bins": bins, "min": low, "max": low + bins}
    )


OPS = (
    Op(
        "histc",
        _histc_operand,
        _histc,
        "torch.histc({0}{more})",
        _histc_attrs,
        {"bins": INT, "min": NUMBER, "max": NUMBER},
        {"bins": 100, "min": 0, "max": 0},
        forms={Form.METHOD: "{0}.histc({bins}, {min}, {max})"},
    ),
    Op(
        "logsumexp",
        one(ALL),
        _logsumexp,
        "torch.logsumexp({0}, dim={dim}{more})",
        _logsumexp_attrs,
        {"dim": SOME_DIMS, "keepdim": BOOL},
        {"keepdim": False},
        terms=terms,
        scale=1.0,  # the logarithm of a sum near 1
        forms={Form.METHOD: "{0}.logsumexp({dim}, {keepdim})"},
        plainer="mean",
    ),
    *map(_moment, ("var", "std", "var_mean", "std_mean")),
    *_quantiles("quantile"),
    *_quantiles("nanquantile", plainer="quantile"),
)
