"""Calls of functions of PyTorch as text that is safe to execute, because it is checked: one call, or several, one after
the other.

    torch.sin(a0)

    t0 = torch.ops.aten._fft_r2c.default(a0, [1], 0, True)
    t1 = torch.ops.aten.sort.default(a1)
    (torch.ops.aten.abs.default(t0), t1[1])

a0, a1, ... are operands, and t0, t1, ... are what the calls before gave. Each call is one of a listed function on
literals, dtypes, operands and earlier values. The last line is the result. The branches of `torch.cond`, and the bodies
of loops, are functions f0, f1, ... in front of all, which read their own arguments p0, p1, ... only:

    def f0(p0):
        return (torch.ops.aten.sin.default(p0),)
    def f1(p0):
        return (torch.ops.aten.cos.default(p0),)
    torch.ops.higher_order.cond(a0, f0, f1, (a1,))

They return a tuple, or one value.
"""

from __future__ import annotations

import ast
import functools
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from generators import syntax_tree
from generators.graph import DTYPE_NAMES
from generators.torch.ops.aten import ATEN, PREFIX
from generators.torch.ops.functions import FUNCTIONS

HIGHER_ORDER = "torch.ops.higher_order."
AUTOCAST = f"{HIGHER_ORDER}wrap_with_autocast"
CONTROL_FLOW: Mapping[str, tuple[int | None, tuple[int, ...]]] = {
    f"{HIGHER_ORDER}cond": (4, (1, 2)),
    f"{HIGHER_ORDER}while_loop": (4, (0, 1)),
    f"{HIGHER_ORDER}map_impl": (3, (0,)),
    f"{HIGHER_ORDER}scan": (4, (0,)),
    f"{HIGHER_ORDER}wrap_with_set_grad_enabled": (None, (1,)),
    AUTOCAST: (None, (4,)),
}
"""Functions that call functions: how many arguments each has, None where any number of operands follows, and the places
of those that are functions."""

MOST_TEXT = 100_000
MOST_LINE = 4_000

OPERAND = re.compile(r"a(0|[1-9][0-9]{0,2})")

ATTENTION = ((4, "dropout_p"),)
DROPOUT = ((1, "p"), (2, "train"))
RECURRENT = ((5, "dropout"), (6, "train"))
PACKED = ((6, "dropout"), (7, "train"))
SWITCHES: Mapping[str, tuple[tuple[int, str], ...]] = {
    "torch.nn.functional.scaled_dot_product_attention": ATTENTION,
    f"{PREFIX}scaled_dot_product_attention.default": ATTENTION,
    **{f"{PREFIX}{name}dropout.default": DROPOUT for name in ("", "alpha_", "feature_", "feature_alpha_")},
    **{f"{PREFIX}{name}.input": RECURRENT for name in ("lstm", "gru", "rnn_tanh", "rnn_relu")},
    **{f"{PREFIX}{name}.data": PACKED for name in ("lstm", "gru", "rnn_tanh", "rnn_relu")},
    f"{PREFIX}rrelu.default": ((3, "training"),),
}
"""Functions that draw random numbers unless one of these arguments is 0 or left out: its position and its name."""

LISTED = FUNCTIONS | ATEN | SWITCHES.keys() | CONTROL_FLOW.keys()

CONSTANTS = frozenset(
    {
        *DTYPE_NAMES,
        *("complex32", "complex64", "complex128", "qint8", "quint8", "qint32"),
        *("strided", "sparse_coo", "sparse_csr", "per_tensor_affine", "per_channel_affine"),
        *("contiguous_format", "preserve_format", "channels_last", "channels_last_3d"),
    }
)
"""The attributes of torch that an argument may be."""


class _Refused(Exception):
    """The text is no such calls."""


