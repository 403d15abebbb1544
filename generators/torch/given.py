"""The rules of a given model of PyTorch: the JSON document of a program of torch.export.

`torch/_export/serde/schema.py` says what a document has.

torch.export reads the document with `getattr` chains and sympy, and compiles code that has its names, so that one from
a stranger could execute anything. Only what these rules name gets that far.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator, Mapping
from keyword import iskeyword
from typing import Any

import msgspec

from generators import syntax_tree
from generators.graph import DType, Invalid
from generators.torch.ops.calls import CONTROL_FLOW

MOST_BYTES = 64 << 20
MOST_DEPTH = 60
MOST_EXPRESSION = 2_000

DTYPE_CODES = {
    DType.UINT8: 1,
    DType.INT8: 2,
    DType.INT16: 3,
    DType.INT32: 4,
    DType.INT64: 5,
    DType.FLOAT16: 6,
    DType.FLOAT32: 7,
    DType.FLOAT64: 8,
    DType.BOOL: 12,
    DType.BFLOAT16: 13,
}
"""The members of the schema's `ScalarType` that difftvm supports."""

_ATEN = re.compile(r"torch\.ops\.aten\.(?P<name>[A-Za-z_][A-Za-z0-9_]*)\.[A-Za-z0-9_]+")
_WORD = re.compile(r"[A-Za-z0-9_.+-]*")
_PATH = re.compile(r"[A-Za-z0-9_.]*")
_NOT_CALLED = frozenset(("from_file", "save", "_print", "warn"))
"""Operators of ATen that open files or print."""

_FUNCTIONS = frozenset(
    (
        *CONTROL_FLOW,
        *("torch.sym_float", "torch.sym_int", "torch.sym_ite", "torch.sym_max", "torch.sym_min", "torch.sym_not"),
        *("torch.sym_sqrt", "torch._sym_sqrt", "math.ceil", "math.floor", "math.trunc"),
        *("_operator.add", "_operator.and_", "_operator.eq", "_operator.floordiv", "_operator.ge", "_operator.getitem"),
        *("_operator.gt", "_operator.le", "_operator.lt", "_operator.mod", "_operator.mul", "_operator.ne"),
        *("_operator.neg", "_operator.or_", "_operator.pow", "_operator.sub", "_operator.truediv"),
    )
)
"""What else a node may call: control flow, and arithmetic on sizes."""

_IN_EXPRESSIONS = frozenset(
    (
        *("Symbol", "Integer", "Rational", "Float", "Add", "Mul", "Pow", "Max", "Min", "Mod", "PythonMod", "FloorDiv"),
        *("CleanDiv", "CeilToInt", "FloorToInt", "IntTrueDiv", "ToFloat", "TruncToInt"),
        *("Eq", "Ne", "Gt", "Ge", "Lt", "Le", "And", "Or", "Not"),
        *("Equality", "Unequality", "StrictGreaterThan", "GreaterThan", "StrictLessThan", "LessThan"),
    )
)
"""The functions of a formula of sizes. sympy has two names for a comparison, and writes the longer one."""

_TREES = frozenset((None, "builtins.tuple", "builtins.list", "builtins.dict"))
"""The containers of inputs and results."""

_VERIFIERS = frozenset(("ATEN", "EDGE", "TRAINING"))


def check_given(model: bytes) -> None:
    """Raise `Invalid` unless the document is one that may be read, and keeps no text of the person's source."""
    if len(model) > MOST_BYTES:
        raise Invalid(f"given: it has more than {MOST_BYTES >> 20} MiB")
    try:
        document = msgspec.json.decode(model)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise Invalid(f"given: it is no JSON: {error}") from None
    if not isinstance(document, dict):
        raise Invalid("given: it is no document of a program")
    for key, value in _entries(document, 0):
        if not _is_word(key):
            raise Invalid(f"given: {key[:80]!r} may not be a key")
        if not _RULES.get(key, _is_plain)(value):
            raise Invalid(f"given: {key} may not be {str(value)[:80]!r}")


def without_texts(document: dict[str, Any]) -> dict[str, Any]:
    """The document without what names the person's files, classes and guards."""
    return {**_plain(document), "guards_code": []}


