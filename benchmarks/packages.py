"""Count and draw the packages of fuzzer/, or those of one of them: which one imports which.

    python benchmarks/packages.py [ROOT] [--draw] [--of fuzzer/campaign]
    python benchmarks/packages.py [ROOT] --shape

ROOT is a checkout, this one if not given. `--draw` prints a drawing of docs/how-it-works.md: for each package the
packages that it imports, without those that it already reaches through others. `--shape` prints counts that a reader
feels: files that import each other, lines that ask for a dialect or an importer outside of their homes, long and wide
functions, crowded folders. It counts with the rules of tests/source_rules/. Imports are read, not run.
"""

from __future__ import annotations

import argparse
import ast
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

sys.path.append(str(Path(__file__).parents[1]))  # so that a Python in which nothing is installed runs it
sys.path.append(str(Path(__file__).parents[1] / "tests" / "source_rules"))

import rules_of_dialects  # a module of the tests, as the next ones
import rules_of_importers
import rules_of_sizes
from rules_of_imports import module_of
from source_file import PACKAGES, SourceFile

MOST_CROWDED = 5
"""How many folders `--shape` names."""
ALLOWED_LOOSE = {"__init__", "__main__", "cli"}


@dataclass(frozen=True, slots=True)
class Structure:
    """packages  the folders of a folder, and the loose modules that other modules import
    arrows    (importing package, imported package)
    loose     modules directly in the folder, without `ALLOWED_LOOSE`
    """

    packages: frozenset[str]
    arrows: frozenset[tuple[str, str]]
    loose: frozenset[str]

    def upward(self, order: Sequence[str]) -> set[tuple[str, str]]:
        """Arrows to a package that stands later in the order."""
        place = {name: index for index, name in enumerate(order)}
        return {(a, b) for a, b in self.arrows if place[b] > place[a]}

    def circle(self) -> set[str]:
        """Packages that import themselves through other packages."""
        reached = self._reached()
        return {name for name in self.packages if name in reached[name]}

    def _reached(self) -> Mapping[str, set[str]]:
        reached = {name: {b for a, b in self.arrows if a == name} for name in self.packages}
        growing = True
        while growing:
            growing = False
            for name in self.packages:
                more = set().union(*(reached[other] for other in reached[name])) - reached[name]
                growing = growing or bool(more)
                reached[name] |= more
        return reached

    def direct(self) -> Mapping[str, set[str]]:
        """By package, what it imports and does not reach through another package that it imports."""
        reached = self._reached()
        imports = {name: {b for a, b in self.arrows if a == name} for name in self.packages}
        return {
            name: {each for each in found if not any(each in reached[other] for other in found)}
            for name, found in imports.items()
        }


def imported_names(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text(), str(path))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def structure_of(root: Path, of: str = "fuzzer") -> Structure:
    """The packages of a folder of the checkout."""
    folder, prefix = root / of, of.replace("/", ".") + "."
    sources = {path: path.relative_to(folder).with_suffix("").parts for path in sorted(folder.rglob("*.py"))}
    loose = {parts[0] for parts in sources.values() if len(parts) == 1} - ALLOWED_LOOSE
    packages = {parts[0] for parts in sources.values() if len(parts) > 1} | loose
    arrows = set()
    for path, parts in sources.items():
        for name in imported_names(path):
            target = name.removeprefix(prefix).partition(".")[0] if name.startswith(prefix) else ""
            if target in packages and parts[0] in packages and target != parts[0]:
                arrows.add((parts[0], target))
    return Structure(frozenset(packages), frozenset(arrows), frozenset(loose))


def in_order(structure: Structure) -> list[str]:
    """Packages, each after those that it imports. In a circle the package with the fewest missing imports comes first.
    Ties are in alphabetical order."""
    ordered: list[str] = []
    while left := sorted(structure.packages - set(ordered)):
        missing = {name: sum(a == name and b in left for a, b in structure.arrows) for name in left}
        ordered.append(min(left, key=lambda name: missing[name]))
    return ordered


def drawing(structure: Structure, order: Sequence[str]) -> str:
    """A line for each package, in order."""
    width = max(map(len, structure.packages))
    direct = structure.direct()
    return "\n".join(
        f"{name:{width}}  <-  {', '.join(each for each in order if each in direct[name])}".rstrip(" <-")
        for name in order
        if name in structure.packages
    )


def sources_of(root: Path) -> Iterator[SourceFile]:
    """The Python files of the packages of a checkout."""
    for package in PACKAGES:
        for path in sorted((root / package).rglob("*.py")):
            yield SourceFile(path.relative_to(root).as_posix(), path.read_text())


def shape(root: Path) -> Iterator[str]:
    """A line for each count."""
    counts: Counter[str] = Counter()
    asking, folders, imports = set(), Counter[str](), {}
    for file in sources_of(root):
        if file.name not in rules_of_dialects.OTHER_MEANINGS and any(rules_of_dialects.named_dialects(file)):
            asking.add(file.name)
            counts["lines"] += len({place.line for place in rules_of_dialects.named_dialects(file)})
            counts["asking"] += len({place.line for place in rules_of_dialects.questions(file)})
        if rules_of_dialects.ABOUT_IMPORTS.is_about(file.name):
            modules = list(rules_of_dialects.imported_modules(file))
            counts["modules"] += len(modules)
            counts["importing"] += bool(modules)
        if not file.name.startswith(rules_of_importers.HOMES):
            counts["compared"] += sum(1 for _ in rules_of_importers.comparisons(file))
        counts["long"] += sum(1 for _ in rules_of_sizes.long(file))
        counts["wide"] += sum(1 for _ in rules_of_sizes.with_many_parameters(file))
        folders[str(PurePosixPath(file.name).parent)] += 1
        imports[module_of(file.name)] = file.imports_with_types
    yield f"{len(files(imports).circle())} files in circles, also through imports for types"
    yield f"{counts['lines']} lines in {len(asking)} files name a dialect, outside of its folders"
    yield f"{counts['asking']} of these lines ask which dialect something is of"
    yield f"{counts['modules']} imports of modules of a dialect, in {counts['importing']} files outside of its folders"
    yield f"{counts['compared']} comparisons with an importer"
    yield f"{counts['long']} functions of more than {rules_of_sizes.LINES} lines"
    yield f"{counts['wide']} functions of more than {rules_of_sizes.PARAMETERS} parameters"
    yield "files in a folder: " + ", ".join(f"{number} in {name}" for name, number in folders.most_common(MOST_CROWDED))


def files(imports: Mapping[str, frozenset[str]]) -> Structure:
    """Files and their imports, by the names of modules."""
    arrows = {
        (module, target)
        for module, names in imports.items()
        for name in names
        if (target := name if name in imports else name.rpartition(".")[0]) in imports
    }
    return Structure(frozenset(imports), frozenset(arrows), frozenset())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("root", type=Path, nargs="?", default=Path(__file__).parents[1])
    parser.add_argument("--draw", action="store_true")
    parser.add_argument("--of", default="fuzzer", help="the folder whose packages are meant")
    parser.add_argument("--shape", action="store_true")
    options = parser.parse_args()
    if options.shape:
        print(*shape(options.root), sep="\n")
        return
    structure = structure_of(options.root, options.of)
    order = in_order(structure)
    if options.draw:
        print(drawing(structure, order))
    counts = f"{len(structure.packages)} packages and loose modules, {len(structure.arrows)} arrows"
    print(f"{counts}, {len(structure.upward(order))} upward, {len(structure.circle())} in circles")
    print(f"{len(structure.loose)} loose modules")


if __name__ == "__main__":
    main()
