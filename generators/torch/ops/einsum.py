"""torch.einsum: an equation says which dimensions are multiplied, summed and moved."""

from __future__ import annotations

from functools import reduce

from generators.choice import ChoiceSource
from generators.graph import FLOATS, Attrs, DType, Form, TensorType
from generators.op import Arithmetic, Op, Types
from generators.operator_class import OperatorClass
from generators.shared.draws import accepted
from generators.shared.equations import COUNTED, EQUATION, Label, any_equation, operands, read, reduced_terms
from generators.torch.ops.rules import ALL, NUMERIC, join, require_dtype, require_same_dtype, summed


def _einsum(types: Types, attrs: Attrs) -> TensorType:
    sizes, operands, out = read(types, attrs)
    reduced = sizes.keys() - set(out)
    return TensorType(_dtype(types, operands, reduced), tuple([sizes[label] for label in out]))


def _dtype(types: Types, operands: list[tuple[Label, ...]], reduced: set[Label]) -> DType:
    """Without sums it moves or multiplies, in any dtypes; a sum of one operand is a sum. Other sums are products of
    matrices. PyTorch first sums a dimension whose label is in one operand only: small integers become int64, and
    the product may then be refused. Such equations are left out."""
    dtypes = [t.dtype for t in types]
    if not reduced:
        return reduce(join, dtypes)
    if len(types) == 1:
        return summed(dtypes[0])
    require_same_dtype(types)
    found = [
        {label: size for label, size in zip(labels, t.sizes, strict=True) if label in reduced}
        for labels, t in zip(operands, types, strict=True)
    ]
    paired = len(types) == 2 and found[0] == found[1]
    require_dtype(types, *(NUMERIC if paired else (*FLOATS, DType.INT64)))
    return dtypes[0]


def _attrs(source: ChoiceSource, types: Types) -> Attrs:
    if source.chance(65):
        fitting = accepted(_einsum, types, [{"equation": text} for text, count in COUNTED if count == len(types)])
        if fitting:
            return source.choice(fitting)
    return {"equation": any_equation(source, types)}


EINSUM = Op(
    "einsum",
    lambda b: operands(b, ALL, mixed=True),
    _einsum,
    "torch.einsum({equation}, {args})",
    _attrs,
    {"equation": EQUATION},
    arity=(1, 4),
    terms=reduced_terms,
    forms={Form.FUNCTION: "torch.einsum({equation}, [{args}])"},
    view=True,
    arithmetic=Arithmetic.SUM,
    classes=(OperatorClass.MATRIX_PRODUCT,),
)
