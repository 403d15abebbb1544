"""Calls of operators and kernels in TVMScript."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from generators.graph import Attr, Expr, Node, TensorType
from generators.relax.ops import TABLE
from generators.relax.packed import DPS, PACKED, PURE
from generators.relax.row import Given, KernelForm, RelaxForm

INDENT = "    "


def indented(lines: Iterable[str]) -> Iterator[str]:
    return (INDENT + line for line in lines)


def tensor(type: TensorType, *, named: bool = False) -> str:
    """The annotation of a type. `named`: open sizes are strings, as in the parameters of a function."""
    sizes = [f'"{size(each)}"' if named and isinstance(each, Expr) else size(each) for each in type.shape]
    return f'R.Tensor(({", ".join(sizes)}{"," if len(sizes) == 1 else ""}), dtype="{type.dtype}")'


def size(dim: object) -> str:
    return re.sub(r"(?<=\w)(//|[*+-])", r" \1 ", str(dim))


def together(types: Sequence[str]) -> str:
    """The annotation of a function's result."""
    return types[0] if len(types) == 1 else f"R.Tuple({', '.join(types)})"


def called(node: Node) -> str:
    """What a call calls, as scripts write it: R.nn.relu."""
    form = TABLE[node.op].source
    assert isinstance(form, RelaxForm | KernelForm)
    return f"R.{form.schema.function if isinstance(form, RelaxForm) else form.how}"


def bound(target: str, node: Node, args: Sequence[str]) -> Iterator[str]:
    """The statements that bind what the call gives."""
    form = TABLE[node.op].source
    if isinstance(form, RelaxForm) and form.is_cast:
        yield f"u_{target} = {call_text(node, args)}"
        yield f"{target} = R.match_cast(u_{target}, {tensor(node.results[0].type)})"
    else:
        yield f"{target} = {call_text(node, args)}"


def is_kernel(node: Node) -> bool:
    """Whether the node calls a kernel that the module has."""
    form = TABLE[node.op].source
    return isinstance(form, KernelForm) and form.how not in PACKED


def kernel_of(node: Node) -> str:
    form = TABLE[node.op].source
    assert isinstance(form, KernelForm)
    return form.name


def kernel_name(node: Node) -> str:
    return f"{kernel_of(node)}_{node.results[0].name}"


def call_text(node: Node, args: Sequence[str]) -> str:
    row = TABLE[node.op]
    if isinstance(row.source, KernelForm):
        return _kernel_call(row.source, node, args)
    form = row.source
    assert isinstance(form, RelaxForm)
    attrs = {key: value for key, value in node.attrs.items() if key not in row.defaults or value != row.defaults[key]}
    return f"R.{form.schema.function}({', '.join(_arguments(form, _operands(form.given, args), node, attrs))})"


def _kernel_call(form: KernelForm, node: Node, args: Sequence[str]) -> str:
    """The call of a kernel of the module, or of a function that the script registers."""
    type, operands = tensor(node.results[0].type), ", ".join(args)
    if form.how == PURE:
        return f'R.{PURE}("{PACKED[PURE][form.name]}", {operands}, ty_args=({type},))'
    called = f'"{PACKED[DPS][form.name]}"' if form.how == DPS else f"cls.{kernel_name(node)}"
    return f"R.{form.how}({called}, ({operands},), out_ty={type})"


def _operands(given: Given, args: Sequence[str]) -> list[str]:
    """The arguments of a call that are tensors, or tuples of them."""
    match given:
        case Given.EACH:
            return list(args)
        case Given.TUPLE:
            return [f"({', '.join(args)},)"]
        case Given.REST:
            return [args[0], f"({', '.join(args[1:])},)"]
        case Given.MIDDLE:
            return [args[0], f"({', '.join(args[1:-1])},)", args[-1]]
        case Given.SHAPE:
            return [f"R.shape_of({args[0]})"]


def _arguments(form: RelaxForm, operands: Sequence[str], node: Node, attrs: Mapping[str, Attr]) -> Iterator[str]:
    """The arguments in the order of the function's parameters. An operand after an attribute needs its name."""
    left, names = iter(operands), False
    for parameter in form.schema.parameters:
        if parameter in node.attrs:
            names = True
            if parameter in attrs:
                yield f"{parameter}={form.texts.get(parameter, _literal)(attrs[parameter])}"
        elif (operand := next(left, None)) is not None:
            yield f"{parameter}={operand}" if names else operand


def _literal(value: Attr) -> str:
    return f'"{value}"' if isinstance(value, str) else repr(list(value) if isinstance(value, tuple) else value)
