"""The rules about the project's own Python files: each file is parsed once for all of them."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from graphlib import TopologicalSorter

import pytest
import rules_of_dialects
import rules_of_dtypes
import rules_of_gate
import rules_of_importers
import rules_of_imports
import rules_of_processes
import rules_of_scripts
import rules_of_sizes
import rules_of_words
from rules_of_dialects import named_dialects
from rules_of_importers import is_comparison
from rules_of_imports import module_of
from rules_of_words import given_names, words
from source_file import FOLDERS, PACKAGES, ROOT, SourceFile, names_of_files, source_file
from source_rule import Place, Rule

RULES = (
    *rules_of_words.RULES,
    *rules_of_sizes.RULES,
    *rules_of_dialects.RULES,
    *rules_of_dtypes.RULES,
    *rules_of_importers.RULES,
    *rules_of_imports.RULES,
    *rules_of_processes.RULES,
    *rules_of_scripts.RULES,
    *rules_of_gate.RULES,
)
EACH_RULE = pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.says)


@dataclass(frozen=True, slots=True)
class Findings:
    """What one reading of all files finds.

    places   by rule and file
    imports  by file of the packages, the full names of what it imports, also for types alone
    """

    places: Mapping[str, Mapping[str, list[Place]]]
    imports: Mapping[str, frozenset[str]]


@cache
def findings() -> Findings:
    """Trees of all files together take 300 MB: a tree is given up before the next file is read."""
    places: dict[str, dict[str, list[Place]]] = defaultdict(dict)
    imports = {}
    for name in names_of_files(*FOLDERS):
        file = source_file(name)
        for rule in RULES:
            if rule.is_about(name) and (found := list(rule.places(file))):
                places[rule.says][name] = found
        if name.startswith(PACKAGES):
            imports[name] = file.imports_with_types
    return Findings(places, imports)


@pytest.mark.slow
@EACH_RULE
def test_a_rule_is_kept(rule: Rule) -> None:
    offenders = rule.broken_by(findings().places.get(rule.says, {}))
    assert not offenders, "\n".join([rule.says, *offenders])


def test_each_thing_has_one_word_on_the_pages() -> None:
    pages = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
    found = [
        f"{page.relative_to(ROOT)}:{place.line}: {place.text}" for page in pages for place in words(page.read_text())
    ]
    assert not found, "\n".join(found)


@EACH_RULE
def test_a_rule_finds_its_example(rule: Rule) -> None:
    name = f"{rule.files[0]}example.py"
    assert rule.is_about(name)
    found = list(rule.places(SourceFile(name, rule.example)))
    assert rule.broken_by({name: found})[0].startswith(f"{name}:")


def test_exceptions_are_counted() -> None:
    rule = Rule(
        says="no name",
        places=given_names,
        exceptions={"fuzzer/a.py": (2, ""), "fuzzer/b.py: x": (None, ""), "fuzzer/c.py": (None, "")},
        example="",
    )
    one, other = Place(1, "x"), Place(2, "y")
    right = {"fuzzer/a.py": [one, other], "fuzzer/b.py": [one, one], "fuzzer/c.py": [one]}
    assert rule.broken_by(right) == []
    assert rule.broken_by({"fuzzer/a.py": [one], "fuzzer/b.py": [one, other]}) == [
        "fuzzer/b.py:2: y",
        "fuzzer/a.py: 1 places instead of 2",
        "fuzzer/c.py: 0 places instead of some",
    ]


@pytest.mark.slow
def test_no_file_imports_itself_through_others() -> None:
    """Also not inside of a function, and not for types alone."""
    files = {module_of(name): imported for name, imported in findings().imports.items()}
    order = TopologicalSorter[str]()
    for module, imported in files.items():
        names = {name if name in files else name.rpartition(".")[0] for name in imported}
        order.add(module, *(files.keys() & names))
    order.prepare()  # raises CycleError


def test_few_places_name_a_dialect_outside_of_its_folders() -> None:
    assert len(rules_of_dialects.PLACES) <= 5


def test_the_names_of_a_file_are_found_wherever_they_are_given() -> None:
    text = """
import m as a1
class a2:
    a3: int
    def a4(self, a5, *a6, a7=x, **a8):
        self.a9, [a10, *a11] = y
        with b as a12: pass
        for a13 in (z for a14 in q): pass
        try: pass
        except E as a15: pass
        match s:
            case [K(k=a16), *a17]: pass
            case {"w": 1 as a18}: (a19 := lambda a20: t)
"""
    found = {place.text for place in given_names(SourceFile("a.py", text))}
    assert found == {"self", *(f"a{number}" for number in range(1, 21))}


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ('graph.dialect == "onnx"', ["'onnx'"]),
        ("lane.engine is Engine.TORCH", ["Engine.TORCH"]),
        ("1 if case.graph.opset else 2", ["whether case.graph.opset"]),
        ("[op for op in ops if not opset]", ["whether opset"]),
        ("name[:1].isupper()", ["name[:1].isupper()"]),
        ("lane.opset or 17", []),
        ("dialect_named(graph.dialect).is_file", []),
    ],
)
def test_what_names_a_dialect(source: str, found: list[str]) -> None:
    assert [place.text for place in named_dialects(SourceFile("a.py", source))] == found


@pytest.mark.parametrize(
    "text",
    [
        "x is Importer.FX",
        "x in (Importer.FX, y)",
        "lane.importer == 'fx'",
        "match x:\n    case Importer.FX:\n        1",
    ],
)
def test_what_compares_importers(text: str) -> None:
    assert any(map(is_comparison, ast.walk(ast.parse(text))))


def test_imports_of_a_file() -> None:
    text = """
import a.b
from c import d as e
if TYPE_CHECKING:
    from f import g
else:
    import h
def i():
    importlib.import_module("j.k")
    __import__(name)
"""
    file = SourceFile("a.py", text)
    assert file.imports == {"a.b", "c.d", "h", "j.k", "?"}
    assert file.imports_with_types == file.imports | {"f.g"}
    assert file.tops == {"a", "c", "h", "j", "?"}
