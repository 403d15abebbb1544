"""The packages stand in the order that docs/how-it-works.md draws, and the supervisor loads no compiler."""

from __future__ import annotations

import importlib.util
import re
import subprocess
import sys
from collections import Counter
from functools import cache
from pathlib import Path, PurePosixPath
from types import ModuleType
from typing import Any

import pytest
from rules_of_imports import COMPILERS, LANES_AS_DATA, RUN_IN_CHILDREN, module_of
from source_file import PACKAGES, ROOT, names_of_files, source_file

pytestmark = pytest.mark.slow

PAGE = ROOT / "docs" / "how-it-works.md"


@cache
def packages() -> ModuleType:
    """benchmarks/packages.py, which is not a package."""
    spec = importlib.util.spec_from_file_location("packages", ROOT / "benchmarks" / "packages.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["packages"] = module
    spec.loader.exec_module(module)
    return module


FOLDERS = {"packages": "fuzzer", "campaign": "fuzzer/campaign"}
"""The drawings of the page, and the folders whose packages they show."""
EACH_DRAWING = pytest.mark.parametrize("block", FOLDERS)


@cache
def structure_of(block: str) -> Any:
    return packages().structure_of(ROOT, FOLDERS[block])


def drawing_on_the_page(block: str) -> str:
    found = re.search(rf"^```{block}\n(.*?)\n```$", PAGE.read_text(), re.MULTILINE | re.DOTALL)
    assert found, f"{PAGE} has no code block `{block}`"
    return found[1]


def order_on_the_page(block: str) -> list[str]:
    return [line.split()[0] for line in drawing_on_the_page(block).splitlines()]


@EACH_DRAWING
def test_each_package_imports_only_packages_above_it(block: str) -> None:
    structure = structure_of(block)
    assert structure.upward(order_on_the_page(block)) == set()
    assert structure.circle() == set()


def test_no_file_imports_itself_by_way_of_others() -> None:
    """Also through imports that are for types only."""
    imports = {module_of(name): source_file(name).imports_with_types for name in names_of_files(*PACKAGES)}
    assert packages().files(imports).circle() == set()


@EACH_DRAWING
def test_no_module_lies_loose(block: str) -> None:
    assert structure_of(block).loose == frozenset()


def test_few_modules_lie_beside_the_packages() -> None:
    assert {path.name for path in (ROOT / "fuzzer").glob("*.py")} <= {"__init__.py", "__main__.py", "cli.py"}


def test_a_circle_and_an_upward_import_are_found(tmp_path: Path) -> None:
    texts = {"low/a.py": "import fuzzer.high.b", "high/b.py": "from fuzzer.low import a", "loose.py": "", "cli.py": ""}
    for name, text in texts.items():
        path = tmp_path / "fuzzer" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    structure = packages().structure_of(tmp_path)
    assert structure.circle() == {"low", "high"}
    assert structure.upward(["low", "high", "loose"]) == {("low", "high")}
    assert structure.loose == {"loose"}


MOST_FILES = 55
"""In a folder, so that a reader finds a file by its name."""


def test_no_folder_is_crowded() -> None:
    counts = Counter(str(PurePosixPath(name).parent) for name in names_of_files(*PACKAGES))
    crowded = {name for name, number in counts.items() if number > MOST_FILES}
    assert crowded == {"generators/torch/ops"}  # a file for each family of operators


def test_the_shape_of_a_checkout_is_counted(tmp_path: Path) -> None:
    texts = {
        "fuzzer/low/a.py": "import fuzzer.low.b",
        "fuzzer/low/b.py": "from fuzzer.low import a\nx = graph.dialect == 'onnx' or y is Importer.FX",
        "fuzzer/seeds/onnx/c.py": "z = 'onnx'\n",
        "generators/d.py": "def f(a, b, c, d, e, g, h, i, j):\n" + "    k()\n" * 60,
        "oracles/importers.py": "from generators.onnx.rows import OPS\nname is Importer.FX\n",
    }
    for name, text in texts.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    assert list(packages().shape(tmp_path)) == [
        "2 files in circles, also through imports for types",
        "1 lines in 1 files name a dialect, outside of its folders",
        "1 of these lines ask which dialect something is of",
        "1 imports of modules of a dialect, in 1 files outside of its folders",
        "1 comparisons with an importer",
        "1 functions of more than 60 lines",
        "1 functions of more than 8 parameters",
        "files in a folder: 2 in fuzzer/low, 1 in fuzzer/seeds/onnx, 1 in generators, 1 in oracles",
    ]


def test_the_list_of_lanes_loads_no_compiler() -> None:
    assert source_file("oracles/importers.py").tops <= {"oracles", *sys.stdlib_module_names}
    assert source_file("fuzzer/lanes/target_table.py").tops == {"__future__", "dataclasses", "oracles"}
    assert source_file("fuzzer/lanes/relay_table.py").tops == {"__future__", "typing", "oracles"}
    names = {name.rpartition(".")[0] for name in source_file("fuzzer/lanes/__init__.py").imports}
    assert names == {
        "__future__",
        "collections.abc",
        "dataclasses",
        "fnmatch",
        "functools",
        "fuzzer.lanes.relay_table",
        "fuzzer.lanes.target_table",
        "generators.dialect_names",
        "oracles.finding",
        "oracles.importers",
        "oracles.lane",
        "oracles.siblings",
        "typing",
    }


def test_the_supervisor_loads_no_compiler() -> None:
    names = names_of_files("fuzzer/")
    wanted = [module_of(name) for name in names if not name.startswith(RUN_IN_CHILDREN) or name in LANES_AS_DATA]
    program = f"import importlib, sys; [importlib.import_module(name) for name in {wanted}]; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, cwd=ROOT, check=True)
    assert not COMPILERS & set(done.stdout.split())