def _plain(value: Any) -> Any:
    match value:
        case dict():
            return {key: {} if key == "metadata" else _plain(each) for key, each in value.items()}
        case list():
            return [_plain(each) for each in value]
        case _:
            return value


def _entries(value: Any, depth: int) -> Iterator[tuple[str, Any]]:
    """Yield all keys with their values."""
    if depth > MOST_DEPTH:
        raise Invalid(f"given: it is deeper than {MOST_DEPTH}")
    if isinstance(value, dict):
        for key, each in value.items():
            yield key, each
            yield from _entries(each, depth + 1)
    elif isinstance(value, list):
        for each in value:
            yield from _entries(each, depth + 1)


def _may_be_called(target: object) -> bool:
    if not isinstance(target, str):
        return False
    operator = _ATEN.fullmatch(target)
    return target in _FUNCTIONS or (operator is not None and operator["name"] not in _NOT_CALLED)


def _is_formula(text: object) -> bool:
    if not isinstance(text, str) or len(text) > MOST_EXPRESSION:
        return False
    try:
        tree = syntax_tree.parse_expression(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return all(map(_is_part_of_formula, ast.walk(tree)))


def _is_part_of_formula(node: ast.AST) -> bool:
    match node:
        case ast.Call(func=ast.Name(id=name)):
            return name in _IN_EXPRESSIONS
        case ast.Constant(value=value):
            return isinstance(value, bool | int | float) or (isinstance(value, str) and value.isidentifier())
        case ast.Call() | ast.Attribute() | ast.Subscript() | ast.Lambda():
            return False
        case _:
            return isinstance(node, _PLAIN)


_PLAIN = (
    *(ast.Expression, ast.Name, ast.Load, ast.keyword, ast.BinOp, ast.UnaryOp, ast.Compare, ast.BoolOp),
    *(ast.operator, ast.unaryop, ast.cmpop, ast.boolop),
)


def is_tree(text: object) -> bool:
    """Whether a treespec has plain containers only, with identifiers as keys: PyTorch writes them into a function."""
    if not isinstance(text, str) or len(text) > MOST_EXPRESSION * 50:
        return False
    try:
        entries = list(_entries(msgspec.json.decode(text), 0))
        keys = [msgspec.json.decode(value) for key, value in entries if key == "context" and isinstance(value, str)]
    except (msgspec.DecodeError, RecursionError, Invalid):
        return False
    types = all(
        value is None or (isinstance(value, str) and value in _TREES) for key, value in entries if key == "type"
    )
    contexts = all(value is None or isinstance(value, str) for key, value in entries if key == "context")
    return types and contexts and all(each is None or _are_names(each) for each in keys)


def _is_name(value: object) -> bool:
    """Whether PyTorch can write it as a name into the code that it compiles; "" is no name."""
    return isinstance(value, str) and (not value or (value.isidentifier() and not iskeyword(value)))


def _is_path(value: object) -> bool:
    """Whether it is the path of a parameter or of a layer: l.weight, layers.0"""
    return isinstance(value, str) and _PATH.fullmatch(value) is not None


def _are_names(value: object) -> bool:
    return isinstance(value, list) and all(map(_is_name, value))


def _is_word(text: str) -> bool:
    return _WORD.fullmatch(text) is not None


def _is_plain(value: object) -> bool:
    """Whether it has no text that is more than a word, such as a device or a version."""
    texts = value if isinstance(value, list) else [value]
    return all(_is_word(each) for each in texts if isinstance(each, str))


def _is_empty(value: object) -> bool:
    return not value


_RULES: Mapping[str, Callable[[Any], bool]] = {
    "as_string": lambda value: True,  # a value, which is written as a literal
    "target": _may_be_called,
    "as_operator": _may_be_called,
    **dict.fromkeys(("name", "as_name"), _is_name),
    **dict.fromkeys(("parameter_name", "buffer_name", "tensor_constant_name", "fqn"), _is_path),
    "forward_arg_names": lambda value: value is None or _are_names(value),
    "expr_str": _is_formula,
    "in_spec": is_tree,
    "out_spec": is_tree,
    "metadata": _is_empty,
    "guards_code": _is_empty,
    "as_custom_obj": lambda value: False,
    "custom_obj": lambda value: False,
    "verifiers": lambda value: isinstance(value, list) and all(each in _VERIFIERS for each in value),
}
"""What the values of these keys may be."""