@dataclass(frozen=True, slots=True)
class Calls:
    """Calls that were checked.

    functions   the branches of conditionals, and the bodies of loops
    before      the assignments of t0, t1, ...
    result      the result: a call, an earlier value, or a tuple of these
    operands    the numbers of the operands that are read
    """

    functions: tuple[ast.FunctionDef, ...]
    before: tuple[ast.Assign, ...]
    result: ast.expr
    operands: frozenset[int]

    @property
    def results(self) -> int | None:
        """How many results there are; None where one call decides."""
        match self.result:
            case ast.Tuple(elts=items):
                return len(items)
            case ast.Call():
                return None
            case _:
                return 1

    def in_python(self, args: tuple[str, ...], results: int) -> str:
        """The text with these expressions as operands: an expression, or statements with the names of the results open
        as {out0}, {out1}, ..."""
        if not self.functions and not self.before and isinstance(self.result, ast.Call):
            return ast.unparse(_Renamed(args).visit(_copy(self.result)))
        names = ", ".join(f"{{out{index}}}" for index in range(results))
        result = self.result.elts[0] if isinstance(self.result, ast.Tuple) and results == 1 else self.result
        listed = ast.Module([*self.functions, *self.before, ast.Expr(result)], [])
        *before, last = written(_Renamed(args).visit(_copy(listed))).split("\n")
        return "\n".join([*before, f"{names} = {last}"])


def written(tree: ast.AST) -> str:
    """The one text of a tree. Versions of Python put blank lines at different places."""
    return "\n".join(line for line in ast.unparse(tree).split("\n") if line)


@functools.lru_cache(2048)
def calls_in(text: str) -> Calls | None:
    """The calls of a text; None where it is anything else. The text must be that of `written`, so that equal calls have
    one text only: titles and reports show it."""
    if len(text) > MOST_TEXT or any(len(line) > MOST_LINE for line in text.split("\n")):
        return None
    try:
        tree = syntax_tree.parse(text)
        return _checked(tree) if written(tree) == text else None
    except (SyntaxError, ValueError, RecursionError, MemoryError, _Refused):
        return None


def _checked(tree: ast.Module) -> Calls:
    functions, statements = _leading_functions(tree.body)
    read: set[str] = set()
    if not statements or not isinstance(statements[-1], ast.Expr):
        raise _Refused
    branches = [f"f{index}" for index in range(len(functions))]
    for index, function in enumerate(functions):
        _check_function(function, branches[: index + 1])
    before = _check_body(statements[:-1], lambda name: OPERAND.fullmatch(name) is not None, branches, read)
    result = statements[-1].value
    _check_result(result, _names(before, lambda name: OPERAND.fullmatch(name) is not None), branches, read)
    operands = frozenset(int(match[1]) for name in read if (match := OPERAND.fullmatch(name)))
    return Calls(tuple(functions), tuple(before), result, operands)


def _leading_functions(body: list[ast.stmt]) -> tuple[list[ast.FunctionDef], list[ast.stmt]]:
    count = next((index for index, each in enumerate(body) if not isinstance(each, ast.FunctionDef)), len(body))
    return [each for each in body[:count] if isinstance(each, ast.FunctionDef)], body[count:]


IsName = Callable[[str], bool]


def _check_function(function: ast.FunctionDef, branches: list[str]) -> None:
    """A branch reads its own arguments only, and returns a tuple or one value."""
    taken = [f"p{index}" for index in range(len(function.args.args))]
    plain = ast.arguments([], [ast.arg(name) for name in taken], None, [], [], None, [])
    own = ast.dump(function.args) == ast.dump(plain) and not function.decorator_list and function.returns is None
    if not own or function.name != branches[-1] or not isinstance(function.body[-1], ast.Return):
        raise _Refused
    before = _check_body(function.body[:-1], taken.__contains__, branches[:-1], set())
    value = function.body[-1].value
    if not isinstance(value, ast.Tuple | ast.Name | ast.Subscript):
        raise _Refused
    _check_result(value, _names(before, taken.__contains__), branches[:-1], set())


def _check_body(body: list[ast.stmt], given: IsName, branches: list[str], read: set[str]) -> list[ast.Assign]:
    """Check that these are assignments of t0, t1, ... in this order."""
    found: list[ast.Assign] = []
    for each in body:
        match each:
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Call() as call) if name == f"t{len(found)}":
                _check_call(call, _names(found, given), branches, read)
                found.append(each)
            case _:
                raise _Refused
    return found


def _names(before: list[ast.Assign], given: IsName) -> IsName:
    made = {f"t{index}" for index in range(len(before))}
    return lambda name: name in made or given(name)


def _check_result(result: ast.expr, known: IsName, branches: list[str], read: set[str]) -> None:
    for each in result.elts if isinstance(result, ast.Tuple) else (result,):
        if isinstance(each, ast.Call):
            _check_call(each, known, branches, read)
        elif not _is_value(each, known, read) or (isinstance(each, ast.Name) and OPERAND.fullmatch(each.id)):
            raise _Refused
    if isinstance(result, ast.Tuple) and not result.elts:
        raise _Refused


