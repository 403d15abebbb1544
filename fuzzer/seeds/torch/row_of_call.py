"""Find the row of the operator table for a call of PyTorch.

Each row has the source of its call (`torch.softmax({0}, dim={dim}{more})`), which gives the function and the names of
its attributes. Several rows may have the same function. The right one accepts the attributes of the call and infers the
types that the file declares. A mistake here loses a node; at worst it makes a valid case of another function.
benchmarks/import_models.py --rows looks for both.
"""

from __future__ import annotations

import functools
import math
import re
from collections.abc import Iterator, Mapping

from fuzzer.seeds.bounds import MAX_RANK
from fuzzer.seeds.torch.program import Arg, Call, Ref
from generators.graph import Attr, Attrs, Form, Invalid, Node, TensorType, Value
from generators.op import Layer, Op, Spelling, Types
from generators.torch.ops import OPS

_FUNCTION = re.compile(r"(?:torch|F)\.([\w.]+)\((.*)\)")
_METHOD = re.compile(r"\{0\}\.(\w+)\((.*)\)")
_OPERATOR = re.compile(r"\{0\} (\S+) \{\w+\}")
_REVERSED = re.compile(r"\(?\{\w+\}\)? (\S+) \{0\}")
_OPERAND = re.compile(r"[(\[]*(?:(\w+)=)?\{(\w+)\}(?:\{more\})?,?[)\]]*(?:\{more\})?")

OPERATORS = {
    "+": "add",
    "-": "sub",
    "*": "mul",
    "/": "div",
    "//": "floor_divide",
    "%": "remainder",
    "**": "pow",
    "==": "eq",
    "!=": "ne",
    "<": "lt",
    "<=": "le",
    ">": "gt",
    ">=": "ge",
    "&": "bitwise_and",
    "|": "bitwise_or",
    "^": "bitwise_xor",
    "<<": "bitwise_left_shift",
    ">>": "bitwise_right_shift",
}
REVERSED = {"-": "rsub", "**": "pow"}

WITHOUT_EFFECT: Mapping[str, tuple[Attr, ...]] = {
    "device": (),
    "layout": (),
    "memory_format": (),
    "generator": (),
    "pin_memory": (False,),
    "cudnn_enabled": (True, False),
    "cudnn_enable": (True, False),
    "benchmark": (True, False),
    "deterministic": (True, False),
    "allow_tf32": (True, False),
    "implicit": (True, False),
    "non_blocking": (True, False),
    "copy": (True, False),
    "is_coalesced": (False,),
    "train": (False,),
    "training": (False,),
    "dropout": (0.0, 0),
    "dropout_p": (0.0, 0),
    "half_to_float": (False,),
    "unsafe": (False,),
    "sparse_grad": (False,),
    "accumulate": (False,),
    "scale_grad_by_freq": (False,),
    "sparse": (False,),
    "non_deterministic": (False,),
}
"""Arguments that have no effect at these values. A row need not have them. None has no effect for any argument."""

REDUCTIONS = ("none", "mean", "sum")
"""The names of the numbers that aten uses for `reduction`."""


class NoRow(Exception):
    """No row has this call. The message gives the reason."""


def node_of(call: Call, types: Mapping[str, TensorType], declared: Mapping[str, TensorType]) -> Node:
    """Return the call as a node, with the names of the file. Its results have the types that the file
    declares. Raise `NoRow`."""
    candidates = rows_by_function().get(call.function, ())
    if not candidates:
        raise NoRow("no row of the operator table has its name")
    if unknown := [name for name in call.operands if name not in types]:
        raise NoRow(f"the type of {unknown[0]} is unknown or not supported")
    operands = tuple(types[name] for name in call.operands)
    why = ""
    for op in candidates:
        try:
            attrs = _attrs(op, call)
            inferred = op.results(operands, attrs)
            _require_declared(call, inferred, declared)
        except (Invalid, NoRow) as error:
            why = why or str(error)
            continue
        results = tuple(Value(name, type) for name, type in zip(call.results, inferred, strict=True))
        return Node(op.name, call.operands, attrs, results)
    raise NoRow(why)


