"""A row of an operator of Relax, and how its calls are written."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import Enum, auto
from functools import partial
from typing import Unpack

from generators.choice import ChoiceSource
from generators.graph import Attr, Attrs, Form
from generators.op import (
    AttrKind,
    CallForm,
    DrawAttrs,
    Infer,
    NumericFacts,
    Op,
    Operands,
    Terms,
    Types,
    When,
    Writing,
    always,
    never,
    no_attrs,
    require,
)
from generators.operator_class import OperatorClass
from generators.relax.schema import PREFIX, Schema, schemas


class Given(Enum):
    """How a call gets its operands."""

    EACH = auto()  # one argument after the other
    TUPLE = auto()  # all in one tuple
    REST = auto()  # the first by itself, the others in a tuple
    MIDDLE = auto()  # the first and the last by themselves, the others in a tuple between them
    SHAPE = auto()  # the shape of the only one


@dataclass(frozen=True, slots=True)
class RelaxForm(CallForm):
    """How a call of a row is written in a module.

    schema     of the operator
    given      how it gets its operands
    arguments  attributes of the row that are arguments of the operator, after its operands
    texts      how attributes are written that are no literals
    is_cast    whether TVM does not infer the sizes of the result: match_cast gives it its type
    """

    schema: Schema
    given: Given = Given.EACH
    arguments: tuple[str, ...] = ()
    texts: Mapping[str, Callable[[Attr], str]] = field(default_factory=dict)
    is_cast: bool = False


@dataclass(frozen=True, slots=True)
class KernelForm(CallForm):
    """A call of a kernel that the module has, or of a function that is registered.

    name   of what it computes
    how    the operator of Relax that calls it
    """

    name: str
    how: str = "call_tir"


FORMS: dict[Form, When] = {
    Form.BINDING: always,
    Form.BRANCH: always,
    Form.SUBROUTINE: always,
    Form.TUPLE: lambda types, attrs: bool(types),
    Form.MATCH_CAST: lambda types, attrs: bool(types),
    Form.RECURSION: always,
    Form.LOCAL: always,
    Form.CLOSURE: lambda types, attrs: len(types) > 2,
    Form.TWICE: always,
    Form.SAME_NAME: lambda types, attrs: bool(types),
}
"""The forms of each row, and for which calls: a call without operands has none to bind otherwise. Closures are rare:
TVM 0.27 forgets the type of what a closure returns, and compiles no call that reads it."""


OPEN_FORMS: dict[Form, When] = dict.fromkeys(
    (Form.OPEN, Form.PRIMITIVE), lambda types, attrs: len(types) == 1 and types[0].rank > 0
)
"""The forms that some rows have."""


def row(
    name: str,
    operands: Operands,
    infer: Infer,
    draw: DrawAttrs = no_attrs,
    kinds: Mapping[str, AttrKind] | None = None,
    *,
    arity: int | tuple[int, int] = 1,
    given: Given = Given.EACH,
    arguments: tuple[str, ...] = (),
    texts: Mapping[str, Callable[[Attr], str]] | None = None,
    is_cast: bool = False,
    terms: Terms | None = None,
    scale: float = 0.0,
    moves: bool = False,
    multiplies_by_zero: When = never,
    plainer: str | None = None,
    classes: tuple[OperatorClass, ...] = (),
    may_be_open: bool = False,
    **facts: Unpack[NumericFacts],
) -> Op:
    """The row of the operator `name` of TVM's registry. `kinds` are the attributes that are drawn; others have their
    defaults.

    `may_be_open` says that the operator takes one tensor, whatever its sizes are: TVM infers the sizes of the result
    from them, where they are variables.

    No operand and no result may be empty: what an operator means for a tensor without elements is seldom written."""
    schema, kinds = schemas()[name], dict(kinds or {})
    unknown = set(kinds) - set(schema.parameters)
    assert not unknown, f"{name} has no {sorted(unknown)}"
    return Op(
        PREFIX + name,
        operands,
        partial(not_empty, infer),
        RelaxForm(schema, given, arguments, texts or {}, is_cast),
        partial(drawn, draw),
        kinds,
        {key: schema.defaults[key] for key in kinds if key in schema.defaults},
        (arity, arity) if isinstance(arity, int) else arity,
        terms,
        scale,
        {form: Writing(when) for form, when in (FORMS | (OPEN_FORMS if may_be_open else {})).items()},
        moves,
        multiplies_by_zero=multiplies_by_zero,
        plainer=plainer and PREFIX + plainer,
        classes=classes,
        **facts,
    )


def drawn(draw: DrawAttrs, source: ChoiceSource, types: Types) -> Attrs | None:
    """Attributes for operands of these types. The function of a row is made for operands that it takes: for others,
    which the search for the scope of a finding asks about, it may have no such axis or number of operands."""
    try:
        return draw(source, types)
    except (IndexError, ValueError):
        return None


def not_empty(infer: Infer, types: Types, attrs: Attrs) -> Types:
    found = infer(types, attrs)
    results = found if isinstance(found, tuple) else (found,)
    for type in (*types, *results):
        require(all(size > 0 for size in type.sizes), f"{type} has no elements")
    return results
