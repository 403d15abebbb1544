"""Imports point one way, compilers are loaded in children only, and nothing can unpickle. No module is run."""

from __future__ import annotations

import ast
import importlib.util
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "how-it-works.md"
COMPILERS = {"torch", "tvm", "onnx", "onnxruntime"}
RUN_IN_CHILDREN = ("fuzzer/lanes/", "fuzzer/children/", "fuzzer/api/register_pass.py")  # a preloaded file calls it
UNSAFE = {"pickle", "cPickle", "_pickle", "dill", "cloudpickle", "joblib", "marshal", "shelve"}
LANES_AS_DATA = {
    "fuzzer/lanes/__init__.py",
    "fuzzer/lanes/relay_table.py",
    "fuzzer/lanes/target_table.py",
    "fuzzer/lanes/base/__init__.py",
    "fuzzer/lanes/base/availability.py",
}
"""What the supervisor may import of `fuzzer.lanes`."""


def sources(*packages: str) -> list[str]:
    return [str(path.relative_to(ROOT)) for package in packages for path in sorted((ROOT / package).rglob("*.py"))]


def is_type_checking(node: ast.AST) -> bool:
    return isinstance(node, ast.If) and ast.unparse(node.test) in ("TYPE_CHECKING", "typing.TYPE_CHECKING")


def imported(source: str) -> Iterator[str]:
    """The full names of what a module imports anywhere, without what only the type checker reads."""
    path = ROOT / source
    rest: list[ast.AST] = [ast.parse(path.read_text(), source)]
    while rest:
        node = rest.pop()
        if isinstance(node, ast.If) and is_type_checking(node):
            rest += node.orelse
            continue
        rest += ast.iter_child_nodes(node)
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{source}: imports are absolute"
            assert node.module is not None
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Call) and ast.unparse(node.func) in ("importlib.import_module", "__import__"):
            yield ast.literal_eval(node.args[0]) if isinstance(node.args[0], ast.Constant) else "?"


def tops(source: str) -> set[str]:
    return {name.partition(".")[0] for name in imported(source)}


def module_of(source: str) -> str:
    return source.removesuffix(".py").replace("/", ".").removesuffix(".__init__")


