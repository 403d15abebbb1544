"""Code asks the row of an importer: it compares with members of `Importer`, and names them, at home only."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from source_file import PACKAGES, SourceFile
from source_rule import Place, Rule

FILES = (*PACKAGES, "benchmarks/", "difftvm/")
HOMES = ("oracles/importers.py", "fuzzer/lanes/relax/importing.py", "fuzzer/lanes/relax/importers/")


def is_member(node: ast.AST) -> bool:
    """Whether the node is `Importer.FX` or the like."""
    return isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "Importer"


def is_comparison(node: ast.AST) -> bool:
    """Whether the node compares an importer: with a member, with several, or with a word."""
    if isinstance(node, ast.match_case):
        return any(map(is_member, ast.walk(node.pattern)))
    if not isinstance(node, ast.Compare):
        return False
    sides = [node.left, *node.comparators]
    words = any(isinstance(side, ast.Constant) and isinstance(side.value, str) for side in sides)
    importer = any(isinstance(side, ast.Attribute) and side.attr == "importer" for side in sides)
    return (words and importer) or any(is_member(part) for side in sides for part in ast.walk(side))


def comparisons(file: SourceFile) -> Iterator[Place]:
    for node in file.nodes:
        if is_comparison(node):
            shown = node.pattern if isinstance(node, ast.match_case) else node
            assert isinstance(shown, ast.pattern | ast.expr)
            yield Place(shown.lineno, ast.unparse(shown))


def members(file: SourceFile) -> Iterator[Place]:
    return (Place(node.lineno, ast.unparse(node)) for node in file.nodes if is_member(node))  # type: ignore[attr-defined]


def kinds_of_input(file: SourceFile) -> Iterator[Place]:
    """`Reads.FILE` or the like, which says the dialect too. `ImporterRow.reads` answers questions."""
    for node in file.nodes:
        match node:
            case ast.Attribute(value=ast.Name(id="Reads")):
                yield Place(node.lineno, ast.unparse(node))


RULES = (
    Rule(
        says="code asks what an importer reads by a question of `Reads`, or the record of the dialect",
        files=FILES,
        without=("oracles/importers.py",),
        places=kinds_of_input,
        example="lane.importer.row.reads is Reads.FILE_OF_CASE",
    ),
    Rule(
        says="code asks the row of an importer and does not compare",
        files=FILES,
        without=HOMES,
        places=comparisons,
        exceptions={
            "fuzzer/findings/families/similarity.py": (
                2,
                "`importer` of traits is the word of a family: weights were fitted",
            ),
        },
        example="lane.importer is Importer.FX",
    ),
    Rule(
        says="an importer is named where there is a reason",
        files=FILES,
        without=HOMES,
        places=members,
        exceptions={
            "fuzzer/campaign/cases/torch/mixes.py": (
                6,
                "percentages of cases by the importers that take their operators",
            ),
            "fuzzer/isolate/known_answer.py": (1, "one fixed lane"),
            "fuzzer/lanes/__init__.py": (15, "tables of lanes"),
            "fuzzer/lanes/onnx/case_lane.py": (2, "the references of a case of ONNX read its file"),
            "fuzzer/lanes/relay_table.py": (3, "a table of lanes"),
            "fuzzer/lanes/target_table.py": (1, "a table of lanes"),
            "oracles/lane.py": (1, "the default of a field"),
        },
        example="Importer.FX",
    ),
)