def _require_declared(call: Call, inferred: Types, declared: Mapping[str, TensorType]) -> None:
    if len(inferred) != len(call.results):
        raise NoRow(f"has {len(call.results)} results, the row {len(inferred)}")
    for name, type in zip(call.results, inferred, strict=True):
        if type.rank > MAX_RANK:
            raise NoRow(f"returns a tensor of rank {type.rank}")
        if declared.get(name, type) != type:
            raise NoRow(f"returns {declared[name]}, the row {type}")


def _attrs(op: Op, call: Call) -> Attrs:
    """Return each attribute of the row, from the argument of the same name or at its default. Raise `NoRow` where an
    argument has no attribute and changes the result."""
    rest = {name: arg for name, arg in call.args.items() if not _is_tensors(arg)}
    attrs: dict[str, Attr] = {}
    for key, kind in op.schema.items():
        if key in rest:
            value = rest.pop(key)
            fitting = [each for each in _meanings(key, value) if kind.accepts(each)]
            if not fitting:
                raise NoRow(f"{key} is {value!r}, which {op.name} does not accept")
            attrs[key] = op.defaults[key] if _repeats_default(fitting[0], op.defaults.get(key)) else fitting[0]
        elif key in op.defaults:
            attrs[key] = op.defaults[key]
        elif kind.accepts(None):
            attrs[key] = None
        else:
            raise NoRow(f"{op.name} needs {key}")
    for key, value in rest.items():
        if value is not None and value not in WITHOUT_EFFECT.get(key, ()):
            raise NoRow(f"{op.name} has no attribute {key}={value!r}")
    return attrs


def _repeats_default(value: Attr, default: Attr) -> bool:
    """Whether a list repeats the default for each dimension."""
    alike = isinstance(value, tuple) and len(value) > 0 and all(item == default for item in value)
    return alike and isinstance(default, int) and not isinstance(default, bool)


def _is_tensors(arg: Arg) -> bool:
    return isinstance(arg, Ref) or (isinstance(arg, tuple) and any(isinstance(each, Ref) for each in arg))


def _meanings(key: str, value: Arg) -> Iterator[Attr]:
    """Yield the attribute values that an argument may mean: itself; the only element of a list; None for an empty
    list; an infinity as text; the name of a reduction."""
    assert not isinstance(value, Ref)
    if isinstance(value, tuple):
        each = tuple(item for item in value if not isinstance(item, Ref))
        yield each
        if len(each) <= 1:
            yield each[0] if each else None
        return
    if isinstance(value, float) and math.isinf(value):
        yield str(value)
    if key == "reduction" and value in (0, 1, 2):
        yield REDUCTIONS[int(value)]
    yield value


# --- the functions of the rows


@functools.cache
def rows_by_function() -> Mapping[str, tuple[Op, ...]]:
    """Return the rows of each function in table order, a row with that name first."""
    found: dict[str, list[Op]] = {op.name: [op] for op in OPS}
    for op in OPS:
        for function in _functions(op):
            if op not in found.setdefault(function, []):
                found[function].append(op)
    return {function: tuple(ops) for function, ops in found.items()}


def _functions(op: Op) -> Iterator[str]:
    for form in (Form.PLAIN, *op.forms):
        template = op.source if form is Form.PLAIN else op.forms[form]
        if form is Form.INPLACE or isinstance(template, Layer):
            continue
        text = template.source if isinstance(template, Spelling) else template
        if isinstance(text, str):
            yield from _functions_in(text)


def _functions_in(text: str) -> Iterator[str]:
    """Yield the function that the text calls, if its arguments are operands and attributes only."""
    if match := _OPERATOR.fullmatch(text):
        yield from (OPERATORS[sign] for sign in (match[1],) if sign in OPERATORS)
    elif match := _REVERSED.fullmatch(text):
        yield from (REVERSED[sign] for sign in (match[1],) if sign in REVERSED)
    elif match := _FUNCTION.fullmatch(text) or _METHOD.fullmatch(text):
        parts = match[2].split(", ")
        if parts[0] != "{other}" and (parts == [""] or all(map(_OPERAND.fullmatch, parts))):  # `other` comes second
            yield match[1].replace(".", "_")
