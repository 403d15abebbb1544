"""A statement of scope as an English phrase, put together from its conditions."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from fuzzer.triage.scope.statement import (
    LEAST_HELD_OUT,
    Answer,
    Condition,
    Relation,
    Scope,
    Statement,
    Variation,
)
from fuzzer.triage.scope.table_conditions import table_in_words
from generators.dialect import dialect_named
from generators.graph import DRAWN, DType, Graph, Scalar

ALWAYS = "in every case that was tried"


def phrase(statement: Statement, graph: Graph) -> str:
    """Return for example "where alpha is not 1 and x0 is float16 or bfloat16". `graph` is that of the reduced case,
    whose names the phrase uses."""
    if not statement.conditions:
        return ALWAYS
    return "where " + listed([_condition(each, graph) for each in statement.conditions])


def sentence(scope: Scope, graph: Graph) -> str:
    """Return what is known about the scope, with the number of held-out cases that confirm it; "" if nothing is.

    Without a held-out case that fails, a statement is a guess."""
    if scope.statement is None:
        condition = table_in_words(scope.variations)
        if condition:
            return f"In the table it fails where {condition}; no simple condition fits all other cases."
        if not scope.cases:
            return ""
        answers = {each.answer for each in scope.variations}
        if Answer.FAILS in answers and Answer.PASSES not in answers:
            return "No simple condition says when it passes: nothing in the table does."
        return "No simple condition says when it fails."
    right, of = scope.inside.right + scope.outside.right, scope.inside.of + scope.outside.of
    confirmed = f"{right} of {of} held-out cases agree" if of else "no other case could confirm it"
    fails = "It fails" if of >= LEAST_HELD_OUT and scope.inside.right else "Perhaps it fails"
    return f"{fails} {phrase(scope.statement, graph)} ({confirmed})."


def cut_short_in_words(scope: Scope) -> str:
    """Return a sentence about a search that did not ask all its questions; "" where it did."""
    if not scope.cut_short:
        return ""
    return (
        f"The search ended after {scope.cpu_seconds:.0f} CPU seconds with questions left. It may have missed something."
    )


def with_names_of(scope: Scope, graph: Graph, other: Graph) -> Scope:
    """Return the scope of a case with this graph with the names of another graph of the same calls in its rows. In the
    smallest case, the first operand may be x1."""
    names = names_in(other, graph)
    if not names:
        return scope

    def renamed(each: Variation) -> Variation:
        what, of, inputs = each.what.rpartition(" of ")
        found = sorted(names.get(name, name) for name in inputs.split(" and "))
        return replace(each, what=what + of + " and ".join(found))

    return replace(scope, variations=tuple(map(renamed, scope.variations)))


def names_in(other: Graph, graph: Graph) -> dict[str, str]:
    """The names that another graph of the same calls has for the operands of a graph. Empty where the calls differ."""
    if [len(node.args) for node in graph.nodes] != [len(node.args) for node in other.nodes]:
        return {}
    mine, its = ([name for node in each.nodes for name in node.args] for each in (graph, other))
    return dict(zip(mine, its, strict=True))


def listed(words: Sequence[str], last: str = "and") -> str:
    return f" {last} ".join(filter(None, (", ".join(words[:-1]), words[-1])))


def _condition(condition: Condition, graph: Graph) -> str:
    subject, what = _subject(condition, graph), condition.property.what
    if condition.relation is Relation.ABSENT:
        return f"{subject} is left out" if what == "dtype" else f"{subject} has no {_thing(what)}"
    if what == "elements" and (condition.relation, condition.values) in _EMPTY_OR_NOT:
        return f"{subject} {_EMPTY_OR_NOT[condition.relation, condition.values]}"
    none_is_left_out = dialect_named(graph.dialect).none_is_left_out
    if none_is_left_out and what == "value" and condition.values == (None,):
        return f"{subject} is {'left out' if condition.relation is Relation.IN else 'given'}"
    if what in _YES_OR_NO and condition.relation in (Relation.IN, Relation.NOT_IN) and len(condition.values) == 1:
        yes, no = _YES_OR_NO[what]
        return f"{subject} {yes if condition.values[0] is (condition.relation is Relation.IN) else no}"
    if what == "length beyond the rank" and (items := _ITEMS.get((condition.relation, condition.values))):
        return f"{subject} has {items} {_operand(0, condition.property.call, graph)} has dimensions"
    if what in _QUANTITIES:
        return f"{_amounts(condition)} of {subject} are {_QUANTITIES[what]}"
    if what == "dtype" and condition.relation is Relation.IN and (kind := _KINDS.get(frozenset(condition.values))):
        return f"{subject} is of {kind}"
    if what == "form":
        written = [_FORMS.get(str(value), str(value)) for value in condition.values]
        return f"{subject} is {'not ' if condition.relation is Relation.NOT_IN else ''}{listed(written, 'or')}"
    if what in ("dtype", "value", "layout"):
        return f"{subject} {_is(condition)}"
    return f"the {_thing(what)} of {subject} {_is(condition)}"


_FORMS = {
    "plain": "written plainly",
    "function": "written as a function",
    "method": "written as a method",
    "operator": "written as an operator",
    "inplace": "written in place",
    "module": "written as a module",
    "constant": "given constants by nodes",
    "list": "given constants by nodes",
    "as-input": "given constants as inputs",
    "computed": "given computed constants",
    "identity": "after an Identity",
    "cast": "between two Casts",
    "empty": "given empty names",
    "local": "inside a function",
    "branch": "inside an If",
}
"""How a call is written, after "is"."""

_KINDS: dict[frozenset[Scalar], str] = {
    frozenset(dtype.value for dtype in DRAWN if dtype.is_float): "floats",
    frozenset(dtype.value for dtype in DRAWN if not dtype.is_float and dtype is not DType.BOOL): "integers",
}
_EMPTY_OR_NOT: dict[tuple[Relation, tuple[Scalar, ...]], str] = {
    (Relation.AT_LEAST, (1,)): "is not empty",
    (Relation.IN, (0,)): "is empty",
    (Relation.NOT_IN, (0,)): "is not empty",
    (Relation.AT_MOST, (0,)): "is empty",
}
_ITEMS: dict[tuple[Relation, tuple[Scalar, ...]], str] = {
    (Relation.AT_MOST, (0,)): "no more items than",
    (Relation.AT_MOST, (-1,)): "fewer items than",
    (Relation.AT_LEAST, (0,)): "no fewer items than",
    (Relation.AT_LEAST, (1,)): "more items than",
    (Relation.IN, (0,)): "as many items as",
    (Relation.NOT_IN, (0,)): "not as many items as",
}
"""How many items a list has, compared with the rank of the first operand."""
_YES_OR_NO = {
    "same dtype": ("have the same dtype", "have different dtypes"),
    "same rank": ("have the same rank", "have different ranks"),
    "same shape": ("have the same shape", "have different shapes"),
    "constant": ("is a parameter", "is an input"),
    "given": ("is given", "is left out"),
    "different items": ("has different items", "has equal items"),
    "an item is None": ("has the item None", "has no item None"),
    "dtype of operand 0": ("has the dtype of the first operand", "has another dtype than the first operand"),
}
_QUANTITIES = {
    "negative numbers": "negative",
    "zeros": "zero",
    "NaN": "NaN",
    "infinities": "infinite",
    "fractions": "fractions",
}
_ORDINALS = dict(enumerate(("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth")))
_NAMES = {"elements": "number of elements", "operands": "number of operands", "from the end": "place from the end"}


def _subject(condition: Condition, graph: Graph) -> str:
    key = condition.property
    node = graph.nodes[key.call] if key.call < len(graph.nodes) else None
    of_call = f" of `{node.title}`" if node is not None and len(graph.nodes) > 1 else ""
    if key.subject == "call":
        return f"the call{of_call}"
    if key.subject.startswith("result"):
        return f"the result{of_call}"
    if found := re.fullmatch(r"operands? (\d+)(?: and (\d+))?", key.subject):
        return listed([_operand(int(place), key.call, graph) for place in found.groups() if place])
    return f"`{key.subject}`{of_call}"


def _operand(place: int, call: int, graph: Graph) -> str:
    args = graph.nodes[call].args if call < len(graph.nodes) else ()
    return args[place] if place < len(args) else f"the {_ORDINALS.get(place, f'{place + 1}th')} operand"


def _thing(what: str) -> str:
    if found := re.fullmatch(r"size (-?)(\d+)", what):
        number = int(found[2])
        if not found[1]:
            return f"size of dimension {number}"
        return "size of the last dimension" if number == 1 else f"size of dimension -{number}"
    return _NAMES.get(what, what)


def _is(condition: Condition) -> str:
    values = [_value(value) for value in condition.values]
    match condition.relation:
        case Relation.IN:
            return f"is {listed(values, 'or')}"
        case Relation.NOT_IN:
            return f"is not {listed(values, 'or')}"
        case Relation.AT_LEAST:
            return "is positive" if condition.values == (1,) else f"is at least {values[0]}"
        case Relation.AT_MOST:
            return "is negative" if condition.values == (-1,) else f"is at most {values[0]}"
        case Relation.REMAINDER:
            return f"leaves {values[1]} when divided by {values[0]}"
        case Relation.ABSENT:
            return "is absent"


def _value(value: Scalar) -> str:
    return value if isinstance(value, str) else repr(value)


def _amounts(condition: Condition) -> str:
    """Return "all numbers", "no number", "some or all numbers"."""
    wanted = [
        each for each in ("none", "some", "all") if (each in condition.values) is (condition.relation is Relation.IN)
    ]
    return {
        ("none",): "none",
        ("some",): "some, but not all",
        ("all",): "all",
        ("some", "all"): "one or more",
        ("none", "some"): "not all",
        ("none", "all"): "none or all",
    }.get(tuple(wanted), "any") + " of the numbers"
