"""Dropout: the identity outside of training; in training, only with a probability of 0 or 1."""

from __future__ import annotations

from generators.graph import FLOATS, Attrs, Form, TensorType
from generators.op import NUMBER, Layer, Op, Types, number_of, require
from generators.torch.ops.operands import one
from generators.torch.ops.rules import ALL, require_dtype


def _row(name: str, layer: str = "", ranks: tuple[int, int] = (0, 5), plainer: str | None = "dropout") -> Op:
    torch = f"torch.{name}({{0}}, {{p}}, False)"

    def infer(types: Types, attrs: Attrs) -> TensorType:
        require(0 <= number_of(attrs, "p") <= 1, "p must be a probability")
        require(name != "dropout1d" or types[0].rank in ranks, f"takes rank 2 or 3, not {types[0]}")
        return types[0]

    forms: dict[Form, str | Layer] = {Form.MODULE: Layer(f"torch.nn.{layer}(p={{p}})")} if layer else {}
    if layer and name.endswith("dropout"):
        forms[Form.FUNCTION] = torch
    return Op(
        name,
        one(ALL, ranks),
        infer,
        f"F.{name}({{0}}, training=False{{more}})" if layer else torch,
        lambda source, types: {"p": source.choice((0.5, 0.5, 0.1, 0.0, 1.0, 1))},
        {"p": NUMBER},
        {"p": 0.5} if layer else {},
        forms=forms,
        view=True,
        plainer=plainer,
    )


def _kept(types: Types, attrs: Attrs) -> TensorType:
    require(0 <= number_of(attrs, "p") <= 1, "p must be a probability")
    return types[0]


def _all_or_nothing(types: Types, attrs: Attrs) -> TensorType:
    require_dtype(types, *FLOATS)
    require(attrs["p"] in (0, 1), "the result is random unless p is 0 or 1")
    return types[0]


OPS = (
    _row("dropout", "Dropout", plainer=None),
    _row("dropout1d", "Dropout1d", (2, 3)),
    _row("dropout2d", "Dropout2d", (3, 4)),
    _row("dropout3d", "Dropout3d", (4, 5)),
    _row("alpha_dropout", "AlphaDropout"),
    _row("feature_alpha_dropout", "FeatureAlphaDropout"),
    _row("feature_dropout"),  # there is none in torch.nn
    Op(
        "dropout_inplace",
        one(),
        _kept,
        "F.dropout({0}.clone(), {p}, False, inplace=True)",
        lambda source, types: {"p": source.choice((0.5, 0.1, 0.0, 1.0))},
        {"p": NUMBER},
        plainer="dropout",
    ),
    Op(
        "dropout_training",
        one(FLOATS),
        _all_or_nothing,
        "F.dropout({0}, {p}, training=True)",
        lambda source, types: {"p": source.choice((1.0, 1.0, 0.0))},
        {"p": NUMBER},
        forms={Form.FUNCTION: "torch.dropout({0}, {p}, True)"},
        view=True,
        multiplies_by_zero=lambda types, attrs: attrs["p"] == 1,
    ),
)
