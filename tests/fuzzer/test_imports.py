"""Imports point one way, compilers are loaded below fuzzer/lanes only, and nothing can unpickle. Read, not run."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
COMPILERS = {"torch", "tvm", "onnx", "onnxruntime"}
ONLY_IN_CHILDREN = {"fuzzer/isolate/child.py", "fuzzer/isolate/device_worker.py", "fuzzer/isolate/zygote.py"}
UNSAFE = {"pickle", "cPickle", "_pickle", "dill", "cloudpickle", "joblib", "marshal", "shelve"}


def sources(*packages: str) -> list[str]:
    return [str(path.relative_to(ROOT)) for package in packages for path in sorted((ROOT / package).rglob("*.py"))]


def is_type_checking(node: ast.AST) -> bool:
    return isinstance(node, ast.If) and ast.unparse(node.test) in ("TYPE_CHECKING", "typing.TYPE_CHECKING")


def imported(source: str) -> Iterator[str]:
    """Full names of what a module imports, wherever in it; less what only the type checker reads."""
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
            yield computed(node.args[0])


def computed(name: ast.expr) -> str:
    """What `import_module` is called with. "?" stands for what is known only when it runs."""
    parts = name.values if isinstance(name, ast.JoinedStr) else [name]
    return "".join(part.value if isinstance(part, ast.Constant) else "?" for part in parts)


def tops(source: str) -> set[str]:
    return {name.partition(".")[0] for name in imported(source)}


def test_there_is_something_to_read() -> None:
    assert {"fuzzer/cli.py", "fuzzer/lanes/relax.py", "oracles/tolerance.py", "generators/ops/conv.py"} <= set(
        sources("fuzzer", "oracles", "generators")
    )
    assert "torch" in tops("fuzzer/lanes/torch_eager.py")
    assert "fuzzer.lanes.base.Bench" in set(imported("fuzzer/isolate/child.py"))


def test_generators_import_numpy_and_themselves() -> None:
    allowed = {"generators", "numpy", "ml_dtypes", "msgspec", "safetensors", *sys.stdlib_module_names}
    strangers = {source: tops(source) - allowed for source in sources("generators")}
    assert {source: names for source, names in strangers.items() if names} == {
        "generators/strategies.py": {"hypothesis"}
    }


def test_oracles_import_generators_and_numpy() -> None:
    allowed = {"oracles", "generators", "numpy", "ml_dtypes", *sys.stdlib_module_names}
    assert not {source: names for source in sources("oracles") if (names := tops(source) - allowed)}


def test_compilers_are_imported_below_lanes_only() -> None:
    forbidden = {*COMPILERS, "onnxscript", "?"}
    outside = [source for source in sources("fuzzer") if not source.startswith("fuzzer/lanes/")]
    assert not {source: names for source in outside if (names := tops(source) & forbidden)}


def test_what_runs_lanes_is_imported_in_children_only() -> None:
    modules = {f"fuzzer.lanes.{path.stem}" for path in (ROOT / "fuzzer/lanes").iterdir()}
    outside = {s for s in sources("fuzzer") if not s.startswith("fuzzer/lanes/")} - ONLY_IN_CHILDREN
    seen = {source: {".".join(name.split(".")[:3]) for name in imported(source)} & modules for source in outside}
    assert not {source: names for source, names in seen.items() if names}


def test_the_list_of_lanes_loads_no_compiler() -> None:
    assert tops("fuzzer/lanes/target_lanes.py") == {"__future__", "dataclasses", "oracles"}
    assert tops("fuzzer/lanes/relay_lanes.py") == {"__future__", "typing", "oracles"}
    names = {name.rpartition(".")[0] for name in imported("fuzzer/lanes/__init__.py")}
    assert names == {
        "__future__",
        "collections.abc",
        "dataclasses",
        "fnmatch",
        "fuzzer.lanes.relay_lanes",
        "fuzzer.lanes.target_lanes",
        "oracles.finding",
        "oracles.lane",
        "typing",
    }


def test_nothing_can_unpickle() -> None:
    everything = sources("fuzzer", "oracles", "generators")
    assert not {source: names for source in everything if (names := tops(source) & UNSAFE)}
    for source in everything:
        text = (ROOT / source).read_text()
        calls = [ast.unparse(node.func) for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Call)]
        assert "torch.load" not in calls, source
        assert "allow_pickle" not in text, source


def test_multiprocess_is_used_for_bytes_only() -> None:
    """`send` and `recv` of a connection pickle."""
    for source in sources("fuzzer/isolate"):
        tree = ast.parse((ROOT / source).read_text())
        names = {ast.unparse(n.func) for n in ast.walk(tree) if isinstance(n, ast.Call)}
        assert not names & {"connection.send", "connection.recv", "self.connection.send", "self.connection.recv"}


def test_the_supervisor_loads_no_compiler() -> None:
    names = [s.removesuffix(".py").replace("/", ".") for s in sources("fuzzer") if not s.startswith("fuzzer/lanes/")]
    wanted = [
        name.removesuffix(".__init__") for name in names if f"{name.replace('.', '/')}.py" not in ONLY_IN_CHILDREN
    ]
    program = f"import importlib, sys; [importlib.import_module(name) for name in {wanted}]; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, cwd=ROOT, check=True)
    assert not COMPILERS & set(done.stdout.split())


def children(source: str) -> Iterator[list[str]]:
    """The command lines in a module that run one."""
    for node in ast.walk(ast.parse((ROOT / source).read_text(), source)):
        if isinstance(node, ast.List):
            words = [item.value if isinstance(item, ast.Constant) else "?" for item in node.elts]
            if "-m" in words:
                yield words


def test_children_import_nothing_from_the_users_folder() -> None:
    """`python -m` puts the working directory before everything else; -P does not."""
    found = {source: list(children(source)) for source in sources("fuzzer")}
    assert {source for source, commands in found.items() if commands} == {
        "fuzzer/cluster/deal.py",
        "fuzzer/coverage/worker.py",
        "fuzzer/isolate/device_station.py",
        "fuzzer/isolate/executor.py",
        "fuzzer/seeds/bounded_child.py",
        "fuzzer/sweep.py",
        "fuzzer/toolchains/install.py",
        "fuzzer/validity.py",
    }
    assert all(words[1:3] == ["-P", "-m"] for commands in found.values() for words in commands)
