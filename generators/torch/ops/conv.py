"""Convolutions and transposed convolutions over 1 to 3 dimensions, batched and unbatched."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from generators.builder import Builder
from generators.choice import ChoiceSource
from generators.graph import FLOATS, INTEGERS, Attr, Attrs, DType, Form, TensorType, Value
from generators.op import INT, INTS, Arithmetic, AttrKind, Layer, Op, Types, int_of, ints_of, one_of, require
from generators.operator_class import OperatorClass
from generators.shared.draws import CHANNELS, KERNELS
from generators.shared.sizes import product
from generators.torch.ops.pad import OPS as PADS
from generators.torch.ops.rules import NUMERIC, require_dtype, require_same_dtype
from generators.torch.ops.windows import EACH, each, either, steps, window

# --- shared by both directions


def _split(types: Types, nd: int, attrs: Attrs) -> tuple[TensorType, TensorType, int]:
    """Input, weight, and the axis of the channels. For an input without channels, PyTorch gives a result without
    channels, whatever the shape of the weight is."""
    require_dtype(types, *NUMERIC)
    require_same_dtype(types)
    x, weight = types[:2]
    require(x.rank in (nd + 1, nd + 2), f"a {nd}-dimensional convolution takes rank {nd + 1} or {nd + 2}, not {x}")
    require(weight.rank == nd + 2 and min(weight.sizes) > 0, f"the weight must have rank {nd + 2}, not {weight}")
    axis = x.rank - nd - 1
    require(min(x.sizes[axis:]) > 0, f"a convolution takes no empty dimension but the batch, as {x}")
    require(int_of(attrs, "groups") > 0, "channels do not split into 0 groups")
    return x, weight, axis


def _require_bias(types: Types, out: int) -> None:
    require(len(types) < 3 or types[2].sizes == (out,), f"the bias must be [{out}]")


def _operands(nd: int, transposed: bool) -> Callable[[Builder], tuple[Value, ...] | None]:
    """The shape of the weight gives the number of groups. A kernel may exceed the input by 4: padding makes it fit."""

    def operands(b: Builder) -> tuple[Value, ...] | None:
        integers = (DType.INT64,) if transposed else INTEGERS
        x = b.tensor(integers if b.source.chance(6) else FLOATS, ranks=(nd + 1, nd + 2))
        channels, spatial = x.type.sizes[-nd - 1], x.type.sizes[-nd:]
        if not min(channels, *spatial):
            return None
        groups = b.source.choice([g for g in (1, 1, 1, 2, 3, channels, channels) if channels % g == 0])
        kernel = [b.source.choice([k for k in KERNELS[nd] if k <= size + 4]) for size in spatial]
        block = channels // groups * product(kernel)
        room = b.limits.max_numel // (groups * max(block, x.type.numel // channels))
        out = b.source.choice([o for o in CHANNELS if o <= max(room, 1)])
        lead = (channels, out) if transposed else (out * groups, channels // groups)
        wanted = TensorType(x.type.dtype, (*lead, *kernel))
        owned = b.source.chance(88)
        weight = b.param(wanted.dtype, *wanted.sizes) if owned else b.pick(lambda t: t == wanted, lambda: wanted)
        return (x, weight, b.param(x.type.dtype, out * groups)) if b.source.chance(50) else (x, weight)

    return operands


def _keywords(attrs: Attrs) -> str:
    """The keyword arguments that differ from PyTorch's defaults."""
    return "".join(f", {key}={value!r}" for key, value in attrs.items() if value != _DEFAULTS.get(key))


_STEPS: dict[str, AttrKind] = {"stride": EACH, "dilation": EACH, "groups": INT}
_DEFAULTS: dict[str, Attr] = {"stride": 1, "padding": 0, "output_padding": 0, "dilation": 1, "groups": 1}


def _of_floats(types: Types, attrs: Attrs) -> bool:
    """A layer has float weights only."""
    return types[0].dtype.is_float


