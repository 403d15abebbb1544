"""One row for all public functions of PyTorch that `fuzz sweep` calls with PyTorch's own samples.

The row is in the table, so these cases are checked, run, reduced and filed like others. Random generation does not draw
it: the result types are stored in the case, as PyTorch gave them for the sample, and no rule infers them.
"""

from __future__ import annotations

import ast
import re

from generators.builder import Builder
from generators.graph import DTYPE_NAMES, Attr, Attrs, Invalid, TensorType, Value
from generators.op import AttrKind, Op, Types, require
from generators.torch.ops.functions import FUNCTIONS

OPERAND = re.compile(r"a(0|[1-9][0-9]{0,2})")


def _is_call(value: Attr) -> bool:
    """Whether it is a call of a listed function on literals, dtypes, and operands a0, a1, ... The text must be that of
    `ast.unparse`, so that each call has one text only: titles show it."""
    if not isinstance(value, str) or len(value) > 4000:
        return False
    try:
        tree = ast.parse(value, mode="eval")
        call = tree.body
        if not isinstance(call, ast.Call) or ast.unparse(tree) != value or ast.unparse(call.func) not in FUNCTIONS:
            return False
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    named = [keyword.arg not in (None, "out") for keyword in call.keywords]
    literal = map(_is_literal, (*call.args, *(keyword.value for keyword in call.keywords)))
    return all(named) and all(literal) and not _may_drop(call)


def _may_drop(call: ast.Call) -> bool:
    """Attention is not random if its fifth argument, `dropout_p`, is 0."""
    if ast.unparse(call.func) != "torch.nn.functional.scaled_dot_product_attention":
        return False
    chances = [*call.args[4:5], *(keyword.value for keyword in call.keywords if keyword.arg == "dropout_p")]
    return any(not isinstance(chance, ast.Constant) or chance.value != 0 for chance in chances)


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


CALL = AttrKind("a call of a public function of torch on literals and a0, a1, ...", _is_call, in_double=_in_double)
TYPES = AttrKind("a list of tensor types", _is_types)


def _declared(types: Types, attrs: Attrs) -> Types:
    read = [node.id for node in ast.walk(ast.parse(str(attrs["call"]), mode="eval")) if isinstance(node, ast.Name)]
    names = {int(match[1]) for name in read if (match := OPERAND.fullmatch(name))}
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
    """An upper bound: no function here sums more terms than its largest operand has elements."""
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
