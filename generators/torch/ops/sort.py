"""Sorting: sort, topk, medians and running extremes.

Except for a stable sort, PyTorch does not document which of several equal numbers an index means. So most of these
operators have two rows: one with values and indices for inputs without ties, and one with values only for all inputs.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from generators.choice import ChoiceSource
from generators.graph import Attrs, DType, Form, TensorType
from generators.op import BOOL, INT, AttrKind, DrawAttrs, Infer, Op, Types, int_of, require
from generators.torch.ops.axes import along, draw_axis, draw_ranked_axis, left, require_elements, without_ties
from generators.torch.ops.operands import one
from generators.torch.ops.rules import ALL, NUMERIC, require_dtype

Draw = Callable[[ChoiceSource, Types, int], Attrs | None]
"""Draws the attributes of a call along an axis."""

# --- pairs of rows


def _indexed(values: Infer) -> Infer:
    """Values, and the position of each."""

    def infer(types: Types, attrs: Attrs) -> Types:
        found = values(types, attrs)
        assert isinstance(found, TensorType)
        return found, found.with_dtype(DType.INT64)

    return infer


@dataclass(frozen=True, slots=True)
class RankedAttributes:
    """The attributes of a row that ranks along a dimension.

    draw      gets the drawn dim
    schema    the values that each may take
    defaults  PyTorch's defaults
    """

    draw: Draw
    schema: Mapping[str, AttrKind]
    defaults: Attrs

    def along(self, axis: Callable[[ChoiceSource, Types], int]) -> DrawAttrs:
        return lambda source, types: self.draw(source, types, axis(source, types))


def _ranking(
    name: str,
    infer: Infer,
    attributes: RankedAttributes,
    dtypes: tuple[DType, ...],
    call: str,
    method: str,
    plainer: str | None = None,
    plainer_values: str | None = None,
) -> tuple[Op, Op]:
    """The rows `name`, for inputs without ties, and `name`_values, for all inputs."""
    schema, defaults = attributes.schema, attributes.defaults
    numeric = tuple(dtype for dtype in dtypes if dtype is not DType.BOOL)
    plain, forms = f"torch.{call}", {Form.METHOD: f"{{0}}.{method}"}
    return (
        Op(
            name,
            lambda b: (without_ties(b, numeric),),
            _indexed(infer),
            plain,
            attributes.along(draw_ranked_axis),
            schema,
            defaults,
            forms=forms,
            plainer=plainer,
        ),
        Op(
            f"{name}_values",
            one(dtypes),
            infer,
            f"{plain}.values",
            attributes.along(draw_axis),
            schema,
            defaults,
            forms={Form.METHOD: f"{{0}}.{method}.values", Form.FUNCTION: f"{plain}[0]"},
            plainer=plainer_values,
        ),
    )


# --- sort


def _sort(types: Types, attrs: Attrs) -> TensorType:
    along(types[0], attrs["dim"])
    return types[0]


def _argsort(types: Types, attrs: Attrs) -> TensorType:
    return _sort(types, attrs).with_dtype(DType.INT64)


def _sort_attrs(source: ChoiceSource, types: Types, axis: int) -> Attrs:
    return {"dim": axis, "descending": source.chance(50), "stable": source.chance(40)}


def _stable_attrs(source: ChoiceSource, types: Types) -> Attrs:
    return {"dim": -1 if source.chance(40) else draw_axis(source, types), "descending": source.chance(50)}


_SORT = {"dim": INT, "descending": BOOL}
_SORT_DEFAULTS: Attrs = {"dim": -1, "descending": False}

_SORTS = (
    *_ranking(
        "sort",
        _sort,
        RankedAttributes(_sort_attrs, {**_SORT, "stable": BOOL}, {**_SORT_DEFAULTS, "stable": False}),
        ALL,
        "sort({0}{more})",
        "sort(dim={dim}, descending={descending}, stable={stable})",
    ),
    Op(
        "sort_stable",
        one(),
        _indexed(_sort),
        "torch.sort({0}, stable=True{more})",
        _stable_attrs,
        _SORT,
        _SORT_DEFAULTS,
        forms={Form.METHOD: "{0}.sort(dim={dim}, descending={descending}, stable=True)"},
        plainer="sort",
    ),
    Op(
        "argsort",
        lambda b: (without_ties(b),),
        _argsort,
        "torch.argsort({0}{more})",
        lambda source, types: _sort_attrs(source, types, draw_ranked_axis(source, types)),
        {**_SORT, "stable": BOOL},
        {**_SORT_DEFAULTS, "stable": False},
        forms={Form.METHOD: "{0}.argsort({dim}, {descending})"},
    ),
    Op(
        "argsort_stable",
        one(),
        _argsort,
        "torch.argsort({0}, stable=True{more})",
        _stable_attrs,
        _SORT,
        _SORT_DEFAULTS,
        forms={Form.METHOD: "{0}.argsort(stable=True{more})"},
        plainer="argsort",
    ),
    Op("msort", one(), lambda types, attrs: types[0], "torch.msort({0})", forms={Form.METHOD: "{0}.msort()"}),
)

# --- selections and running extremes


def _topk(types: Types, attrs: Attrs) -> TensorType:
    """Stricter than PyTorch: for the first 0 elements of a 0-d tensor it returns one uninitialized number."""
    require_dtype(types, *NUMERIC)
    (x,), k = types, int_of(attrs, "k")
    axis = along(x, attrs["dim"])
    size = x.sizes[axis] if x.rank else 1
    require(0 <= k <= size and (x.rank > 0 or k == 1), f"there are no {k} largest of {size}")
    return x.with_shape(*x.sizes[:axis], k, *x.sizes[axis + 1 :]) if x.rank else x


def _topk_attrs(source: ChoiceSource, types: Types, axis: int) -> Attrs:
    x = types[0]
    size = x.sizes[axis] if x.rank else 1
    k = min(size, source.choice((1, 1, 2, 3, 5, size, 0 if x.rank else 1)))
    return {"k": k, "dim": axis, "largest": source.chance(50), "sorted": k > 1 or source.chance(50)}


def _kthvalue(types: Types, attrs: Attrs) -> TensorType:
    require_dtype(types, *NUMERIC)
    (x,), k = types, int_of(attrs, "k")
    axis = along(x, attrs["dim"])
    size = x.sizes[axis] if x.rank else 1
    require(1 <= k <= size, f"there is no number {k} of {size}")
    return x.with_shape(*left(x, [axis], attrs["keepdim"]))


def _kthvalue_attrs(source: ChoiceSource, types: Types, axis: int) -> Attrs:
    size = types[0].sizes[axis] if types[0].rank else 1
    return {"k": source.integer(1, max(size, 1)), "dim": axis, "keepdim": source.chance(40)}


def _median(types: Types, attrs: Attrs) -> TensorType:
    """Stricter than PyTorch, which also returns a median of no numbers."""
    require_dtype(types, *NUMERIC)
    require_elements(types[0], range(types[0].rank))
    return types[0].with_shape()


def _median_dim(types: Types, attrs: Attrs) -> TensorType:
    require_dtype(types, *NUMERIC)
    (x,), axis = types, along(types[0], attrs["dim"])
    require_elements(x, [axis])
    return x.with_shape(*left(x, [axis], attrs["keepdim"]))


def _running(types: Types, attrs: Attrs) -> TensorType:
    along(types[0], attrs["dim"])
    return types[0]


def _keepdim(source: ChoiceSource, types: Types, axis: int) -> Attrs:
    return {"dim": axis, "keepdim": source.chance(40)}


def _medians(name: str) -> tuple[Op, ...]:
    return (
        Op(
            name,
            one(NUMERIC),
            _median,
            f"torch.{name}({{0}})",
            forms={Form.METHOD: f"{{0}}.{name}()"},
            plainer="max_all",
        ),
        *_ranking(
            f"{name}_dim",
            _median_dim,
            RankedAttributes(_keepdim, {"dim": INT, "keepdim": BOOL}, {"keepdim": False}),
            NUMERIC,
            f"{name}({{0}}, dim={{dim}}{{more}})",
            f"{name}({{dim}}, {{keepdim}})",
            plainer="max_dim",
            plainer_values="median_dim_values" if name == "nanmedian" else None,
        ),
    )


def _extremes(name: str, plainer: str | None = None) -> tuple[Op, Op]:
    draw: Draw = lambda source, types, axis: {"dim": axis}
    call = f"{name}({{0}}, dim={{dim}})"
    values = plainer and f"{plainer}_values"
    attributes = RankedAttributes(draw, {"dim": INT}, {})
    return _ranking(name, _running, attributes, ALL, call, f"{name}({{dim}})", plainer, values)


_SOME = (
    *_ranking(
        "topk",
        _topk,
        RankedAttributes(
            _topk_attrs,
            {"k": INT, "dim": INT, "largest": BOOL, "sorted": BOOL},
            {"dim": -1, "largest": True, "sorted": True},
        ),
        NUMERIC,
        "topk({0}, {k}{more})",
        "topk({k}, {dim}, {largest}, {sorted})",
    ),
    *_ranking(
        "kthvalue",
        _kthvalue,
        RankedAttributes(_kthvalue_attrs, {"k": INT, "dim": INT, "keepdim": BOOL}, {"dim": -1, "keepdim": False}),
        NUMERIC,
        "kthvalue({0}, {k}{more})",
        "kthvalue({k}, {dim}, {keepdim})",
    ),
    *_medians("median"),
    *_medians("nanmedian"),
    *_extremes("cummax"),
    *_extremes("cummin", plainer="cummax"),
)

OPS = (
    *_SORTS,
    *_SOME,
)
