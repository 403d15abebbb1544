"""The mutants of a file: mutmut's operators, each applied to one node of the source."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from difflib import unified_diff
from pathlib import Path
from typing import Any

import libcst as cst
from libcst.metadata import MetadataWrapper, ParentNodeProvider, PositionProvider
from mutmut.mutation.file_mutation import Mutation, MutationVisitor, deep_replace
from mutmut.mutation.mutators import mutation_operators
from mutmut.mutation.pragma_handling import IgnoredCode


@dataclass(frozen=True, slots=True)
class Mutant:
    """One change of one file.

    name   the path, the line, and which of the changes of this line it is; it is the same while the file is the same
    path   relative to the root of the project
    lines  the lines of the smallest statement that has the change, as far as the end of the change
    is_in_a_function  whether an import leaves it alone
    """

    name: str
    path: str
    lines: range
    is_in_a_function: bool
    _module: cst.Module = field(repr=False)
    _mutation: Mutation = field(repr=False)

    def source(self) -> str:
        """Return the text of the file with this change."""
        changed = deep_replace(self._module, self._mutation.original_node, self._mutation.mutated_node)
        assert isinstance(changed, cst.Module)
        return changed.code

    def diff(self) -> str:
        before, after = self._module.code.splitlines(), self.source().splitlines()
        return "\n".join(
            line for line in unified_diff(before, after, lineterm="", n=1) if line[:3] not in ("---", "+++")
        )


class _Visitor(MutationVisitor):
    """Collects mutations as mutmut does, and those in decorated functions too: no copy of a function is made here."""

    def _skip_node_and_children(self, node: cst.CSTNode) -> bool:
        return not isinstance(node, cst.FunctionDef) and super()._skip_node_and_children(node)


def mutants_of(root: Path, path: str) -> Iterator[Mutant]:
    """Yield the mutants of a file in their order.

    mutmut leaves out annotations, decorators and docstrings. A plain string in a `raise`, or in a call that prints, is
    left out here: it is text for people.
    """
    wrapper = MetadataWrapper(cst.parse_module((root / path).read_text()))
    visitor = _Visitor(mutation_operators, IgnoredCode(set(), set(), set()))
    module = wrapper.visit(visitor)
    positions, parents = wrapper.resolve(PositionProvider), wrapper.resolve(ParentNodeProvider)
    numbers: dict[int, int] = {}
    for mutation in visitor.mutations:
        node = mutation.original_node
        if isinstance(node, cst.BaseString) and _is_text_for_people(node, parents):
            continue
        line = positions[node].start.line
        numbers[line] = numbers.get(line, 0) + 1
        start = positions[_statement(node, parents)].start.line
        lines = range(start, positions[node].end.line + 1)
        in_function = isinstance(mutation.contained_by_top_level_function, cst.FunctionDef)
        yield Mutant(f"{path}:{line}:{numbers[line]}", path, lines, in_function, module, mutation)


def _statement(node: Any, parents: Any) -> Any:
    while not isinstance(node, cst.BaseStatement):
        node = parents[node]
    return node


def _is_text_for_people(node: Any, parents: Any) -> bool:
    while not isinstance(node, cst.BaseStatement):
        match node:
            case cst.Raise() | cst.Call(func=cst.Name(value="say" | "print")):
                return True
        node = parents[node]
    return False
