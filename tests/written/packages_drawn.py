"""docs/how-it-works.md: which package imports which, and what each has, by the beginning of its docstring."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from pathlib import PurePosixPath

import packages
from written_text import ROOT, Written, code_block, lines_of_block

PAGE = "docs/how-it-works.md"
FOLDERS = {"packages": "fuzzer", "campaign": "fuzzer/campaign"}
"""By the language of the code block, the folder whose packages it shows."""


def drawing_of(block: str) -> Callable[[str], str]:
    """Draws the packages in the order of the page. A package that is new stands after those that it imports."""

    def text(now: str) -> str:
        structure = packages.structure_of(ROOT, FOLDERS[block])
        return code_block(packages.drawing(structure, in_order(structure, order_of(now))), block)

    return text


def table_of(block: str) -> Callable[[str], str]:
    """A row for each package, in the order of its drawing. Raise `ValueError` where a package has no docstring."""

    def text(now: str) -> str:
        folder = FOLDERS[block]
        of = f" of `{PurePosixPath(folder).name}`" if "/" in folder else ""
        drawn = ROWS[list(FOLDERS).index(block)]
        names = order_of(drawn.text(drawn.now()))
        rows = [f"| `{name}` | {_beginning(f'{folder}/{name}/__init__.py')} |" for name in names]
        return "\n".join([f"| package{of} | what it has |", "|---|---|", *rows])

    return text


def _beginning(path: str) -> str:
    """The first paragraph of a docstring, without the full stop."""
    docstring = ast.get_docstring(ast.parse((ROOT / path).read_text()))
    if not docstring:
        raise ValueError(f"{path} has no docstring: say there what the package has")
    return " ".join(docstring.partition("\n\n")[0].split()).removesuffix(".")


def order_of(drawing: str) -> list[str]:
    return [line.split()[0] for line in lines_of_block(drawing)]


def in_order(structure: packages.Structure, before: Sequence[str]) -> list[str]:
    """The packages, each after those that it imports, and else in the order that they had. Raise `ValueError` where
    packages import each other."""
    left = [name for name in before if name in structure.packages]
    left += sorted(structure.packages - set(left))
    ordered: list[str] = []
    while left:
        for name in left:
            if all(b not in left or b == name for a, b in structure.arrows if a == name):
                ordered.append(name)
                left.remove(name)
                break
        else:
            raise ValueError(f"these packages import each other: {', '.join(left)}")
    return ordered


SLOW = ("slow",)

ROWS = (
    *(Written(f"drawing-of-{block}", PAGE, drawing_of(block), marks=SLOW) for block in FOLDERS),
    *(Written(f"table-of-{block}", PAGE, table_of(block), marks=SLOW) for block in FOLDERS),
)
