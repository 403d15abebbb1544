"""One row for calls of PyTorch by their name: those that `fuzz sweep` makes of PyTorch's own samples, and the operators
of a model that have no row of their own.

The row is in the table, so these cases are checked, run, reduced and filed like others. Random generation does not draw
it: the result types are stored in the case, as PyTorch gave them, and no rule infers them.
"""

from __future__ import annotations

import re

from generators.builder import Builder
from generators.graph import Attr, Attrs, Invalid, TensorType, Value
from generators.op import AttrKind, Op, Types, require
from generators.torch.ops.calls import Calls, calls_in

NAME = "torch_call"
MOST_OPERANDS = 256
MOST_RESULTS = 256


def _is_call(value: Attr) -> bool:
    return isinstance(value, str) and calls_in(value) is not None


def _in_double(value: Attr) -> Attr:
    text = re.sub(r"\btorch\.(float32|float16|bfloat16)\b", "torch.float64", str(value))
    return re.sub(r"\btorch\.(complex32|complex64)\b", "torch.complex128", text)


def _is_types(value: Attr) -> bool:
    return isinstance(value, tuple) and 0 < len(value) <= MOST_RESULTS and all(map(_is_type, value))


def _is_type(value: object) -> bool:
    try:
        TensorType.parse(str(value))
    except Invalid:
        return False
    return isinstance(value, str)


CALL = AttrKind(
    "calls of listed functions of torch on literals, a0, a1, ... and what the calls before gave",
    _is_call,
    in_double=_in_double,
)
TYPES = AttrKind("a list of tensor types", _is_types, types=True)


def _calls(attrs: Attrs) -> Calls:
    found = calls_in(str(attrs["call"]))
    assert found is not None, "`Op.results` has checked the text"
    return found


def _declared(types: Types, attrs: Attrs) -> Types:
    calls, declared = _calls(attrs), attrs["types"]
    read = sorted(calls.operands)
    require(read == list(range(len(types))), f"the call reads operands {read}, there are {len(types)}")
    assert isinstance(declared, tuple)
    count = calls.results
    require(count in (None, len(declared)), f"the calls have {count} results, there are {len(declared)} types")
    return tuple(TensorType.parse(str(text)) for text in declared)


def _source(args: tuple[str, ...], attrs: Attrs) -> str:
    declared = attrs["types"]
    assert isinstance(declared, tuple)
    return _calls(attrs).in_python(args, len(declared))


def _never(b: Builder) -> tuple[Value, ...] | None:
    return None


def _terms(types: Types, attrs: Attrs) -> int:
    """An upper bound: no function here sums more terms than its largest operand has elements, and the errors of several
    calls add up."""
    calls = len(_calls(attrs).before) + 1
    return calls * calls * max([t.numel for t in types], default=1)


SAMPLE = Op(
    NAME,
    _never,
    _declared,
    _source,
    schema={"call": CALL, "types": TYPES},
    arity=(0, MOST_OPERANDS),
    terms=_terms,
    view=True,
    unlisted=True,
)