def _made(name: str, types: Types, inputs: int, outputs: int, attrs: Attrs) -> str:
    kernel = types[1].sizes[2:]
    size = kernel if len(set(kernel)) > 1 else kernel[0]
    bias = "" if len(types) == 3 else ", bias=False"
    return f"torch.nn.{name}({inputs}, {outputs}, {size}{_keywords(attrs)}{bias})"


# --- convolutions


PADDING = AttrKind(
    "a number, or one for each dimension, or 'same' or 'valid'", lambda v: v in ("same", "valid") or EACH.accepts(v)
)


def _conv(nd: int) -> Callable[[Types, Attrs], TensorType]:
    def infer(types: Types, attrs: Attrs) -> TensorType:
        x, weight, axis = _split(types, nd, attrs)
        groups, out, kernel = int_of(attrs, "groups"), weight.sizes[0], weight.sizes[2:]
        require(out % groups == 0, f"{out} output channels do not split into {groups} groups")
        require(x.sizes[axis] == weight.sizes[1] * groups, f"{x} does not fit the weight {weight} of {groups} groups")
        _require_bias(types, out)
        stride, dilation = each(attrs, "stride", nd), each(attrs, "dilation", nd)
        spatial = x.sizes[axis + 1 :]
        if attrs["padding"] == "same":
            require(stride == (1,) * nd and min(dilation) > 0, "padding 'same' takes a stride of 1")
        else:
            padding = (0,) * nd if attrs["padding"] == "valid" else each(attrs, "padding", nd)
            spatial = tuple(map(window, spatial, kernel, stride, padding, dilation))
        if not x.dtype.is_float and max(dilation) > 1:
            require_dtype(types, DType.INT64)
        return x.with_shape(*x.sizes[:axis], out, *spatial)

    return infer