def packages() -> ModuleType:
    """benchmarks/packages.py, which is not a package."""
    spec = importlib.util.spec_from_file_location("packages", ROOT / "benchmarks" / "packages.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["packages"] = module
    spec.loader.exec_module(module)
    return module


def drawing_on_the_page() -> str:
    found = re.search(r"^```packages\n(.*?)\n```$", PAGE.read_text(), re.MULTILINE | re.DOTALL)
    assert found, f"{PAGE} has no code block `packages`"
    return found[1]


def order_on_the_page() -> list[str]:
    return [line.split()[0] for line in drawing_on_the_page().splitlines()]


def test_there_is_something_to_read() -> None:
    assert {
        "fuzzer/cli.py",
        "fuzzer/lanes/relax_lane.py",
        "oracles/tolerance.py",
        "generators/torch/ops/conv.py",
    } <= set(sources("fuzzer", "oracles", "generators"))
    assert "torch" in tops("fuzzer/lanes/torch/eager.py")
    assert "fuzzer.lanes.base.prepared_case.PreparedCase" in set(imported("fuzzer/children/job.py"))


def test_the_order_on_the_page_has_all_packages() -> None:
    folders = {path.parent.name for path in (ROOT / "fuzzer").glob("*/__init__.py")}
    assert sorted(order_on_the_page()) == sorted(folders)


def test_each_package_imports_only_packages_above_it() -> None:
    structure = packages().structure_of(ROOT)
    assert structure.upward(order_on_the_page()) == set()
    assert structure.circle() == set()


def test_no_module_lies_loose() -> None:
    assert packages().structure_of(ROOT).loose == frozenset()
    assert {path.name for path in (ROOT / "fuzzer").glob("*.py")} <= {"__init__.py", "__main__.py", "cli.py"}


def test_the_drawing_on_the_page_is_that_of_the_imports() -> None:
    """Print it with `python benchmarks/packages.py --draw`."""
    tool = packages()
    assert drawing_on_the_page() == tool.drawing(tool.structure_of(ROOT), order_on_the_page())


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


def test_generators_import_numpy_and_themselves() -> None:
    allowed = {"generators", "numpy", "ml_dtypes", "msgspec", "safetensors", *sys.stdlib_module_names}
    strangers = {source: tops(source) - allowed for source in sources("generators")}
    assert {source: names for source, names in strangers.items() if names} == {
        "generators/strategies.py": {"hypothesis"}
    }


def test_oracles_import_generators_and_numpy() -> None:
    allowed = {"oracles", "generators", "numpy", "ml_dtypes", *sys.stdlib_module_names}
    assert not {source: names for source in sources("oracles") if (names := tops(source) - allowed)}


def test_compilers_are_imported_in_children_only() -> None:
    forbidden = {*COMPILERS, "onnxscript", "?"}
    outside = [source for source in sources("fuzzer") if not source.startswith(RUN_IN_CHILDREN)]
    assert not {source: names for source in outside if (names := tops(source) & forbidden)}


def test_the_supervisor_imports_of_the_lanes_only_what_is_data() -> None:
    run = {module_of(source) for source in sources("fuzzer/lanes") if source not in LANES_AS_DATA}
    outside = [source for source in sources("fuzzer") if not source.startswith(RUN_IN_CHILDREN)]
    found = {
        source: {name for name in imported(source) if name in run or name.rpartition(".")[0] in run}
        for source in outside
    }
    assert not {source: names for source, names in found.items() if names}


def test_nothing_imports_a_child_program() -> None:
    outside = [source for source in sources("fuzzer") if not source.startswith("fuzzer/children/")]
    assert not {s: names for s in outside if (names := {n for n in imported(s) if n.startswith("fuzzer.children")})}


def test_the_list_of_lanes_loads_no_compiler() -> None:
    assert tops("fuzzer/lanes/target_table.py") == {"__future__", "dataclasses", "oracles"}
    assert tops("fuzzer/lanes/relay_table.py") == {"__future__", "typing", "oracles"}
    names = {name.rpartition(".")[0] for name in imported("fuzzer/lanes/__init__.py")}
    assert names == {
        "__future__",
        "collections.abc",
        "dataclasses",
        "fnmatch",
        "fuzzer.lanes.relay_table",
        "fuzzer.lanes.target_table",
        "oracles.finding",
        "oracles.lane",
        "typing",
    }


def test_nothing_can_unpickle() -> None:
    everything = sources("fuzzer", "oracles", "generators")
    assert {source: names for source in everything if (names := tops(source) & UNSAFE)} == {
        "fuzzer/api/user_objects.py": {"dill"}  # a function that the user's own program gives to `check_pass`
    }
    for source in everything:
        text = (ROOT / source).read_text()
        calls = [ast.unparse(node.func) for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Call)]
        assert "torch.load" not in calls, source
        assert "allow_pickle" not in text.replace("allow_pickle=False", ""), source


def test_multiprocess_is_used_for_bytes_only() -> None:
    """`send` and `recv` of a connection pickle."""
    for source in sources("fuzzer/isolate", "fuzzer/children"):
        tree = ast.parse((ROOT / source).read_text())
        names = {ast.unparse(n.func) for n in ast.walk(tree) if isinstance(n, ast.Call)}
        assert not names & {"connection.send", "connection.recv", "self.connection.send", "self.connection.recv"}


def test_the_supervisor_loads_no_compiler() -> None:
    data = [source for source in sources("fuzzer") if not source.startswith(RUN_IN_CHILDREN) or source in LANES_AS_DATA]
    wanted = [module_of(source) for source in data]
    program = f"import importlib, sys; [importlib.import_module(name) for name in {wanted}]; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, cwd=ROOT, check=True)
    assert not COMPILERS & set(done.stdout.split())


def commands(source: str) -> Iterator[list[str]]:
    """The command lines with `-m` in a module."""
    for node in ast.walk(ast.parse((ROOT / source).read_text(), source)):
        if isinstance(node, ast.List):
            words = [item.value if isinstance(item, ast.Constant) else "?" for item in node.elts]
            if "-m" in words:
                yield words


def test_children_import_nothing_from_the_users_folder() -> None:
    """`python -m` puts the working directory before everything else; -P does not."""
    found = {source: list(commands(source)) for source in sources("fuzzer")}
    assert {source for source, lines in found.items() if lines} == {
        "fuzzer/campaign/sweep.py",
        "fuzzer/children/node.py",
        "fuzzer/cluster/assignment.py",
        "fuzzer/coverage/worker.py",
        "fuzzer/isolate/device_supervisor.py",
        "fuzzer/isolate/executor.py",
        "fuzzer/isolate/validity.py",
        "fuzzer/seeds/bounded_child.py",
        "fuzzer/seeds/module.py",
        "fuzzer/toolchains/install.py",
    }
    assert all(words[1:3] == ["-P", "-m"] for lines in found.values() for words in lines)
