"""A rule for types of numpy."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from source_file import SourceFile
from source_rule import Place, Rule


def compared_types(file: SourceFile) -> Iterator[Place]:
    """Comparisons of the numpy type of a dtype for equality, except with the `dtype` of an array, which is never
    None."""
    for node in file.nodes:
        match node:
            case ast.Compare(left=left, ops=[ast.Eq() | ast.NotEq()], comparators=[right]):
                names = {each.attr for each in (left, right) if isinstance(each, ast.Attribute)}
                if "numpy" in names and "dtype" not in names:
                    yield Place(node.lineno, ast.unparse(node))


RULES = (
    Rule(
        says="a dtype is looked up by `DType.of`: None equals the float64 of numpy",
        places=compared_types,
        example="found = [dtype for dtype in DType if dtype.numpy == elements.get(name)]",
    ),
)
