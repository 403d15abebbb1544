"""Convolutions and transposed convolutions over 1 to 3 dimensions, batched and unbatched."""

from __future__ import annotations

from collections.abc import Callable

from generators.builder import Builder
from generators.choice import ChoiceSource
from generators.graph import FLOATS, Attrs, TensorType, Value
from generators.ops.base import INT, INTS, Op, Types, int_of, ints_of, require
from generators.ops.operands import product
from generators.ops.rules import require_dtype, require_same_dtype, window


def _split(types: Types, nd: int) -> tuple[TensorType, TensorType, int]:
    """Input, weight, and the axis of the channels, after what both directions require."""
    require_dtype(types, *FLOATS)
    require_same_dtype(types)
    x, weight = types[:2]
    require(x.rank in (nd + 1, nd + 2), f"a {nd}-dimensional convolution takes rank {nd + 1} or {nd + 2}, not {x}")
    require(weight.rank == nd + 2, f"the weight must have rank {nd + 2}, not {weight}")
    return x, weight, x.rank - nd - 1


def _window_attrs(attrs: Attrs, nd: int, *keys: str) -> list[tuple[int, ...]]:
    values = [ints_of(attrs, key) for key in keys]
    require(all(len(value) == nd for value in values), f"{', '.join(keys)} take {nd} numbers each")
    return values


def _conv(nd: int) -> Callable[[Types, Attrs], TensorType]:
    def infer(types: Types, attrs: Attrs) -> TensorType:
        x, weight, axis = _split(types, nd)
        stride, padding, dilation = _window_attrs(attrs, nd, "stride", "padding", "dilation")
        groups, out = int_of(attrs, "groups"), weight.sizes[0]
        require(groups > 0 and out % groups == 0, f"{out} output channels do not split into {groups} groups")
        require(x.sizes[axis] == weight.sizes[1] * groups, f"{x} does not fit the weight {weight} of {groups} groups")
        require(len(types) < 3 or types[2].sizes == (out,), f"the bias must be [{out}]")
        spatial = map(window, x.sizes[axis + 1 :], weight.sizes[2:], stride, padding, dilation)
        return x.with_shape(*x.sizes[:axis], out, *spatial)

    return infer


def _conv_transpose(nd: int) -> Callable[[Types, Attrs], TensorType]:
    def infer(types: Types, attrs: Attrs) -> TensorType:
        x, weight, axis = _split(types, nd)
        keys = ("stride", "padding", "output_padding", "dilation")
        stride, padding, extra, dilation = _window_attrs(attrs, nd, *keys)
        groups = int_of(attrs, "groups")
        require(groups > 0 and x.sizes[axis] % groups == 0, f"{x} does not split into {groups} groups")
        require(x.sizes[axis] == weight.sizes[0], f"{x} does not fit the weight {weight}")
        out = weight.sizes[1] * groups
        require(len(types) < 3 or types[2].sizes == (out,), f"the bias must be [{out}]")
        spatial = []
        for i, size in enumerate(x.sizes[axis + 1 :]):
            require(stride[i] > 0 and dilation[i] > 0 and padding[i] >= 0, "stride, dilation must be positive")
            require(0 <= extra[i] < max(stride[i], dilation[i]), "output_padding must be below stride or dilation")
            kernel = dilation[i] * (weight.sizes[2 + i] - 1) + 1
            spatial.append((size - 1) * stride[i] - 2 * padding[i] + kernel + extra[i])
            require(spatial[-1] > 0, f"a transposed convolution of {x} leaves nothing")
        return x.with_shape(*x.sizes[:axis], out, *spatial)

    return infer


def _operands(nd: int, transposed: bool) -> Callable[[Builder], tuple[Value, ...]]:
    """The number of groups shows in the weight's shape; kernels fit the input without padding."""

    def operands(b: Builder) -> tuple[Value, ...]:
        x = b.tensor(FLOATS, ranks=(nd + 1, nd + 2))
        channels, spatial = x.type.sizes[-nd - 1], x.type.sizes[-nd:]
        groups = b.source.choice([g for g in (1, 1, 1, 2, 3, channels) if channels % g == 0])
        out = b.source.choice((1, 2, 3, 4))
        kernel = tuple(b.source.integer(1, min(size, 3)) for size in spatial)
        lead = (channels, out) if transposed else (out * groups, channels // groups)
        weight = b.param(x.type.dtype, *lead, *kernel)
        bias = (b.param(x.type.dtype, out * groups),) if b.source.chance(50) else ()
        return x, weight, *bias

    return operands


def _conv_attrs(nd: int) -> Callable[[ChoiceSource, Types], Attrs]:
    def attrs(source: ChoiceSource, types: Types) -> Attrs:
        x, weight = types[:2]
        room = [size // k for size, k in zip(x.sizes[-nd:], weight.sizes[2:], strict=True)]
        return {
            "stride": tuple(source.choice((1, 1, 2, 3)) for _ in range(nd)),
            "padding": tuple(source.choice((0, 0, 1, 2)) for _ in range(nd)),
            "dilation": tuple(source.choice((1, 1, 2)) if most > 1 else 1 for most in room),
            "groups": x.sizes[-nd - 1] // weight.sizes[1],
        }

    return attrs


def _conv_transpose_attrs(nd: int) -> Callable[[ChoiceSource, Types], Attrs]:
    def attrs(source: ChoiceSource, types: Types) -> Attrs:
        x, weight = types[:2]
        stride = tuple(source.choice((1, 1, 2, 3)) for _ in range(nd))
        dilation = tuple(source.choice((1, 1, 2)) for _ in range(nd))
        bias = types[2].sizes[0] if len(types) > 2 else None
        divisors = [g for g in (1, 1, 2, 3) if x.sizes[-nd - 1] % g == 0]
        return {
            "stride": stride,
            "padding": tuple(source.choice((0, 0, 1)) if k > 1 else 0 for k in weight.sizes[2:]),
            "output_padding": tuple(source.integer(0, max(s, d) - 1) for s, d in zip(stride, dilation, strict=True)),
            "dilation": dilation,
            "groups": bias // weight.sizes[1] if bias else source.choice(divisors),
        }

    return attrs


def _terms(types: Types, attrs: Attrs) -> int:
    """Products that meet in one output element: channels of a group x kernel."""
    return product(types[1].sizes[1:])


def _transposed_terms(types: Types, attrs: Attrs) -> int:
    weight = types[1].sizes
    return weight[0] // int_of(attrs, "groups") * product(weight[2:])


_CONV = {"stride": INTS, "padding": INTS, "dilation": INTS, "groups": INT}
_CALL = "stride={stride}, padding={padding}, dilation={dilation}, groups={groups}"


def _conv_row(nd: int) -> Op:
    call = f"F.conv{nd}d({{args}}, {_CALL})"
    return Op(f"conv{nd}d", _operands(nd, False), _conv(nd), call, _conv_attrs(nd), _CONV, arity=(2, 3), terms=_terms)


def _conv_transpose_row(nd: int) -> Op:
    return Op(
        f"conv_transpose{nd}d",
        _operands(nd, True),
        _conv_transpose(nd),
        f"F.conv_transpose{nd}d({{args}}, output_padding={{output_padding}}, {_CALL})",
        _conv_transpose_attrs(nd),
        {**_CONV, "output_padding": INTS},
        arity=(2, 3),
        terms=_transposed_terms,
    )


OPS = (*map(_conv_row, (1, 2, 3)), *map(_conv_transpose_row, (1, 2, 3)))