def _least_padding(types: Types, nd: int, dilation: Sequence[int]) -> list[int]:
    """The least padding with which the kernel fits."""
    sizes = zip(types[0].sizes[-nd:], types[1].sizes[2:], dilation, strict=True)
    return [max(0, (d * (int(k) - 1) + 2 - int(size)) // 2) for size, k, d in sizes]


def _draw_dilation(source: ChoiceSource, types: Types, nd: int) -> list[int]:
    if types[0].dtype not in (*FLOATS, DType.INT64):
        return [1] * nd
    sizes = zip(types[0].sizes[-nd:], types[1].sizes[2:], strict=True)
    return steps(source, nd, [3 if k == 1 else (size + 3) // (k - 1) for size, k in sizes])


def _conv_attrs(nd: int) -> Callable[[ChoiceSource, Types], Attrs]:
    def draw(source: ChoiceSource, types: Types) -> Attrs:
        dilation, stride = _draw_dilation(source, types, nd), steps(source, nd)
        least = _least_padding(types, nd, dilation)
        more = [0] * nd if source.chance(40) else [source.choice((0, 1, 1, 2)) for _ in range(nd)]
        padding = either(source, [a + b for a, b in zip(least, more, strict=True)])
        if max(stride) == 1 and source.chance(25):
            padding = "same"
        elif not any(least) and source.chance(10):
            padding = "valid"
        return {
            "stride": either(source, stride),
            "padding": padding,
            "dilation": either(source, dilation),
            "groups": types[0].sizes[-nd - 1] // types[1].sizes[1],
        }

    return draw


def _terms(types: Types, attrs: Attrs) -> int:
    """The number of products in one output element: channels of a group x kernel."""
    return product(types[1].sizes[1:])


def _has_padding(types: Types, attrs: Attrs) -> bool:
    padding = attrs["padding"]
    return any(padding) if isinstance(padding, tuple) else bool(padding)


def _conv_row(nd: int) -> Op:
    def make(types: Types, attrs: Attrs) -> str:
        weight = types[1].sizes
        return _made(f"Conv{nd}d", types, weight[1] * int_of(attrs, "groups"), weight[0], attrs)

    schema = {**_STEPS, "padding": PADDING}
    return Op(
        f"conv{nd}d",
        _operands(nd, False),
        _conv(nd),
        f"F.conv{nd}d({{args}}{{more}})",
        _conv_attrs(nd),
        schema,
        {key: _DEFAULTS[key] for key in schema},
        arity=(2, 3),
        terms=_terms,
        forms={
            Form.FUNCTION: f"torch.conv{nd}d({{args}}{{more}})",
            Form.MODULE: Layer(make, ("weight", "bias"), when=_of_floats),
        },
        arithmetic=Arithmetic.SUM,
        multiplies_by_zero=_has_padding,
        classes=(OperatorClass.CONVOLUTION_2D,) if nd == 2 else (),
    )


# --- convolutions with another padding than zeros, which layers call padding_mode

MODES = {op.name.removeprefix("pad_"): op for op in PADS if op.name != "pad_constant"}


def _same(types: Types, attrs: Attrs, nd: int) -> tuple[int, ...]:
    """Amounts for F.pad that keep the size; the odd one comes at the end."""
    spans = [d * (k - 1) for d, k in zip(each(attrs, "dilation", nd), types[1].sizes[2:], strict=True)]
    return tuple(amount for span in reversed(spans) for amount in (span // 2, span - span // 2))


def _padded_row(nd: int) -> Op:
    """The layer has one `padding` for both sides, or 'same'; the row has the amounts that the layer passes to F.pad."""
    conv = _conv(nd)

    def infer(types: Types, attrs: Attrs) -> TensorType:
        pad = {"pad": attrs["pad"]}
        require(len(ints_of(pad, "pad")) == 2 * nd, f"pad takes {2 * nd} amounts")
        padded = MODES[str(attrs["padding_mode"])].infer(types[:1], pad)
        assert isinstance(padded, TensorType)
        return conv((padded, *types[1:]), {**{key: attrs[key] for key in _STEPS}, "padding": 0})

    def draw(source: ChoiceSource, types: Types) -> Attrs:
        mode, dilation, stride = source.choice(tuple(MODES)), _draw_dilation(source, types, nd), steps(source, nd)
        given = {"stride": either(source, stride), "dilation": either(source, dilation)}
        if source.chance(30):
            pad = _same(types, given, nd)
        else:
            most = [size - 1 if mode == "reflect" else size for size in types[0].sizes[-nd:]]
            least = _least_padding(types, nd, dilation)
            sides = [min(a + source.choice((0, 1, 1, 2)), int(m)) for a, m in zip(least, most, strict=True)]
            pad = tuple(amount for side in reversed(sides) for amount in (side, side))
            if source.chance(10):
                pad = (pad[0] + source.choice((-1, 1)), *pad[1:])
        groups = types[0].sizes[-nd - 1] // types[1].sizes[1]
        return {**given, "groups": groups, "pad": pad, "padding_mode": mode}

    def source_text(args: tuple[str, ...], attrs: Attrs) -> str:
        padded = f"F.pad({args[0]}, {attrs['pad']}, mode={attrs['padding_mode']!r})"
        return f"F.conv{nd}d({', '.join((padded, *args[1:]))}{_keywords({key: attrs[key] for key in _STEPS})})"

    def make(types: Types, attrs: Attrs) -> str:
        pad = ints_of(attrs, "pad")
        weight, given = types[1].sizes, {key: attrs[key] for key in _STEPS}
        if pad[::2] == pad[1::2]:
            given["padding"] = pad[::-2]
        else:  # the layer pads only as many dimensions as `dilation` lists
            given |= {"padding": "same", "dilation": each(attrs, "dilation", nd)}
        given["padding_mode"] = attrs["padding_mode"]
        return _made(f"Conv{nd}d", types, weight[1] * int_of(attrs, "groups"), weight[0], given)

    def when(types: Types, attrs: Attrs) -> bool:
        pad = ints_of(attrs, "pad")
        same = set(each(attrs, "stride", nd)) == {1} and pad == _same(types, attrs, nd)
        return _of_floats(types, attrs) and (same or (pad[::2] == pad[1::2] and min(pad) >= 0))

    return Op(
        f"conv{nd}d_padded",
        _operands(nd, False),
        infer,
        source_text,
        draw,
        {**_STEPS, "pad": INTS, "padding_mode": one_of(*MODES)},
        {key: _DEFAULTS[key] for key in _STEPS},
        arity=(2, 3),
        terms=_terms,
        forms={Form.MODULE: Layer(make, ("weight", "bias"), when=when)},
        arithmetic=Arithmetic.SUM,
        plainer=f"conv{nd}d",
        classes=(OperatorClass.CONVOLUTION_2D,) if nd == 2 else (),
    )


# --- transposed convolutions


def _conv_transpose(nd: int) -> Callable[[Types, Attrs], TensorType]:
    def infer(types: Types, attrs: Attrs) -> TensorType:
        x, weight, axis = _split(types, nd, attrs)
        require(x.dtype.is_float or x.dtype is DType.INT64, f"is not defined for {x.dtype}")
        groups = int_of(attrs, "groups")
        require(x.sizes[axis] % groups == 0, f"{x} does not split into {groups} groups")
        require(x.sizes[axis] == weight.sizes[0], f"{x} does not fit the weight {weight}")
        out = weight.sizes[1] * groups
        _require_bias(types, out)
        keys = ("stride", "padding", "output_padding", "dilation")
        numbers = zip(x.sizes[axis + 1 :], weight.sizes[2:], *(each(attrs, key, nd) for key in keys), strict=True)
        spatial = []
        for size, kernel, stride, padding, extra, dilation in numbers:
            require(stride > 0 and dilation > 0 and padding >= 0, "stride, dilation must be positive")
            require(0 <= extra < max(stride, dilation), "output_padding must be below stride or dilation")
            spatial.append((size - 1) * stride - 2 * padding + dilation * (kernel - 1) + 1 + extra)
            require(spatial[-1] > 0, f"a transposed convolution of {x} leaves nothing")
        return x.with_shape(*x.sizes[:axis], out, *spatial)

    return infer


def _conv_transpose_attrs(nd: int) -> Callable[[ChoiceSource, Types], Attrs]:
    def draw(source: ChoiceSource, types: Types) -> Attrs:
        x, weight = types[0].sizes, types[1].sizes
        stride, dilation = steps(source, nd), steps(source, nd)
        sizes = zip(x[-nd:], weight[2:], stride, dilation, strict=True)
        most = [int((size - 1) * s + d * (k - 1)) // 2 for size, k, s, d in sizes]
        extra = [source.integer(0, max(s, d) - 1) for s, d in zip(stride, dilation, strict=True)]
        channels = x[-nd - 1]
        divisors = [g for g in (1, 1, 2, 3, channels) if channels % g == 0]
        return {
            "stride": either(source, stride),
            "padding": either(source, [min(source.choice((0, 0, 1, 2)), m) for m in most]),
            "output_padding": 0 if source.chance(40) else either(source, extra),
            "dilation": either(source, dilation),
            "groups": types[2].sizes[0] // weight[1] if len(types) == 3 else source.choice(divisors),
        }

    return draw


def _transposed_terms(types: Types, attrs: Attrs) -> int:
    weight = types[1].sizes
    return weight[0] // int_of(attrs, "groups") * product(weight[2:])


def _conv_transpose_row(nd: int) -> Op:
    def make(types: Types, attrs: Attrs) -> str:
        weight = types[1].sizes
        return _made(f"ConvTranspose{nd}d", types, weight[0], weight[1] * int_of(attrs, "groups"), attrs)

    schema = {**_STEPS, "padding": EACH, "output_padding": EACH}
    return Op(
        f"conv_transpose{nd}d",
        _operands(nd, True),
        _conv_transpose(nd),
        f"F.conv_transpose{nd}d({{args}}{{more}})",
        _conv_transpose_attrs(nd),
        schema,
        {key: _DEFAULTS[key] for key in schema},
        arity=(2, 3),
        terms=_transposed_terms,
        forms={
            Form.FUNCTION: f"torch.conv_transpose{nd}d({{args}}{{more}})",
            Form.MODULE: Layer(make, ("weight", "bias"), when=_of_floats),
        },
        arithmetic=Arithmetic.SUM_IN_HALF,
    )


OPS = (
    *map(_conv_row, (1, 2, 3)),
    *map(_conv_transpose_row, (1, 2, 3)),
    *map(_padded_row, (1, 2, 3)),
)
