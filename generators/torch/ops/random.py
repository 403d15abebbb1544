"""Random calls in forms whose result is certain: noise times zero, and events of probability 0 or 1."""

from __future__ import annotations

from generators.choice import ChoiceSource
from generators.graph import FLOATS, Attrs, DType, Form, TensorType
from generators.op import NUMBER, OPTIONAL_DTYPE, SIZES, Op, Types, ints_of, number_of, one_term, require
from generators.torch.ops.literals import drawn_sizes, dtype_or, filled, maybe_dtype, nothing
from generators.torch.ops.operands import one
from generators.torch.ops.rules import ALL, DEFAULT_FLOAT, promote


def _noise(attrs: Attrs, otherwise: DType) -> DType:
    dtype = dtype_or(attrs, otherwise)
    require(dtype in FLOATS, f"there is no such noise in {dtype}")
    return dtype


def _not_random(types: Types, attrs: Attrs) -> TensorType:
    require(attrs["p"] in (0, 1), "the result is random unless p is 0 or 1")
    return types[0]


def _with_noise(types: Types, attrs: Attrs) -> TensorType:
    (x,) = types
    return x.with_dtype(promote((x, x.with_dtype(_noise(attrs, x.dtype)))))


def _zero_noise(types: Types, attrs: Attrs) -> TensorType:
    return filled(0, ints_of(attrs, "size"), _noise(attrs, DEFAULT_FLOAT))


def _exponential(types: Types, attrs: Attrs) -> TensorType:
    (x,) = types
    _noise(attrs, x.dtype)
    require(number_of(attrs, "lambd") > 0, "lambd must be positive")
    return x.with_dtype(DType.BOOL)


def _dtype(source: ChoiceSource, types: Types) -> Attrs:
    """PyTorch makes noise in float dtypes only."""
    x = types[0].dtype
    return {"dtype": maybe_dtype(source, FLOATS) if x.is_float else source.choice(FLOATS).value}


_DTYPE = {"dtype": OPTIONAL_DTYPE}
_NONE: Attrs = {"dtype": None}

OPS = (
    Op(
        "bernoulli",
        one(ALL),
        _not_random,
        "torch.bernoulli({0}, {p})",
        lambda source, types: {"p": source.choice((1.0, 0.0))},
        {"p": NUMBER},
        forms={Form.METHOD: "{0}.bernoulli({p})", Form.INPLACE: "{0}.bernoulli_({p})"},
    ),
    Op(
        "add_noise",
        one(ALL),
        _with_noise,
        "{0} + 0.0 * torch.randn_like({0}{more})",
        _dtype,
        _DTYPE,
        _NONE,
        terms=one_term,
    ),
    Op(
        "no_noise",
        nothing,
        _zero_noise,
        "torch.randn({size}{more}) * 0.0",
        lambda source, types: {"size": drawn_sizes(source), "dtype": maybe_dtype(source, FLOATS)},
        {"size": SIZES, **_DTYPE},
        _NONE,
        arity=(0, 0),
    ),
    Op(
        "exponential_sign",
        one(ALL),
        _exponential,
        "torch.empty_like({0}{more}).exponential_({lambd}) >= 0",
        lambda source, types: {"lambd": source.choice((1.0, 0.5, 2.0)), **_dtype(source, types)},
        {"lambd": NUMBER, **_DTYPE},
        _NONE,
    ),
)
