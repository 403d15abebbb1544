"""One row for any public function of PyTorch, as `fuzz sweep` takes it from PyTorch's own samples.

It is in the table, so that such cases are checked, run, reduced and filed like others, but random generation does not
draw it: its result types are what PyTorch gave when the sample was taken, not what a rule infers.
"""

from __future__ import annotations

import ast
import re

from generators.builder import Builder
from generators.graph import DTYPE_NAMES, Attr, Attrs, Invalid, TensorType, Value
from generators.ops.base import Kind, Op, Types, require
from generators.ops.functions import FUNCTIONS

OPERAND = re.compile(r"a(\d{1,3})")


def _is_call(value: Attr) -> bool:
    """A call of a listed function on literals, dtypes, and operands a0, a1, ...: nothing else can be said."""
    if not isinstance(value, str) or len(value) > 4000:
        return False
    try:
        call = ast.parse(value, mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    if not isinstance(call, ast.Call) or ast.unparse(call.func) not in FUNCTIONS:
        return False
    named = [keyword.arg is not None for keyword in call.keywords]
    return all(named) and all(map(_is_literal, (*call.args, *(keyword.value for keyword in call.keywords))))


def _is_literal(node: ast.expr) -> bool:
    match node:
        case ast.Constant(value=value):
            return value is None or isinstance(value, bool | int | float | str)
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=value)):
            return isinstance(value, int | float)
        case ast.Name(id=name):
            return OPERAND.fullmatch(name) is not None
        case ast.Attribute(value=ast.Name(id="torch"), attr=name):
            return name in DTYPE_NAMES
        case ast.Call(func=ast.Name(id="float"), args=[ast.Constant(value="inf" | "-inf" | "nan")], keywords=[]):
            return True
        case ast.Tuple(elts=items) | ast.List(elts=items):
            return all(map(_is_literal, items))
        case _:
            return False


def _in_double(value: Attr) -> Attr:
    return re.sub(r"\btorch\.(float32|float16|bfloat16)\b", "torch.float64", str(value))


def _is_types(value: Attr) -> bool:
    return isinstance(value, tuple) and 0 < len(value) <= 16 and all(map(_is_type, value))


def _is_type(value: object) -> bool:
    try:
        TensorType.parse(str(value))
    except Invalid:
        return False
    return isinstance(value, str)


CALL = Kind("a call of a public function of torch on literals and a0, a1, ...", _is_call, in_double=_in_double)
TYPES = Kind("a list of tensor types", _is_types)


def _declared(types: Types, attrs: Attrs) -> Types:
    names = {int(n) for n in OPERAND.findall(re.sub(r"'[^']*'|\"[^\"]*\"|\w+\.\w+", "", str(attrs["call"])))}
    require(names == set(range(len(types))), f"the call reads operands {sorted(names)}, there are {len(types)}")
    declared = attrs["types"]
    assert isinstance(declared, tuple)
    return tuple(TensorType.parse(str(text)) for text in declared)


class _Renamed(ast.NodeTransformer):
    def __init__(self, args: tuple[str, ...]) -> None:
        self._args = args

    def visit_Name(self, node: ast.Name) -> ast.expr:
        match = OPERAND.fullmatch(node.id)
        return ast.parse(self._args[int(match[1])], mode="eval").body if match else node


def _source(args: tuple[str, ...], attrs: Attrs) -> str:
    return ast.unparse(_Renamed(args).visit(ast.parse(str(attrs["call"]), mode="eval")))


def _never(b: Builder) -> tuple[Value, ...] | None:
    return None


def _terms(types: Types, attrs: Attrs) -> int:
    """Not known; no function here sums more than its largest operand has elements."""
    return max([t.numel for t in types], default=1)


SAMPLE = Op(
    "torch_call",
    _never,
    _declared,
    _source,
    schema={"call": CALL, "types": TYPES},
    arity=(0, 64),
    terms=_terms,
    view=True,
)
