"""Count and draw the packages of fuzzer/, or those of one of them: which one imports which.

    python benchmarks/packages.py [ROOT] [--draw] [--of fuzzer/campaign]

ROOT is a checkout, this one if not given. `--draw` prints a drawing of docs/how-it-works.md: for each package the
packages that it imports, without those that it already reaches through others. Imports are read, not run.
"""

from __future__ import annotations

import argparse
import ast
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

PACKAGES_OF_PROJECT = ("fuzzer", "generators", "oracles")
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


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("root", type=Path, nargs="?", default=Path(__file__).parents[1])
    parser.add_argument("--draw", action="store_true")
    parser.add_argument("--of", default="fuzzer", help="the folder whose packages are meant")
    options = parser.parse_args()
    structure = structure_of(options.root, options.of)
    order = in_order(structure)
    if options.draw:
        print(drawing(structure, order))
    counts = f"{len(structure.packages)} packages and loose modules, {len(structure.arrows)} arrows"
    print(f"{counts}, {len(structure.upward(order))} upward, {len(structure.circle())} in circles")
    print(f"{len(structure.loose)} loose modules")


if __name__ == "__main__":
    main()
