"""Statistics of a set of cases: which operators, dtypes, forms and classes of attribute values occur in it."""

from __future__ import annotations

import statistics
from collections.abc import Iterator
from dataclasses import dataclass, field

from generators.graph import Attr, Case, Node


@dataclass(slots=True)
class Coverage:
    """What occurs in the cases that were added.

    operator_dtype_pairs  operator and dtype of its first operand (of its result, where it has no operands)
    attribute_classes     operator, attribute and class of the value
    forms                 operator and form
    nodes                 the number of nodes of each graph
    symbolic              how many graphs have symbols
    """

    operators: set[str] = field(default_factory=set)
    operator_dtype_pairs: set[tuple[str, str]] = field(default_factory=set)
    attribute_classes: set[tuple[str, str, str]] = field(default_factory=set)
    forms: set[tuple[str, str]] = field(default_factory=set)
    profiles: dict[str, int] = field(default_factory=dict)
    nodes: list[int] = field(default_factory=list)
    symbolic: int = 0

    def add(self, case: Case) -> None:
        graph, types = case.graph, case.graph.types
        self.nodes.append(len(graph.nodes))
        self.symbolic += bool(graph.symbols)
        name = case.profile.value
        self.profiles[name] = self.profiles.get(name, 0) + 1
        for node in graph.nodes:
            self.operators.add(node.op)
            self.forms.add((node.op, node.form.value))
            first = types[node.args[0]] if node.args else node.results[0].type
            self.operator_dtype_pairs.add((node.op, first.dtype.value))
            self.attribute_classes.update(classes_of(node))

    def summary(self) -> dict[str, object]:
        return {
            "graphs": len(self.nodes),
            "operators": len(self.operators),
            "operator_dtype_pairs": len(self.operator_dtype_pairs),
            "attribute_classes": len(self.attribute_classes),
            "operator_forms": len(self.forms),
            "nodes_median": statistics.median(self.nodes) if self.nodes else 0,
            "symbolic": self.symbolic,
            "profiles": dict(sorted(self.profiles.items())),
        }


def classes_of(node: Node) -> Iterator[tuple[str, str, str]]:
    """Yield (operator, attribute, class of its value) for each attribute of a node."""
    for key, value in node.attrs.items():
        yield node.op, key, value_class(value)


def value_class(value: Attr) -> str:
    """Return the class of an attribute value. Each string and boolean is a class of its own. Numbers are classified by
    type and sign, tuples by their length (at most 4) and the classes of their elements."""
    if isinstance(value, tuple):
        signs = sorted({value_class(item) for item in value})
        return f"{min(len(value), 4)} of {'|'.join(signs)}"
    if value is None or isinstance(value, bool | str):
        return str(value)
    sign = "negative" if value < 0 else "zero" if value == 0 else "one" if value == 1 else "positive"
    return f"{type(value).__name__} {sign}"