def _check_call(call: ast.Call, known: IsName, branches: list[str], read: set[str]) -> None:
    function = ast.unparse(call.func)
    arguments = [*call.args, *(keyword.value for keyword in call.keywords)]
    if function not in LISTED or any(keyword.arg in (None, "out") for keyword in call.keywords):
        raise _Refused
    if function in CONTROL_FLOW:
        count, places = CONTROL_FLOW[function]
        if call.keywords or len(arguments) != (count or max(len(arguments), places[-1] + 1)):
            raise _Refused
        if not all(_is_one_of(arguments[at], branches) for at in places):
            raise _Refused
        if function == AUTOCAST and not _is_switch(arguments[2], False):
            raise _Refused  # its calls round to another dtype than the program says
        arguments = [each for at, each in enumerate(arguments) if at not in places]
    if _may_draw(call, function) or not all(_is_argument(each, known, read) for each in arguments):
        raise _Refused


def _is_one_of(node: ast.expr, branches: list[str]) -> bool:
    return isinstance(node, ast.Name) and node.id in branches


def _is_switch(node: ast.expr, value: bool) -> bool:
    return isinstance(node, ast.Constant) and node.value is value


def _may_draw(call: ast.Call, function: str) -> bool:
    """Whether it may draw random numbers: none of the arguments that switch this off is 0 or left out."""
    switches = SWITCHES.get(function, ())
    return bool(switches) and not any(_is_off(call, place, name) for place, name in switches)


def _is_off(call: ast.Call, place: int, name: str) -> bool:
    given = [*call.args[place : place + 1], *(keyword.value for keyword in call.keywords if keyword.arg == name)]
    return all(isinstance(value, ast.Constant) and value.value == 0 for value in given)


def _is_value(node: ast.expr, known: IsName, read: set[str]) -> bool:
    """Whether it is an operand or an earlier value, or one of the values that an earlier call gave."""
    match node:
        case ast.Subscript(value=ast.Name(id=name), slice=ast.Constant(value=int() as place)):
            read.add(name)
            return known(name) and not isinstance(place, bool) and OPERAND.fullmatch(name) is None
        case ast.Name(id=name):
            read.add(name)
            return known(name)
        case _:
            return False


def _is_argument(node: ast.expr, known: IsName, read: set[str]) -> bool:
    match node:
        case ast.Constant(value=str() as text):
            return "{" not in text and "}" not in text  # braces are the places of names in the source of a row
        case ast.Constant(value=None | bool()):
            return True
        case ast.Attribute(value=ast.Name(id="torch"), attr=name):
            return name in CONSTANTS
        case ast.Call(func=ast.Name(id="complex"), args=[real, imaginary], keywords=[]):
            return _is_number(real) and _is_number(imaginary)
        case ast.Tuple(elts=items) | ast.List(elts=items):
            return all(_is_argument(item, known, read) for item in items)
        case _:
            return _is_number(node) or _is_value(node, known, read)


def _is_number(node: ast.expr) -> bool:
    match node:
        case ast.Constant(value=value) | ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=value)):
            return isinstance(value, int | float)
        case ast.Call(func=ast.Name(id="float"), args=[ast.Constant(value="inf" | "-inf" | "nan")], keywords=[]):
            return True
        case _:
            return False


# --- writing


def _copy(tree: ast.Module | ast.expr) -> ast.AST:
    text = ast.unparse(tree)
    return syntax_tree.parse(text) if isinstance(tree, ast.Module) else syntax_tree.parse_expression(text)


class _Renamed(ast.NodeTransformer):
    """Writes the operands, and puts the name of the first result in front of all other names: values of a graph have no
    underscore in their names."""

    def __init__(self, args: tuple[str, ...]) -> None:
        self._args = args

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.FunctionDef:
        node.name = _own(node.name)
        return node

    def visit_Name(self, node: ast.Name) -> ast.expr:
        if match := OPERAND.fullmatch(node.id):
            return syntax_tree.parse_expression(self._args[int(match[1])]).body
        return ast.Name(_own(node.id), node.ctx) if re.fullmatch(r"[tf][0-9]+", node.id) else node


def _own(name: str) -> str:
    return f"{{out0}}_{name}"
