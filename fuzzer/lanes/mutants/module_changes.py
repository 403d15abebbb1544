"""Changes that break a module. Each contradicts another part of the module."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence

from fuzzer.lanes.mutants.module_json import TUPLE, Binding, Document

CALL_TIR = "relax.call_tir"
OTHER_DTYPE = {"float32": "float16", "float64": "float32", "int64": "int32", "int32": "int64", "bool": "int8"}

Change = Callable[[Document, Binding, random.Random], str | None]
"""Make a change and describe it, without names or sizes of this module; return None where it does not apply."""


def annotation_dtype(document: Document, at: Binding, source: random.Random) -> str | None:
    other = document.with_dtype(at.type, OTHER_DTYPE.get(document.dtype(at.type), "float32"))
    document.put(at.variable, ty=other)
    return f"annotation of another dtype, of {at.operator}"


def annotation_size(document: Document, at: Binding, source: random.Random) -> str | None:
    sizes = _other_size(document, at.type, source)
    if sizes is None:
        return None
    document.put(at.variable, ty=document.with_sizes(at.type, sizes))
    return f"annotation of another size, of {at.operator}"


def annotation_rank(document: Document, at: Binding, source: random.Random) -> str | None:
    document.put(at.variable, ty=document.with_sizes(at.type, [*(document.sizes(at.type) or []), 1]))
    return f"annotation of another rank, of {at.operator}"


def call_type(document: Document, at: Binding, source: random.Random) -> str | None:
    """The type of the call and the annotation agree, but the operator returns another type."""
    other = _other_type(document, at.type, source)
    document.put(at.variable, ty=other)
    document.put(at.call, ty=other)
    return f"call and annotation of another type, of {at.operator}"


def operand(document: Document, at: Binding, source: random.Random) -> str | None:
    """An argument is replaced by a variable of another type."""
    arguments = document.data(at.call)["args"]
    places = [i for i, arg in enumerate(document.data(arguments)) if _tensor_type(document, arg) is not None]
    return _replaced(document, at, arguments, places, source)


def operand_dropped(document: Document, at: Binding, source: random.Random) -> str | None:
    items = document.data(document.data(at.call)["args"])
    if not items:
        return None
    document.put(at.call, args=document.add("ffi.Array", items[:-1]))
    return f"an argument less, of {at.operator}"


def attribute(document: Document, at: Binding, source: random.Random) -> str | None:
    """A flag is inverted, or a number in a list increased by one."""
    attrs = document.data(at.call)["attrs"]
    fields = document.data(attrs)
    if not isinstance(fields, dict):
        return None
    flags = [name for name, value in fields.items() if isinstance(value, bool)]
    lists = [name for name, value in fields.items() if type(value) is int and _numbers(document, value)]
    if not flags and not lists:
        return None
    name = source.choice([*flags, *lists])
    if name in flags:
        document.put(at.call, attrs=document.like(attrs, **{name: not fields[name]}))
    else:
        items = list(document.data(fields[name]))
        place = source.randrange(len(items))
        items[place] = document.add("int", document.data(items[place]) + 1)
        document.put(at.call, attrs=document.like(attrs, **{name: document.add("ffi.Array", items)}))
    return f"another {name}, of {at.operator}"


def _numbers(document: Document, number: int) -> bool:
    if number >= len(document.nodes) or document.kind(number) != "ffi.Array":
        return False
    items = document.data(number)
    return bool(items) and all(document.kind(item) == "int" for item in items)


def tuple_item(document: Document, at: Binding, source: random.Random) -> str | None:
    """The index of a TupleGetItem is beyond the end of the tuple."""
    numbers = [i for i, node in enumerate(document.nodes) if node["type"] == "ir.TupleGetItem"]
    if not numbers:
        return None
    number = source.choice(numbers)
    of = document.data(document.data(number)["tuple_value"])
    type = of.get("ty") if isinstance(of, dict) else None
    if not isinstance(type, int) or document.kind(type) != TUPLE:
        return None
    document.put(number, index=len(document.data(document.data(type)["fields"])))
    return "an item beyond the end of a tuple"


def kernel_result(document: Document, at: Binding, source: random.Random) -> str | None:
    """All types in Relax say that the kernel returns another type than that of its buffer."""
    other = _other_type(document, at.type, source)
    document.put(at.call, ty=other, ty_args=document.add("ffi.Array", [other]))
    document.put(at.variable, ty=other)
    return "another result than the kernel's buffer, of relax.call_tir"


def kernel_result_alone(document: Document, at: Binding, source: random.Random) -> str | None:
    """The result type that call_tir is given contradicts the annotation and the kernel."""
    document.put(at.call, ty_args=document.add("ffi.Array", [_other_type(document, at.type, source)]))
    return "another result type alone, of relax.call_tir"


def kernel_argument(document: Document, at: Binding, source: random.Random) -> str | None:
    passed = document.data(document.data(at.call)["args"])[1]
    if document.kind(passed) != "ir.Tuple":
        return None
    fields = document.data(passed)["fields"]
    description = _replaced(document, at, fields, list(range(len(document.data(fields)))), source)
    return description and _retyped_tuple(document, passed, description)


def kernel_argument_dropped(document: Document, at: Binding, source: random.Random) -> str | None:
    passed = document.data(document.data(at.call)["args"])[1]
    if document.kind(passed) != "ir.Tuple" or not (items := document.data(document.data(passed)["fields"])):
        return None
    document.put(passed, fields=document.add("ffi.Array", items[:-1]))
    return _retyped_tuple(document, passed, "an argument less, of relax.call_tir")


ON_OPERATORS: tuple[Change, ...] = (
    annotation_dtype,
    annotation_size,
    annotation_rank,
    call_type,
    operand,
    operand_dropped,
    attribute,
    tuple_item,
)
ON_KERNELS: tuple[Change, ...] = (
    annotation_dtype,
    annotation_size,
    kernel_result,
    kernel_result_alone,
    kernel_argument,
    kernel_argument_dropped,
)
UNLESS_INFERRED = frozenset({operand, operand_dropped, attribute})
"""Changes that may be valid: an operator may accept another argument or attribute, and return the same type."""


def _other_size(document: Document, type: int, source: random.Random) -> list[int] | None:
    sizes = document.sizes(type)
    if not sizes:
        return None
    axis = source.randrange(len(sizes))
    return [size + (i == axis) for i, size in enumerate(sizes)]


def _other_type(document: Document, type: int, source: random.Random) -> int:
    sizes = _other_size(document, type, source)
    if sizes is None or source.random() < 0.5:
        return document.with_dtype(type, OTHER_DTYPE.get(document.dtype(type), "float32"))
    return document.with_sizes(type, sizes)


def _tensor_type(document: Document, number: int) -> int | None:
    """Return the type of an expression that is a tensor of known shape, or None."""
    data = document.data(number)
    type = data.get("ty") if isinstance(data, dict) else None
    return type if isinstance(type, int) and document.sizes(type) is not None else None


def _replaced(document: Document, at: Binding, array: int, places: Sequence[int], source: random.Random) -> str | None:
    """Replace an item of an array of arguments by a variable that is bound earlier and has another type."""
    if not places:
        return None
    place = source.choice(places)
    type = _tensor_type(document, document.data(array)[place])
    earlier = [b for b in document.bindings() if b.number < at.number]
    others = [b.variable for b in earlier if type is None or not _same_type(document, b.type, type)]
    if type is None or not others:
        return None
    document.put_item(array, place, source.choice(others))
    return f"an argument of another type, of {at.operator}"


def _same_type(document: Document, one: int, other: int) -> bool:
    return document.sizes(one) == document.sizes(other) and document.dtype(one) == document.dtype(other)


def _retyped_tuple(document: Document, number: int, description: str) -> str:
    """Give the tuple the type of its fields, so that only the kernel contradicts the change."""
    types = [document.data(field)["ty"] for field in document.data(document.data(number)["fields"])]
    document.put(number, ty=document.like(document.data(number)["ty"], fields=document.add("ffi.Array", types)))
    return description
