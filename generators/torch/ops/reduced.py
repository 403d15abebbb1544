"""Shared by losses: one element for each number or sample, and the `reduction` of these."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from generators.builder import Builder
from generators.choice import ChoiceSource
from generators.domain import POSITIVE, Domain, within
from generators.graph import Attrs, DType, Form, TensorType, Value
from generators.op import (
    AttrKind,
    DrawAttrs,
    Layer,
    Op,
    Operands,
    Terms,
    Types,
    no_attrs,
    one_of,
    one_term,
    require,
)
from generators.torch.ops.guard import clamped
from generators.torch.ops.keywords import more
from generators.torch.ops.rules import summed

Element = Callable[[Types, Attrs], TensorType]


def loss_row(
    name: str,
    operands: Operands,
    element: Element,
    layer: str = "",
    draw: DrawAttrs = no_attrs,
    schema: Mapping[str, AttrKind] | None = None,
    defaults: Attrs | None = None,
    *,
    inputs: int = 2,
    given: tuple[str, ...] = (),
    needs: int = 0,
    in_layer: bool = True,
    each: Terms = one_term,
    terms: Terms | None = None,
    scale: float = 0.0,
    function: str = "",
    fixed: str = "",
    ways: tuple[str, ...] = ("none", "mean", "sum"),
    plainer: str | None = None,
) -> Op:
    """A loss.

    element   the type of the losses before they are reduced
    inputs    how many tensors are positional arguments; those in `given` follow by name, `needs` of them are required
    in_layer  whether the layer is called with them too
    each      terms of one loss; `terms` are those of the result, where it is not their sum
    fixed     arguments of each call
    """
    kinds = {**(schema or {}), "reduction": one_of(*ways)}
    standard = {**(defaults or {}), "reduction": "mean"}

    def source(args: tuple[str, ...], attrs: Attrs) -> str:
        named = [f"{key}={arg}" for key, arg in zip(given, args[inputs:], strict=False)]
        return f"F.{function or name}({', '.join([*args[:inputs], *named])}{fixed}{more(attrs, kinds, standard)})"

    def make(types: Types, attrs: Attrs) -> str:
        return f"torch.nn.{layer}({(fixed + more(attrs, kinds, standard)).removeprefix(', ')})"

    def summing(types: Types, attrs: Attrs) -> int:
        return max(1, each(types, attrs) * (1 if attrs["reduction"] == "none" else element(types, attrs).numel))

    call = f"{{self}}({', '.join(f'{{{i}}}' for i in range(inputs))})"
    made = Layer(make, given if in_layer else (), inputs, call)
    return Op(
        name,
        operands,
        _reduced(element),
        source,
        _drawn(element, draw, ways),
        kinds,
        standard,
        arity=(inputs + needs, inputs + len(given)),
        terms=terms or summing,
        scale=scale,
        forms={Form.MODULE: made} if layer else {},
        plainer=plainer,
    )


def _reduced(element: Element) -> Element:
    def infer(types: Types, attrs: Attrs) -> TensorType:
        loss = element(types, attrs)
        if attrs["reduction"] == "none":
            return loss
        require(attrs["reduction"] == "sum" or loss.dtype.is_float, f"there is no mean of {loss.dtype}")
        return TensorType(summed(loss.dtype), ())

    return infer


def _drawn(element: Element, draw: DrawAttrs, ways: tuple[str, ...]) -> DrawAttrs:
    """Draw attributes. Exclude means of no losses, which are NaN, and long sums in float16, which may overflow."""

    def attrs(source: ChoiceSource, types: Types) -> Attrs | None:
        drawn = draw(source, types)
        if drawn is None:
            return None
        loss = element(types, drawn)
        means = bool(loss.numel and types[0].numel and loss.dtype.is_float)
        sums = loss.dtype is not DType.FLOAT16 or loss.numel <= 64
        fitting = {"none": True, "mean": means, "sum": sums, "batchmean": means and sums}
        return {**drawn, "reduction": source.choice([way for way in (*ways, "mean") if fitting[way]])}

    return attrs


# --- operands


def bounded_tensor(b: Builder, dtypes: Sequence[DType], low: int, high: int, ranks: tuple[int, int] = (0, 5)) -> Value:
    """Return a value of one of the dtypes with numbers in a range: a new input, or a computed value that is clamped."""
    computed = [v for v in b.results() if v.type.dtype in dtypes and ranks[0] <= v.type.rank <= ranks[1]]
    if computed and b.source.chance(60):
        return clamped(b, b.source.choice(computed), low, high)
    return b.fresh_input(TensorType(b.dtype(dtypes), b.shape(b.source.integer(*ranks))), domain=within(low, high))


def bounded_of_type(b: Builder, type: TensorType, low: int, high: int) -> Value:
    """Return a value of the type with numbers in the part of the range that its dtype can hold."""
    if not type.dtype.is_float:
        low, high = max(low, type.dtype.range[0]), min(high, type.dtype.range[1])
    computed = [value for value in b.results() if value.type == type]
    if computed and b.source.chance(40):
        return clamped(b, b.source.choice(computed), low, high)
    return b.fresh_input(type, domain=within(low, high))


def same(b: Builder, x: Value) -> Value:
    return b.pick(lambda t: t == x.type, lambda: x.type)


def weight(
    b: Builder, percent: int, dtype: DType, shape: tuple[int, ...], domain: Domain = POSITIVE
) -> tuple[Value, ...]:
    """No weight or one, mostly a tensor of the model. Weights are positive, because a mean divides by their sum."""
    if not b.source.chance(percent):
        return ()
    if b.source.chance(80):
        return (b.buffer(dtype, *shape, domain=domain),)
    return (b.fresh_input(TensorType(dtype, shape), domain=domain),)
